"""Changes of access: a value for each member, with what they get and lose, and their jobs; and who may send jobs to a
cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from slipway.base.formatting import last_part
from slipway.deploying.deployment.workspace_plan import ACT_AS, SUBMITTER_ROLES
from slipway.deploying.engine.grants import Grant
from slipway.deploying.engine.preview import UNKNOWN
from slipway.google.jobs import VertexJob, distinct
from slipway.model.catalog.model import Catalog
from slipway.model.facts import Facts
from slipway.model.findings.finding import Subject
from slipway.model.labels import label_value
from slipway.reviewing.change.change import Change, grouped, lapsed
from slipway.reviewing.change.usual import without_cluster
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.resources.roles import above, covers
from slipway.reviewing.rules.resources.trainers import acting, secrets, submitting_as
from slipway.reviewing.rules.table import by_row
from slipway.reviewing.rules.words import named

_TO_SUBMIT = frozenset({SUBMITTER_ROLES["submit"], ACT_AS})
# The roles that the workspace grants on its buckets and its account, and to submitters on the project.
_ON_PLACES = frozenset({ACT_AS, *(f"roles/storage.object{suffix}" for suffix in ("Viewer", "Creator", "User"))})
_ON_PROJECT = frozenset(SUBMITTER_ROLES.values())
_ONE = ("user:", "serviceAccount:", "principal:")


@dataclass(frozen=True)
class AccessChange:
    """The change of a member's access, less what other rules tell."""

    member: str
    change: Change
    #: Whether they were a submitter, and whether they are one then.
    was: bool
    stays: bool
    gets: tuple[Grant, ...] = ()
    loses: tuple[Grant, ...] = ()

    @property
    def account(self) -> str:
        return self.member.partition(":")[2]

    @property
    def single(self) -> bool:
        """Tell whether it is a person or an account: the members of a group are not read."""
        return self.member.startswith(_ONE)

    @cached_property
    def jobs(self) -> tuple[VertexJob, ...]:
        known = distinct(self.change.jobs) if self.single else ()
        return tuple(job for job in known if job.user in self._names)

    @cached_property
    def sent(self) -> tuple[str, ...]:
        """The templates that they submitted in the last days."""
        some = self.change.jobs_by_template.items() if self.single else ()
        return tuple(name for name, jobs in some if any(job.user in self._names for job in jobs))

    @cached_property
    def _names(self) -> frozenset[str]:
        """The names that their jobs may have as their user."""
        address = self.account
        short = (address, address.partition("@")[0], last_part(address))
        return frozenset(map(label_value, short)) - {""}

    @property
    def submitters(self) -> str:
        """Return `every submitter`, where their jobs run as the member."""
        return submitting_as(self.change.after, self.account) if self.member.startswith("serviceAccount:") else ""

    @property
    def reads(self) -> str:
        """The secrets that they read then, by acting as an account."""
        places = (grant.place for grant in self.gets if grant.what == "account")
        return next(filter(None, (secrets(self.change.new, place) for place in places)), "")

    @property
    def begins(self) -> bool:
        """Tell whether they become a submitter by grants alone: the components' publication could not be read."""
        return not self.stays and {grant.role for grant in self.gets if grant.ours} >= _TO_SUBMIT

    @property
    def widens(self) -> bool:
        """Tell whether they may do more than before."""
        return any(not any(covers(lost, grant) for lost in self.loses) for grant in self.gets)

    @property
    def crippled(self) -> bool:
        """Tell whether they stay a submitter who can't submit."""
        return self.was and self.stays and bool(_TO_SUBMIT & {grant.role for grant in self.loses})

    @property
    def lapsed(self) -> bool:
        """Tell whether the stack kept the lost roles for jobs that have ended."""
        return all(grant.ours and lapsed(self.change, self.account, grant.role, grant.place) for grant in self.loses)

    @property
    def was_shared(self) -> bool:
        """Tell whether they had the lost roles for another stack's sake alone: dropped before, and no trainer."""
        before = self.change.before
        trainers = (before.catalog.trainer, *before.catalog.trainers.values())
        shared = self.member in before.shared and self.account not in trainers
        return not self.was and shared and all(grant.ours for grant in self.loses)


def access(change: Change) -> Iterator[AccessChange]:
    """Yield those who leave the submitters, those who join, and everybody with other grants."""
    before, after = change.before.people, change.after.people
    gained, lost = _gained_and_lost(change)
    act_no_more = acting(change.before) - acting(change.after)
    gets, loses = (grouped(grants, lambda grant: grant.member) for grants in (gained, lost))
    for member in dict.fromkeys((*before, *after, *loses, *gets)):
        whole = AccessChange(
            member=member,
            change=change,
            was=member in before,
            stays=member in after,
            # The gravest first, so that a headline has it.
            gets=tuple(sorted(gets.get(member, ()), key=above, reverse=True)),
            loses=tuple(loses.get(member, ())),
        )
        yield _less_told(whole, act_no_more)


def usual(grant: Grant) -> bool:
    return grant.ours and grant.role in (_ON_PLACES if grant.place else _ON_PROJECT)


def _gained_and_lost(change: Change) -> tuple[tuple[Grant, ...], tuple[Grant, ...]]:
    if change.preview is not None:
        return change.grants
    before, after = (
        dict.fromkeys(
            Grant(member, role, "the project", ours=True)
            for member in facts.people
            for role in facts.submitters.get(member, SUBMITTER_ROLES).values()
        )
        for facts in (change.before, change.after)
    )
    return tuple(grant for grant in after if grant not in before), tuple(
        grant for grant in before if grant not in after
    )


def _less_told(access: AccessChange, told: frozenset[tuple[str, str]]) -> AccessChange:
    """Drop the grants that other rules report: of a submitter who comes or goes, of a bucket or an account that goes,
    of members who may act as a trainer: `told`."""
    change, member, gets = access.change, access.member, access.gets
    going, accounts = change.going
    loses = tuple(
        grant
        for grant in (() if access.account in accounts else access.loses)
        if grant.place not in going and not (grant.ours and grant.role == ACT_AS and (grant.place, member) in told)
    )
    if access.was or access.stays:
        gained = {grant.role for grant in gets}
        both = access.was and access.stays
        loses = tuple(grant for grant in loses if not grant.ours or (both and grant.role not in gained))
        gets = tuple(grant for grant in gets if not usual(grant))
    elif member.startswith(("serviceAccount:", UNKNOWN)):
        # The trainer's: its reads and writes are those of its buckets; on the project it may get more.
        successors = {grant.role for grant in gets if grant.ours}
        loses = tuple(grant for grant in loses if not (grant.ours and grant.role in successors))
        gets = tuple(grant for grant in gets if not (usual(grant) and grant.place))
    return replace(access, gets=gets, loses=loses)


def teams(change: Change) -> Iterator[Consequence]:
    """Compare the users of each cluster, as far as they may submit before and after."""
    stay = set(change.before.people) & set(change.after.people)
    for cluster in change.new.clusters.keys() & change.old.clusters.keys():
        was, now = (_users(facts, cluster) & stay for facts in (change.before, change.after))
        owners = change.new.owners(cluster)
        for row, members in (("cluster-team-closed", was - now), ("cluster-team-opened", now - was)):
            if members:
                elsewhere = "; ".join(without_cluster(change.new, cluster)) or "no template is for it"
                yield by_row(
                    row,
                    Subject("cluster", cluster),
                    who=named(f"`{member}`" for member in sorted(members)),
                    of=f"of team {named(f'`{owner}`' for owner in owners)}" if owners else "everybody's",
                    elsewhere=elsewhere,
                    field=f"slipway:teams.{owners[0]}.clusters" if owners else "slipway:teams",
                    details=tuple(f"`{member}`" for member in sorted(members)),
                )


def field_of(catalog: Catalog, member: str) -> str:
    """Return the key that lists a submitter as a team's; empty where none does."""
    of = next((name for name, team in catalog.teams.items() if member in team.submitters), "")
    return of and f"slipway:teams.{of}.submitters"


def _users(facts: Facts, cluster: str) -> set[str]:
    owners = facts.catalog.owners(cluster)
    members = {member for owner in owners for member in facts.catalog.teams[owner].submitters}
    return members if owners else set(facts.people)

"""Changes of access: a value for each member, with what they get and lose, and their jobs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from slipway.deploying.deployment.workspace_plan import ACT_AS, SUBMITTER_ROLES
from slipway.deploying.engine.grants import Grant
from slipway.deploying.engine.preview import UNKNOWN
from slipway.reviewing.change.change import Change, grouped
from slipway.reviewing.rules.resources.roles import above
from slipway.reviewing.rules.resources.trainers import acting, submitting_as

EVERYBODY = ("allUsers", "allAuthenticatedUsers")
TO_SUBMIT = frozenset({SUBMITTER_ROLES["submit"], ACT_AS})
_ON_PLACES = frozenset({ACT_AS, *(f"roles/storage.object{suffix}" for suffix in ("Viewer", "Creator", "User"))})


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
    def runs(self) -> str:
        """The submitters or templates whose jobs run as the account; empty for people, and where there are none."""
        return submitting_as(self.change.after, self.account) if self.member.startswith("serviceAccount:") else ""

    @property
    def begins(self) -> bool:
        """Tell whether they become a submitter by grants alone: the components' publication could not be read."""
        return not self.stays and {grant.role for grant in self.gets if grant.ours} >= TO_SUBMIT


def access(change: Change) -> Iterator[AccessChange]:
    """Yield those who leave the submitters, those who join, and everybody with other grants."""
    before, after = change.before.people, change.after.people
    gained, lost = change.grants
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
    return grant.ours and grant.role in (_ON_PLACES if grant.place else SUBMITTER_ROLES.values())


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

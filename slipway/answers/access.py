"""Access: who can do what where, from submitters, teams, service accounts and the program's IAM grants. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain

from slipway.answers.answer import Answer, Difference
from slipway.answers.comparison import DAYS, Comparison, Side
from slipway.answers.job_needs import needs
from slipway.answers.moved_accounts import moved_accounts
from slipway.answers.opened import opened
from slipway.answers.rights import (
    ACCOUNT,
    PUBLIC,
    SUBMITTERS,
    Right,
    created_names,
    domain_of,
    held,
    including,
    is_crowd,
    is_of_submitters,
    shown_member,
    strength,
)
from slipway.base.formatting import counted, few, first_lines, join
from slipway.deploying.deployment.shared_grants import who_needs
from slipway.deploying.engine.grants import Grant
from slipway.deploying.engine.preview import UNKNOWN
from slipway.deploying.engine.touched import Fate
from slipway.google.catalog.lookup import groups_of
from slipway.google.jobs import VertexJob
from slipway.google.live import Unknown
from slipway.model.catalog.model import Catalog, SessionLimits
from slipway.model.facts import Facts
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.labels import CODE_LABEL, SESSION_LABEL, URGENT_LABEL, team_of, user_values

QUESTION = "access"
_MOST_LISTED = 50


@dataclass(frozen=True)
class _Permission:
    """Facts about a right."""

    #: The key of the stack file that grants it; empty for a right that the program grants.
    field: str = ""
    #: Whether every submitter has it, or it adds nothing to what submitters can read.
    is_mild: bool = False
    #: Whether a job of the member on the resource used it.
    is_used: Callable[[VertexJob], bool] = lambda job: True


_SUBMIT = "submit jobs"
_SUBMIT_AS = "submit jobs and run code as it"
_TEAM = "submit for the team"
_CLUSTER = "run jobs on it"
_SESSION = "run on its machines"
_CODE = "run unreviewed code (`--code`)"
_SHELL = "open a shell in job machines (`--shell`)"
_PREEMPT = "preempt running jobs of others"
_BOARD = "see all jobs and costs"
_NOTIFY = "receive job notifications"
_OF_GRANT = _Permission()
_PERMISSIONS: Mapping[str, _Permission] = {
    _SUBMIT: _Permission("slipway:workspace.submitters", True),
    _SUBMIT_AS: _Permission("slipway:trainers"),
    _CLUSTER: _Permission("slipway:teams", True),
    _TEAM: _Permission("slipway:teams", True),
    _SESSION: _Permission("slipway:sessions", True, lambda job: SESSION_LABEL in job.labels),
    _CODE: _Permission("slipway:workspace.code", False, lambda job: CODE_LABEL in job.labels),
    _SHELL: _Permission("slipway:workspace.shell", False, lambda job: job.asks_shell),
    _PREEMPT: _Permission("slipway:workspace.urgent", False, lambda job: URGENT_LABEL in job.labels),
    _BOARD: _Permission("slipway:workspace.board", True, lambda job: False),
    _NOTIFY: _Permission("slipway:workspace.notify", True, lambda job: False),
}
"""The rights that the stack file grants."""
_PLACES = ("team", "cluster", "pool", ACCOUNT, "bucket", "secret")
"""The kinds of resources whose use by a job is known; any other one may be used by each job."""


def answers(comparison: Comparison, side: Side) -> Iterator[Answer]:
    """Answer for each member, right and resource: keys are (member, right, resource), no answer means no right."""
    for right, condition in _rights(comparison, side).items():
        member, action, subject = right
        yield Answer(QUESTION, (member, action, str(subject)), subject, values={"condition": condition})


def _rights(comparison: Comparison, side: Side) -> Mapping[Right, str]:
    """Return the rights on one side, each with its condition; those of the other side that wider ones include, too."""
    before = _own_rights(comparison, Side.BEFORE)
    after = _own_rights(comparison, Side.AFTER)
    found = before if side is Side.BEFORE else after
    return including(found, (*before, *after), comparison.new.project)


def _own_rights(comparison: Comparison, side: Side) -> dict[Right, str]:
    facts = comparison.before if side is Side.BEFORE else comparison.after
    declared = (
        *_submitters(comparison, facts),
        *_teams(comparison, facts.catalog),
        *_sessions(comparison, facts),
        *_switches(comparison, facts),
        *_code(facts),
    )
    return {**_by_grants(comparison, side), **dict.fromkeys(declared, "")}


def _submitters(comparison: Comparison, facts: Facts) -> Iterator[Right]:
    """Yield who can submit, and as which service account."""
    for member in facts.submitters:
        yield member, _SUBMIT, Subject("workspace", comparison.stack)
    for trainer in facts.trainers.values():
        for member in trainer.submitters:
            yield member, _SUBMIT_AS, Subject(ACCOUNT, trainer.account)


def _teams(comparison: Comparison, catalog: Catalog) -> Iterator[Right]:
    """Yield who is in the teams of both sides, and who can use the clusters of both sides."""
    people = {*comparison.before.people} & {*comparison.after.people}
    for team in sorted(comparison.old.teams.keys() & comparison.new.teams.keys()):
        for member in sorted(people.intersection(catalog.teams[team].submitters)):
            yield member, _TEAM, Subject("team", team)
    for name in sorted(comparison.old.clusters.keys() & comparison.new.clusters.keys()):
        for team in catalog.owners(name):
            yield f"team {team}", _CLUSTER, Subject("cluster", name)
        if not catalog.owners(name) or _is_for_labeled_templates(catalog, name):
            yield SUBMITTERS, _CLUSTER, Subject("cluster", name)


def _is_for_labeled_templates(catalog: Catalog, cluster: str) -> bool:
    """Return whether all templates that can run on a cluster count for one of its teams, whoever submits them."""
    owners = catalog.owners(cluster)
    offers = chain.from_iterable(template.offers for template in catalog.templates.values())
    teams = {team_of(offer.labels) for offer in offers if offer.cluster == cluster}
    return bool(teams) and teams.issubset(owners)


def _sessions(comparison: Comparison, facts: Facts) -> Iterator[Right]:
    """Yield which pools of both sides sessions can use; none if sessions are possible on one side at most."""
    if not (_permits_sessions(comparison.before) and _permits_sessions(comparison.after)):
        return
    catalog = facts.catalog
    pools = _pools(comparison.old) & _pools(comparison.new)
    limits = catalog.sessions or SessionLimits()
    if limits.pools is not None:
        pools = pools.intersection(limits.pools)
    for pool in sorted(pools):
        yield "sessions", _SESSION, Subject("pool", pool)


def _permits_sessions(facts: Facts) -> bool:
    """Return whether people may run code of their own, which sessions do."""
    return facts.code and any(template.takes_code for template in facts.catalog.templates.values())


def _pools(catalog: Catalog) -> set[str]:
    names: set[str] = set()
    for cluster in catalog.clusters.values():
        names.update(f"{cluster.name}/{pool.name}" for pool in cluster.pools)
    return names


def _switches(comparison: Comparison, facts: Facts) -> Iterator[Right]:
    """Yield the rights that a setting of the workspace gives."""
    catalog = facts.catalog
    workspace = Subject("workspace", comparison.stack)
    for member in catalog.urgent or ():
        yield member, _PREEMPT, workspace
    switches = {
        (SUBMITTERS, _SHELL): catalog.shell,
        ("readers of the catalog bucket", _BOARD): catalog.board,
        (f"the receiver in secret `{(catalog.notify or '').partition('/versions/')[0]}`", _NOTIFY): catalog.notify,
    }
    for (member, right), is_on in switches.items():
        if is_on:
            yield member, right, workspace


def _code(facts: Facts) -> Iterator[Right]:
    """Yield the service accounts that a submitter's own code can run as."""
    if not facts.code:
        return
    for template in facts.catalog.templates.values():
        if template.takes_code:
            for offer in template.offers:
                account = offer.spec.get("serviceAccount") or facts.catalog.trainer
                yield SUBMITTERS, _CODE, Subject(ACCOUNT, str(account))


def _by_grants(comparison: Comparison, side: Side) -> Mapping[Right, str]:
    leaving = (Fate.DELETED, Fate.REPLACED, Fate.FORGOTTEN)
    removed = {touched.physical for touched in comparison.touched if touched.fate in leaving}
    declared = {*_declared_members(comparison.before), *_declared_members(comparison.after)}
    # Of those who remain submitters, the roles on the project are compared.
    remaining = {*comparison.before.people} & {*comparison.after.people}

    def is_wanted(grant: Grant) -> bool:
        followed = declared if grant.what else declared - remaining
        is_followed = grant.member in followed or grant.member.startswith(UNKNOWN)
        is_gone = not removed.isdisjoint((grant.place, grant.member.partition(":")[2]))
        return not is_gone and not (grant.ours and is_followed)

    return held(comparison, side, is_wanted)


def _declared_members(facts: Facts) -> Iterator[str]:
    """Yield the members whose grants by the workspace follow from the stack file, which is compared."""
    yield from facts.people
    yield from facts.shared
    for account in (*facts.kept, facts.catalog.trainer, *facts.catalog.trainers.values()):
        yield f"serviceAccount:{account}"


@dataclass(frozen=True)
class _Context:
    """Facts that all changes of access are compared with."""

    comparison: Comparison
    #: Names of resources that the change creates.
    created: frozenset[str]
    #: The domains of the deployed stack's submitters, each after a dot.
    domains: tuple[str, ...]
    #: The user labels of jobs that listed people and accounts submit.
    users: frozenset[str]
    #: The rights after the change.
    after: frozenset[Right]
    #: The rights on both sides.
    kept: frozenset[Right]


@dataclass(frozen=True)
class _Change:
    """A right that a member gets or loses."""

    context: _Context
    difference: Difference
    member: str
    right: str

    @property
    def comparison(self) -> Comparison:
        return self.context.comparison

    @property
    def subject(self) -> Subject:
        return self.difference.subject

    @property
    def permission(self) -> _Permission:
        return _PERMISSIONS.get(self.right, _OF_GRANT)

    @property
    def conditions(self) -> list[str]:
        """The conditions of the right on the sides that have it."""
        sides = filter(None, (self.difference.before, self.difference.after))
        return [str(side.values["condition"]) for side in sides]

    @property
    def condition(self) -> str:
        """The condition on each side that has the right, such as (condition `none` → `night`)."""
        shown = " → ".join(f"`{condition or 'none'}`" for condition in self.conditions)
        return f" (condition {shown})" if any(self.conditions) else ""

    @property
    def is_loss(self) -> bool:
        if self.difference.is_new:
            return False
        return self.difference.is_removed or bool(self.conditions[-1])

    @property
    def is_move(self) -> bool:
        """Return whether the member leaves one team for another one."""
        old = {*groups_of(self.comparison.old, [self.member])}
        new = {*groups_of(self.comparison.new, [self.member])}
        return self.right == _TEAM and bool(old - new) and bool(new - old)

    @property
    def is_foreign(self) -> bool:
        """Return whether a person is of no domain of the deployed stack's submitters."""
        domain = domain_of(self.member)
        if not domain or not self.context.domains:
            return False
        return not f".{domain}".endswith(self.context.domains)

    @property
    def is_mild(self) -> bool:
        """Return whether a submitter has the right anyway, or the resource is created empty by this change."""
        if self.right == _SUBMIT_AS:
            before = self.comparison.before
            existing = {trainer.account for trainer in before.trainers.values()} | self.comparison.after.adopted
            return self.subject.name not in {before.catalog.trainer, *existing}
        is_created = self.subject.what.startswith("new ") or self.subject.name in self.context.created
        return is_created or self.permission.is_mild or is_of_submitters(self.right, self.subject, self.comparison)

    @cached_property
    def grade(self) -> Grade:
        if self.uses:
            return Grade.BLOCKING
        if self.is_loss:
            return Grade.NOTE if self.member in PUBLIC else Grade.WARNING
        if is_crowd(self.member) or self.is_foreign:
            return Grade.BLOCKING
        if self.comparison.first and self.permission.field:
            return Grade.NOTE
        return Grade.WARNING if self.is_mild else Grade.BLOCKING

    @cached_property
    def uses(self) -> tuple[VertexJob, ...]:
        """The jobs of the last days that used a right which is lost."""
        if not self.is_loss or self.member in PUBLIC:
            return ()
        recent = filter(self.permission.is_used, self.comparison.world.recent)
        return tuple(job for job in recent if self._is_by_member(job) and self._is_on_subject(job))

    def _is_by_member(self, job: VertexJob) -> bool:
        if ":" not in self.member or self.member == f"serviceAccount:{job.service_account}":
            return True
        if not self.member.startswith("group:"):
            return job.user in user_values(self.member)
        # A group's jobs are its team's, of users that no list names.
        teams = groups_of(self.comparison.old, [self.member])
        return job.team in (*teams, "") and job.user not in self.context.users

    def _is_on_subject(self, job: VertexJob) -> bool:
        if self.right == _CLUSTER and self._has_other_team(job):
            return False
        places = _places(self.comparison, job)
        return self.subject in places or self.subject.what not in _PLACES

    def _has_other_team(self, job: VertexJob) -> bool:
        """Return whether a job's team or user can still use the cluster."""
        owners = self.comparison.new.owners(self.subject.name)
        users = [_users(self.comparison.new.teams[team].submitters) for team in owners]
        return job.team in owners or job.user in frozenset[str]().union(*users)

    @property
    def rank(self) -> tuple[int, int, int, int]:
        """Sort key: the worst change is first."""
        return (-self.grade, -len(self.uses), -int(self.member in PUBLIC), -strength(self.right))


def _users(members: Iterable[str]) -> frozenset[str]:
    """Return the user labels of jobs that listed people and accounts submit."""
    return frozenset[str]().union(*map(user_values, members))


def _places(comparison: Comparison, job: VertexJob) -> set[Subject]:
    """Return the team, cluster, pools, account, buckets and secrets that a job uses."""
    places = {Subject("team", job.team), *needs(comparison, job)}
    cluster = comparison.old.cluster_named(job.persistent_resource_id)
    if cluster is not None:
        places.add(Subject("cluster", cluster.name))
        places.update(Subject("pool", f"{cluster.name}/{pool.name}") for pool in cluster.pools)
    return places


def findings(comparison: Comparison, differences: Iterable[Difference]) -> Iterator[Finding]:
    people = comparison.before.people
    domains = tuple(f".{domain}" for domain in filter(None, map(domain_of, people)))
    after = frozenset(_rights(comparison, Side.AFTER))
    kept = after & frozenset(_rights(comparison, Side.BEFORE))
    context = _Context(comparison, created_names(comparison), domains, _users(people), after, kept)
    grouped: dict[tuple[Subject, bool], list[_Change]] = {}
    for difference in differences:
        for member, right, _ in difference.keys:
            change = _Change(context, difference, member, right)
            if change.uses or not change.is_move:
                grouped.setdefault((change.subject, change.is_loss), []).append(change)
    for (_, is_loss), changes in grouped.items():
        changes.sort(key=lambda change: change.rank)
        yield _loss(changes) if is_loss else _gain(changes)
    yield from opened(comparison)
    yield from moved_accounts(comparison)


def _gain(changes: list[_Change]) -> Finding:
    """Return the finding of rights on one resource, the worst first."""
    member = changes[0].member
    sentence = f"{_members(changes)} can now {_strongest(changes)}"
    if member in PUBLIC:
        sentence += "; where public access prevention is enforced, deploying fails"
    fix = f"list a group instead of `{member}`" if is_crowd(member) else ""
    return _finding("access-gained", changes, sentence, fix)


def _loss(changes: list[_Change]) -> Finding:
    """Return the finding of lost rights on one resource, the worst first."""
    worst = changes[0]
    world = worst.comparison.world
    named: dict[str, VertexJob] = {}
    for change in changes:
        named.update((job.name, job) for job in change.uses)
    users = sorted({f"`{job.user}`" for job in named.values()})
    sentence = f"{_members(changes)} can no longer {_strongest(changes)}{_still(worst)}"
    fix = ""
    if named:
        sentence += f": {counted(len(named), 'submission')} by {few(users)} in the last {DAYS} days"
        fix = "keep the access, or ask these users first"
    elif isinstance(world.live.recent, Unknown):
        sentence += f"; use in the last {DAYS} days is unknown"
    stays = list(_shared_roles(changes))
    if stays:
        sentence = f"{sentence}; {stays[0]}"
    found = _finding("access-lost", changes, sentence, fix)
    listed = (f"`{job.display_name}` ({job.owner_and_age(world.now)})" for job in named.values())
    return replace(found, details=(*found.details, *stays[1:], *first_lines(listed, _MOST_LISTED)))


def _shared_roles(changes: list[_Change]) -> Iterator[str]:
    """Yield the members whose roles in the project stay, as other stacks need them."""
    shared = changes[0].comparison.after.shared
    for member in dict.fromkeys(change.member for change in changes if change.right == _SUBMIT):
        if shared.get(member):
            yield f"{shown_member(member)} keeps roles in the project, as {who_needs(shared[member])} them"
        elif member in shared:
            yield f"{shown_member(member)} keeps roles in the project, as it is unknown whether others need them"


def _still(change: _Change) -> str:
    """Return who has the right, as the end of a sentence: a member of a listed group or team has lost nothing."""
    if change.right == _CLUSTER:
        teams = _groups(change, change.context.after)
        return f", only {few(teams)} can" if teams else ""
    groups = _groups(change, change.context.kept)
    return f" unless in {few(groups)}" if groups else ""


def _groups(change: _Change, rights: Iterable[Right]) -> list[str]:
    """Return the groups and teams that have the right on the same resource."""
    same = [right[0] for right in sorted(rights) if right[1:] == (change.right, change.subject)]
    return [shown_member(member) for member in same if member.startswith(("group:", "team "))]


def _finding(kind: str, changes: list[_Change], sentence: str, fix: str) -> Finding:
    worst = changes[0]
    members = list(dict.fromkeys(change.member for change in changes))
    field = worst.permission.field
    found = KINDS[kind].of(worst.subject, sentence, fix, grade=worst.grade, field=field, members=members)
    details = [f"{shown_member(change.member)}: {change.right}{change.condition}" for change in changes]
    return replace(found, details=tuple(first_lines(details, _MOST_LISTED)) if len(details) > 1 else ())


def _members(changes: list[_Change]) -> str:
    """Return the member of the worst change with the number of others who have its right; the details list them."""
    others = len(_sharing(changes)) - 1
    name = shown_member(changes[0].member)
    return f"{name} (and {others} more)" if others else name


def _sharing(changes: list[_Change]) -> set[str]:
    """Return the members of the changes that are about the right of the worst one."""
    return {change.member for change in changes if change.right == changes[0].right}


def _strongest(changes: list[_Change]) -> str:
    """Return the two strongest rights of the first member, as far as all members in the sentence have them."""
    sharing = _sharing(changes)
    rights = []
    for right in dict.fromkeys(change.right for change in changes if change.member == changes[0].member):
        if sharing <= {change.member for change in changes if change.right == right}:
            rights.append(right)
    return f"{join(rights[:2])}{changes[0].condition}"

"""Access: who can do what where, from submitters, teams, service accounts and the program's IAM grants. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from slipway.answers.answer import Answer, Difference
from slipway.answers.comparison import DAYS, Comparison, Side
from slipway.answers.opened import opened
from slipway.answers.rights import (
    ACCOUNT,
    PUBLIC,
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
from slipway.deploying.engine.grants import Grant
from slipway.deploying.engine.touched import Fate
from slipway.google.catalog.lookup import groups_of
from slipway.google.jobs import VertexJob
from slipway.google.live import Unknown
from slipway.model.catalog.model import Catalog
from slipway.model.facts import Facts
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.labels import CODE_LABEL, SESSION_LABEL, URGENT_LABEL, user_values

QUESTION = "access"
_MOST_LISTED = 50
_SUBMITTERS, _OTHERS = "submitters", "submitters without a team"


@dataclass(frozen=True)
class _Permission:
    """Facts about a right."""

    #: The key of the stack file that grants it; empty for a right that the program grants.
    field: str = ""
    #: Whether every submitter has it, or it adds nothing to what submitters can read.
    is_mild: bool = False
    #: Whether a job of the member on the resource used it.
    is_used: Callable[[VertexJob], bool] = lambda job: True


_SUBMIT, _SUBMIT_AS, _TEAM = "submit jobs", "submit jobs and run code as it", "submit for the team"
_CLUSTER, _SESSION = "run jobs on it", "run on its machines"
_CODE, _SHELL = "run unreviewed code (`--code`)", "open a shell in job machines (`--shell`)"
_PREEMPT, _BOARD, _NOTIFY = "preempt running jobs of others", "see all jobs and costs", "receive job notifications"
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
        *_sessions(comparison, facts.catalog),
        *_switches(comparison, facts),
    )
    return {**_by_grants(comparison, side), **dict.fromkeys(declared, "")}


def _submitters(comparison: Comparison, facts: Facts) -> Iterator[Right]:
    """Yield who can submit as which service account. An account under the same name or address is the same."""
    for member in facts.submitters:
        yield member, _SUBMIT, Subject("workspace", comparison.stack)
    names = comparison.before.trainers.keys() & comparison.after.trainers.keys()
    for name, trainer in facts.trainers.items():
        subject = Subject(ACCOUNT, name if name in names else trainer.account)
        for member in trainer.submitters:
            yield member, _SUBMIT_AS, subject


def _teams(comparison: Comparison, catalog: Catalog) -> Iterator[Right]:
    """Yield who is in the teams of both sides, and which of these teams can use the clusters of both sides."""
    teams = sorted(comparison.old.teams.keys() & comparison.new.teams.keys())
    people = {*comparison.before.people} & {*comparison.after.people}
    for team in teams:
        for member in sorted(people.intersection(catalog.teams[team].submitters)):
            yield member, _TEAM, Subject("team", team)
    everyone = [f"team {team}" for team in teams]
    if not all(groups_of(comparison.old, [member]) for member in people) or not teams:
        everyone.append(_OTHERS)
    for name in sorted(comparison.old.clusters.keys() & comparison.new.clusters.keys()):
        owners = {f"team {team}" for team in catalog.owners(name)} or everyone
        for user in everyone:
            if user in owners:
                yield user, _CLUSTER, Subject("cluster", name)


def _sessions(comparison: Comparison, catalog: Catalog) -> Iterator[Right]:
    """Yield which pools of both sides sessions can use."""
    for pool in sorted(_pools(comparison.old) & _pools(comparison.new)):
        if catalog.sessions is None or catalog.sessions.pools is None or pool in catalog.sessions.pools:
            yield "sessions", _SESSION, Subject("pool", pool)


def _pools(catalog: Catalog) -> set[str]:
    """Return the pools that a session could use: of a stack whose templates run users' own code."""
    names: set[str] = set()
    if any(template.takes_code for template in catalog.templates.values()):
        for cluster in catalog.clusters.values():
            names.update(f"{cluster.name}/{pool.name}" for pool in cluster.pools)
    return names


def _switches(comparison: Comparison, facts: Facts) -> Iterator[Right]:
    """Yield the rights that a setting of the workspace gives."""
    catalog = facts.catalog
    workspace = Subject("workspace", comparison.stack)
    for account in sorted(_accounts_with_code(facts)):
        yield _SUBMITTERS, _CODE, Subject(ACCOUNT, account)
    for member in catalog.urgent or ():
        yield member, _PREEMPT, workspace
    if catalog.shell:
        yield _SUBMITTERS, _SHELL, workspace
    if catalog.board:
        yield "readers of the catalog bucket", _BOARD, workspace
    if catalog.notify:
        yield f"the receiver in secret `{catalog.notify.partition('/versions/')[0]}`", _NOTIFY, workspace


def _accounts_with_code(facts: Facts) -> set[str]:
    """Return the service accounts that a submitter's own code can run as."""
    accounts: set[str] = set()
    for template in facts.catalog.templates.values():
        if facts.code and template.takes_code:
            accounts.update(str(offer.spec.get("serviceAccount") or facts.catalog.trainer) for offer in template.offers)
    return accounts


def _by_grants(comparison: Comparison, side: Side) -> Mapping[Right, str]:
    leaving = (Fate.DELETED, Fate.REPLACED, Fate.FORGOTTEN)
    gone = {touched.physical for touched in comparison.touched if touched.fate in leaving}

    def is_wanted(grant: Grant) -> bool:
        # The workspace's own grants follow from the stack file.
        return not grant.ours and gone.isdisjoint((grant.place, grant.member.partition(":")[2]))

    return held(comparison, side, is_wanted)


@dataclass(frozen=True)
class _Context:
    """Facts that all changes of access are compared with."""

    comparison: Comparison
    #: Names of resources that the change creates.
    created: frozenset[str]
    #: The domains of the deployed stack's submitters.
    domains: frozenset[str]
    #: The user labels of jobs that listed people and accounts submit.
    users: frozenset[str]
    #: The rights after the change.
    after: Iterable[Right]


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
    def words(self) -> str:
        """The right with its condition, such as read objects (condition `none` → `night`)."""
        conditions = self.conditions
        shown = " → ".join(f"`{condition or 'none'}`" for condition in conditions)
        return f"{self.right} (condition {shown})" if any(conditions) else self.right

    @property
    def is_loss(self) -> bool:
        is_changed = not self.difference.is_new
        return self.difference.is_removed or (is_changed and bool(self.conditions[-1]))

    @property
    def is_move(self) -> bool:
        """Whether the member leaves one team for another one."""
        old = {*groups_of(self.comparison.old, [self.member])}
        new = {*groups_of(self.comparison.new, [self.member])}
        return self.right == _TEAM and bool(old - new) and bool(new - old)

    @property
    def is_foreign(self) -> bool:
        """Whether a person is of no domain of the deployed stack's submitters."""
        domain = domain_of(self.member)
        known = [each for each in self.context.domains if f".{domain}".endswith(f".{each}")]
        return bool(domain and self.context.domains) and not known

    @property
    def account(self) -> str:
        """The address of the subject, if it is a service account."""
        facts = self.comparison.before if self.is_loss else self.comparison.after
        trainer = facts.trainers.get(self.subject.name)
        return trainer.account if trainer else self.subject.name

    @property
    def is_mild(self) -> bool:
        """Whether a submitter has the right anyway, or the resource is created empty by this change."""
        if self.right == _SUBMIT_AS:
            before = self.comparison.before
            existing = {trainer.account for trainer in before.trainers.values()} | self.comparison.after.adopted
            return self.account not in {before.catalog.trainer, *existing}
        is_created = self.subject.what.startswith("new ") or self.subject.name in self.context.created
        return (
            is_created or self.permission.is_mild or is_of_submitters(self.right, self.subject, self.comparison)
        )

    @cached_property
    def grade(self) -> Grade:
        if self.is_loss:
            return Grade.BLOCKING if self.uses else Grade.WARNING
        if is_crowd(self.member) or self.is_foreign:
            return Grade.BLOCKING
        if self.comparison.first and self.permission.field:
            return Grade.NOTE
        return Grade.WARNING if self.is_mild else Grade.BLOCKING

    @cached_property
    def uses(self) -> tuple[VertexJob, ...]:
        """The jobs of the last days that used a right which is lost."""
        if not self.is_loss:
            return ()
        recent = filter(self.permission.is_used, self.comparison.world.recent)
        return tuple(job for job in recent if self._is_by_member(job) and self._is_on_subject(job))

    def _is_by_member(self, job: VertexJob) -> bool:
        if self.subject.what == "cluster":
            return self._is_shut_out(job)
        if ":" not in self.member:
            return True
        if not self.member.startswith("group:"):
            return self.member == f"serviceAccount:{job.service_account}" or job.user in user_values(self.member)
        # A group's jobs are its team's, of users that no list names.
        teams = groups_of(self.comparison.old, [self.member])
        return job.team in (*teams, "") and job.user not in self.context.users

    def _is_shut_out(self, job: VertexJob) -> bool:
        """Return whether a job is the team's, and its user is in no team that can still use the cluster."""
        catalog = self.comparison.new
        listed: list[str] = []
        for team in catalog.owners(self.subject.name):
            listed += catalog.teams[team].submitters
        team = f"team {job.team}" if job.team in self.comparison.old.teams else _OTHERS
        return self.member == team and job.user not in _users(listed)

    def _is_on_subject(self, job: VertexJob) -> bool:
        name = self.subject.name
        cluster = self.comparison.old.clusters.get(self.subject.cluster)
        environment = " ".join(variable for pool in job.worker_pools for variable in pool.env)
        is_own = self.member == f"serviceAccount:{job.service_account}"
        used = {
            "cluster": cluster is not None and job.persistent_resource_id == cluster.id,
            "pool": cluster is not None and job.persistent_resource_id == cluster.id,
            "team": job.team == name,
            "bucket": name in job.buckets,
            "secret": f"/secrets/{name}/" in environment,
            ACCOUNT: is_own or job.service_account == self.account,
        }
        return used.get(self.subject.what, True)

    @property
    def rank(self) -> tuple[int, int, int, int]:
        """Sort key: the worst change is first."""
        return (-self.grade, -len(self.uses), -int(self.member in PUBLIC), -strength(self.right))


def _users(members: Iterable[str]) -> frozenset[str]:
    """Return the user labels of jobs that listed people and accounts submit."""
    return frozenset[str]().union(*map(user_values, members))


def findings(comparison: Comparison, differences: Iterable[Difference]) -> Iterator[Finding]:
    people = comparison.before.people
    domains = frozenset(filter(None, map(domain_of, people)))
    after = _rights(comparison, Side.AFTER)
    context = _Context(comparison, created_names(comparison), domains, _users(people), after)
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
    named = {job.name: job for change in changes for job in change.uses}
    users = sorted({f"`{job.user}`" for job in named.values()})
    sentence = f"{_members(changes)} can no longer {_strongest(changes)}{_still(worst)}"
    fix = ""
    if named:
        sentence += f": {counted(len(named), 'submission')} by {few(users)} in the last {DAYS} days"
        fix = "keep the access, or ask these users first"
    elif isinstance(world.live.recent, Unknown):
        sentence += f"; use in the last {DAYS} days is unknown"
    found = _finding("access-lost", changes, sentence, fix)
    listed = (f"`{job.display_name}` ({job.owner_and_age(world.now)})" for job in named.values())
    return replace(found, details=(*found.details, *first_lines(listed, _MOST_LISTED)))


def _still(change: _Change) -> str:
    """Return the groups and teams that keep the right, as the end of a sentence: the member may belong to one."""
    kept = []
    for member, right, subject in change.context.after:
        is_same = (right, subject) == (change.right, change.subject)
        if is_same and member.startswith(("group:", "team ")):
            kept.append(shown_member(member))
    return f" (still can: {few(kept)})" if kept else ""


def _finding(kind: str, changes: list[_Change], sentence: str, fix: str) -> Finding:
    worst = changes[0]
    members = list(dict.fromkeys(change.member for change in changes))
    field = worst.permission.field
    found = KINDS[kind].of(worst.subject, sentence, fix, grade=worst.grade, field=field, members=members)
    details = [f"{shown_member(change.member)}: {change.words}" for change in changes]
    return replace(found, details=tuple(first_lines(details, _MOST_LISTED)) if len(details) > 1 else ())


def _members(changes: list[_Change]) -> str:
    """Return the member of the worst change with the number of others, whom the details list."""
    others = len({change.member for change in changes}) - 1
    name = shown_member(changes[0].member)
    return f"{name} (and {others} more)" if others else name


def _strongest(changes: list[_Change]) -> str:
    """Return the two strongest rights of the first member."""
    return join(list(dict.fromkeys(change.words for change in changes if change.member == changes[0].member))[:2])

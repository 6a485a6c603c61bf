"""Access: who can do what where, from submitters, teams, service accounts and the program's IAM grants. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from slipway.answers.answer import Answer, Difference, State
from slipway.answers.comparison import DAYS, Comparison, Side
from slipway.answers.opened import opened
from slipway.answers.rights import (
    ACCOUNT,
    PUBLIC,
    SUBMIT,
    created_names,
    domain_of,
    held,
    is_crowd,
    is_of_submitters,
    shown_member,
    strength,
)
from slipway.base.formatting import counted, few, first_lines, join
from slipway.deploying.engine.events import unopened
from slipway.deploying.engine.grants import Grant
from slipway.deploying.engine.preview import UNKNOWN
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
_SUBMIT, _SUBMIT_AS, _TEAM = "submit jobs", "submit jobs and run code as it", "submit for the team"
_CLUSTER, _SESSION = "run jobs on it", "run on its machines"
_CODE, _SHELL = "run unreviewed code (`--code`)", "open a shell in job machines (`--shell`)"
_PREEMPT, _BOARD, _NOTIFY = "preempt running jobs of others", "see all jobs and costs", "receive job notifications"
_MILD = (_SUBMIT, _CLUSTER, _TEAM, _BOARD, _NOTIFY, _SESSION)
"""Rights that every submitter has, or that add nothing to what submitters can read."""
_MOST_LISTED = 50
_SERVICE_ACCOUNT = "serviceAccount:{}"
_SUBMITTERS, _OTHERS = "submitters", "submitters without a team"
_FIELDS = {
    _SUBMIT: "slipway:workspace.submitters",
    _SUBMIT_AS: "slipway:trainers",
    _CLUSTER: "slipway:teams",
    _TEAM: "slipway:teams",
    _CODE: "slipway:workspace.code",
    _SHELL: "slipway:workspace.shell",
    _PREEMPT: "slipway:workspace.urgent",
    _BOARD: "slipway:workspace.board",
    _NOTIFY: "slipway:workspace.notify",
    _SESSION: "slipway:sessions",
}
"""By a right, the key of the stack file that grants it. The program grants the others."""


def answers(comparison: Comparison, side: Side) -> Iterator[Answer]:
    """Answer for each member, right and resource: keys are (member, right, resource), no answer means no right."""
    facts = comparison.before if side is Side.BEFORE else comparison.after
    catalog = facts.catalog
    workspace = Subject("workspace", comparison.stack)
    yield from _submitters(comparison, facts)
    yield from _teams(comparison, catalog)
    yield from _sessions(comparison, catalog)
    for account in sorted(_accounts_with_code(facts)):
        yield _answer(_SUBMITTERS, _CODE, Subject(ACCOUNT, account))
    for member in catalog.urgent or ():
        yield _answer(member, _PREEMPT, workspace)
    if catalog.shell:
        yield _answer(_SUBMITTERS, _SHELL, workspace)
    if catalog.board:
        yield _answer("readers of the catalog bucket", _BOARD, workspace)
    if catalog.notify:
        yield _answer(f"the receiver in secret `{catalog.notify.partition('/versions/')[0]}`", _NOTIFY, workspace)
    yield from _by_grants(comparison, side)


def _answer(member: str, right: str, subject: Subject, state: State = State.YES, **values: str) -> Answer:
    return Answer(QUESTION, (member, right, str(subject)), subject, state, values=values)


def _allowed(member: str, right: str, subject: Subject, is_allowed: bool) -> Answer:
    return _answer(member, right, subject, State.YES if is_allowed else State.NO)


def _submitters(comparison: Comparison, facts: Facts) -> Iterator[Answer]:
    """Answer who can submit as which service account. An account under the same name or address is the same."""
    for member in _with_included(facts.submitters, comparison):
        yield _answer(member, _SUBMIT, Subject("workspace", comparison.stack))
    names = comparison.before.trainers.keys() & comparison.after.trainers.keys()
    for name, trainer in facts.trainers.items():
        subject = Subject(ACCOUNT, name if name in names else trainer.account)
        for member in _with_included(trainer.submitters, comparison):
            yield _answer(member, _SUBMIT_AS, subject, account=trainer.account)


def _with_included(listed: Iterable[str], comparison: Comparison) -> tuple[str, ...]:
    """Return listed members, and users of either side whose domain is listed."""
    members = tuple(listed)
    people = dict.fromkeys((*comparison.before.people, *comparison.after.people))
    users = [member for member in people if member.startswith("user:") and member not in members]
    return (*members, *(user for user in users if f"domain:{domain_of(user)}" in members))


def _teams(comparison: Comparison, catalog: Catalog) -> Iterator[Answer]:
    """Answer who is in the teams of both sides, and which of these teams can use the clusters of both sides."""
    teams = sorted(comparison.old.teams.keys() & comparison.new.teams.keys())
    people = [member for member in comparison.before.people if member in comparison.after.people]
    for team in teams:
        for member in people:
            yield _allowed(member, _TEAM, Subject("team", team), member in catalog.teams[team].submitters)
    without_team = any(not groups_of(comparison.old, [member]) for member in people)
    users = [f"team {team}" for team in teams]
    if without_team or not teams:
        users.append(_OTHERS)
    for name in sorted(comparison.old.clusters.keys() & comparison.new.clusters.keys()):
        owners = [f"team {team}" for team in catalog.owners(name)]
        for user in users:
            yield _allowed(user, _CLUSTER, Subject("cluster", name), user in (owners or users))


def _sessions(comparison: Comparison, catalog: Catalog) -> Iterator[Answer]:
    """Answer which pools of both sides sessions can use."""
    for pool in sorted(_pools(comparison.old) & _pools(comparison.new)):
        listed = catalog.sessions.pools if catalog.sessions else None
        yield _allowed("sessions", _SESSION, Subject("pool", pool), listed is None or pool in listed)


def _pools(catalog: Catalog) -> set[str]:
    """Return the pools that a session could use: of a stack whose templates run users' own code."""
    names: set[str] = set()
    if any(template.takes_code for template in catalog.templates.values()):
        for cluster in catalog.clusters.values():
            names.update(f"{cluster.name}/{pool.name}" for pool in cluster.pools)
    return names


def _accounts_with_code(facts: Facts) -> set[str]:
    """Return the service accounts that a submitter's own code can run as."""
    accounts: set[str] = set()
    for template in facts.catalog.templates.values():
        if facts.code and template.takes_code:
            accounts.update(str(offer.spec.get("serviceAccount") or facts.catalog.trainer) for offer in template.offers)
    return accounts


def _by_grants(comparison: Comparison, side: Side) -> Iterator[Answer]:
    leaving = (Fate.DELETED, Fate.REPLACED, Fate.FORGOTTEN)
    gone = {touched.physical for touched in comparison.touched if touched.fate in leaving}
    declared = _declared_members(comparison)
    remaining = {*comparison.before.people} & {*comparison.after.people}

    def is_wanted(grant: Grant) -> bool:
        # Of those who remain submitters, the roles on the project are compared.
        is_submitter = grant.member in remaining and not grant.what
        is_declared = grant.member.startswith(UNKNOWN) or (grant.member in declared and not is_submitter)
        return not (grant.ours and is_declared) and not {grant.place, grant.member.partition(":")[2]} & gone

    for (member, right, subject), condition in held(comparison, side, is_wanted).items():
        yield _answer(member, right, subject, condition=condition)


def _declared_members(comparison: Comparison) -> set[str]:
    """Return the members whose grants by the workspace follow from the stack file, which is compared."""
    members: set[str] = set()
    for facts in (comparison.before, comparison.after):
        members.update(facts.people, facts.shared, map(_SERVICE_ACCOUNT.format, facts.kept), _trainers(facts.catalog))
    return members


def _trainers(catalog: Catalog) -> set[str]:
    """Return the service accounts that jobs run as, as members."""
    return set(map(_SERVICE_ACCOUNT.format, (catalog.trainer, *catalog.trainers.values())))


def _users(members: Iterable[str]) -> frozenset[str]:
    """Return the user labels of jobs that listed people and accounts submit."""
    return frozenset[str]().union(*map(user_values, members))


@dataclass(frozen=True)
class _Known:
    """What all changes of access are compared with, computed once."""

    comparison: Comparison

    @cached_property
    def created(self) -> frozenset[str]:
        return created_names(self.comparison)

    @cached_property
    def domains(self) -> frozenset[str]:
        """The domains of the deployed stack's submitters."""
        return frozenset(filter(None, map(domain_of, self.comparison.before.people)))

    @cached_property
    def users(self) -> frozenset[str]:
        return _users(self.comparison.before.people)


@dataclass(frozen=True)
class _Change:
    """A right that a member gets or loses."""

    known: _Known
    difference: Difference
    member: str
    right: str

    @property
    def comparison(self) -> Comparison:
        return self.known.comparison

    @property
    def subject(self) -> Subject:
        return self.difference.subject

    def value(self, name: str) -> str:
        """Return a value of the answer after the change; empty without one."""
        return str(self.difference.after.values.get(name, "")) if self.difference.after else ""

    @property
    def is_loss(self) -> bool:
        is_limited = "condition" in self.difference.changed and bool(self.value("condition"))
        return self.difference.is_removed or self.difference.becomes_rejected or is_limited

    @property
    def words(self) -> str:
        """The right with its condition, such as read objects (condition `none` → `night`)."""
        return f"{self.right}{self.condition}"

    @property
    def condition(self) -> str:
        after = self.value("condition")
        if self.difference.is_new and after:
            return f" under condition `{after}`"
        if "condition" not in self.difference.changed or self.difference.before is None or self.difference.is_removed:
            return ""
        before = self.difference.before.values["condition"]
        return f" (condition `{before or 'none'}` → `{after or 'none'}`)"

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
        if not domain or not self.known.domains:
            return False
        return not any(f".{domain}".endswith(f".{known}") for known in self.known.domains)

    @property
    def is_mild(self) -> bool:
        """Whether a submitter has the right anyway, or the resource is created empty by this change."""
        is_created = self.subject.what.startswith("new ") or self.subject.name in self.known.created
        if self.right == _SUBMIT_AS:
            before = self.comparison.before
            known = {trainer.account for trainer in before.trainers.values()} | self.comparison.after.adopted
            return self.value("account") not in (*known, before.catalog.trainer)
        return is_created or self.right in _MILD or is_of_submitters(self.right, self.subject, self.comparison)

    @cached_property
    def grade(self) -> Grade:
        if self.is_loss:
            return self._loss_grade
        if is_crowd(self.member) or self.is_foreign:
            return Grade.BLOCKING
        if self.comparison.first and self.right in _FIELDS:
            return Grade.NOTE
        return Grade.WARNING if self.is_mild else Grade.BLOCKING

    @property
    def _loss_grade(self) -> Grade:
        if self.member in PUBLIC:
            return Grade.NOTE
        # Without this role, every submission of a listed submitter fails.
        is_needed = self.right == SUBMIT and self.member in self.comparison.after.people
        return Grade.BLOCKING if self.uses or is_needed else Grade.WARNING

    @cached_property
    def uses(self) -> tuple[VertexJob, ...]:
        """The jobs of the last days that used the right."""
        return tuple(filter(self._is_use, self.comparison.world.recent))

    def _is_use(self, job: VertexJob) -> bool:
        by_right: Mapping[str, Callable[[VertexJob], bool]] = {
            _SUBMIT: self._is_by_member,
            _SUBMIT_AS: self._is_as_account,
            _TEAM: self._is_for_team,
            _CLUSTER: self._is_shut_out,
            _CODE: self._has_own_code,
            _SHELL: lambda job: job.asks_shell,
            _PREEMPT: lambda job: URGENT_LABEL in job.labels and self._is_by_member(job),
            _SESSION: lambda job: SESSION_LABEL in job.labels and self._is_on(job),
            _BOARD: lambda job: False,
            _NOTIFY: lambda job: False,
        }
        return by_right.get(self.right, self._is_by_grant)(job)

    def _has_own_code(self, job: VertexJob) -> bool:
        return CODE_LABEL in job.labels and job.service_account == self.subject.name

    def _is_for_team(self, job: VertexJob) -> bool:
        return job.team == self.subject.name and self._is_by_member(job)

    def _is_as_account(self, job: VertexJob) -> bool:
        trainer = self.comparison.before.trainers.get(self.subject.name)
        account = trainer.account if trainer else self.subject.name
        return job.service_account == account and self._is_by_member(job)

    def _is_on(self, job: VertexJob) -> bool:
        cluster = self.comparison.old.clusters.get(self.subject.cluster)
        return cluster is not None and job.persistent_resource_id == cluster.id

    def _is_shut_out(self, job: VertexJob) -> bool:
        """Return whether a job on the cluster is of no team that can use it after the change."""
        catalog = self.comparison.new
        owners = catalog.owners(self.subject.name)
        if not self._is_on(job) or job.team in owners or self.member not in (f"team {job.team}", _OTHERS):
            return False
        members = [member for team in owners for member in catalog.teams[team].submitters]
        return job.user not in _users(members)

    @cached_property
    def _users(self) -> frozenset[str]:
        return user_values(self.member)

    def _is_by_member(self, job: VertexJob) -> bool:
        """Return whether the member submitted a job. A group's jobs are its team's, of users that no list names."""
        if not self.member.startswith("group:"):
            return job.user in self._users
        teams = groups_of(self.comparison.old, [self.member])
        return job.team in (*teams, "") and job.user not in self.known.users

    def _is_by_grant(self, job: VertexJob) -> bool:
        """Return whether the member submitted a job, or the job's code as that account used the bucket or secret."""
        if self.member != f"serviceAccount:{job.service_account}":
            return self._is_by_member(job)
        environment = " ".join(variable for pool in job.worker_pools for variable in pool.env)
        named = {"bucket": self.subject.name in job.buckets, "secret": f"/secrets/{self.subject.name}/" in environment}
        return named.get(self.subject.what, True)

    @property
    def rank(self) -> tuple[int, int, int, int]:
        """Sort key: the worst change is first."""
        uses = len(self.uses) if self.is_loss else 0
        return (-self.grade, -uses, -int(self.member in PUBLIC), -strength(self.right))


def findings(comparison: Comparison, differences: Iterable[Difference]) -> Iterator[Finding]:
    known = _Known(comparison)
    grouped: dict[tuple[Subject, bool], list[_Change]] = {}
    for difference in differences:
        for member, right, _ in difference.keys:
            change = _Change(known, difference, member, right)
            if not change.is_move or (change.is_loss and change.uses):
                grouped.setdefault((change.subject, change.is_loss), []).append(change)
    for (_, is_loss), changes in grouped.items():
        changes.sort(key=lambda change: change.rank)
        yield _loss(changes) if is_loss else _gain(changes)
    yield from opened(comparison)


def _gain(changes: list[_Change]) -> Finding:
    """Return the finding of rights on one resource, the worst first."""
    worst = changes[0]
    sentence = f"{_members(changes)} can now {_rights(changes)}"
    fix = ""
    if worst.is_foreign:
        sentence += f", from the new domain `{domain_of(worst.member)}`"
    if worst.member in _trainers(worst.comparison.new):
        sentence += ", so the code of its jobs can"
    if worst.grade is Grade.BLOCKING and strength(worst.right):
        fix = "grant a narrower role"
    if worst.member in PUBLIC and worst.subject.name in _never_public(worst.comparison):
        sentence = f"{shown_member(worst.member)} gets a role, which public access prevention rejects: deploying fails"
    if is_crowd(worst.member):
        fix = f"list a group instead of `{worst.member}`"
    return _finding("access-gained", "gains", changes, sentence, fix)


def _never_public(comparison: Comparison) -> frozenset[str]:
    """Return the buckets with public access prevention, as the workspace creates them."""
    own = frozenset(comparison.new.buckets) - comparison.after.adopted
    return own | unopened(comparison.preview)


def _loss(changes: list[_Change]) -> Finding:
    """Return the finding of lost rights on one resource, the worst first."""
    worst = changes[0]
    comparison = worst.comparison
    named = {job.name: job for change in changes for job in change.uses}
    jobs = tuple(named.values())
    users = sorted({f"`{job.user}`" for job in jobs})
    sentence = f"{_members(changes)} can no longer {_rights(changes)}{_exception(worst)}"
    fix = ""
    if jobs:
        sentence += f": {counted(len(jobs), 'submission')} by {few(users)} in the last {DAYS} days"
        fix = "keep the access, or ask these users first"
    elif isinstance(comparison.world.live.recent, Unknown):
        sentence += f"; use in the last {DAYS} days is unknown"
    found = _finding("access-lost", "loses", changes, sentence, fix)
    listed = (f"`{job.display_name}` ({job.owner_and_age(comparison.world.now)})" for job in jobs)
    return replace(found, details=(*found.details, *first_lines(listed, _MOST_LISTED)))


def _exception(change: _Change) -> str:
    """Return who still can, as the end of a sentence."""
    if change.right == _CLUSTER:
        owners = change.comparison.new.owners(change.subject.name)
        return f", only team {few(f'`{name}`' for name in owners)} can"
    if change.right not in (_SUBMIT, _SUBMIT_AS):
        return ""
    if not change.comparison.after.people:
        return ", and no submitter is left"
    groups = _wider_members(change)
    return f", unless {few(groups)} includes them" if groups else ""


def _wider_members(change: _Change) -> list[str]:
    """Return the listed groups that may include a person, and the domain that may include a group."""
    after = change.comparison.after
    listed: Mapping[str, object] = after.submitters
    trainer = after.trainers.get(change.subject.name)
    if change.right == _SUBMIT_AS:
        listed = trainer.submitters if trainer else {}
    kind = change.member.partition(":")[0]
    prefixes = {"user": "group:", "group": f"domain:{domain_of(change.member)}"}
    return [shown_member(member) for member in listed if kind in prefixes and member.startswith(prefixes[kind])]


def _finding(kind: str, verb: str, changes: list[_Change], sentence: str, fix: str) -> Finding:
    worst = changes[0]
    members = dict.fromkeys(change.member for change in changes)
    field = _FIELDS.get(worst.right, "")
    found = KINDS[kind].of(worst.subject, sentence, fix, grade=worst.grade, field=field, members=list(members))
    details = [f"{shown_member(change.member)} {verb}: {change.words}" for change in changes]
    return replace(found, details=tuple(first_lines(details, _MOST_LISTED)) if len(details) > 1 else ())


def _members(changes: list[_Change]) -> str:
    """Return the member of the worst change with the number of others, whom the details list."""
    names = list(dict.fromkeys(change.member for change in changes))
    others = f" (and {len(names) - 1} more)" if len(names) > 1 else ""
    return f"{shown_member(names[0])}{others}"


def _rights(changes: list[_Change]) -> str:
    """Return the strongest rights of the first member; who can read or submit can list."""
    rights = dict.fromkeys(change.right for change in changes if change.member == changes[0].member)
    telling = [right for right in rights if not right.startswith("list ")] or list(rights)
    return f"{join(telling[:2])}{changes[0].condition}"

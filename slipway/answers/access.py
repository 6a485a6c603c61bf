"""Access: who can do what where, from submitters, teams, service accounts and the program's IAM grants. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from slipway.answers.answer import Answer, Difference, State
from slipway.answers.comparison import DAYS, Comparison, Side
from slipway.answers.rights import (
    ACCOUNT,
    PUBLIC,
    held,
    is_crowd,
    is_of_submitters,
    shown_member,
    strength,
)
from slipway.base.formatting import counted, few, join, last_part
from slipway.deploying.engine.events import unopened
from slipway.deploying.engine.grants import Grant, form, place
from slipway.deploying.engine.preview import UNKNOWN
from slipway.deploying.engine.touched import ACCOUNT as ACCOUNT_TYPE
from slipway.deploying.engine.touched import BUCKET, Fate, Touched, texts
from slipway.google.catalog.lookup import groups_of
from slipway.google.jobs import VertexJob
from slipway.google.live import Unknown
from slipway.model.catalog.model import Catalog
from slipway.model.facts import Facts
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.labels import CODE_LABEL, SESSION_LABEL, URGENT_LABEL, user_values

QUESTION = "access"
_SUBMIT, _CODE, _SHELL = "submit jobs", "run unreviewed code (`--code`)", "open a shell in job machines (`--shell`)"
_PREEMPT, _BOARD, _NOTIFY = "preempt running jobs of others", "see all jobs and costs", "receive job notifications"
_CLUSTER, _SESSION = "run jobs on it", "hold machines of"
_SUBMITTERS, _OTHERS = "submitters", "other submitters"
_MILD = (_SUBMIT, _CLUSTER, _BOARD, _NOTIFY)
"""Rights that every submitter has, or that add nothing to what submitters can read."""
_PUBLIC_VALUES = ("allusers", "allauthenticatedusers", "publicread", "publicreadwrite", "authenticatedread")
_OPEN_RANGES = ("0.0.0.0/0", "::/0")
_CREATING = (Fate.CREATED, Fate.ADOPTED, Fate.REPLACED)


def answers(comparison: Comparison, side: Side) -> Iterator[Answer]:
    """Answer for each member, right and resource: keys are (member, right, resource), no answer means no right."""
    facts = comparison.before if side is Side.BEFORE else comparison.after
    catalog = comparison.old if side is Side.BEFORE else comparison.new
    workspace = Subject("workspace", comparison.stack)
    yield from _submitting(comparison, facts)
    yield from _clusters(comparison, catalog)
    yield from _sessions(comparison, catalog)
    if facts.code:
        for account in sorted(_accounts_with_code(catalog)):
            yield _answer(_SUBMITTERS, _CODE, Subject(ACCOUNT, account))
    if catalog.shell:
        yield _answer(_SUBMITTERS, _SHELL, workspace)
    for member in catalog.urgent or ():
        yield _answer(member, _PREEMPT, workspace)
    if catalog.board:
        yield _answer("readers of the catalog bucket", _BOARD, workspace)
    if catalog.notify:
        secret = catalog.notify.partition("/secrets/")[2].partition("/")[0] or catalog.notify
        yield _answer(f"the receiver in secret `{secret}`", _NOTIFY, workspace)
    yield from _by_grants(comparison, side)


def _answer(member: str, right: str, subject: Subject, state: State = State.YES, **values: str) -> Answer:
    return Answer(QUESTION, (member, right, str(subject)), subject, state, values=values)


def _submitting(comparison: Comparison, facts: Facts) -> Iterator[Answer]:
    """Answer who can submit as which service account. An account under the same name or address is the same."""
    workspace = Subject("workspace", comparison.stack)
    for member in _listed_or_included(facts.submitters, comparison):
        yield _answer(member, _SUBMIT, workspace)
    names = comparison.before.trainers.keys() & comparison.after.trainers.keys()
    for name, trainer in facts.trainers.items():
        subject = Subject(ACCOUNT, name if name in names else trainer.account)
        for member in _listed_or_included(trainer.submitters, comparison):
            yield _answer(member, _SUBMIT, subject, account=trainer.account)


def _listed_or_included(listed: Iterable[str], comparison: Comparison) -> tuple[str, ...]:
    """Return listed members, and users of either side whose domain is listed."""
    members = dict.fromkeys(listed)
    known = (*comparison.before.people, *comparison.after.people)
    included = [user for user in known if user.startswith("user:") and f"domain:{_domain(user)}" in members]
    return tuple(dict.fromkeys((*members, *included)))


def _domain(member: str) -> str:
    """Return the domain of people; empty for service accounts."""
    if not member.startswith(("user:", "group:", "domain:")):
        return ""
    return member.rpartition("@" if "@" in member else ":")[2].lower()


def _clusters(comparison: Comparison, catalog: Catalog) -> Iterator[Answer]:
    """Answer who can use the clusters that belong to teams on either side, of members and clusters on both sides."""
    members = [member for member in comparison.before.people if member in comparison.after.people]
    for name in comparison.old.clusters:
        both = name in comparison.new.clusters
        sides = [side for side in (comparison.old, comparison.new) if side.owners(name)]
        if not both or not sides:
            continue
        subject = Subject("cluster", name)
        owners = catalog.owners(name)
        for member in members:
            allowed = not owners or bool({*groups_of(catalog, [member])} & {*owners})
            yield _answer(member, _CLUSTER, subject, State.YES if allowed else State.NO)
        if any(not _are_all_owners(members, side, name) for side in sides):
            yield _answer(_OTHERS, _CLUSTER, subject, State.NO if owners else State.YES)


def _are_all_owners(members: Iterable[str], catalog: Catalog, cluster: str) -> bool:
    owners = {*catalog.owners(cluster)}
    return all(owners & {*groups_of(catalog, [member])} for member in members)


def _sessions(comparison: Comparison, catalog: Catalog) -> Iterator[Answer]:
    """Answer which pools of both sides sessions can use."""
    if not any(template.takes_code for template in catalog.templates.values()):
        return
    limits = catalog.sessions
    pools = _pools(comparison.old) & _pools(comparison.new)
    for pool in sorted(pools):
        allowed = limits is None or limits.pools is None or pool in limits.pools
        yield _answer("sessions", f"{_SESSION} `{pool}`", Subject("sessions"), State.YES if allowed else State.NO)


def _pools(catalog: Catalog) -> set[str]:
    found: set[str] = set()
    for cluster in catalog.clusters.values():
        found.update(f"{cluster.name}/{pool.name}" for pool in cluster.pools)
    return found


def _accounts_with_code(catalog: Catalog) -> set[str]:
    found: set[str] = set()
    for template in catalog.templates.values():
        if template.takes_code:
            found.update(str(offer.spec.get("serviceAccount") or catalog.trainer) for offer in template.offers)
    return found


def _by_grants(comparison: Comparison, side: Side) -> Iterator[Answer]:
    gone = {each.physical for each in comparison.touched if each.goes or each.fate is Fate.FORGOTTEN}

    def is_wanted(grant: Grant) -> bool:
        is_gone = grant.place in gone or _address(grant.member) in gone
        return not is_gone and not _is_by_workspace(grant, comparison)

    found = held(comparison, side, is_wanted)
    for (member, right, subject), condition in found.items():
        yield _answer(member, right, subject, condition=condition)


def _is_by_workspace(grant: Grant, comparison: Comparison) -> bool:
    """Return whether a grant only carries out what the stack's submitters and service accounts already say."""
    if not grant.ours:
        return False
    known: set[str] = set()
    for facts in (comparison.before, comparison.after):
        known.update((*facts.people, *facts.shared, *(f"serviceAccount:{name}" for name in facts.kept)))
        known.update(f"serviceAccount:{account}" for account in _accounts(facts.catalog))
    return grant.member in known or grant.member.startswith(UNKNOWN)


def _accounts(catalog: Catalog) -> tuple[str, ...]:
    return (catalog.trainer, *catalog.trainers.values())


def _address(member: str) -> str:
    return member.partition(":")[2]


@dataclass(frozen=True)
class _Change:
    """A right that a member gets or loses."""

    member: str
    right: str
    subject: Subject
    grade: Grade
    #: The end of the right in a sentence: a condition, or empty.
    ending: str = ""
    uses: tuple[VertexJob, ...] = ()

    @property
    def words(self) -> str:
        return f"{self.right}{self.ending}"

    @property
    def rank(self) -> tuple[int, int, int, int]:
        """Return what sorts the worst change first."""
        return (-self.grade, -len(self.uses), -int(self.member in PUBLIC), -strength(self.right))


def findings(comparison: Comparison, differences: Iterable[Difference]) -> Iterator[Finding]:
    gained: dict[Subject, list[_Change]] = {}
    lost: dict[Subject, list[_Change]] = {}
    for difference in differences:
        after = difference.after.values if difference.after else {}
        condition = str(after.get("condition") or "")
        for member, right, _ in difference.keys:
            is_lost = difference.is_removed or difference.becomes_rejected
            if "condition" in difference.changed and not difference.is_new and condition:
                is_lost = True
            change = _Change(member, right, difference.subject, Grade.NOTE, _ending(difference, condition))
            if is_lost:
                lost.setdefault(difference.subject, []).append(_graded_loss(comparison, change))
            elif not _moves_between_teams(comparison, change):
                gained.setdefault(difference.subject, []).append(_graded_gain(comparison, change, difference))
    for subject, changes in gained.items():
        yield _gain(comparison, subject, changes)
    for subject, changes in lost.items():
        yield _loss(comparison, subject, changes)
    yield from _by_resources(comparison)


def _ending(difference: Difference, condition: str) -> str:
    if difference.is_new and condition:
        return f" under condition `{condition}`"
    if "condition" not in difference.changed or difference.before is None or difference.after is None:
        return ""
    if condition:
        return f" except under condition `{condition}`"
    return f" without condition `{difference.before.values.get('condition')}`"


def _moves_between_teams(comparison: Comparison, change: _Change) -> bool:
    """Return whether a member can use another team's cluster because they left one team for it."""
    name = change.subject.name
    if change.right != _CLUSTER or comparison.old.owners(name) != comparison.new.owners(name):
        return False
    before = {*groups_of(comparison.old, [change.member])}
    return bool(before - {*groups_of(comparison.new, [change.member])})


def _graded_gain(comparison: Comparison, change: _Change, difference: Difference) -> _Change:
    mild = change.right in _MILD or is_of_submitters(change.right, change.subject, comparison)
    if change.right == _SUBMIT and change.subject.what == ACCOUNT and difference.after is not None:
        mild = _is_created_account(comparison, str(difference.after.values.get("account")))
    if change.subject.what.startswith("new ") or _is_created(comparison, change.subject):
        mild = True
    if _is_service_agent(change.member) and strength(change.right) == 0:
        mild = True
    if is_crowd(change.member) or (change.right == _SUBMIT and _is_foreign(comparison, change.member)):
        return replace(change, grade=Grade.BLOCKING)
    if not mild:
        return replace(change, grade=Grade.BLOCKING)
    return replace(change, grade=Grade.NOTE if comparison.first else Grade.WARNING)


def _is_created(comparison: Comparison, subject: Subject) -> bool:
    """Return whether the change creates the resource, so that it holds nothing yet."""
    for touched in comparison.touched:
        names = (touched.physical, touched.becomes.get("secretId"))
        if (
            touched.fate is Fate.CREATED
            and touched.old is None
            and form(touched.type) is None
            and subject.name in names
        ):
            return True
    return False


def _is_created_account(comparison: Comparison, account: str) -> bool:
    for touched in comparison.touched:
        if touched.type == ACCOUNT_TYPE and touched.fate is Fate.CREATED:
            names = (touched.physical, str(touched.becomes.get("accountId")))
            if account in names or account.partition("@")[0] in names:
                return True
    return False


def _is_service_agent(member: str) -> bool:
    return member.startswith("serviceAccount:service-") and "@gcp-sa-" in member


def _is_foreign(comparison: Comparison, member: str) -> bool:
    """Return whether a person is of no domain that the deployed stack's submitters are of."""
    domain = _domain(member)
    known = {_domain(each) for each in comparison.before.people} - {""}
    return bool(domain and known) and not any(f".{domain}".endswith(f".{each}") for each in known)


def _gain(comparison: Comparison, subject: Subject, changes: list[_Change]) -> Finding:
    worst, others, rights = _worst(changes)
    account = _address(worst.member)
    sentence = f"{_members(worst, others)} can now {rights}"
    if worst.right == _SUBMIT and _is_foreign(comparison, worst.member):
        sentence += f", from the new domain `{_domain(worst.member)}`"
    elif account in _accounts(comparison.new):
        sentence += ", and so can the code of its jobs"
    fix = ""
    if worst.member in PUBLIC and subject.name in _never_public(comparison):
        sentence = f"the deployment fails: public access prevention rejects a grant to `{worst.member}`"
    if is_crowd(worst.member):
        fix = f"grant it to a group instead of `{worst.member}`"
    elif worst.grade is Grade.BLOCKING and strength(worst.right):
        fix = "grant a narrower role, or keep the previous grants"
    found = KINDS["access-gained"].of(
        subject, sentence, fix, grade=worst.grade, field=_field(worst, subject), members=_listed(changes)
    )
    return replace(found, details=_details("gains", changes))


def _never_public(comparison: Comparison) -> frozenset[str]:
    own = frozenset(comparison.new.buckets) - comparison.after.adopted
    return own | unopened(comparison.preview)


def _graded_loss(comparison: Comparison, change: _Change) -> _Change:
    uses = tuple(job for job in comparison.world.recent if _is_use(comparison, change, job))
    if change.member in PUBLIC:
        return change
    return replace(change, uses=uses, grade=Grade.BLOCKING if uses else Grade.WARNING)


def _loss(comparison: Comparison, subject: Subject, changes: list[_Change]) -> Finding:
    worst, others, rights = _worst(changes)
    sentence = f"{_members(worst, others)} can no longer {rights}"
    groups = _remaining_groups(comparison, worst)
    owners = comparison.new.owners(subject.name) if worst.right == _CLUSTER else ()
    if worst.right == _SUBMIT and not comparison.after.people:
        sentence += ", and no submitter is left"
    elif owners:
        sentence += f", only team {few(f'`{name}`' for name in owners)}"
    elif groups:
        sentence += f", unless {few(shown_member(group) for group in groups)} includes them"
    jobs = tuple(dict.fromkeys(job for change in changes for job in change.uses))
    if jobs:
        users = sorted({job.user for job in jobs if job.user})
        by = f" by {few(f'`{user}`' for user in users)}" if users else ""
        sentence += f": {counted(len(jobs), 'submission')}{by} in the last {DAYS} days"
    elif isinstance(comparison.world.live.recent, Unknown):
        sentence += f"; use in the last {DAYS} days is unknown"
    fix = "ask them first, or keep the access" if worst.grade is Grade.BLOCKING else ""
    found = KINDS["access-lost"].of(
        subject, sentence, fix, grade=worst.grade, field=_field(worst, subject), members=_listed(changes)
    )
    named = tuple(f"`{job.display_name}` ({job.owner_and_age(comparison.world.now)})" for job in jobs)
    return replace(found, details=(*_details("loses", changes), *named))


def _worst(changes: list[_Change]) -> tuple[_Change, list[str], str]:
    """Return the worst change, the other members, and the rights of its member, the strongest first."""
    ordered = sorted(changes, key=lambda change: change.rank)
    worst = ordered[0]
    others = [change.member for change in ordered if change.member != worst.member]
    rights = dict.fromkeys(change.words for change in ordered if change.member == worst.member)
    return worst, list(dict.fromkeys(others)), join(list(rights)[:2])


def _members(worst: _Change, others: list[str]) -> str:
    """Return the worst member with the number of others, whose rights the details list."""
    name = shown_member(worst.member)
    return f"{name} (and {len(others)} more)" if others else name


def _listed(changes: Iterable[_Change]) -> list[str]:
    return sorted({change.member for change in changes})


def _details(verb: str, changes: list[_Change]) -> tuple[str, ...]:
    rights: dict[str, list[str]] = {}
    for change in sorted(changes, key=lambda change: change.rank):
        rights.setdefault(change.member, []).append(change.words)
    if len(rights) == 1 and len(changes) < 3:
        return ()
    return tuple(f"{shown_member(member)} {verb}: {'; '.join(words)}" for member, words in rights.items())


def _field(change: _Change, subject: Subject) -> str:
    if change.right == _CLUSTER:
        return "slipway:teams"
    if change.right == _SUBMIT:
        named = subject.what == ACCOUNT and "@" not in subject.name
        return f"slipway:trainers.{subject.name}.submitters" if named else "slipway:workspace.submitters"
    fields = {_CODE: "workspace.code", _SHELL: "workspace.shell", _PREEMPT: "workspace.urgent"}
    fields |= {_BOARD: "workspace.board", _NOTIFY: "workspace.notify"}
    if change.right.startswith(_SESSION):
        return "slipway:sessions"
    return f"slipway:{fields[change.right]}" if change.right in fields else ""


def _remaining_groups(comparison: Comparison, change: _Change) -> list[str]:
    """Return the groups that may still include a person who can no longer submit; no membership is read."""
    if change.right != _SUBMIT or not change.member.startswith("user:"):
        return []
    listed: Mapping[str, object] = comparison.after.submitters
    if change.subject.what == ACCOUNT:
        trainer = comparison.after.trainers.get(change.subject.name)
        listed = trainer.submitters if trainer else {}
    return [member for member in listed if member.startswith("group:")]


def _is_use(comparison: Comparison, change: _Change, job: VertexJob) -> bool:
    """Return whether a job of the last days used a right that is lost."""
    right = change.right
    if right == _CODE:
        return CODE_LABEL in job.labels
    if right == _SHELL:
        return job.asks_shell
    if right in (_BOARD, _NOTIFY):
        return False
    if right.startswith(_SESSION):
        cluster = comparison.old.cluster_named(job.persistent_resource_id)
        pool = right.removeprefix(f"{_SESSION} `")
        return SESSION_LABEL in job.labels and cluster is not None and pool.startswith(f"{cluster.name}/")
    if right == _PREEMPT and URGENT_LABEL not in job.labels:
        return False
    if right == _CLUSTER:
        cluster = comparison.old.clusters.get(change.subject.name)
        if cluster is None or job.persistent_resource_id != cluster.id:
            return False
        if change.member == _OTHERS:
            return job.team not in comparison.new.owners(change.subject.name)
    if right == _SUBMIT and change.subject.what == ACCOUNT and job.service_account != _old_account(comparison, change):
        return False
    return _is_sent_by(comparison, change.member, job) or _runs_as(change, job)


def _old_account(comparison: Comparison, change: _Change) -> str:
    trainer = comparison.before.trainers.get(change.subject.name)
    return trainer.account if trainer else change.subject.name


def _is_sent_by(comparison: Comparison, member: str, job: VertexJob) -> bool:
    """Return whether a member submitted a job. A job of a group is one of its team whose user no list names."""
    if not member.startswith("group:"):
        return job.user in user_values(member)
    others = [value for each in comparison.before.people for value in user_values(each)]
    teams = groups_of(comparison.old, [member])
    return job.user not in others and (job.team in teams or not job.team)


def _runs_as(change: _Change, job: VertexJob) -> bool:
    """Return whether a job ran as the service account that loses a right, and named the resource if jobs name it."""
    if change.member != f"serviceAccount:{job.service_account}":
        return False
    subject = change.subject
    if subject.what == "bucket":
        return subject.name in job.buckets
    if subject.what == "secret":
        return any(f"/secrets/{subject.name}/" in variable for pool in job.worker_pools for variable in pool.env)
    return True


def _by_resources(comparison: Comparison) -> Iterator[Finding]:
    """Find what opens or closes a resource without a grant to a named member."""
    for touched in comparison.touched:
        if touched.new is None:
            continue
        if form(touched.type):
            yield from _authoritative(comparison, touched)
            continue
        opened = _public_value(touched)
        name = touched.type.rpartition(":")[2]
        subject = Subject("resource", touched.physical)
        if opened:
            sentence = f"{name} opens to {PUBLIC.get(opened, 'anyone on the internet')} (`{opened}`)"
            yield KINDS["access-gained"].of(subject, sentence, "list the people, accounts or addresses that need it")
        if touched.type.startswith(("gcp:serviceaccount/key:", "gcp:storage/hmacKey:")) and touched.fate in _CREATING:
            account = touched.becomes.get("serviceAccountId") or touched.becomes.get("serviceAccountEmail", "")
            sentence = f"a key that never expires is created: anyone who has it acts as `{last_part(str(account))}`"
            yield KINDS["access-gained"].of(subject, sentence, "use workload identity federation, which needs no key")
        if touched.type.startswith("gcp:iam/denyPolicy:"):
            yield from _denied(comparison, touched, subject)
        if touched.type == BUCKET and touched.fate is Fate.ADOPTED:
            yield from _public_already(comparison, touched.physical)


def _authoritative(comparison: Comparison, touched: Touched) -> Iterator[Finding]:
    """Find new bindings and policies: every member that they do not list loses the role, unseen by Pulumi."""
    on = form(touched.type)
    role = str(touched.becomes.get("role", ""))
    existed = touched.old is not None and touched.was.get("role") == role
    if on is None or not on.whole or touched.fate not in _CREATING or existed:
        return
    where, name = place(on, touched.becomes)
    what = on.what or "project"
    subject = Subject(what, name or comparison.new.project)
    if name == UNKNOWN or _is_created(comparison, subject):
        return
    roles = "all roles" if on.whole == "Policy" else f"`{role}`"
    sentence = f"all members that `{touched.name}` does not list lose {roles} on {where}; current members are unknown"
    fix = "grant the role to single members with an IAMMember, which removes nobody"
    yield KINDS["access-lost"].of(subject, sentence, fix, grade=Grade.BLOCKING)


def _public_value(touched: Touched) -> str:
    """Return a value that opens the resource to the public and that it did not have before; empty for none."""
    before = {text for _, text in texts(touched.was)}
    for path, text in texts(touched.becomes):
        plain = text.rpartition(":")[2].replace("-", "").lower()
        is_range = text in _OPEN_RANGES and "range" in path.lower() and not touched.becomes.get("denies")
        is_network = text in _OPEN_RANGES and "networks" in path.lower()
        if text not in before and (plain in _PUBLIC_VALUES or is_range or is_network):
            return text
    return ""


def _denied(comparison: Comparison, touched: Touched, subject: Subject) -> Iterator[Finding]:
    before = {text for path, text in texts(touched.was) if "deniedPrincipals" in path}
    denied = [text for path, text in texts(touched.becomes) if "deniedPrincipals" in path and text not in before]
    if not denied:
        return
    stopped = [job for job in comparison.world.recent if any(job.service_account in text for text in denied)]
    sentence = f"{few(f'`{last_part(text)}`' for text in denied)} can no longer use the denied permissions"
    if stopped:
        sentence += f": {counted(len(stopped), 'job')} of the last {DAYS} days ran as it"
    yield KINDS["access-lost"].of(subject, sentence, grade=Grade.BLOCKING if stopped else Grade.WARNING)


def _public_already(comparison: Comparison, bucket: str) -> Iterator[Finding]:
    policy = comparison.world.policies.get(bucket, frozenset())
    if isinstance(policy, Unknown):
        return
    for bound in sorted(policy):
        if bound.member in PUBLIC:
            sentence = f"{PUBLIC[bound.member]} already has `{bound.role}`, so jobs write their results in public"
            fix = f"gcloud storage buckets remove-iam-policy-binding gs://{bucket}"
            fix += f" --member={bound.member} --role={bound.role}"
            yield KINDS["access-gained"].of(Subject("bucket", bucket), sentence, fix)
            return

"""Needs of unfinished jobs: whether what each still needs exists after a change, and whether it can use it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from slipway.answers.answer import Answer, Difference, State
from slipway.answers.comparison import Comparison, Side
from slipway.answers.rights import ACCOUNT, held
from slipway.base.formatting import counted, few, join, last_part
from slipway.deploying.deployment.workspace_plan import trainer_email
from slipway.deploying.engine.grants import form, grants, place
from slipway.deploying.engine.preview import UNKNOWN, Resource
from slipway.deploying.engine.touched import CLUSTER_TYPE, Fate, Touched
from slipway.deploying.generations.action import DELETE
from slipway.google.jobs import VertexJob
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.labels import NOTIFICATION, record_in

QUESTION = "job needs"
_CLUSTER, _PACKAGE, _NOTICES = "cluster", "package", "notification secret"
_EFFECTS = {
    _CLUSTER: "ends with it",
    ACCOUNT: "can no longer call Google Cloud as it",
    "bucket": "can no longer use its objects",
    _PACKAGE: "can't restart without it",
    "secret": "can't start or restart without it",
    _NOTICES: "no longer sends notifications",
    "network": "can't restart without it",
    "network attachment": "can't restart without it",
    "key": "can't read what it encrypted",
    "reservation": "may find no machines when it restarts",
    "project": "fails if its code uses that",
}
"""By a need, the effect of its loss on a job."""
_TYPES = {
    CLUSTER_TYPE: (_CLUSTER,),
    "gcp:serviceaccount/account:": (ACCOUNT,),
    "gcp:storage/bucket:": ("bucket",),
    "gcp:storage/bucketObject:": (_PACKAGE,),
    "gcp:secretmanager/secret:": ("secret", _NOTICES),
    "gcp:secretmanager/secretVersion:": ("secret", _NOTICES),
    "gcp:compute/network:": ("network",),
    "gcp:compute/networkAttachment:": ("network attachment",),
    "gcp:kms/cryptoKey:": ("key",),
    "gcp:compute/reservation:": ("reservation",),
}
"""By the prefix of a resource's type, the needs that it fulfils."""
_REWRITTEN = ("gcp:storage/bucketObject:", "gcp:secretmanager/secretVersion:")
"""Types whose replacement under the same name is as good for a job."""

_USUAL_ROLES = {
    "bucket": ("roles/storage.objectUser", "roles/storage.objectViewer"),
    "secret": ("roles/secretmanager.secretAccessor",),
}
"""By a need, the roles by which accounts of jobs usually use it."""


@dataclass(frozen=True)
class _Loss:
    """What happens to something that jobs need."""

    state: State
    text: str
    #: The only account that loses it; empty if all do.
    account: str = ""


def answers(comparison: Comparison, side: Side) -> Iterator[Answer]:
    """Answer for each unfinished job and need: keys are (job, need, name)."""
    losses = {} if side is Side.BEFORE else _losses(comparison)
    for job in comparison.world.unfinished:
        for subject in dict.fromkeys(_needs(comparison, job)):
            loss = _loss(losses.get(subject, []), job)
            key = (job.name, subject.what, subject.name)
            yield Answer(QUESTION, key, _shown(comparison, subject), loss.state, loss.text)


def _loss(losses: Iterable[_Loss], job: VertexJob) -> _Loss:
    for loss in losses:
        if loss.account in ("", job.service_account):
            return loss
    return _Loss(State.YES, "")


def _shown(comparison: Comparison, subject: Subject) -> Subject:
    """Return the subject by the name that the stack file has for it."""
    cluster = comparison.old.cluster_named(subject.name)
    if subject.what == _CLUSTER and cluster is not None:
        return Subject(_CLUSTER, cluster.name)
    return subject


def _needs(comparison: Comparison, job: VertexJob) -> Iterator[Subject]:
    """Yield what a job needs until it ends, at a restart too."""
    yield Subject("project", comparison.old.project)
    names = {
        _CLUSTER: {job.persistent_resource_id},
        ACCOUNT: {job.service_account},
        "bucket": job.buckets,
        _PACKAGE: job.needed,
        "reservation": {last_part(path) for path in job.reservations},
        "secret": _secrets(job),
        _NOTICES: _notification_secrets(job),
    }
    for what, found in names.items():
        yield from (Subject(what, name) for name in sorted(found) if name)
    yield from _network_needs(comparison, job)


def _secrets(job: VertexJob) -> set[str]:
    variables = [variable for pool in job.worker_pools for variable in pool.env]
    return {secret_name(variable) for variable in variables if "__SECRET=" in variable}


def _notification_secrets(job: VertexJob) -> set[str]:
    records = [record_in(pool.env, NOTIFICATION) or {} for pool in job.worker_pools]
    return {secret_name(str(record.get("secret", ""))) for record in records}


def secret_name(reference: str) -> str:
    """Return the name in `projects/P/secrets/NAME/versions/1`; empty if the text names no secret."""
    return reference.partition("/secrets/")[2].partition("/")[0]


def _network_needs(comparison: Comparison, job: VertexJob) -> Iterator[Subject]:
    """Yield network, attachment and key of the job's cluster and template as deployed: lists of jobs have none."""
    name = comparison.renamed.get(job.template, job.template)
    cluster = comparison.old.cluster_named(job.persistent_resource_id)
    template = comparison.old.templates.get(name)
    found: list[tuple[str, str]] = []
    if cluster is not None:
        attachment = cluster.psc.network_attachment if cluster.psc else ""
        found += [("network", cluster.network), ("network attachment", attachment), ("key", cluster.kms_key)]
    for offer in template.offers if template else ():
        interface = offer.spec.get("pscInterfaceConfig") or {}
        found.append(("network", str(offer.spec.get("network", ""))))
        found.append(("network attachment", str(interface.get("networkAttachment", ""))))
    for what, path in found:
        if path:
            yield Subject(what, last_part(path))


def _losses(comparison: Comparison) -> dict[Subject, list[_Loss]]:
    """Return what the change deletes, disables or takes from an account, by what jobs need."""
    losses: dict[Subject, list[_Loss]] = {}
    accounts = sorted({job.service_account for job in comparison.world.unfinished})
    for touched in comparison.touched:
        for subject, loss in _gone(comparison, touched):
            losses.setdefault(subject, []).append(loss)
        for subject, loss in _left_out(touched, accounts):
            losses.setdefault(subject, []).append(loss)
    for subject, loss in _revoked(comparison):
        losses.setdefault(subject, []).append(loss)
    deleted = [action.id for action in comparison.actions if action.what in DELETE]
    for id_ in deleted:
        losses.setdefault(Subject(_CLUSTER, id_), []).append(_Loss(State.NO, "is deleted"))
    return losses


def _gone(comparison: Comparison, touched: Touched) -> Iterator[tuple[Subject, _Loss]]:
    text = _how_it_goes(touched)
    if touched.old is None or not text:
        return
    project = comparison.old.project
    for prefix, needs in _TYPES.items():
        if not touched.type.startswith(prefix):
            continue
        name = _name(touched.old, prefix, project)
        successor = _name(touched.new, prefix, project) if touched.new is not None else ""
        state = State.NO
        if prefix in _REWRITTEN and successor == name:
            state = State.YES
        if UNKNOWN in successor and prefix in _REWRITTEN:
            state = State.UNKNOWN
        for what in needs:
            yield Subject(what, name), _Loss(state, text if state is State.NO else "")


def _how_it_goes(touched: Touched) -> str:
    """Return what happens to the resource: is deleted, is disabled; empty if it remains in use."""
    was_off = touched.was.get("disabled") is True or touched.was.get("enabled") is False
    is_off = touched.becomes.get("disabled") is True or touched.becomes.get("enabled") is False
    if touched.fate is Fate.CHANGED and is_off and not was_off:
        return "is disabled"
    if not touched.destroyed:
        return ""
    verb = "is deleted" if touched.fate is Fate.DELETED else "is replaced"
    if touched.type.startswith("gcp:storage/bucket:"):
        forced = bool(touched.was.get("forceDestroy"))
        return f"{verb} with all objects" if forced else f"{verb}, which fails while it has objects"
    if touched.type.startswith("gcp:secretmanager/secretVersion:"):
        return "loses a version"
    return verb


def _name(resource: Resource, prefix: str, project: str) -> str:
    """Return the name by which jobs know a resource."""
    inputs = resource.inputs
    if prefix == "gcp:serviceaccount/account:":
        address = trainer_email(str(inputs.get("accountId", "")), str(inputs.get("project") or project))
        return str(resource.outputs.get("email") or address)
    if prefix == "gcp:storage/bucketObject:":
        return f"gs://{inputs.get('bucket', '')}/{inputs.get('name', '')}"
    if prefix.startswith("gcp:secretmanager/"):
        return last_part(str(inputs.get("secretId") or inputs.get("secret", "")))
    return last_part(str(inputs.get("name") or resource.id))


def _revoked(comparison: Comparison) -> Iterator[tuple[Subject, _Loss]]:
    """Yield the rights of service accounts that no grant of the program gives any more."""
    before = held(comparison, Side.BEFORE)
    after = held(comparison, Side.AFTER)
    lost: dict[tuple[Subject, str], list[str]] = {}
    for member, right, subject in before:
        kind, _, account = member.partition(":")
        if kind == "serviceAccount" and (member, right, subject) not in after:
            lost.setdefault((subject, account), []).append(right)
    for (subject, account), rights in lost.items():
        yield subject, _refused(account, join(rights[-2:]))


def _left_out(touched: Touched, accounts: Iterable[str]) -> Iterator[tuple[Subject, _Loss]]:
    """Yield the accounts of jobs that a new authoritative binding does not list."""
    on = form(touched.type)
    if on is None or on.whole != "Binding" or touched.old is not None:
        return
    role = str(touched.becomes.get("role", ""))
    what = {"bucket": "bucket", "secret": "secret"}.get(on.what, "")
    if role not in _USUAL_ROLES.get(what, ()):
        return
    _, name = place(on, touched.becomes)
    listed = {grant.member for grant in grants(touched, touched.new)}
    for account in accounts:
        if f"serviceAccount:{account}" not in listed:
            yield Subject(what, name), _refused(account, f"use `{role}`, which a new binding limits to others")


def _refused(account: str, right: str) -> _Loss:
    return _Loss(State.NO, f"{ACCOUNT} `{account.partition('@')[0]}` can no longer {right}", account)


def findings(comparison: Comparison, differences: Iterable[Difference]) -> Iterator[Finding]:
    lost: dict[Subject, list[Difference]] = {}
    for difference in differences:
        if difference.becomes_rejected and not _is_planned(comparison, difference):
            lost.setdefault(difference.subject, []).append(difference)
    jobs = {job.name: job for job in comparison.world.unfinished}
    for subject, changes in lost.items():
        names = dict.fromkeys(key[0] for change in changes for key in change.keys)
        yield _finding(comparison, subject, changes, [jobs[name] for name in names])


def _is_planned(comparison: Comparison, difference: Difference) -> bool:
    """Return whether the plan of the deployment deletes the cluster and reports its jobs."""
    if difference.subject.what != _CLUSTER:
        return False
    return any(action.what in DELETE and action.cluster == difference.subject.name for action in comparison.actions)


def _finding(comparison: Comparison, subject: Subject, changes: list[Difference], jobs: list[VertexJob]) -> Finding:
    now = comparison.world.now
    reason = next(change.after.text for change in changes if change.after is not None)
    first = jobs[0]
    named = f"job `{first.display_name}` ({first.owner_and_age(now)})"
    if len(jobs) > 1:
        users = sorted({job.user for job in jobs if job.user})
        named = f"each of {len(jobs)} unfinished jobs of {few(f'`{user}`' for user in users)}"
    if subject.what == _CLUSTER:
        sentence = f"{reason}: {named} is cancelled"
        fix = f"deploy after {counted(len(jobs), 'job')} ended"
        found = KINDS["jobs-cancelled"].of(subject, sentence, fix)
    else:
        sentence = f"{reason}: {named} {_EFFECTS[subject.what]}"
        fix = f"keep it until {'the job ends' if len(jobs) == 1 else 'these jobs end'}"
        grade = Grade.WARNING if subject.what == _NOTICES else Grade.BLOCKING
        found = KINDS["job-loses-resource"].of(subject, sentence, fix, grade=grade, jobs=[job.name for job in jobs])
    details = tuple(f"`{job.display_name}` ({job.owner_and_age(now)})" for job in jobs)
    return replace(found, details=details if len(jobs) > 1 else ())

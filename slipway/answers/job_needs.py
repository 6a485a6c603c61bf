"""Needs of unfinished jobs: whether what each still needs exists after a change, and whether it can use it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from slipway.answers.answer import Answer, Difference, State
from slipway.answers.comparison import Comparison, Side
from slipway.answers.rights import ACCOUNT, held
from slipway.base.formatting import few, join, last_part
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
    ACCOUNT: "can no longer call Google Cloud",
    "bucket": "can no longer use its objects",
    _PACKAGE: "can't start or restart without it",
    "secret": "can't start or restart without it",
    _NOTICES: "no longer sends notifications",
    "network": "can't restart without it",
    "network attachment": "can't restart without it",
    "key": "can't read what it encrypted",
    "reservation": "may find no machines when it restarts",
}
"""By a need, the effect of its loss on a job."""
_TYPES: Mapping[str, tuple[str, ...]] = {
    CLUSTER_TYPE.removesuffix(":"): (_CLUSTER,),
    "gcp:serviceaccount/account": (ACCOUNT,),
    "gcp:storage/bucket": ("bucket",),
    "gcp:storage/bucketObject": (_PACKAGE,),
    "gcp:secretmanager/secret": ("secret", _NOTICES),
    "gcp:secretmanager/secretVersion": ("secret", _NOTICES),
    "gcp:compute/network": ("network",),
    "gcp:compute/networkAttachment": ("network attachment",),
    "gcp:kms/cryptoKey": ("key",),
    "gcp:compute/reservation": ("reservation",),
}
"""By a resource's type, without its class, the needs that it fulfils."""
_USUAL_ROLES = {"bucket": "roles/storage.objectUser", "secret": "roles/secretmanager.secretAccessor"}
"""By a need, the role by which accounts of jobs usually use it."""
_CONTENTS = (_PACKAGE, "secret", _NOTICES)
"""Needs that a replacement under the same name fulfils as well."""


@dataclass(frozen=True)
class _Loss:
    """The state after the change of something that jobs need."""

    subject: Subject
    state: State
    text: str = ""
    #: The only account that loses it; empty if all do.
    account: str = ""


def answers(comparison: Comparison, side: Side) -> Iterator[Answer]:
    """Answer for each unfinished job and need: keys are (job, need, name)."""
    losses = () if side is Side.BEFORE else tuple(_losses(comparison))
    for job in comparison.world.unfinished:
        for need in dict.fromkeys(_needs(comparison, job)):
            kept = _Loss(need, State.YES)
            hit = [loss for loss in losses if loss.subject == need and loss.account in ("", job.service_account)]
            loss = (*hit, kept)[0]
            yield Answer(QUESTION, (job.name, need.what, need.name), need, loss.state, loss.text)


def _needs(comparison: Comparison, job: VertexJob) -> Iterator[Subject]:
    """Yield what a job needs until it ends, restarts included."""
    names: dict[str, Iterable[str]] = {
        "project": [comparison.old.project],
        _CLUSTER: [job.persistent_resource_id],
        ACCOUNT: [job.service_account],
        "bucket": job.buckets,
        _PACKAGE: job.needed,
        "reservation": map(last_part, job.reservations),
        "secret": _secrets(job),
        _NOTICES: _notification_secrets(job),
        **_network_needs(comparison, job),
    }
    for what, found in names.items():
        for name in sorted({*found} - {""}):
            yield Subject(what, name)


def _secrets(job: VertexJob) -> list[str]:
    variables = [variable for pool in job.worker_pools for variable in pool.env]
    return [secret_name(variable) for variable in variables if "__SECRET=" in variable]


def _notification_secrets(job: VertexJob) -> list[str]:
    records = [record_in(pool.env, NOTIFICATION) or {} for pool in job.worker_pools]
    return [secret_name(str(record.get("secret", ""))) for record in records]


def secret_name(reference: str) -> str:
    """Return the name in `projects/P/secrets/NAME/versions/1`; empty if the text names no secret."""
    return reference.partition("/secrets/")[2].partition("/")[0]


def _network_needs(comparison: Comparison, job: VertexJob) -> Mapping[str, list[str]]:
    """Return network, attachment and key of the job's cluster and template as deployed: lists of jobs have none."""
    cluster = comparison.old.cluster_named(job.persistent_resource_id)
    template = comparison.old.templates.get(comparison.renamed.get(job.template, job.template))
    specs = [offer.spec for offer in template.offers] if template else []
    networks = [str(spec.get("network", "")) for spec in specs]
    attachments = [str(spec.get("pscInterfaceConfig", {}).get("networkAttachment", "")) for spec in specs]
    keys: list[str] = []
    if cluster is not None:
        networks.append(cluster.network)
        keys.append(cluster.kms_key)
    if cluster is not None and cluster.psc is not None:
        attachments.append(cluster.psc.network_attachment)
    found = {"network": networks, "network attachment": attachments, "key": keys}
    return {what: [last_part(path) for path in paths] for what, paths in found.items()}


def _losses(comparison: Comparison) -> Iterator[_Loss]:
    """Yield what the change deletes, disables or takes from an account."""
    for touched in comparison.touched:
        yield from _left_out(touched, comparison.world.unfinished)
        text = _end(touched)
        kind = touched.type.rpartition(":")[0]
        if text and touched.old is not None:
            for what in _TYPES.get(kind, ()):
                yield _gone(comparison, touched, what, text)
    for action in comparison.actions:
        if action.what in DELETE:
            yield _Loss(Subject(_CLUSTER, action.id), State.NO, "is deleted")
    yield from _revoked(comparison)


def _end(touched: Touched) -> str:
    """Return what happens to the resource, such as is deleted; empty if jobs can still use it."""
    was_off = _is_off(touched.was)
    if touched.fate is Fate.CHANGED and _is_off(touched.becomes) and not was_off:
        return "is disabled"
    if not touched.destroyed:
        return ""
    verbs = {"gcp:secretmanager/secretVersion": "loses a version", "gcp:storage/bucket": "is deleted with all objects"}
    kind = touched.type.rpartition(":")[0]
    if kind == "gcp:storage/bucket" and not touched.was.get("forceDestroy"):
        return "is deleted, which fails while it has objects"
    return verbs.get(kind, "is deleted")


def _is_off(inputs: Mapping[str, object]) -> bool:
    return inputs.get("disabled") is True or inputs.get("enabled") is False


def _gone(comparison: Comparison, touched: Touched, what: str, text: str) -> _Loss:
    project = comparison.old.project
    subject = Subject(what, _name(touched.old, what, project))
    successor = _name(touched.new, what, project)
    is_rewritten = touched.goes and what in _CONTENTS
    if is_rewritten and UNKNOWN in successor:
        return _Loss(subject, State.UNKNOWN)
    if is_rewritten and successor == subject.name:
        return _Loss(subject, State.YES)
    return _Loss(subject, State.NO, text)


def _name(resource: Resource | None, what: str, project: str) -> str:
    """Return the name by which jobs know a resource; empty without one."""
    if resource is None:
        return ""
    inputs = {key: str(value) for key, value in resource.inputs.items()}
    name = last_part(inputs.get("name") or resource.id)
    if what == _PACKAGE:
        return f"gs://{inputs.get('bucket')}/{inputs.get('name')}"
    if what == ACCOUNT:
        address = trainer_email(inputs.get("accountId", ""), inputs.get("project", project))
        return str(resource.outputs.get("email") or address)
    return last_part(inputs.get("secretId") or inputs.get("secret") or name)


def _revoked(comparison: Comparison) -> Iterator[_Loss]:
    """Yield the rights of service accounts that no grant of the program gives any more."""
    after = held(comparison, Side.AFTER)
    lost: dict[tuple[Subject, str], list[str]] = {}
    for member, right, subject in held(comparison, Side.BEFORE).keys() - after.keys():
        kind, _, account = member.partition(":")
        if kind == "serviceAccount":
            lost.setdefault((subject, account), []).append(right)
    for (subject, account), rights in lost.items():
        text = f"{ACCOUNT} `{account.partition('@')[0]}` can no longer {join(sorted(rights)[:2])}"
        yield _Loss(subject, State.NO, text, account)


def _left_out(touched: Touched, jobs: Iterable[VertexJob]) -> Iterator[_Loss]:
    """Yield the accounts of jobs that a new authoritative binding of their usual role does not list."""
    on = form(touched.type)
    if on is None or touched.old is not None or touched.becomes.get("role") != _USUAL_ROLES.get(on.what):
        return
    _, name = place(on, touched.becomes)
    listed = {grant.member for grant in grants(touched, touched.new)}
    for account in sorted({job.service_account for job in jobs}):
        if on.whole and f"serviceAccount:{account}" not in listed:
            text = f"{ACCOUNT} `{account.partition('@')[0]}` is not in the new binding `{touched.name}`"
            yield _Loss(Subject(on.what, name), State.NO, text, account)


def findings(comparison: Comparison, differences: Iterable[Difference]) -> Iterator[Finding]:
    planned = {action.id for action in comparison.actions if action.what in DELETE}
    jobs = {job.name: job for job in comparison.world.unfinished}
    for difference in differences:
        # The plan reports the jobs of clusters that the deployment itself deletes.
        if difference.becomes_rejected and difference.subject.name not in planned:
            yield _finding(comparison, difference, [jobs[key[0]] for key in difference.keys])


def _finding(comparison: Comparison, difference: Difference, jobs: list[VertexJob]) -> Finding:
    subject = difference.subject
    named = [f"`{job.display_name}` ({job.owner_and_age(comparison.world.now)})" for job in jobs]
    users = sorted({f"`{job.user}`" for job in jobs})
    who = f"job {named[0]}" if len(jobs) == 1 else f"each of {len(jobs)} unfinished jobs of {few(users)}"
    reason = difference.after.text if difference.after else ""
    fix = "keep it until these jobs end"
    cluster = comparison.old.cluster_named(subject.name)
    if subject.what == _CLUSTER:
        on = Subject(_CLUSTER, cluster.name if cluster else subject.name)
        found = KINDS["jobs-cancelled"].of(on, f"{reason}: {who} is cancelled", fix)
    else:
        grade = Grade.WARNING if subject.what == _NOTICES else Grade.BLOCKING
        effect = "runs as it" if reason.startswith(ACCOUNT) else _EFFECTS.get(subject.what, "needs it")
        sentence = f"{reason}: {who} {effect}"
        found = KINDS["job-loses-resource"].of(subject, sentence, fix, grade=grade, jobs=[job.name for job in jobs])
    return replace(found, details=tuple(named))

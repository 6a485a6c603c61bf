"""Needs of unfinished jobs: whether what each still needs exists after a change, and whether it can use it. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from slipway.answers.answer import Answer, Difference, State
from slipway.answers.comparison import Comparison, Side
from slipway.answers.rights import ACCOUNT, fate_text, held, including
from slipway.base.formatting import few, join, last_part
from slipway.deploying.deployment.workspace_plan import trainer_email
from slipway.deploying.engine.grants import form, grants, place
from slipway.deploying.engine.preview import UNKNOWN, Resource
from slipway.deploying.engine.touched import CLUSTER_TYPE, Touched
from slipway.deploying.generations.action import DELETE
from slipway.google.jobs import VertexJob
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.model.labels import NOTIFICATION

QUESTION = "job needs"
_CLUSTER = "cluster"
_PACKAGE = "package"
_NOTICES = "notification secret"
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
_CONTENTS = (_PACKAGE, "secret")
"""Needs that a replacement under the same name fulfils as well."""
_USUAL_ROLES = {"bucket": "roles/storage.objectUser", "secret": "roles/secretmanager.secretAccessor"}
"""By a need, the role by which accounts of jobs usually use it."""
_SECRET = re.compile(r"__SECRET=projects/[^/]+/secrets/([^/\s]+)")
_NOTICE_SECRET = re.compile(rf'{NOTIFICATION}=.*/secrets/([^/\s"]+)')


@dataclass(frozen=True)
class _Loss:
    """Needs that the change deletes, disables or takes from an account."""

    whats: tuple[str, ...]
    names: frozenset[str]
    text: str
    #: The only account that loses it; empty if all do.
    account: str = ""
    state: State = State.NO

    def hits(self, need: Subject, job: VertexJob) -> bool:
        is_named = need.what in self.whats and need.name in self.names
        return is_named and self.account in ("", job.service_account)


def answers(comparison: Comparison, side: Side) -> Iterator[Answer]:
    """Answer for each unfinished job and need: keys are (job, need, name)."""
    losses = () if side is Side.BEFORE else tuple(_losses(comparison))
    for job in comparison.world.unfinished:
        for need in needs(comparison, job):
            answer = Answer(QUESTION, (job.name, need.what, need.name), need)
            for loss in losses:
                if loss.hits(need, job):
                    answer = replace(answer, state=loss.state, text=loss.text)
            yield answer


def needs(comparison: Comparison, job: VertexJob) -> tuple[Subject, ...]:
    """Return what a job needs until it ends, restarts included."""
    environment = "\n".join("\n".join(pool.env) for pool in job.worker_pools)
    names: Mapping[str, Iterable[str]] = {
        "project": [comparison.old.project],
        _CLUSTER: [job.persistent_resource_id],
        ACCOUNT: [job.service_account],
        "bucket": job.buckets,
        _PACKAGE: job.needed,
        "reservation": map(last_part, job.reservations),
        "secret": _SECRET.findall(environment),
        _NOTICES: _NOTICE_SECRET.findall(environment),
    }
    found = dict.fromkeys(_network_needs(comparison, job))
    for what, listed in names.items():
        found.update(dict.fromkeys(Subject(what, name) for name in sorted(listed)))
    return tuple(need for need in found if need.name)


def _network_needs(comparison: Comparison, job: VertexJob) -> Iterator[Subject]:
    """Yield network, attachment and key of the job's cluster and template as deployed: lists of jobs have none."""
    template = comparison.old.templates.get(comparison.renamed.get(job.template, job.template))
    for offer in template.offers if template else ():
        yield Subject("network", last_part(str(offer.spec.get("network", ""))))
        attachment = offer.spec.get("pscInterfaceConfig", {}).get("networkAttachment", "")
        yield Subject("network attachment", last_part(str(attachment)))
    cluster = comparison.old.cluster_named(job.persistent_resource_id)
    if cluster is None:
        return
    yield Subject("network", last_part(cluster.network))
    yield Subject("key", last_part(cluster.kms_key))
    if cluster.psc is not None:
        yield Subject("network attachment", last_part(cluster.psc.network_attachment))


def _losses(comparison: Comparison) -> Iterator[_Loss]:
    for touched in comparison.touched:
        yield from _left_out(touched, comparison.world.unfinished)
        yield from _ended(touched, comparison.old.project)
    for action in comparison.actions:
        if action.what in DELETE:
            yield _Loss((_CLUSTER,), frozenset({action.id}), "is deleted")
    yield from _revoked(comparison)


def _ended(touched: Touched, project: str) -> Iterator[_Loss]:
    """Yield the loss of a resource that is deleted, replaced or disabled."""
    text = ""
    if touched.destroyed:
        text = fate_text(touched)
    elif _is_off(touched.becomes) and not _is_off(touched.was):
        text = "is disabled"
    kind = touched.type.rpartition(":")[0]
    whats = _TYPES.get(kind, ())
    if not text or not whats:
        return
    names = _names(touched.old, project)
    successors = _names(touched.new, project)
    is_rewritten = touched.goes and whats[0] in _CONTENTS
    if is_rewritten and UNKNOWN in " ".join(successors):
        yield _Loss(whats, names, text, state=State.UNKNOWN)
    elif is_rewritten:
        yield _Loss(whats, names - successors, f"`{touched.name}` {text}")
    else:
        yield _Loss(whats, names, f"`{touched.name}` {text}")


def _is_off(inputs: Mapping[str, object]) -> bool:
    return inputs.get("disabled") is True or inputs.get("enabled") is False


def _names(resource: Resource | None, project: str) -> frozenset[str]:
    """Return the names by which jobs may know a resource."""
    if resource is None:
        return frozenset()
    inputs = {key: str(value) for key, value in resource.inputs.items()}
    paths = [resource.id, *map(inputs.get, ("name", "secretId", "secret")), resource.outputs.get("email")]
    names = {last_part(str(path)) for path in paths if path}
    names.add(f"gs://{inputs.get('bucket')}/{inputs.get('name')}")
    names.add(trainer_email(inputs.get("accountId", ""), inputs.get("project", project)))
    return frozenset(names)


def _revoked(comparison: Comparison) -> Iterator[_Loss]:
    """Yield the rights of service accounts that no grant of the program gives any more."""
    before = held(comparison, Side.BEFORE)
    after = including(held(comparison, Side.AFTER), before, comparison.new.project)
    lost: dict[tuple[Subject, str], list[str]] = {}
    for member, right, subject in before.keys() - after.keys():
        kind, _, account = member.partition(":")
        if kind == "serviceAccount":
            lost.setdefault((subject, account), []).append(right)
    for (subject, account), rights in lost.items():
        text = f"{ACCOUNT} `{account.partition('@')[0]}` can no longer {join(sorted(rights)[:2])}"
        yield _Loss((subject.what,), frozenset({subject.name}), text, account)


def _left_out(touched: Touched, jobs: Iterable[VertexJob]) -> Iterator[_Loss]:
    """Yield the accounts of jobs that a new authoritative binding of their usual role does not list."""
    on = form(touched.type)
    if on is None or not on.whole or touched.old is not None:
        return
    if touched.becomes.get("role") != _USUAL_ROLES.get(on.what):
        return
    _, name = place(on, touched.becomes)
    listed = {grant.member for grant in grants(touched, touched.new)}
    for account in sorted({job.service_account for job in jobs}):
        if f"serviceAccount:{account}" not in listed:
            text = f"{ACCOUNT} `{account.partition('@')[0]}` is not in the new binding `{touched.name}`"
            yield _Loss((on.what,), frozenset({name}), text, account)


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
    sentence = f"{difference.after.text if difference.after else ''}: {who} needs it"
    kind = "jobs-cancelled" if subject.what == _CLUSTER else "job-loses-resource"
    cluster = comparison.old.cluster_named(subject.name)
    if cluster is not None:
        subject = Subject(_CLUSTER, cluster.name)
    grade = Grade.WARNING if subject.what == _NOTICES else Grade.BLOCKING
    fix = "keep it until these jobs end"
    found = KINDS[kind].of(subject, sentence, fix, grade=grade, jobs=[job.name for job in jobs])
    return replace(found, details=tuple(named))

"""Unfinished jobs and their needs beside the cluster: account, bucket, package, secret, network, reservation."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from slipway.deploying.engine.grants import form, gained_and_lost, grants, place
from slipway.deploying.engine.preview import Resource
from slipway.deploying.engine.touched import Fate
from slipway.google.jobs import VertexJob, distinct
from slipway.model.catalog.model import Catalog
from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.usual import job_spec, secret_in
from slipway.reviewing.rules.words import jobs, named, owned

_CONTENT = re.compile("source|content|detectMd5hash")


def unfinished(change: Change) -> Iterator[Finding]:
    """Yield the worst finding of each subject, once."""
    found: dict[tuple[str, str], Finding] = {}
    for one in (*_gone(change), *_revoked(change), *_left_out(change), *_unkept(change), *_given_up(change)):
        found.setdefault(one.key, one)
    yield from found.values()
    yield from _kept(change)
    yield from _other_next_time(change)


def _gone(change: Change) -> Iterator[Finding]:
    for one in change.touched:
        off = one.fate is Fate.CHANGED and _off(one.new) and not _off(one.old)
        if one.old is None or not (one.destroyed or off):
            continue
        happens = "is disabled" if off else "is deleted" if one.fate is Fate.DELETED else "is deleted and made anew"
        for type_, kind, what in NEEDED:
            name = name_of(one.old, what, change) if one.type.startswith(type_) else ""
            # A resource that is written anew under its name exists again, which is reported elsewhere.
            again = type_ in (PACKAGE, VERSION) and one.new is not None and name_of(one.new, what, change) == name
            if off or not again:
                words = f"{'repository' if kind == _IMAGES else what} `{name}`, which {happens}"
                yield from _lost(kind, Subject(what, name), words, users(change, kind, name), change)


def _off(one: Resource | None) -> bool:
    return one is not None and (one.inputs.get("disabled") is True or one.inputs.get("enabled") is False)


def _revoked(change: Change) -> Iterator[Finding]:
    for grant in gained_and_lost(change.touched)[1]:
        account = grant.member.removeprefix("serviceAccount:")
        if grant.what in GRANTED:
            words = f"{grant.words}, which is taken from `{account}`"
            yield from _shut_out(account, grant.what, grant.place, words, change)


def _left_out(change: Change) -> Iterator[Finding]:
    """Yield bindings, which set a role's members altogether, without an account that usually has the role."""
    for one in change.touched:
        on = form(one.type)
        if one.old or one.new is None or on is None or on.whole != "Binding" or on.what not in GRANTED:
            continue
        members = {grant.member.removeprefix("serviceAccount:") for grant in grants(one, one.new)}
        role, (where, name) = one.new.inputs.get("role", ""), place(on, one.new.inputs)
        if role == GRANTED[on.what][2]:
            for account in sorted({job.service_account for job in change.jobs} - members):
                words = f"`{role}` on {where}, as a binding leaves `{account}` out"
                yield from _shut_out(account, on.what, name, words, change)


def _shut_out(account: str, what: str, name: str, right: str, change: Change) -> Iterator[Finding]:
    kind, word, _ = GRANTED[what]
    concerned = users(change, kind, name) if what else change.jobs
    theirs = tuple(job for job in concerned if job.service_account == account)
    yield from _lost(kind, Subject(word, name or account), right, theirs, change, then="what that allows then fails")


def _unkept(change: Change) -> Iterator[Finding]:
    told = change.preview is not None and change.preview.complete
    if change.old is None or change.after is None or told:
        return
    old, new = change.old, change.after.catalog
    accounts = {old.trainer, *old.trainers.values()} - {new.trainer, *new.trainers.values()}
    gone = [(ACCOUNT, "account", one) for one in sorted(accounts)]
    gone += [(BUCKET, "bucket", one) for one in sorted({*old.buckets} - {*new.buckets})]
    for kind, what, name in gone:
        if name not in change.after.kept:
            theirs = tuple(job for job in change.jobs if name and job.needs(name))
            yield from _lost(kind, Subject(what, name), f"{what} `{name}`, which nothing keeps", theirs, change)


def _given_up(change: Change) -> Iterator[Finding]:
    if change.old is None or change.new is None:
        return
    for path in sorted(reservations(change.old) - reservations(change.new)):
        subject, words = Subject("reservation", path), f"reservation `{path}`, which no template names any more"
        yield from _lost(RESERVATION, subject, words, users(change, RESERVATION, path), change)


def _kept(change: Change) -> Iterator[Finding]:
    before = change.before.kept if change.before else {}
    for one in change.after.kept.values() if change.after else ():
        if one.kind != "cluster" and one.jobs and one.id not in before:
            on_it = distinct(job for job in change.jobs if job.name in one.jobs)
            who = owned(on_it, "") if on_it else named(f"`{name}`" for name in one.jobs.values())
            have = "have" if len(on_it or one.jobs) > 1 else "has"
            words = f"`{one.id}` stays as it is until {who} {have} ended"
            yield KINDS["jobs-finish-on-old"].of(Subject(one.kind, one.id), words, details=jobs(on_it, change.now))


def _other_next_time(change: Change) -> Iterator[Finding]:
    for one in change.touched:
        name, kind, other = "", SECRET, "another value of"
        if one.new and one.type.startswith(VERSION) and one.fate is not Fate.CHANGED:
            name = str(one.new.inputs.get("secret", ""))
        elif one.new and one.old and one.type.startswith(PACKAGE):
            was, is_ = (name_of(each, "package", change) for each in (one.old, one.new))
            rewritten = any(map(_CONTENT.match, (*one.diffs, *one.replaces)))
            name, kind, other = is_ if rewritten and was == is_ else "", _LOST_PACKAGE, "the code that overwrites"
        if theirs := users(change, kind, name):
            who, alone = owned(theirs, ""), len(distinct(theirs)) == 1
            yield KINDS["jobs-restart-differently"].of(
                Subject(name),
                f"If {who} {'restarts, it goes' if alone else 'restart, they go'} on with {other} `{name}`",
                details=jobs(theirs, change.now),
            )


def _lost(
    kind: str, subject: Subject, lost: str, theirs: tuple[VertexJob, ...], change: Change, then: str = ""
) -> Iterator[Finding]:
    """Yield the finding that jobs lose `lost`, a clause with the reason; and the failure that follows, by default the
    kind's."""
    if theirs:
        who, one = owned(theirs, ""), len(distinct(theirs)) == 1
        yield KINDS[kind].of(
            subject,
            f"{who} {'loses' if one else 'lose'} {lost}",
            more=f": {then or _THEN[kind]}; wait until {'it has' if one else 'they have'} ended",
            clause=f"{who} {'loses its' if one else 'lose their'} {subject.what}",
            details=jobs(theirs, change.now),
        )


ACCOUNT, BUCKET, SECRET, RESERVATION = (f"jobs-lose-{one}" for one in ("account", "bucket", "secret", "reservation"))
_LOST_PACKAGE, _NETWORK, _IMAGES = "jobs-lose-package", "jobs-lose-network", "jobs-restart-differently"
PACKAGE, VERSION = "gcp:storage/bucketObject:", "gcp:secretmanager/secretVersion:"
NEEDED = (
    ("gcp:serviceaccount/account:", ACCOUNT, "account"),
    ("gcp:storage/bucket:", BUCKET, "bucket"),
    (PACKAGE, _LOST_PACKAGE, "package"),
    ("gcp:secretmanager/secret:", SECRET, "secret"),
    (VERSION, SECRET, "secret"),
    ("gcp:compute/network:", _NETWORK, "network"),
    ("gcp:compute/networkAttachment:", _NETWORK, "network attachment"),
    ("gcp:kms/cryptoKey:", _NETWORK, "key"),
    ("gcp:compute/reservation:", RESERVATION, "reservation"),
    ("gcp:artifactregistry/repository:", _IMAGES, "images"),
)
"""Types, by their prefix; the kind of finding for jobs that lose one; the word for it."""
_THEN: Mapping[str, str] = {
    ACCOUNT: "nothing can be read or written any more",
    BUCKET: "what is in it is lost",
    SECRET: "the next start or restart fails",
    _LOST_PACKAGE: "the next start or restart fails",
    _NETWORK: "the run, or a restart of it, fails",
    RESERVATION: "a restart may find no machines",
    _IMAGES: "the next start or restart fails",
}
"""The effect on jobs that lose one."""
GRANTED = {
    "": (ACCOUNT, "account", ""),
    "bucket": (BUCKET, "bucket", "roles/storage.objectUser"),
    "secret": (SECRET, "secret", "roles/secretmanager.secretAccessor"),
}
"""The same for roles, by their resources (the project, where empty); and the role that usually gives jobs access."""


_NEEDS: Mapping[str, Callable[[VertexJob], Iterable[str]]] = {
    ACCOUNT: lambda job: (job.service_account,),
    BUCKET: lambda job: job.buckets,
    _LOST_PACKAGE: lambda job: job.packages,
    SECRET: lambda job: (secret_in(one) for pool in job.worker_pools for one in pool.env if "__SECRET=" in one),
    RESERVATION: lambda job: (*job.reservations, *map(_last, job.reservations)),
    _IMAGES: lambda job: ("/".join((*pool.image.split("/")[:3], "")) for pool in job.worker_pools),
}
"""A job's need of each, by the kind of finding for its loss; for all others, its networks."""


def users(change: Change, kind: str, name: str) -> tuple[VertexJob, ...]:
    """Return unfinished jobs that need it; `kind` is the finding for its loss."""
    known_as = _last(name) if kind == SECRET else name
    needs = _NEEDS.get(kind)
    return tuple(job for job in change.jobs if name and known_as in (needs(job) if needs else _networks(job, change)))


def name_of(one: Resource, what: str, change: Change) -> str:
    """Return the name by which jobs know a resource; `what` is its word in `NEEDED`."""
    project = one.inputs.get("project") or (change.old.project if change.old else "")
    if what == "account":
        made = f"{one.inputs.get('accountId', '')}@{project}.iam.gserviceaccount.com"
        return str(one.outputs.get("email") or made)
    if what == "package":
        return f"gs://{one.inputs.get('bucket', '')}/{one.inputs.get('name', '')}"
    if what == "secret":
        return str(one.inputs.get("secretId") or one.inputs.get("secret", ""))
    if what == "images":
        return f"{one.inputs.get('location')}-docker.pkg.dev/{project}/{one.inputs.get('repositoryId')}/"
    return str(one.inputs.get("name") or _last(one.id))


def reservations(catalog: Catalog) -> frozenset[str]:
    """Return the full paths that some offer names."""
    return frozenset(
        str(path)
        for template in catalog.templates.values()
        for offer in template.offers
        for pool in job_spec(offer).get("workerPoolSpecs", ())
        for path in pool.get("machineSpec", {}).get("reservationAffinity", {}).get("values", ())
    )


def _networks(job: VertexJob, change: Change) -> Iterator[str]:
    """Yield networks, attachments and keys of its cluster and its template, as deployed: no list tells a job's own."""
    cluster = change.old.cluster_named(job.persistent_resource_id) if change.old else None
    if cluster:
        yield from map(_last, (cluster.network, cluster.psc.network_attachment if cluster.psc else "", cluster.kms_key))
    template = change.old.templates.get(job.template) if change.old else None
    for spec in (job_spec(one) for one in template.offers) if template else ():
        attachment = spec.get("pscInterfaceConfig", {}).get("networkAttachment", "")
        yield from map(_last, (str(spec.get("network", "")), str(attachment)))


def _last(path: str) -> str:
    return path.rstrip("/").rsplit("/", 1)[-1]

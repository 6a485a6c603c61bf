"""Unfinished jobs and their needs beside the cluster: account, bucket, package, secret, network, reservation."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from slipway.base.formatting import last_part
from slipway.deploying.engine.grants import form, grants, place
from slipway.deploying.engine.preview import Resource
from slipway.deploying.engine.touched import Fate
from slipway.google.jobs import VertexJob, distinct
from slipway.model.findings.finding import Grade, Section, Subject
from slipway.model.labels import NOTIFICATION, record_in
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.usual import secret_in
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.table import RowName, by_row, say
from slipway.reviewing.rules.words import have_ended, jobs, owned

PACKAGE, VERSION = "gcp:storage/bucketObject:", "gcp:secretmanager/secretVersion:"
_NEEDS: Mapping[str, Mapping[str, Any]] = {
    row["what"]: row for row in json.loads(Path(__file__).with_name("needs.json").read_text("utf-8"))
}
"""The things that jobs need, each with the kind of its loss and what follows: the engine's types that are one, its full
name where jobs know it by that, and the role on it by which jobs' accounts usually use it."""
_NOTICES = "notices' secret"
"""The secret by which jobs tell people how they end."""
_SECRETS = ("secret", _NOTICES)


def unfinished(change: Change) -> Iterator[Consequence]:
    """Yield the worst consequence of each subject, once."""
    found: dict[tuple[str, str], Consequence] = {}
    for lost in (*_gone(change), *_revoked(change)):
        found.setdefault(lost.key, lost)
    yield from found.values()
    for kept in change.after.kept.values():
        if kept.kind != "cluster" and kept.jobs and kept.id not in change.before.kept:
            on_it = distinct(job for job in change.jobs if job.name in kept.jobs)
            details = jobs(on_it, change.now) or [f"`{name}`" for name in kept.jobs.values()]
            told = by_row("kept-for-jobs", Subject(kept.kind, kept.id), details=details)
            yield replace(told, section=Section.DATA)
    for step in change.touched:
        if step.new and step.type.startswith(VERSION) and step.fate is not Fate.CHANGED:
            secret = str(step.new.inputs.get("secret", ""))
            yield from _hit("restart-with-secret", Subject(secret), users(change, "secret", secret), change)


def _gone(change: Change) -> Iterator[Consequence]:
    for step in change.touched:
        sides = [each.get("disabled") is True or each.get("enabled") is False for each in (step.was, step.becomes)]
        off = step.fate is Fate.CHANGED and sides == [False, True]
        if step.old is None or not (step.destroyed or off):
            continue
        how = say("resource-goes", disabled=off, deleted=step.fate is Fate.DELETED)
        for what, need in _NEEDS.items():
            name = name_of(step.old, what, change) if step.type.startswith(tuple(need["types"])) else ""
            # A resource that is written anew under its name exists again, which is reported elsewhere.
            anew = step.new and step.type.startswith((PACKAGE, VERSION)) and name_of(step.new, what, change) == name
            if off or not anew:
                # The deletion of a bucket with anything in it fails, unless it is forced.
                lost = "" if step.was.get("forceDestroy") else need.get("unforced", "")
                yield from _lost(Subject(what, name), users(change, what, name), change, happens=how, lost=lost)


def _revoked(change: Change) -> Iterator[Consequence]:
    """Yield what jobs' accounts may no longer use: by a grant that goes, or by a binding that leaves them out."""
    for grant in change.grants[1]:
        account, need = grant.member.removeprefix("serviceAccount:"), _NEEDS.get(grant.what)
        if (need and "role" in need) or not grant.what:
            right = say("role-taken", words=grant.words, account=account)
            yield from _shut_out(account, grant.what, grant.place, right, change)
    for step in change.touched:
        on = form(step.type)
        if on and on.whole == "Binding" and not step.old:
            role, (where, name) = step.becomes.get("role"), place(on, step.becomes)
            members = {grant.member.removeprefix("serviceAccount:") for grant in grants(step, step.new)}
            usual = role == _NEEDS.get(on.what, {}).get("role", "")
            for account in sorted({job.service_account for job in change.jobs} - members) if usual else ():
                right = say("role-unbound", role=role, where=where, account=account)
                yield from _shut_out(account, on.what, name, right, change)


def _shut_out(account: str, what: str, name: str, right: str, change: Change) -> Iterator[Consequence]:
    for need in _SECRETS if what == "secret" else (what,):
        hit = [job for job in (users(change, need, name) if what else change.jobs) if job.service_account == account]
        yield from _lost(Subject(need or "account", name or account), hit, change, right=right)


def _lost(
    subject: Subject, hit: Sequence[VertexJob], change: Change, *, happens: str = "", right: str = "", lost: str = ""
) -> Iterator[Consequence]:
    need = _NEEDS[subject.what]
    told = {"what": subject.what, "happens": happens, "right": right, "lost": lost or need["lost"]}
    grade = Grade.WARNING if subject.what == _NOTICES else None  # The jobs themselves go on.
    yield from _hit("jobs-lose", subject, hit, change, as_kind=need["kind"], grade=grade, **told)


def _hit(
    row: RowName, subject: Subject, hit: Sequence[VertexJob], change: Change, **values: Any
) -> Iterator[Consequence]:
    if hit:
        ended, details = have_ended(hit, ""), jobs(hit, change.now)
        yield by_row(row, subject, jobs=owned(hit, ""), ended=ended, details=details, **values)


def users(change: Change, what: str, name: str) -> tuple[VertexJob, ...]:
    """Return unfinished jobs that need the thing of that word and name."""
    known_as = last_part(name) if what in _SECRETS else name
    return tuple(job for job in change.jobs if known_as in _names(job, what, change)) if name else ()


def _names(job: VertexJob, what: str, change: Change) -> Iterable[str]:
    match what:
        case "account" | "bucket":
            return (job.service_account, *job.buckets)
        case "package":
            return job.needed
        case "secret":
            return (secret_in(text) for pool in job.worker_pools for text in pool.env if "__SECRET=" in text)
        case _ if what == _NOTICES:
            records = (record_in(pool.env, NOTIFICATION) or {} for pool in job.worker_pools)
            return (secret_in(str(record.get("secret", ""))) for record in records)
        case "reservation":
            return (*job.reservations, *map(last_part, job.reservations))
        case _:
            return _networks(job, change)


def _networks(job: VertexJob, change: Change) -> Iterator[str]:
    """Yield networks, attachments and keys of its cluster and its template, as deployed: no list tells a job's own."""
    name = change.other_names.get(job.template, job.template)
    cluster, template = change.old.cluster_named(job.persistent_resource_id), change.old.templates.get(name)
    if cluster:
        attachment = cluster.psc.network_attachment if cluster.psc else ""
        yield from map(last_part, (cluster.network, attachment, cluster.kms_key))
    for spec in (offer.spec for offer in (template.offers if template else ())):
        attachment = spec.get("pscInterfaceConfig", {}).get("networkAttachment", "")
        yield from map(last_part, (str(spec.get("network", "")), str(attachment)))


def name_of(resource: Resource, what: str, change: Change) -> str:
    """Return the name by which jobs know a resource; `what` is its word in the table of needs."""
    values = defaultdict(str, {"project": change.old.project, **resource.inputs})
    if what == "account" and (email := resource.outputs.get("email")):
        return str(email)
    if full := _NEEDS[what].get("called"):
        return str(full.format_map(values))
    return str(values["secretId"] or values["secret"] if what in _SECRETS else values["name"] or last_part(resource.id))

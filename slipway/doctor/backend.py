"""What killed runs left: in the engine's backend, in this checkout's journals, in the bucket of packages."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from datetime import timedelta

from slipway.doctor.commands import always_quoted, remove
from slipway.doctor.picture import WAITS, Backend, Damage, Lock, Picture
from slipway.doctor.taking_down import ways
from slipway.findings.finding import Finding, Subject
from slipway.findings.kinds import KINDS
from slipway.formatting import counted, join, size, span
from slipway.live import Unknown

_LONGEST_RUN = timedelta(hours=3)
"""After which CI ends a deployment, and longer than one waits for a cluster."""
_ABANDONED = timedelta(minutes=10)
_KEPT = timedelta(days=90)
_AT_ONCE = 5
"""So many packages are named in one command."""
_CALLED = {"creation": "clusters/asked-for.json (the object whose writing makes the clusters)"}
"""The engine knows by a name of its own, which tells nobody anything, what people see in the bucket."""


def backend(picture: Picture) -> Iterator[Finding]:
    found = picture.backend
    if found is None:
        return
    if found.cut_off:
        words = f"a killed run left empty files in {found.cut_off}, so that every command fails with EOF"
        mend = f"find {always_quoted(found.cut_off)} -name '*.attrs' -size 0 -delete"
        yield KINDS["state-damaged"].of(
            Subject("backend"), words, mend, "while no pulumi runs; nothing in them is needed"
        )
    if found.damage:
        yield _damage(found.damage, picture)
    if found.state is None and picture.published is not None and not isinstance(picture.published, Unknown):
        words = f"the backend {found.address} has no stack {picture.stack}, and its catalog is published"
        does = f"or, where the state is lost: pulumi stack init {picture.stack}, and pulumi up adopts what lives"
        mend = "set PULUMI_BACKEND_URL to where the stack was deployed from, and look again"
        yield KINDS["state-missing"].of(Subject("stack", picture.stack), words, mend, does)
    if not isinstance(found.locks, Unknown):
        for lock in found.locks:
            yield from _lock(lock, picture)
    if found.pending and not found.busy:
        yield _pending(found, picture)


def _damage(damage: Damage, picture: Picture) -> Finding:
    file = always_quoted(damage.file)
    words = f"the state {damage.file} was cut off in the writing, as on a disk that is full: no command can load it"
    if damage.copy:
        mend = f"cp {always_quoted(damage.copy)} {file}"
        does = "once there is room, and while no pulumi runs; pulumi up then takes over what the copy lacks"
    else:
        mend = f"mv {file} {always_quoted(f'{damage.file}.damaged')}"
        does = f"no copy of it is whole: once there is room, then pulumi stack init {picture.stack}, "
        does += "and pulumi up adopts what lives"
    return KINDS["state-damaged"].of(Subject("state", picture.stack), words, mend, does)


def _lock(lock: Lock, picture: Picture) -> Iterator[Finding]:
    subject, cancel = Subject("lock", lock.file), f"pulumi cancel {picture.stack} --yes"
    if lock.damaged:
        words = f"the lock {lock.file} was cut off in the writing, so every deployment is refused"
        yield KINDS["lock-stale"].of(subject, words, cancel, "when no deployment is under way")
        return
    who = f"{lock.user}@{lock.host}" if lock.user else lock.host
    since = picture.now - lock.since if lock.since else None
    held = f" for {span(since.total_seconds())}" if since else ""
    if lock.alive is False:
        words = f"{who} has held the stack's lock{held}, and its process is gone: every deployment is refused"
        yield KINDS["lock-stale"].of(subject, words, cancel, "it releases the lock")
    elif lock.alive is None and (since is None or since > _LONGEST_RUN):
        words = f"{who} has held the stack's lock{held}, longer than a deployment takes"
        does = "when its process there is gone, or no run of `up` is going on; in CI: Run workflow, release-lock"
        yield KINDS["lock-old"].of(subject, words, cancel, does)


def _pending(found: Backend, picture: Picture) -> Finding:
    names = join(_CALLED.get(one, one) for one in found.pending)
    subject = Subject("state", picture.stack)
    if found.deletes:
        words = f"a killed run was deleting {names}, and nobody knows whether it was done"
        return KINDS["operation-pending"].of(subject, words, *ways(picture))
    words = f"a killed run was at work on {names}, and nobody knows whether it was done"
    does = "clears that; then pulumi up takes over what was made"
    mend = f"pulumi refresh --clear-pending-creates --stack {picture.stack}"
    return KINDS["operation-pending"].of(subject, words, mend, does)


def submissions(picture: Picture) -> Iterator[Finding]:
    parts = (part for part in (picture.recent, picture.jobs) if not isinstance(part, Unknown))
    jobs = {job.name: job for part in parts for job in part}
    for one in picture.submissions:
        since = picture.now - one.when
        job = jobs.get(one.job)
        if since < _ABANDONED or (one.job and not one.waited) or (job is not None and job.state not in WAITS):
            continue
        words = f"submission {one.request_id} of {one.template} was interrupted {span(since.total_seconds())} ago"
        words += " while it waited" if one.job else " as it was sent"
        resume = shlex.join(["slipway", "submit", one.template, *one.words, "--request-id", one.request_id])
        mend, does = resume + picture.of_catalog, "finds its job, or sends it once"
        if not one.known:
            mend = f"submit {one.template} with --request-id {one.request_id} and the parameters and flags that it had"
        elif one.job:
            mend = f"submit it with the --wait-for and --then that it had, besides: {mend}"
        if one.job:
            does = "it goes on: waits, and falls back where it was to"
        yield KINDS["submission-abandoned"].of(Subject("submission", one.request_id), words, mend, does)


def packages(picture: Picture) -> Iterator[Finding]:
    if picture.catalog is None or isinstance(picture.packages, Unknown) or isinstance(picture.jobs, Unknown):
        return
    used = {one.package for one in picture.catalog.templates.values()}
    used |= {uri for job in picture.jobs for uri in job.packages}
    left = [
        one
        for one in picture.packages
        if one.uri not in used and one.updated is not None and picture.now - one.updated > _KEPT
    ]
    if left:
        are, them = ("is", "it") if len(left) == 1 else ("are", "them")
        amount = size(sum(one.size for one in left))
        words = f"{counted(len(left), 'package')} of earlier deployments {are} older than {_KEPT.days} days ({amount})"
        words += f"; no template and no unfinished job uses {them}"
        does = f"or leave {them}: the bucket's lifecycle deletes packages after two years"
        if len(left) > _AT_ONCE:
            does = f"the oldest {_AT_ONCE}; slipway doctor then names the next; {does}"
        oldest = sorted(left, key=lambda one: (one.updated or picture.now, one.uri))[:_AT_ONCE]
        mend = remove(one.uri for one in oldest)
        yield KINDS["package-left"].of(Subject("packages", picture.stack), words, mend, does)

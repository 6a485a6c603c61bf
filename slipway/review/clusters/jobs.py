"""What unfinished jobs lose, whatever cluster they are on: account, bucket, package, secret, network, reservation."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.cloud.jobs import VertexJob
from slipway.findings.finding import Finding, Subject
from slipway.findings.kinds import KINDS
from slipway.review.change import Change
from slipway.review.clusters.deletions import DESTROYING
from slipway.review.clusters.needs import GRANTED, NEEDED, PACKAGE, VERSION, reads, reservations, uri
from slipway.review.preview import Resource, Step
from slipway.review.words import distinct, jobs, named, told_jobs

_CONTENT = ("source", "content", "detectMd5hash")


def unfinished(change: Change) -> Iterator[Finding]:
    """Of each thing the worst, once."""
    found: dict[tuple[str, str], Finding] = {}
    for one in (
        *_gone(change),
        *_switched_off(change),
        *_revoked(change),
        *_left_out(change),
        *_unkept(change),
        *_given_up(change),
    ):
        found.setdefault(one.key, one)
    yield from found.values()
    yield from _kept(change)
    yield from _other_next_time(change)


def _gone(change: Change) -> Iterator[Finding]:
    """What the engine deletes or replaces."""
    for step, old in _going(change):
        for row in NEEDED:
            if not step.type.startswith(row.type):
                continue
            name = row.name(old, change)
            # What is written anew under its name is there again, which is another matter.
            again = row.type in (PACKAGE, VERSION) and step.new is not None and row.name(step.new, change) == name
            users = tuple(job for job in change.jobs if name and not again and row.by(job, name, change))
            if users:
                goes = "goes" if step.op == "delete" else "is replaced"
                yield _lost(row.kind, Subject(row.what, name), f"`{name}` {goes}", users, change)


def _switched_off(change: Change) -> Iterator[Finding]:
    """An account that is disabled, a secret's version that is: still there, and of no use to anybody."""
    for step in change.preview.steps if change.preview else ():
        if step.op != "update" or step.old is None or step.new is None or _off(step.old) or not _off(step.new):
            continue
        for row in NEEDED:
            name = row.name(step.old, change) if step.type.startswith(row.type) else ""
            if users := tuple(job for job in change.jobs if name and row.by(job, name, change)):
                yield _lost(row.kind, Subject(row.what, name), f"`{name}` is disabled", users, change)


def _off(one: Resource) -> bool:
    return one.inputs.get("disabled") is True or one.inputs.get("enabled") is False


def _revoked(change: Change) -> Iterator[Finding]:
    """Roles that an account loses, unless it gets them in the same deployment under another logical name."""
    steps = change.preview.steps if change.preview else ()
    granted = {_grant(step.type, step.new) for step in steps if step.op in ("create", "import") and step.new}
    for step, old in _going(change):
        for row in GRANTED:
            if not step.type.startswith(row.type) or _grant(step.type, old) in granted:
                continue
            account = str(old.inputs.get("member", "")).removeprefix("serviceAccount:")
            on = str(old.inputs.get(row.key, "")) if row.key else ""
            users = tuple(job for job in change.jobs if job.service_account == account and row.by(job, on))
            if users:
                words = f"`{account}` loses `{old.inputs.get('role', '')}`{f' on `{on}`' if on else ''}"
                yield _lost(row.kind, Subject(row.what, on or account), words, users, change)


def _left_out(change: Change) -> Iterator[Finding]:
    """Bindings, which set a role's members altogether, without the account that jobs run as."""
    for step in change.preview.steps if change.preview else ():
        one = step.new or step.old
        for row in GRANTED:
            if one is None or not step.type.startswith(row.binding):
                continue
            on, role = str(one.inputs.get(row.key, "")) if row.key else "", one.inputs.get("role", "")
            for account in sorted({job.service_account for job in change.jobs}):
                had = account in _members(step.old) if step.old else role == row.usual
                users = tuple(job for job in change.jobs if job.service_account == account and row.by(job, on))
                if users and had and account not in _members(step.new):
                    words = f"`{account}` is not among the members of `{role}`{f' on `{on}`' if on else ''}"
                    yield _lost(row.kind, Subject(row.what, on or account), words, users, change)


def _members(one: Resource | None) -> frozenset[str]:
    """Accounts among them."""
    members = one.inputs.get("members") if one else None
    listed = members if isinstance(members, list) else ()
    return frozenset(str(member).removeprefix("serviceAccount:") for member in listed)


def _unkept(change: Change) -> Iterator[Finding]:
    """Accounts and buckets that the stack names no more, where the engine has not told all deletions."""
    told = change.preview is not None and change.preview.complete
    if change.old is None or change.after is None or told:
        return
    old, new = change.old, change.after.catalog
    asked = (new.trainer, *new.trainers.values())
    accounts = ((one, one if one in asked else "") for one in (old.trainer, *old.trainers.values()))
    for kind, what, before, after in (
        *(("jobs-lose-account", "account", *names) for names in accounts),
        ("jobs-lose-bucket", "bucket", old.work_bucket, new.work_bucket),
        ("jobs-lose-bucket", "bucket", old.catalog_bucket, new.catalog_bucket),
    ):
        users = tuple(job for job in change.jobs if before and job.needs(before))
        if users and before != after and before not in change.after.kept:
            yield _lost(kind, Subject(what, before), f"`{before}` is neither asked for nor kept", users, change)


def _given_up(change: Change) -> Iterator[Finding]:
    if change.old is None or change.new is None:
        return
    for path in sorted(reservations(change.old) - reservations(change.new)):
        if users := tuple(job for job in change.jobs if path in job.reservations):
            words = f"No template names reservation `{path}` any more"
            yield _lost("jobs-lose-reservation", Subject("reservation", path), words, users, change)


def _kept(change: Change) -> Iterator[Finding]:
    """What Slipway keeps for them is no loss."""
    before = change.before.kept if change.before else {}
    for one in change.after.kept.values() if change.after else ():
        if one.kind != "cluster" and one.jobs and one.id not in before:
            users = distinct(job for job in change.jobs if job.name in one.jobs)
            who = told_jobs(users, change.now) if users else named(f"`{name}`" for name in one.jobs.values())
            have = "have" if len(users or one.jobs) > 1 else "has"
            words = f"`{one.id}` stays as it is until {who} {have} ended"
            yield KINDS["jobs-finish-on-old"].of(Subject(one.kind, one.id), words, details=jobs(users, change.now))


def _other_next_time(change: Change) -> Iterator[Finding]:
    """What a replica reads again when it restarts, and finds changed under the same name."""
    for step in change.preview.steps if change.preview else ():
        name, words = _rewritten(step)
        users = tuple(job for job in change.jobs if name and (name in job.packages or reads(job, name)))
        if users:
            may = "may read it at its next restart" if len(distinct(users)) == 1 else "may read it when they restart"
            yield KINDS["jobs-restart-differently"].of(
                Subject(name), f"{words}, and {told_jobs(users, change.now)} {may}", details=jobs(users, change.now)
            )


def _rewritten(step: Step) -> tuple[str, str]:
    """What is there under the same name with another content, and that in words; empty for all other steps."""
    if step.new is None or step.op == "same":
        return "", ""
    if step.type.startswith(VERSION) and step.op != "update":
        name = str(step.new.inputs.get("secret", ""))
        return name, f"Secret `{name}` gets another version"
    paths = (*step.diffs, *step.replaces)
    if step.type.startswith(PACKAGE) and step.old and any(path.startswith(_CONTENT) for path in paths):
        name = uri(step.new)
        return (name, f"`{name}` is overwritten with other code") if uri(step.old) == name else ("", "")
    return "", ""


def _lost(kind: str, subject: Subject, happens: str, users: tuple[VertexJob, ...], change: Change) -> Finding:
    still = "still needs it" if len(distinct(users)) == 1 else "still need it"
    words = f"{happens}, and {told_jobs(users, change.now)} {still}"
    return KINDS[kind].of(subject, words, details=jobs(users, change.now))


def _going(change: Change) -> Iterator[tuple[Step, Resource]]:
    for step in change.preview.steps if change.preview else ():
        if step.op in DESTROYING and step.old and not step.old.retained:
            yield step, step.old


def _grant(type: str, one: Resource) -> tuple[str, ...]:
    return type, *(str(one.inputs.get(key, "")) for key in ("role", "member", "bucket", "secretId"))

"""Resources that open or close to others without a grant to a named member. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slipway.answers.comparison import DAYS, Comparison
from slipway.answers.rights import PUBLIC, created_names, resource_subject
from slipway.base.formatting import counted, few, last_part
from slipway.deploying.engine.grants import form, place
from slipway.deploying.engine.preview import UNKNOWN
from slipway.deploying.engine.touched import Fate, Touched, texts
from slipway.google.live import Unknown
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS

_KEYS = ("gcp:serviceaccount/key:", "gcp:storage/hmacKey:")
_PUBLIC_VALUE = re.compile(r"(?i)(.*:)?(allUsers|allAuthenticatedUsers)|(public|authenticated)-?read(-?write)?")
_OPEN_RANGE = re.compile(r"(?i)(sourceRanges|.*networks).*=(0\.0\.0\.0/0|::/0)")
_CREATING = (Fate.CREATED, Fate.ADOPTED, Fate.REPLACED)


def opened(comparison: Comparison) -> Iterator[Finding]:
    for touched in comparison.touched:
        if touched.new is None:
            continue
        subject = resource_subject(touched)
        if form(touched.type):
            yield from _authoritative(comparison, touched)
        else:
            yield from _public(touched, subject)
        if touched.type.startswith("gcp:iam/denyPolicy:"):
            yield from _denied(comparison, touched, subject)
        if touched.type.startswith(_KEYS) and touched.fate in _CREATING:
            account = str(touched.becomes.get("serviceAccountId") or touched.becomes.get("serviceAccountEmail"))
            sentence = f"a key that never expires is created: anyone who has it acts as `{last_part(account)}`"
            yield KINDS["access-gained"].of(subject, sentence, "use workload identity federation, which needs no key")
    for bucket in comparison.world.policies:
        yield from _public_already(comparison, bucket)


def _public(touched: Touched, subject: Subject) -> Iterator[Finding]:
    """Find a value that admits the public and that the resource did not have."""
    before = {text for _, text in texts(touched.was)}
    for path, text in texts(touched.becomes):
        is_open = _OPEN_RANGE.fullmatch(f"{path}={text}") and not touched.becomes.get("denies")
        is_public = is_open or _PUBLIC_VALUE.fullmatch(text)
        if is_public and text not in before:
            sentence = f"opens to {PUBLIC.get(text, 'anyone on the internet')}: `{path}` `{text}`"
            fix = "list the people, accounts or addresses that need it"
            yield KINDS["access-gained"].of(subject, sentence, fix, field=path)


def _denied(comparison: Comparison, touched: Touched, subject: Subject) -> Iterator[Finding]:
    """Find principals that a deny policy newly names."""
    before = {text for path, text in texts(touched.was) if "deniedPrincipals" in path}
    after = {text for path, text in texts(touched.becomes) if "deniedPrincipals" in path}
    names = [last_part(text) for text in sorted(after - before)]
    jobs = [job for job in comparison.world.recent if job.service_account in names]
    if names:
        sentence = f"{few(f'`{name}`' for name in names)} can no longer use the permissions that the policy denies"
        sentence += f": {counted(len(jobs), 'job')} in the last {DAYS} days ran as it" if jobs else ""
        yield KINDS["access-lost"].of(subject, sentence, grade=Grade.BLOCKING if jobs else Grade.WARNING)


def _authoritative(comparison: Comparison, touched: Touched) -> Iterator[Finding]:
    """Find new bindings and policies: every member that they do not list loses the role, unseen by Pulumi."""
    on = form(touched.type)
    role = touched.becomes.get("role")
    if on is None or not on.whole:
        return
    where, name = place(on, touched.becomes)
    is_same = touched.old is not None and touched.was.get("role") == role
    if is_same or name in (UNKNOWN, *created_names(comparison)):
        return
    roles = f"`{role}`" if role else "all roles"
    sentence = f"all members that `{touched.name}` does not list lose {roles} on {where}; current members are unknown"
    fix = "grant the role to single members (`IAMMember`), which removes nobody"
    subject = Subject(on.what or "project", name or comparison.new.project)
    yield KINDS["access-lost"].of(subject, sentence, fix, grade=Grade.BLOCKING)


def _public_already(comparison: Comparison, bucket: str) -> Iterator[Finding]:
    """Find an adopted bucket that the public can read."""
    policy = comparison.world.policies[bucket]
    for bound in () if isinstance(policy, Unknown) else sorted(policy):
        if bound.member in PUBLIC:
            sentence = f"{PUBLIC[bound.member]} already has `{bound.role}`, so jobs write their results in public"
            fix = f"gcloud storage buckets remove-iam-policy-binding gs://{bucket}"
            fix += f" --member={bound.member} --role={bound.role}"
            yield KINDS["access-gained"].of(Subject("bucket", bucket), sentence, fix)

"""Resources that open or close to others without a grant to a named member. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slipway.answers.comparison import DAYS, Comparison
from slipway.answers.rights import PUBLIC, created_names, resource_subject
from slipway.base.formatting import counted, last_part
from slipway.deploying.engine.grants import form, place
from slipway.deploying.engine.preview import UNKNOWN
from slipway.deploying.engine.touched import Fate, Touched, texts
from slipway.google.live import Unknown
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS

_KEYS = ("gcp:serviceaccount/key:", "gcp:storage/hmacKey:")
_PUBLIC_VALUE = re.compile(
    r"(?i).*=((.*:)?(allUsers|allAuthenticatedUsers)|(public|authenticated)-?read(-?write)?)"
    r"|(sourceRanges|.*networks).*=(0\.0\.0\.0/0|::/0)"
)
"""A path and its value that admits the public."""


def opened(comparison: Comparison) -> Iterator[Finding]:
    for touched in comparison.touched:
        yield from _new_values(comparison, touched)
        yield from _authoritative(comparison, touched)
        if touched.type.startswith(_KEYS) and touched.fate in (Fate.CREATED, Fate.ADOPTED, Fate.REPLACED):
            account = str(touched.becomes.get("serviceAccountId") or touched.becomes.get("serviceAccountEmail"))
            sentence = f"a key that never expires is created: anyone who has it acts as `{last_part(account)}`"
            fix = "use workload identity federation, which needs no key"
            yield KINDS["access-gained"].of(resource_subject(touched), sentence, fix)
    for bucket in comparison.world.policies:
        yield from _public_already(comparison, bucket)


def _new_values(comparison: Comparison, touched: Touched) -> Iterator[Finding]:
    """Find values that admit the public or deny somebody, and that the resource did not have."""
    if form(touched.type) or touched.becomes.get("denies"):
        return
    subject = resource_subject(touched)
    before = {text for _, text in texts(touched.was)}
    for path, text in texts(touched.becomes):
        if text in before:
            continue
        if _PUBLIC_VALUE.fullmatch(f"{path}={text}"):
            sentence = f"opens to {PUBLIC.get(text, 'anyone on the internet')}: `{path}` `{text}`"
            fix = "list the people, accounts or addresses that need it"
            yield KINDS["access-gained"].of(subject, sentence, fix, field=path)
        elif "deniedPrincipals" in path:
            yield _denied(comparison, subject, last_part(text))


def _denied(comparison: Comparison, subject: Subject, name: str) -> Finding:
    jobs = [job for job in comparison.world.recent if job.service_account == name]
    used = f": {counted(len(jobs), 'job')} in the last {DAYS} days ran as it" if jobs else ""
    sentence = f"`{name}` can no longer use the permissions that the policy denies{used}"
    return KINDS["access-lost"].of(subject, sentence, grade=Grade.BLOCKING if jobs else Grade.WARNING)


def _authoritative(comparison: Comparison, touched: Touched) -> Iterator[Finding]:
    """Find new bindings and policies: every member that they do not list loses the role, unseen by Pulumi."""
    on = form(touched.type)
    if on is None or not on.whole or touched.new is None:
        return
    role = touched.becomes.get("role")
    where, name = place(on, touched.becomes)
    if touched.old is not None and touched.was.get("role") == role:
        return
    if name in (UNKNOWN, *created_names(comparison)):
        return
    roles = f"`{role}`" if role else "all roles"
    sentence = f"all members that `{touched.name}` does not list lose {roles} on {where}; current members are unknown"
    fix = "grant the role to single members (`IAMMember`), which removes nobody"
    subject = Subject(on.what or "project", name or comparison.new.project)
    yield KINDS["access-lost"].of(subject, sentence, fix, grade=Grade.BLOCKING)


def _public_already(comparison: Comparison, bucket: str) -> Iterator[Finding]:
    """Find an adopted bucket that the public can read."""
    policy = comparison.world.policies[bucket]
    if isinstance(policy, Unknown):
        return
    for bound in sorted(policy):
        if bound.member in PUBLIC:
            sentence = f"{PUBLIC[bound.member]} already has `{bound.role}`, so jobs write their results in public"
            fix = f"gcloud storage buckets remove-iam-policy-binding gs://{bucket}"
            fix += f" --member={bound.member} --role={bound.role}"
            yield KINDS["access-gained"].of(Subject("bucket", bucket), sentence, fix)

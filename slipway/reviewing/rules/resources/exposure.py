"""Openings: to anybody, by keys, and by bindings and policies, which shut others out unseen."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slipway.base.formatting import last_part
from slipway.deploying.deployment.workspace_plan import SUBMITTER_ROLES
from slipway.deploying.engine.grants import Form, form, place, unreadable
from slipway.deploying.engine.preview import UNKNOWN
from slipway.deploying.engine.touched import Fate, InputDifference, Touched, texts
from slipway.model.findings.finding import Grade, Subject
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.edits import edits_of
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.table import by_row
from slipway.reviewing.rules.words import in_backticks, jobs

# The spellings of access lists, predefined ACLs and role entities.
_PUBLIC = re.compile(
    r"(.*:)?(allUsers|allAuthenticatedUsers)|public-?read(-?write)?|authenticated-?read", re.IGNORECASE
)
_ANYWHERE = ("0.0.0.0/0", "::/0")
# Where an address range admits; elsewhere it is a route, or an address that may be called from inside.
_LETS_IN = re.compile(r"(?i)(source_?ranges|ingress|authorized_?networks|inbound|allowed_?(ip|cidr))")
_KEYS = {"gcp:serviceaccount/key:": "serviceAccountId", "gcp:storage/hmacKey:": "serviceAccountEmail"}
"""Keys, whose holder is an account, with the input that names it."""
_DENYING, _DENIED = "gcp:iam/denyPolicy:", "deniedPrincipals"
_LETTING = (Fate.CREATED, Fate.ADOPTED, Fate.REPLACED)


def exposure(change: Change) -> Iterator[Consequence]:
    for touched in change.touched:
        if touched.new is None:
            continue
        if on_form := form(touched.type):
            yield from _wholesale(touched, on_form, change)
        elif opened := opening(touched):
            google, name = "authenticated" in opened.after.lower(), touched.type.rpartition(":")[2]
            subject, edits = Subject("resource", name, touched.name), edits_of((opened,))
            yield by_row("opened", subject, google=google, place=touched.physical, type=name, edits=edits)
        if touched.type.startswith(_DENYING):
            yield from _denied(touched, change)
        named_by = next((key for type_, key in _KEYS.items() if touched.type.startswith(type_)), "")
        if named_by and touched.fate in _LETTING:
            account = last_part(str(touched.becomes.get(named_by, "")))
            yield by_row("key-made", Subject("key", touched.name), account=account)


def opening(touched: Touched) -> InputDifference | None:
    before = {text for _, text in texts(touched.was)}
    for path, text in texts(touched.becomes):
        anywhere = text in _ANYWHERE and _LETS_IN.search(path) and not touched.becomes.get("denies")
        if text not in before and (anywhere or _PUBLIC.fullmatch(text)):
            return InputDifference(path, None, text)
    return None


def _denied(touched: Touched, change: Change) -> Iterator[Consequence]:
    before = {text for path, text in texts(touched.was) if _DENIED in path}
    denies = [text for path, text in texts(touched.becomes) if _DENIED in path and text not in before]
    if denies:
        stopped = [job for job in change.jobs if any(job.service_account in text for text in denies)]
        yield by_row(
            "denied",
            Subject("denied by", touched.name),
            who=in_backticks(map(last_part, denies)),
            policy=touched.name,
            details=jobs(stopped, change.now),
            grade=Grade.BLOCKING if stopped else None,
        )


def _wholesale(touched: Touched, on_form: Form, change: Change) -> Iterator[Consequence]:
    """Find bindings and policies: the engine compares them with its own last ones, and not with the present ones."""
    (on, name), role = place(on_form, touched.becomes), str(touched.becomes.get("role", ""))
    if unreadable(touched.new) and touched.fate is not Fate.FORGOTTEN:
        yield by_row("policy-unreadable", Subject("policy", on), on=on)
    # An existing one was as whole before, and on what is new nobody else has anything.
    if not on_form.whole or touched.fate not in _LETTING or (touched.old and touched.was.get("role") == role):
        return
    new = (each for each in change.touched if each.fate is Fate.CREATED and not form(each.type))
    if name == UNKNOWN or name in {key for each in new for key in (each.physical, each.becomes.get("secretId"))}:
        return
    of_all, of_submitters = on_form.whole == "Policy", not name and role in SUBMITTER_ROLES.values()
    subject = Subject("others on", on) if of_all else Subject("others", "with", f"{role} on {on}")
    yield by_row("binding-whole", subject, on=on, role=role, grade=Grade.BLOCKING if of_all or of_submitters else None)

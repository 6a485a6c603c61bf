"""Access that opens or closes without a name: to everybody, to any address, by a key, or for whoever is not listed."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slipway.deployment.workspace_plan import SUBMITTER_ROLES
from slipway.findings.finding import Finding, Grade, Subject
from slipway.findings.kinds import KINDS
from slipway.review.change import Change
from slipway.review.grants import form, place, unreadable
from slipway.review.inputs import texts
from slipway.review.resources.undeclared import undeclared
from slipway.review.touched import Fate, Touched
from slipway.review.words import jobs, named

# As access lists, predefined ACLs and role entities write it.
_PUBLIC = re.compile(
    r"(.*:)?(allUsers|allAuthenticatedUsers)|public-?read(-?write)?|authenticated-?read", re.IGNORECASE
)
_ANYWHERE = ("0.0.0.0/0", "::/0")
# Where an address range lets in; elsewhere it is a route, or what may be called from inside.
_LETS_IN = re.compile(r"(?i)(source_?ranges|ingress|authorized_?networks|inbound|allowed_?(ip|cidr))")
_LETTING = (Fate.CREATED, Fate.ADOPTED, Fate.REPLACED)


def exposure(change: Change) -> Iterator[Finding]:
    for one in change.touched:
        if one.new is None:
            continue
        if form(one.type):
            yield from _wholesale(one)
        else:
            yield from _opened(one)
        row = undeclared(one.type)
        if row.denies:
            yield from _denied(one, row.denies, change)
        if row.signs_in_as and one.fate in _LETTING:
            account = str(one.becomes.get(row.signs_in_as, ""))
            words = f"A key of account `{account.rsplit('/', 1)[-1]}` is made: whoever has it is that account"
            yield KINDS["access-added"].of(Subject("key", one.name), words)


def _opened(one: Touched) -> Iterator[Finding]:
    before = {text for _, text in texts(one.was)}
    for path, text in texts(one.becomes):
        anywhere = text in _ANYWHERE and _LETS_IN.search(path)
        if text not in before and (anywhere or _PUBLIC.fullmatch(text)):
            to = "any address on the internet" if anywhere else "the public"
            words = f"`{one.physical}` ({one.type.rpartition(':')[2]}) opens to {to}: `{path}` is `{text}`"
            yield KINDS["public-access"].of(Subject("resource", one.type.rpartition(":")[2], one.name), words)
            return


def _denied(one: Touched, key: str, change: Change) -> Iterator[Finding]:
    """It wins over every grant, whatever else says who may do what."""
    before = {text for path, text in texts(one.was) if key in path}
    found = [text for path, text in texts(one.becomes) if key in path and text not in before]
    if found:
        stopped = [job for job in change.jobs if any(job.service_account in text for text in found)]
        who = named(f"`{text.rsplit('/', 1)[-1]}`" for text in found)
        words = f"`{one.name}` denies {who} what roles grant"
        details, grade = jobs(stopped, change.now), Grade.BLOCKING if stopped else None
        yield KINDS["access-gone"].of(Subject("denied by", one.name), words, details=details, grade=grade)


def _wholesale(one: Touched) -> Iterator[Finding]:
    """Bindings and policies: the engine compares them with its own last ones, and not with what is there."""
    on_form, inputs = form(one.type), one.becomes
    assert on_form is not None
    on, name = place(on_form, inputs)
    if unreadable(one.new) and one.fate is not Fate.FORGOTTEN:
        words = f"The policy of {on} is known only once it is deployed, so who gets in can't be told"
        yield KINDS["access-added"].of(Subject("policy", on), words)
    # One that was there before was as whole then.
    if (
        not on_form.whole
        or one.fate not in _LETTING
        or (one.old is not None and one.was.get("role") == inputs.get("role"))
    ):
        return
    role, grade = str(inputs.get("role", "")), None
    what, subject = f"`{role}` on {on}", Subject("others", "with", f"{role} on {on}")
    if on_form.whole == "Policy":
        what, subject, grade = f"All access to {on}", Subject("others on", on), Grade.BLOCKING
    elif not name and role in SUBMITTER_ROLES.values():
        grade = Grade.BLOCKING
    words = f"{what} is set as a whole: whoever is not listed loses it, which the engine does not show"
    yield KINDS["access-gone"].of(subject, words, grade=grade)

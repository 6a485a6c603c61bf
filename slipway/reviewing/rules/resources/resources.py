"""Resources of every type, known or not: a deletion is destruction, and an opening admits anybody.

Slipway's own declarations are reported elsewhere: clusters, buckets, accounts, grants, the catalog and the packages.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from slipway.deploying.deployment.workspace_plan import SUBMITTER_ROLES
from slipway.deploying.engine.grants import Grant, form, place, unreadable
from slipway.deploying.engine.preview import SECRET
from slipway.deploying.engine.touched import (
    ACCOUNT,
    BUCKET,
    BY_ITSELF,
    CLUSTER_TYPE,
    OBJECT,
    OURS,
    Fate,
    Touched,
    differences,
    texts,
    top,
    unseen,
)
from slipway.model.facts import CATALOG, TEMPLATE, WORKSPACE
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change.change import Change
from slipway.reviewing.rules.resources.fates import GUARDS, fate, title, unguarded
from slipway.reviewing.rules.resources.roles import denied
from slipway.reviewing.rules.words import LONGEST, jobs, named, several

_KINDS = {
    Fate.CREATED: "resource-created",
    Fate.ADOPTED: "resource-created",
    Fate.REPLACED: "resource-replaced",
    Fate.DELETED: "resource-deleted",
    Fate.FORGOTTEN: "resource-forgotten",
}
_FOR_PEOPLE = re.compile(r"(?i)(\w*labels|tags\w*|description|displayname)\b")
_LONGEST = 100
"""The characters of edits in a sentence; longer ones are shortened to their paths."""
_TOLD, _QUOTA = (BUCKET, ACCOUNT), "gcp:cloudquota/sQuotaPreference:"
_BY_ITSELF = re.compile(f"{BY_ITSELF}|.*labels")
_ADMITS = "attributeCondition"
"""The input of a workload identity provider that tells which repositories may deploy as the stack's identity."""


def resources(change: Change) -> Iterator[Finding]:
    for one in change.touched:
        if not _told(one):
            subject, what = Subject("resource", title(one), one.name), f"`{one.physical}` ({title(one)})"
            yield from fate(one, subject, what, _KINDS)
            if one.fate is Fate.CHANGED:
                yield from _changed(one, subject, what)
    let_go = [f"`{one.physical}`" for one in change.touched if _is_package(one) and unguarded(one)]
    if let_go:
        words = "Packages are no longer kept for queued and restarting jobs when their template changes or goes"
        yield KINDS["resource-changed"].of(Subject("packages"), words, details=let_go, grade=Grade.BLOCKING)


def _told(one: Touched) -> bool:
    """Tell whether another comparison reports it. A package that is kept for jobs concerns nobody: it stays
    unchanged."""
    if form(one.type) or one.type in _TOLD or one.type.startswith(CLUSTER_TYPE):
        return True
    if one.type.startswith(_QUOTA) and one.parent.startswith(OURS):
        return True
    if _is_package(one):
        return one.fate is not Fate.DELETED
    return one.type == OBJECT and one.parent in (CATALOG, WORKSPACE)


def _is_package(one: Touched) -> bool:
    return one.type == OBJECT and one.parent == TEMPLATE


def _changed(one: Touched, subject: Subject, what: str) -> Iterator[Finding]:
    if "CustomRole:" in one.type and "permissions" in one.edited:
        yield from _permissions(one, subject)
        return
    opened, _ = _open(one) or ("", "")  # `exposure` reports that.
    keys = [key for key in one.edited if key != top(opened)]
    edited = [each for each in differences(one.was, one.becomes) if top(each.path) in keys]
    if opened and not edited:
        return
    unshown = (path for path in unseen(one.diffs, edited) if path not in one.put_back)
    hidden = {path: _secret(one, path) for path in unshown if _secret(one, path) or not _BY_ITSELF.fullmatch(path)}
    code, source = _PROVIDER in hidden, {_PROVIDER: "the deployment runs"}
    lines = [*map(str, edited)]
    for path, secret in hidden.items():
        lines.append(f"`{path}`, which {'is secret' if secret else source.get(path, 'the cloud computes')}")
    told, grade = named(lines), None
    if len(told) > _LONGEST or len(told.split()) > LONGEST // 2:
        told = named(f"`{path}`" for path in dict.fromkeys((*(each.path for each in edited), *hidden)))
    if why := unguarded(one):
        does, grade = "may be deleted from now on", Grade.BLOCKING
    elif any(_ADMITS in each.path for each in edited):
        does, grade = "lets in others than before", Grade.BLOCKING
    elif not (edited or code or any(hidden.values())) or all(
        map(_FOR_PEOPLE.match, (*(each.path for each in edited), *hidden))
    ):
        does, grade = "is edited, and works as before", Grade.NOTE
    elif edited and not hidden and all(GUARDS.get(each.path) == each.after is not None for each in edited):
        does, grade = "can't be deleted by mistake any more", Grade.NOTE
    else:
        does = "is edited, and nobody looked what follows"
    if why or lines:
        more, details = f": {why or told}", lines if [told] != lines else ()
        yield KINDS["resource-changed"].of(subject, f"{what} {does}", more=more, details=details, grade=grade)


def _permissions(one: Touched, subject: Subject) -> Iterator[Finding]:
    """Find changes of a custom role: its members may do what it allows."""
    before, after = ([text for _, text in texts(some.get("permissions"))] for some in (one.was, one.becomes))
    gained, lost = (
        [each for each in some if each not in others] for some, others in ((after, before), (before, after))
    )
    who = f"Whoever has role `{one.physical}`"
    details = several((*(f"gets `{each}`" for each in gained), *(f"loses `{each}`" for each in lost)))
    if gained:
        any_role = any(each.endswith(".setIamPolicy") for each in gained)
        more = ", and so may give anybody any role there" if any_role else ": nobody looked what that allows"
        words = f"{who} gets {named(f'`{each}`' for each in gained)}{more}"
        yield KINDS["resource-changed"].of(subject, words, details=details, grade=Grade.BLOCKING)
    elif lost:
        words = f"{who} loses {named(f'`{each}`' for each in lost)}: what needs that is refused"
        yield KINDS["resource-changed"].of(subject, words, details=details)


_PROVIDER = "__provider"
"""The code of a resource that the program itself makes, changes and deletes (a dynamic provider's)."""


def _secret(one: Touched, path: str) -> bool:
    return SECRET in str(one.becomes.get(path, ""))


# The spellings of access lists, predefined ACLs and role entities.
_PUBLIC = re.compile(
    r"(.*:)?(allUsers|allAuthenticatedUsers)|public-?read(-?write)?|authenticated-?read", re.IGNORECASE
)
_ANYWHERE = ("0.0.0.0/0", "::/0")
# Where an address range admits; elsewhere it is a route, or an address that may be called from inside.
_LETS_IN = re.compile(r"(?i)(source_?ranges|ingress|authorized_?networks|inbound|allowed_?(ip|cidr))")
_KEYS = {"gcp:serviceaccount/key:": "serviceAccountId", "gcp:storage/hmacKey:": "serviceAccountEmail"}
"""Keys, whose holder is an account, with the input that names it."""
_DENYING = "gcp:iam/denyPolicy:"
_LETTING = (Fate.CREATED, Fate.ADOPTED, Fate.REPLACED)


def exposure(change: Change) -> Iterator[Finding]:
    for one in change.touched:
        if one.new is None:
            continue
        if form(one.type):
            yield from _wholesale(one)
        else:
            yield from _opened(one)
        if one.type.startswith(_DENYING):
            yield from _denied(one, "deniedPrincipals", change)
        signs_in_as = next((key for type_, key in _KEYS.items() if one.type.startswith(type_)), "")
        if signs_in_as and one.fate in _LETTING:
            account = str(one.becomes.get(signs_in_as, ""))
            words = f"A key of account `{account.rsplit('/', 1)[-1]}` is made: whoever has it is that account"
            yield KINDS["access-added"].of(Subject("key", one.name), words)


def _opened(one: Touched) -> Iterator[Finding]:
    if found := _open(one):
        path, text = found
        to = "any address on the internet" if text in _ANYWHERE else "anybody on the internet"
        if "authenticated" in text.lower():
            to = "anybody with a Google account"
        name = one.type.rpartition(":")[2]
        words, more = f"`{one.physical}` ({name}) opens to {to}", f": `{path}` is `{text}`"
        yield KINDS["public-access"].of(Subject("resource", name, one.name), words, more=more)


def _open(one: Touched) -> tuple[str, str] | None:
    """Return the path and the text that admits everybody."""
    before = {text for _, text in texts(one.was)}
    for path, text in texts(one.becomes):
        anywhere = text in _ANYWHERE and _LETS_IN.search(path)
        if text not in before and (anywhere or _PUBLIC.fullmatch(text)):
            return path, text
    return None


def _denied(one: Touched, key: str, change: Change) -> Iterator[Finding]:
    before = {text for path, text in texts(one.was) if key in path}
    found = [text for path, text in texts(one.becomes) if key in path and text not in before]
    if found:
        stopped = [job for job in change.jobs if any(job.service_account in text for text in found)]
        who = named(f"`{text.rsplit('/', 1)[-1]}`" for text in found)
        words = f"Policy `{one.name}` forbids {who} what their roles allow"
        details, grade = jobs(stopped, change.now), Grade.BLOCKING if stopped else None
        yield KINDS["access-gone"].of(Subject("denied by", one.name), words, details=details, grade=grade)


def _wholesale(one: Touched) -> Iterator[Finding]:
    """Find bindings and policies: the engine compares them with its own last ones, and not with the present ones."""
    on_form, inputs = form(one.type), one.becomes
    assert on_form is not None
    on, name = place(on_form, inputs)
    if unreadable(one.new) and one.fate is not Fate.FORGOTTEN:
        words = f"Nobody can tell who gets into {on}: its policy is known once it is deployed"
        yield KINDS["access-added"].of(Subject("policy", on), words)
    # An existing one was as whole before.
    if (
        not on_form.whole
        or one.fate not in _LETTING
        or (one.old is not None and one.was.get("role") == inputs.get("role"))
    ):
        return
    role, grade = str(inputs.get("role", "")), None
    subject, can_not = Subject("others", "with", f"{role} on {on}"), denied(Grant("", role, on, on_form.what, name))
    words = f"Whoever else has `{role}` on {on} loses it: nobody looked who that is"
    if on_form.whole == "Policy":
        words = f"Whoever is not listed loses all access to {on}: nobody looked who that is"
        subject, grade = Subject("others on", on), Grade.BLOCKING
    elif can_not:
        words = f"Whoever else has `{role}` can no longer {', '.join(can_not)}: nobody looked who that is"
    if on_form.whole == "Binding" and not name and role in SUBMITTER_ROLES.values():
        grade = Grade.BLOCKING
    yield KINDS["access-gone"].of(subject, words, grade=grade)

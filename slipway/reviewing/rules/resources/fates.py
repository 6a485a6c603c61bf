"""Fates of resources as text, and what prevents their deletion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slipway.deploying.deployment.workspace_plan import CATALOG, TRAINER, WORK
from slipway.deploying.engine.touched import Fate, InputDifference, Touched, differences, top
from slipway.model.findings.finding import Finding, Grade, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.rules.words import named

GUARDS: Mapping[str, object] = {
    "deletionProtection": True,
    "deletionPolicy": "PREVENT",
    "forceDestroy": False,
    "deleteContentsOnDestroy": False,
}
"""Inputs, of any type, that prevent a deletion, with their guarding values."""
PURPOSES = {CATALOG: "for the catalog and packages", WORK: "for what jobs write", TRAINER: "for jobs to run as"}
"""By a role of the workspace, what its bucket or account is for."""
_DOES = {
    Fate.CREATED: "is made",
    Fate.ADOPTED: "exists and is adopted",
    Fate.FORGOTTEN: "stays in the cloud, paid as before, and no longer belongs to the stack",
    Fate.DELETED: "is deleted",
}


def fate(
    one: Touched,
    subject: Subject,
    what: str,
    kinds: Mapping[Fate, str],
    follows: str = "",
    *,
    field: str = "",
    announced: bool = False,
) -> Iterator[Finding]:
    """Report a resource's fate: `what` begins the sentence, `kinds` are those of findings, by fate. `follows`: what
    comes of it, or its purpose. `announced`: it was kept for jobs alone, and nothing needs it any more."""
    if one.fate is Fate.CHANGED or one.by_hand:  # Reported field by field, and as drift.
        return
    does, grade, since = _DOES.get(one.fate, f"is deleted and made anew{_because(one)}"), None, ""
    if one.fate is Fate.REPLACED and not one.destroyed:
        does = f"is made anew{_because(one)}; the old one stays, paid as before"
        grade = None if follows else Grade.WARNING  # Nothing is lost, unless `follows` tells of it.
    if announced:
        since, grade = ", as was announced, since nothing needs it any more", Grade.NOTE
    id_ = one.old.id if one.old else ""
    stops = "; it is protected from that, so the deployment would fail" if one.destroyed and _protected(one) else ""
    yield KINDS[kinds[one.fate]].of(
        subject,
        f"{what} {does}",
        details=(f"`{id_}`",) if id_ not in ("", one.physical) else (),
        grade=grade,
        field=field,
        more=f"{since}{follows}{stops}",
    )


def title(one: Touched) -> str:
    """Return `bigquery.Dataset`; `kubernetes apps.Deployment` for a provider that is not Google's."""
    provider, _, rest = one.type.partition(":")
    module, _, name = rest.partition(":")
    plain = f"{module.partition('/')[0]}.{name}"
    return plain if provider == "gcp" else f"{provider} {plain}"


def unguarded(one: Touched) -> str | InputDifference:
    """Return what prevented its deletion until now; empty where nothing did, or still does."""
    if one.old and one.new and one.old.protected and not one.new.protected:
        return "the program no longer protects it"
    if one.old and one.new and one.old.retained and not one.new.retained:
        return "the program no longer keeps it when it leaves the stack"
    for key, value in GUARDS.items():
        was, becomes = one.was.get(key), one.becomes.get(key)
        # `forceDestroy` and its like are off by default.
        guarded = was == value or (was is None and value is False)
        if guarded and becomes != value and not (becomes is None and value in (False, None)):
            return InputDifference(key, was, becomes)
    return ""


def _protected(one: Touched) -> bool:
    stopping = (key for key, value in GUARDS.items() if value in (True, "PREVENT"))
    return one.old is not None and (one.old.protected or any(one.was.get(key) == GUARDS[key] for key in stopping))


def _because(one: Touched) -> str:
    tops = {top(path) for path in one.replaces}
    found = [str(each) for each in differences(one.was, one.becomes) if top(each.path) in tops]
    causes = found or [f"`{path}`" for path in one.replaces]
    return f" because of {named(causes)}" if causes else ", as what it depends on is"

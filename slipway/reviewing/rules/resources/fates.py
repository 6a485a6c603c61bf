"""Fates of resources: one table of what follows, by the kind of resource; and what prevents a deletion."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from slipway.deploying.engine.lifecycle import Effect
from slipway.deploying.engine.touched import Fate, InputDifference, Touched, differences, top
from slipway.model.findings.finding import Grade, Subject
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.consequence import Consequence, consequence
from slipway.reviewing.rules.table import ROWS, follows

GUARDS: Mapping[str, tuple[object, str]] = {
    "deletionProtection": (True, "its protection from deletion is off"),
    "deletionPolicy": ("PREVENT", "nothing prevents its deletion any more"),
    "forceDestroy": (False, "nothing asks whether it is empty"),
    "deleteContentsOnDestroy": (False, "nothing asks whether it is empty"),
}
"""Inputs, of any type, that prevent a deletion: the guarding value, and what follows without it."""


_OLD_STAYS = "is made anew; the old one stays, paid as before"
_ANNOUNCED = "as was announced, since nothing needs it any more"
_FAILS = "it is protected from that, so the deployment would fail"


UNRULED = follows("edited-unruled")


def fate(
    touched: Touched,
    subject: Subject,
    who: str,
    what: str,
    so: str = "",
    *,
    details: Iterable[str] = (),
    field: str = "",
    announced: bool = False,
) -> Iterator[Consequence]:
    """Yield what follows from a resource's fate. `what`: `bucket`, `account` or `other`, as rows are named. `so`: its
    end or its purpose, where that is not the row's.
    `announced`: it was kept for jobs alone, and nothing needs it any more."""
    if touched.fate is Fate.CHANGED or touched.by_hand:  # Reported field by field, and as drift.
        return
    row = follows(of_type(f"{what}-{touched.fate.name.lower()}", touched))
    if touched.fate is Fate.REPLACED and not touched.destroyed:
        row = replace(row, does=_OLD_STAYS, so="", instead="", grade=row.grade if so else Grade.WARNING)
    if announced:
        row = replace(row, so=_ANNOUNCED, instead="", grade=Grade.NOTE)
    elif touched.destroyed and _protected(touched):
        row = replace(row, so=_FAILS, instead="")
    elif so:
        row = replace(row, so=so)
    id_ = touched.old.id if touched.old else ""
    tops = {top(path) for path in touched.replaces}
    because = [each for each in differences(touched.was, touched.becomes) if top(each.path) in tops]
    unshown = tops - {top(each.path) for each in because}
    details = (
        *details,
        *((f"`{id_}`",) if id_ not in ("", touched.physical) else ()),
        *(f"because of `{path}`" for path in sorted(unshown)),
        *(("what it depends on is made anew",) if touched.fate is Fate.REPLACED and not tops else ()),
    )
    yield told_by(row, subject, who, edits=edits_of(because), details=details, field=field)


def of_type(row: str, touched: Touched, *more: str) -> str:
    """Return the first of a row's words for resources of this type, `more` behind them, or else the row itself."""
    words = (f"{row} {title(touched)}{f' {word}' if word else ''}" for word in more or ("",))
    return next((word for word in words if word in ROWS), row)


def told_by(effect: Effect, subject: Subject, who: str, so: str = "", **parts: Any) -> Consequence:
    """Return the consequence of an edited field. `so`: its end, where that is not the row's."""
    ends, instead = so or effect.so, effect.instead
    return consequence(
        effect.kind, subject, effect.does, who=who, so=ends, instead=instead, grade=effect.grade, **parts
    )


def edits_of(some: Iterable[InputDifference]) -> tuple[Edit, ...]:
    """Return differences of inputs without what may be secret."""
    return tuple(Edit(each.path, *each.sides) for each in some)


def title(touched: Touched) -> str:
    """Return `bigquery.Dataset`; `kubernetes apps.Deployment` for a provider that is not Google's."""
    provider, _, rest = touched.type.partition(":")
    module, _, name = rest.partition(":")
    plain = f"{module.partition('/')[0]}.{name}"
    return plain if provider == "gcp" else f"{provider} {plain}"


def unguarded(touched: Touched) -> str:
    """Return what prevents a deletion no longer; empty where nothing did, or still does."""
    if touched.old and touched.new and touched.old.protected and not touched.new.protected:
        return "the program no longer protects it"
    if touched.old and touched.new and touched.old.retained and not touched.new.retained:
        return "the program no longer keeps it when it leaves the stack"
    for key, (value, why) in GUARDS.items():
        was, becomes = touched.was.get(key), touched.becomes.get(key)
        # `forceDestroy` and its like are off by default.
        guarded = was == value or (was is None and value is False)
        if guarded and becomes != value and not (becomes is None and value in (False, None)):
            return why
    return ""


def _protected(touched: Touched) -> bool:
    stopping = ((key, value) for key, (value, _) in GUARDS.items() if value is not False)
    return touched.old is not None and (
        touched.old.protected or any(touched.was.get(key) == value for key, value in stopping)
    )

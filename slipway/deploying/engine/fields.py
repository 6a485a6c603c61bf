"""Fields of buckets: the effect on people when one appears, goes, rises, falls or changes. Pure.

`fields.json` has a row for each: a new field is a row there. A phrase follows "Bucket `x`".
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from slipway.base.formatting import last_part, span
from slipway.deploying.engine.lifecycle import LEAST_DAYS, Effect, cost_of_class, lifecycle
from slipway.deploying.engine.touched import said
from slipway.model.findings.finding import Grade
from slipway.model.rules.rule import mapping

_WEEK = 7 * 86400.0
_USUAL, _ENFORCED = "STANDARD", "enforced"
_ROWS = json.loads(Path(__file__).with_name("fields.json").read_text("utf-8"))

Rule = Callable[[Any, Any], Iterator[Effect]]


def _on(value: Any) -> bool:
    if isinstance(value, Mapping) and {"enabled", "mode"} & value.keys():
        return value.get("enabled") is True or value.get("mode") == "Enabled"
    return value == _ENFORCED if isinstance(value, str) else bool(value)


def _rule(field: str, value: Callable[[Any], Any] | None = None, text: Callable[[Any], str] = said) -> Rule:
    """Return the rule of a field's rows. `value` reads the value that counts; by default all of it where the field is
    told alike however it differs, else whether it is on."""
    effects = {row["when"]: _effect(row) for row in _ROWS if row["field"] == field}
    read = value or ((lambda whole: whole) if "differs" in effects else _on)

    def rule(before: Any, after: Any) -> Iterator[Effect]:
        old, new = read(before), read(after)
        when = "appears" if not old else "goes" if not new else "changes" if "changes" in effects else "appears"
        if isinstance(old, float) and 0 < new < old:
            when = "falls"
        effect = effects.get("differs") or effects.get(when)
        if effect and old != new:
            texts = {"old": text(old), "new": text(new)}
            told = {part: getattr(effect, part).format(**texts) for part in ("does", "so")}
            yield replace(effect, **told)

    return rule


def _effect(row: Mapping[str, str]) -> Effect:
    grade = Grade[row.get("grade", "note").upper()]
    return Effect(row["does"], row.get("so", ""), grade)


def _seconds(key: str, default: float = 0.0) -> Callable[[Any], float]:
    """Return the reader of a policy's seconds; the default for an unset or unknown value."""

    def read(policy: Any) -> float:
        try:
            return float(mapping(policy)[key])
        except (KeyError, TypeError, ValueError):
            return default

    return read


_period = _seconds("retentionPeriod")


def _retention(before: Any, after: Any) -> Iterator[Effect]:
    locks = _rule(
        "retentionPolicy.isLocked",
        lambda policy: _period(policy) * bool(mapping(policy).get("isLocked")),
        span,
    )
    keeps = _rule("retentionPolicy", _period, span)
    yield from list(locks(before, after)) or keeps(before, after)


def _storage_class(before: Any, after: Any) -> Iterator[Effect]:
    old, new = str(before or _USUAL), str(after or _USUAL)
    if old != new:
        grade = Grade.WARNING if LEAST_DAYS.get(new, 0) > LEAST_DAYS.get(old, 0) else Grade.NOTE
        does = f"stores new objects as {said(new)}, until now as {said(old)}"
        yield Effect(does, cost_of_class(new), grade)


def _policy(before: Any, after: Any) -> Iterator[Effect]:
    if "PREVENT" not in (before, after):  # `fates.unguarded` reports that.
        does = "stays in the cloud" if after == "ABANDON" else "is deleted"
        yield Effect(f"{does} when it leaves the stack")


_PLAIN = {row["field"]: _rule(row["field"]) for row in _ROWS if "." not in row["field"]}
BUCKET_FIELDS: Mapping[str, Rule] = {
    **_PLAIN,
    "deletionPolicy": _policy,
    "encryption": _rule(
        "encryption",
        lambda encryption: mapping(encryption).get("defaultKmsKeyName"),
        lambda key: f"`{last_part(str(key))}`",
    ),
    "lifecycleRules": lifecycle,
    "retentionPolicy": _retention,
    # By default, the cloud keeps deleted objects for a week.
    "softDeletePolicy": _rule("softDeletePolicy", _seconds("retentionDurationSeconds", _WEEK), span),
    "storageClass": _storage_class,
}
"""The rules by a bucket's input, in the provider's spelling."""
FIELDS: Mapping[str, Rule] = {
    name: BUCKET_FIELDS[name]
    for name in (
        "lifecycleRules",
        "retentionPolicy",
        "softDeletePolicy",
        "versioning",
        "publicAccessPrevention",
        "uniformBucketLevelAccess",
        "encryption",
    )
}
"""The fields that keep or open a bucket's objects: doctor compares them even where the cloud sets them."""

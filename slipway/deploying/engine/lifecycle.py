"""Lifecycle rules of buckets: what they delete or move, and when. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from slipway.base.formatting import counted, join
from slipway.deploying.engine.touched import said
from slipway.model.findings.finding import Grade
from slipway.model.rules.rule import mapping

LEAST_DAYS: Mapping[str, int] = {"NEARLINE": 30, "COLDLINE": 90, "ARCHIVE": 365}
"""The least days that an object is paid for, by its storage class."""
_CLEANS = "AbortIncompleteMultipartUpload"
_DOES = {"Delete": "deletes", "SetStorageClass": "moves", _CLEANS: "drops unfinished uploads of"}
"""By a rule's action, the verb that follows "Bucket `x`"."""


@dataclass(frozen=True)
class Effect:
    """The effect of an edit. In `does` and `so`, {old} and {new} are the values."""

    does: str
    #: Its end for people with objects there.
    so: str = ""
    grade: Grade = Grade.NOTE

    def __str__(self) -> str:
        return f"{self.does}: {self.so}" if self.so else self.does


def lifecycle(before: Any, after: Any) -> Iterator[Effect]:
    old, new = ([rule for rule in rules or () if isinstance(rule, Mapping)] for rules in (before, after))
    gone = [rule for rule in old if rule not in new]
    added = [rule for rule in new if rule not in old]
    if not (gone or added):
        return
    does = join([*(f"no longer {_rule(rule)}" for rule in gone), *map(_rule, added)])
    # One rule in the place of another of the same action is an edit, which one phrase tells.
    if len(gone) == len(added) == 1 and gone[0].get("action") == added[0].get("action"):
        until = _when(gone[0]) if _what(gone[0]) == _what(added[0]) else f"{_what(gone[0])} {_when(gone[0])}".rstrip()
        does = f"{_rule(added[0])}, until now {until}"
    deleting = [rule for rule in added if _action(rule) == "Delete"]
    worse = [rule for rule in deleting if not any(_milder(rule, earlier) for earlier in gone)]
    if worse:
        aged = any(mapping(rule.get("condition")).get("age") for rule in worse)
        yield Effect(does, "what is older goes at once" if aged else "what it matches goes at once", Grade.BLOCKING)
        return
    # Several rules may move objects to colder classes: the costs of the first are enough to know.
    cold = (cost_of_class(mapping(rule.get("action")).get("storageClass")) for rule in added)
    so = next(filter(None, cold), "they stay, and are paid for" if "Delete" in map(_action, gone) else "")
    grade = Grade.NOTE if all(_action(rule) == _CLEANS for rule in (*gone, *added)) else Grade.WARNING
    yield Effect(does, so, grade)


def _milder(rule: Mapping[str, Any], before: Mapping[str, Any]) -> bool:
    new, old = (dict(mapping(body.get("condition"))) for body in (rule, before))
    later = (new.pop("age", None) or 0) > (old.pop("age", None) or 0)
    return rule.get("action") == before.get("action") and new == old and later


def _action(rule: Mapping[str, Any]) -> str:
    return str(mapping(rule.get("action")).get("type"))


def _rule(body: Mapping[str, Any]) -> str:
    """Return a rule's effect: deletes `claims/` after 30 days"""
    does, to = _DOES.get(_action(body), _action(body)), ""
    if does == "moves":
        to = f" to {said(mapping(body.get('action')).get('storageClass'))}"
    return f"{does} {_what(body)}{to} {_when(body)}".rstrip()


def _ends(body: Mapping[str, Any]) -> list[str]:
    """Return beginnings and ends of names; none for every object."""
    condition = mapping(body.get("condition"))
    return [*condition.get("matchesPrefixes", ()), *(f"…{suffix}" for suffix in condition.get("matchesSuffixes", ()))]


def _what(body: Mapping[str, Any]) -> str:
    return join(f"`{name}`" for name in _ends(body)) or "every object"


def _when(body: Mapping[str, Any]) -> str:
    """Return the time from which a rule acts on an object. Conditions without words of their own stand in brackets."""
    condition = dict(mapping(body.get("condition")))
    words = []
    for key in ("matchesPrefixes", "matchesSuffixes"):
        condition.pop(key, None)
    if (age := condition.pop("age", None)) is not None:
        words.append(f"after {counted(age, 'day')}" if age else "at once")
    if (newer := condition.pop("numNewerVersions", None)) is not None:
        words.append(f"with {counted(newer, 'newer version')}")
    if (days := condition.pop("daysSinceNoncurrentTime", None)) and condition.pop("withState", None):
        words.append(f"{counted(days, 'day')} after it was written over")
    rest = [f"{key} {said(value)}" for key, value in condition.items() if value not in (None, "", 0, False, [], "ANY")]
    if rest:
        words.append(f"({', '.join(rest)})")
    return " ".join(words)


def cost_of_class(storage_class: Any) -> str:
    days = LEAST_DAYS.get(str(storage_class))
    return f"each read costs extra, and {days} days are paid at least" if days else ""

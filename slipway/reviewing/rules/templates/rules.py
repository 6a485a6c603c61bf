"""Rules for a job's posted values: the effect of each difference, its grade, how it ends, and what to do instead.

`requests.json` has a row for every path that this version posts, and last for all others, of another version or of a
custom program. Its phrases follow "Jobs of `lora`": `{a}` and `{b}` are the values before and after, `{name}` and
`{of}` are the path's names, and `{last}` is its last part. A word in the place of phrases is a row of `table.json`,
with `{old}`, `{new}` and `{again}` too, or, with `()`, a function of `effects.py`. Several have conditions: words of
`effects.py:Difference.holds`; the first that holds counts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from slipway.base.formatting import last_part
from slipway.deploying.engine.lifecycle import Effect
from slipway.model.findings.finding import Grade
from slipway.reviewing.change.secret_values import HIDDEN, shown
from slipway.reviewing.rules.table import follows
from slipway.reviewing.rules.templates import effects
from slipway.reviewing.rules.templates.effects import Difference

SECONDS = re.compile(r"\d+(\.\d+)?s")
_SHORT = {"<pool>": "pools/(?P<role>[^/]+)", "<code>": "(code|containerSpec|pythonPackageSpec)"}
Told = Effect | str
"""Phrases, or the name of a row of `table.json`, or of a function of `effects.py` with `()`."""


@dataclass(frozen=True, eq=False)
class Rule:
    """A rule."""

    #: A pattern.
    path: str
    kind: str
    #: Its part of a consequence's key.
    what: str
    #: By their conditions (`effects.py:Difference.holds`); the first that holds counts.
    changes: Mapping[str, Told]
    appears: Mapping[str, Told]
    goes: Mapping[str, Told]

    def called(self, name: str) -> str:
        return f"{self.what} `{name}`" if name else self.what

    def of(self, difference: Difference, a: str, b: str) -> Effect:
        """Return the effect of a difference. `a` and `b`: the sides as a comment may have them; a resource's full name
        is shortened to its last part, where that differs."""
        sides = difference.before, difference.after
        cases = self.appears if sides[0] is None else self.goes if sides[1] is None else self.changes
        says = next(told for condition, told in cases.items() if difference.holds(condition))
        if isinstance(says, str) and says.endswith("()"):
            effect: Effect = getattr(effects, says[:-2])(difference)
            return effect
        whole = tuple(side if side == HIDDEN else f"`{side}`" if side else "nothing" for side in (a, b))
        short = tuple(
            shown(last_part(text)) if (text := str(leaf)).startswith("projects/") else side
            for leaf, side in zip(sides, whole, strict=True)
        )
        a, b = whole if short[0] == short[1] else short
        given: dict[str, Any] = {
            "a": a,
            "b": b,
            "name": difference.name,
            "of": difference.of,
            "last": last_part(difference.name),
        }
        if isinstance(says, str):
            return follows(says, old=a, new=b, again=difference.template.again, **given)
        does, so, instead = (phrase.format(**given) for phrase in (says.does, says.so, says.instead))
        return replace(says, does=does, so=so, instead=instead)


def _rule(row: dict[str, Any]) -> Rule:
    path = row["path"]
    for word, pattern in _SHORT.items():
        path = path.replace(word, pattern)
    changes = _told(row["changes"])
    appears, goes = (_told(row[key]) if key in row else changes for key in ("appears", "goes"))
    return Rule(path, row["kind"], row["what"], changes, appears, goes)


def _told(told: str | list[str] | dict[str, str]) -> Mapping[str, Told]:
    if isinstance(told, list):
        grade, does, *ends = told
        so, instead = (*ends, "", "")[:2]
        return {"": Effect(does, so, Grade[grade.upper()], instead)}
    return {"": told} if isinstance(told, str) else told


RULES = tuple(map(_rule, json.loads(Path(__file__).with_name("requests.json").read_text("utf-8"))))


def rule_of(path: str) -> tuple[Rule, Mapping[str, str]]:
    """Return the first rule for a path, with the path's names."""
    # Compiled at the first difference: most previews have none.
    matches = ((rule, re.fullmatch(rule.path, path, re.DOTALL)) for rule in RULES)
    return next((rule, match.groupdict("")) for rule, match in matches if match)

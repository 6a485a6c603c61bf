"""Rules for a job's posted values: the effect of each difference, its grade, how it ends, and what to do instead.

`requests.json` has a row for every path that this version posts, and last for all others, of another version or of a
custom program. Its phrases follow "Jobs of `lora`": `{a}` and `{b}` are the values before and after, `{name}` and
`{of}` are the path's names, and `{last}` is its last part. A word in the place of phrases is a function of
`effects.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from slipway.base.formatting import last_part
from slipway.model.findings.finding import Grade
from slipway.reviewing.change.secret_values import shown
from slipway.reviewing.rules.templates import effects
from slipway.reviewing.rules.templates.effects import Differing, Says
from slipway.reviewing.rules.templates.leaves import Leaf

SECONDS = re.compile(r"\d+(\.\d+)?s")
_SHORT = {"<pool>": "pools/(?P<role>[^/]+)", "<code>": "(code|containerSpec|pythonPackageSpec)"}
Effect = Callable[[Differing], Says] | Says


@dataclass(frozen=True)
class Rule:
    """A rule."""

    #: A pattern.
    path: str
    kind: str
    #: Its part of a consequence's key.
    what: str
    #: The effect where both sides have a value, and where one appears or goes without an effect of its own.
    changes: Effect
    appears: Effect | None = None
    goes: Effect | None = None

    def match(self, path: str) -> re.Match[str] | None:
        # Compiled at the first difference: most previews have none.
        return re.fullmatch(self.path, path, re.DOTALL)

    def of(self, differing: Differing, a: str, b: str) -> Says:
        """Return the effect of a difference. `a` and `b`: the sides as a comment may have them; a resource's full name
        is shortened to its last part, where that differs."""
        sides = differing.before, differing.after
        says = (self.appears if sides[0] is None else self.goes if sides[1] is None else None) or self.changes
        if not isinstance(says, Says):
            return says(differing)
        whole = tuple(f"`{side}`" if side else "nothing" for side in (a, b))
        short = tuple(_short(leaf, side) for leaf, side in zip(sides, whole, strict=True))
        a, b = whole if short[0] == short[1] else short
        given = {"a": a, "b": b, "name": differing.name, "of": differing.of, "last": last_part(differing.name)}
        does, so, instead = (phrase.format(**given) for phrase in (says.does, says.so, says.instead))
        return Says(says.grade, does, so, instead)


def _short(leaf: Leaf | None, side: str) -> str:
    text = str(leaf)
    return shown(last_part(text)) if text.startswith("projects/") else side


def _rule(row: dict[str, Any]) -> Rule:
    path = row["path"]
    for word, pattern in _SHORT.items():
        path = path.replace(word, pattern)
    told = {key: _effect(row[key]) for key in ("changes", "appears", "goes") if key in row}
    return Rule(path, row["kind"], row["what"], **told)


def _effect(told: str | list[str]) -> Effect:
    if isinstance(told, str):
        function: Effect = getattr(effects, told)
        return function
    grade, does, *ends = told
    so, instead = (*ends, "", "")[:2]
    return Says(Grade[grade.upper()], does, so, instead)


RULES = tuple(map(_rule, json.loads(Path(__file__).with_name("requests.json").read_text("utf-8"))))

"""Declared values before and after: the paths that differ, and the rules of a table that tell of them.

A table has rules in their order; the first whose pattern is a value's path counts. Its `changes` are phrases (grade,
does, so, instead), or a row of `table.json`, or the name of a function with `()`; `appears` and `goes` are the same for
a value that one side lacks. Where phrases differ, each has a condition of words: the first that holds counts. Those of
`values.json` are the rule's own, and `raised`, `was>`, `>becomes` of the values themselves.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar, cast

from slipway.reviewing.rules.table import Row, RowName

Value = TypeVar("Value")
_PARTS = ("grade", "does", "so", "instead")
Told = Row | str
"""Phrases, or the name of a row of `table.json`, or of a function with `()`."""


def compare(
    before: Mapping[str, Value], after: Mapping[str, Value]
) -> Iterator[tuple[str, Value | None, Value | None]]:
    """Yield the paths whose values differ, with both values, None where there is none."""
    for path in dict.fromkeys((*before, *after)):
        if before.get(path) != after.get(path):
            yield path, before.get(path), after.get(path)


@dataclass(frozen=True, eq=False)
class Rule:
    """A rule."""

    #: A pattern.
    path: str
    kind: str
    #: Its part of a consequence's key.
    what: str
    #: By their conditions; the first that holds counts.
    changes: Mapping[str, Told]
    appears: Mapping[str, Told]
    goes: Mapping[str, Told]

    def called(self, name: str) -> str:
        """Return ``environment variable `SEED` ``; of a path its parts, without the object that all are in."""
        # A template writes an input in small letters.
        parts = name.lower() if self.what == "input" else name.removeprefix("studySpec/").replace("/", " ")
        return f"{self.what} `{parts}`" if name else self.what

    def told(self, before: object, after: object, holds: Callable[[str], bool]) -> Told:
        """Return what tells of two values. `holds`: whether all words of a condition do."""
        cases = self.appears if before is None else self.goes if after is None else self.changes
        return next(told for condition, told in cases.items() if holds(condition))


def read_rules(file: Path, short: Mapping[str, str]) -> tuple[Rule, ...]:
    """Return the rules of a table. `short`: patterns by the words that stand for them in paths."""
    return tuple(_rule(row, short, file.name) for row in json.loads(file.read_text("utf-8")))


def rule_of(path: str, rules: tuple[Rule, ...]) -> tuple[Rule, Mapping[str, str]]:
    """Return the first rule for a path, with the path's names."""
    # Compiled at the first difference: most previews have none.
    matches = ((rule, re.fullmatch(rule.path, path, re.DOTALL)) for rule in rules)
    return next((rule, match.groupdict("")) for rule, match in matches if match)


def _rule(row: dict[str, Any], short: Mapping[str, str], file: str) -> Rule:
    path, kind = row["path"], row.get("kind", "")
    for word, pattern in short.items():
        path = path.replace(word, pattern)
    address = {"row": f"{file}: {row['path']}", "kind": kind}
    cases = {key: _cases(row.get(key, row["changes"]), address) for key in ("changes", "appears", "goes")}
    return Rule(path, kind, row.get("what", ""), **cases)


def _cases(told: Any, address: Row) -> Mapping[str, Told]:
    cases = told if isinstance(told, dict) else {"": told}
    return {
        condition: {**address, **dict(zip(_PARTS, says, strict=False))} if isinstance(says, list) else says
        for condition, says in cases.items()
    }


VALUES = read_rules(Path(__file__).with_name("values.json"), {})


def row_of(path: str, before: Any, after: Any, *words: str) -> RowName:
    """Return the row that tells of a value of the stack file. `words`: those that hold beside the values' own."""
    numbers = isinstance(before, int | float) and isinstance(after, int | float)
    # The engine has whole numbers for floats.
    was, becomes = (f"{side:g}" if type(side) in (int, float) else side for side in (before, after))
    held = {*words, f"{was}>", f">{becomes}", *(["raised"] if numbers and after > before else [])}
    rule, _ = rule_of(path, VALUES)
    return cast("RowName", rule.told(before, after, lambda condition: held.issuperset(condition.split())))

"""Kinds of findings stand in their table and in the rule that finds them: all else asks the table's columns. # N5"""

from __future__ import annotations

import re
from pathlib import Path

import slipway
from slipway.model.findings.kinds import KINDS

PRODUCT = Path(slipway.__file__).parent
RULES = (PRODUCT / "reviewing/rules", PRODUCT / "reviewing/what_if.py")
_NAMED = re.compile(rf'"({"|".join(map(re.escape, KINDS))})"')
_DECIDES = re.compile(rf'kind\b\s*(?:[!=]=|(?:not )?in)\s*[({{]?\s*"({"|".join(map(re.escape, KINDS))})"')


def lines_with(pattern: re.Pattern[str], below: Path) -> list[str]:
    files = [file for file in sorted(below.rglob("*.py")) if not any(file.is_relative_to(room) for room in RULES)]
    return [
        f"{file.relative_to(PRODUCT)}:{number} {line.strip()}"
        for file in files
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1)
        if pattern.search(line)
    ]


def test_the_review_names_kinds_in_its_rules_alone() -> None:
    assert lines_with(_NAMED, PRODUCT / "reviewing") == []


def test_nothing_decides_by_the_name_of_a_kind() -> None:
    assert lines_with(_DECIDES, PRODUCT) == []

"""Kinds of findings stand in their table and in the rule that finds them: all else asks the table's columns. # N5"""

import ast
import re
from pathlib import Path

import pytest

import slipway
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.rules.table import ROWS

PRODUCT = Path(slipway.__file__).parent
RULES = PRODUCT / "reviewing/rules"
_NAMED = re.compile(rf'"({"|".join(map(re.escape, KINDS))})"')
_DECIDES = re.compile(rf'kind\b\s*(?:[!=]=|(?:not )?in)\s*[({{]?\s*"({"|".join(map(re.escape, KINDS))})"')


def lines_with(pattern: re.Pattern[str], below: Path) -> list[str]:
    files = [file for file in sorted(below.rglob("*.py")) if not file.is_relative_to(RULES)]
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


def pattern(node: ast.AST) -> str:
    """Return what a text of the code may be, with `.*` for what it fills in."""
    match node:
        case ast.Constant(value=str(text)):
            return re.escape(text)
        case ast.JoinedStr(values=parts):
            return "".join(map(pattern, parts))
        case ast.FormattedValue(value=value):
            return pattern(value)
        case ast.IfExp(body=body, orelse=other):
            return f"(?:{pattern(body)}|{pattern(other)})"
        case _:
            return ".*"


def named() -> set[str]:
    files = sorted((PRODUCT / "reviewing/rules").rglob("*.py"))
    nodes = (node for file in files for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))))
    found = {pattern(node) for node in nodes if isinstance(node, ast.Constant | ast.JoinedStr)}
    return {name for name in found if len(re.sub(r"\W", "", name)) > 2}


def test_each_row_has_a_rule() -> None:
    names = named()
    assert [row for row in ROWS if not any(re.fullmatch(name, row) for name in names)] == []


@pytest.mark.parametrize("call", ["by_row", "follows", "of_cluster", "_of_pool", "tells"])
def test_each_named_row_is_there(call: str) -> None:
    texts = "\n".join(file.read_text(encoding="utf-8") for file in (PRODUCT / "reviewing/rules").rglob("*.py"))
    rows = re.findall(rf'\b{call}\(\s*"([^"]+)"', texts)
    assert rows and [row for row in rows if row not in ROWS] == []

"""Kinds of findings stand in their table and in the rule that finds them: all else asks the table's columns. # N5"""

import ast
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import slipway
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.rules.table import ROWS
from tests.review import row_names

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


def strings(value: object) -> Iterator[str]:
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    yield from [value] if isinstance(value, str) else (text for each in values for text in strings(each))


def places() -> Mapping[str, frozenset[str]]:
    """Return where each text of the rules stands: a function, or a value, of a file; or another table."""
    found: dict[str, set[str]] = {}
    for file in sorted(RULES.rglob("*.py")):
        for statement in ast.parse(file.read_text(encoding="utf-8")).body:
            for node in ast.walk(statement):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and file != row_names.FILE:
                    found.setdefault(node.value, set()).add(f"{file.name}:{statement.lineno}")
    for file in sorted(RULES.rglob("*.json")):
        texts = json.loads(file.read_text(encoding="utf-8")) if file.name != "table.json" else []
        for name in {text for row in texts for key in row.keys() - {"kind"} for text in strings(row[key])}:
            found.setdefault(name, set()).add(file.name)
    return {name: frozenset(some) for name, some in found.items()}


def test_each_row_is_returned_by_one_place() -> None:
    found = places()
    assert {row: found.get(row) for row in ROWS if len(found.get(row, ())) != 1} == {}


def test_names_of_rows_are_those_of_the_table() -> None:
    assert row_names.FILE.read_text(encoding="utf-8") == row_names.text(), "python -m tests.review.row_names writes it"

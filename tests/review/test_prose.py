"""Sentences of the review stand in the tables of its rules: no rule composes one. # N5"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import slipway

RULES = Path(slipway.__file__).parent / "reviewing/rules"
_WORD = re.compile(r"[A-Za-z']{2,}")
_NAME = re.compile(r"the [\w']+ \w+")
"""A thing's name, such as `the work bucket`, is no sentence."""


def texts(file: Path) -> Iterator[tuple[int, str]]:
    """Yield the texts of a file, each with its line, without docstrings; of a formatted one its fixed parts."""
    tree = ast.parse(file.read_text(encoding="utf-8"))
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    parts = {id(part) for node in ast.walk(tree) if isinstance(node, ast.JoinedStr) for part in node.values}
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            yield node.lineno, "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone | parts:
            yield node.lineno, node.value


def test_no_rule_composes_a_sentence() -> None:
    told = [
        f"{file.relative_to(RULES)}:{line} {text}"
        for file in sorted(RULES.rglob("*.py"))
        for line, text in texts(file)
        if " " in text.strip() and len(_WORD.findall(text)) >= 3 and not _NAME.fullmatch(text)
    ]
    assert told == []

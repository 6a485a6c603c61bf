"""Names in docstrings are there: files, and words of the code. (D8)"""

import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.docs.test_architecture import named
from tests.python_files import ROOT, docstrings

TOPS = ("slipway", "components", "policy", "local", "vertex-local", "journey", "bench")
DOTTED = re.compile(r"`([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+)(?:\([^`]*\))?`")
WORD = re.compile(r"\w+")
DATA = re.compile(r"\.(jsonl?|yaml|toml|md|txt|com|example)$")
OTHERS = {"pandas.DataFrame", "pulumirpc.ResourceProvider", "sqlite3.OperationalError", "aiplatform.NOUN.VERB"}
"""Classes of others that no code of ours names, and the form of a permission."""


@cache
def files() -> tuple[Path, ...]:
    folders = (ROOT / top for top in (*TOPS, "tests/checkouts"))
    paths = (path.relative_to(ROOT) for folder in folders for path in sorted(folder.rglob("*.py")))
    return tuple(file for file in paths if file.parts[:2] != ("vertex-local", "tests"))


@cache
def words() -> frozenset[str]:
    """The words of all code, with the names of its files, and without those that docstrings alone have."""
    times = Counter[str]({"py": 1})
    for file in files():
        times.update([*WORD.findall((ROOT / file).read_text(encoding="utf-8")), *file.with_suffix("").parts])
        for told in docstrings(file):
            times.subtract(WORD.findall(str(told.value)))
    return frozenset(word for word, left in times.items() if left > 0)


def exists(name: str) -> bool:
    """Tell whether each part of a dotted name is a word of the code."""
    return name in OTHERS or DATA.search(name) is not None or set(name.split(".")) <= words() | sys.stdlib_module_names


@pytest.mark.parametrize("top", TOPS)
def test_what_a_docstring_names_is_there(top: str) -> None:
    told = [(file, docstring) for file in files() if file.parts[0] == top for docstring in docstrings(file)]
    gone = [
        f"{file}:{text.lineno} {name}"
        for file, text in told
        for name in DOTTED.findall(str(text.value))
        if not exists(name)
    ]
    gone += [
        f"{file}:{text.lineno} {path}"
        for file, text in told
        for path, _ in named(str(text.value))
        if path.partition("/")[0] in (*TOPS, "docs", "tests")
        and not any((at / path).exists() for at in (ROOT, ROOT / "vertex-local"))
    ]
    assert gone == []


def test_a_name_that_is_gone_is_found() -> None:
    assert exists("slipway.model.catalog.placeholders.DOLLAR") and exists("workers.py") and exists("os.environ")
    assert not exists("slipway.model.catalog.place_holders") and not exists("no_such_file.py")

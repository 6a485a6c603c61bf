"""A stack names templates; each is a file."""

import os
import sys
from pathlib import Path

import pytest

from slipway.errors import ConfigError
from slipway.template.load import available, load
from tests import shipped

SHIPPED = shipped.ROOT / "templates"
FILE = """
from slipway.template import JobTemplate, Package, WorkerPool
TEMPLATE = JobTemplate(
    name="{name}", summary="", code=Package("jobs/a", "a.task", "image"),
    worker_pools=(WorkerPool("chief", "n1-standard-4"),),
)
"""


def test_the_shipped_templates_load() -> None:
    names = tuple(shipped.templates())
    assert set(names) <= set(available(SHIPPED))
    assert [template.name for template in load(names, SHIPPED)] == list(names)


def test_they_come_in_the_order_asked_for(tmp_path: Path) -> None:
    for name in ("one", "two-b"):
        (tmp_path / f"{name.replace('-', '_')}.py").write_text(FILE.format(name=name))
    assert [template.name for template in load(("two-b", "one"), tmp_path)] == ["two-b", "one"]


def test_an_edit_of_the_same_length_in_the_same_second_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for number, machine in enumerate(("n1-standard-4", "n1-standard-8")):
        file = tmp_path / "one.py"
        file.write_text(FILE.format(name="one").replace("n1-standard-4", machine))
        os.utime(file, ns=(0, 10**18 + number * 10**6))
        (template,) = load(("one",), tmp_path)
        assert template.worker_pools[0].machine == machine


def test_a_missing_one_is_refused_with_a_suggestion(tmp_path: Path) -> None:
    folder = tmp_path / "templates"
    folder.mkdir()
    (folder / "dask_digits.py").touch()
    with pytest.raises(ConfigError) as error:
        load(("dask-digit",), folder)
    assert "no file templates/dask_digit.py" in error.value.what
    assert error.value.fix == "did you mean `dask-digits`?"


@pytest.mark.parametrize("content", ["", "TEMPLATE = 3", FILE.format(name="other")])
def test_a_file_must_define_the_template_of_its_name(tmp_path: Path, content: str) -> None:
    (tmp_path / "one.py").write_text(content)
    with pytest.raises(ConfigError, match="does not define template 'one'"):
        load(("one",), tmp_path)


@pytest.mark.parametrize(
    ("content", "line", "said"),
    [
        ("x = 1\n1 / 0", 2, "ZeroDivisionError: division by zero"),
        ("x = 1\n\nfoo bar", 3, "SyntaxError: invalid syntax"),
        ("import json\njson.loads('{')", 2, "JSONDecodeError"),
        ("raise SystemExit(3)", 1, "SystemExit: 3"),
        ("import no_such_module", 1, "ModuleNotFoundError: No module named 'no_such_module'"),
    ],
)
def test_whatever_its_code_raises_is_named_with_its_line(tmp_path: Path, content: str, line: int, said: str) -> None:
    (tmp_path / "one.py").write_text(content)
    with pytest.raises(ConfigError, match="can't be loaded") as error:
        load(("one",), tmp_path)
    assert error.value.why.startswith(f"line {line}: ") and said in error.value.why


def test_a_template_that_is_not_well_formed_speaks_for_itself(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text(FILE.format(name="One"))
    with pytest.raises(ConfigError, match="is not well-formed"):
        load(("one",), tmp_path)

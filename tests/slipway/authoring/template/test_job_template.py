"""Templates: what they may say, field by field however deep, and how a stack loads them."""

import os
import sys
from pathlib import Path

import pytest

from slipway.authoring.template.load import load, source
from slipway.authoring.template.types import mistyped
from slipway.base.errors import ConfigError
from slipway.template import Parameter, WorkerPool
from tests.builders.templates import job_template as template


def test_all_problems_come_at_once() -> None:
    with pytest.raises(ConfigError) as error:
        template(name="X", capacity_types=(), timeout_s=0)
    assert len(error.value.why.splitlines()) == 3


def test_replicas_are_a_number_or_a_parameters_range() -> None:
    asked = template()
    assert [asked.usual_replicas(pool) for pool in asked.worker_pools] == [1, 2]
    by_choice = template(parameters=(Parameter("workers", int, choices=(8, 2, 4)), Parameter("trees", int, default=1)))
    assert by_choice.usual_replicas(by_choice.worker_pools[1]) == 2
    assert [parameter.usual for parameter in by_choice.parameters] == [8, 1], "without a default the first choice"


@pytest.mark.parametrize("value", [WorkerPool("a", "b", tpu_topology=None), WorkerPool("a", "b", replicas="${n}")])
def test_what_is_as_declared_is_nobodys_news(value: WorkerPool) -> None:
    assert list(mistyped(value, WorkerPool)) == []
    assert list(mistyped(3, float)) == [] == list(mistyped((1, 0.5), tuple[float, ...]))
    assert list(Parameter("rate", float, default=1, min=0).problems()) == []


FILE = """
from slipway.template import JobTemplate, Package, WorkerPool
TEMPLATE = JobTemplate(
    name="{name}", summary="", code=Package("jobs/a", "a.task", "image"),
    worker_pools=(WorkerPool("chief", "n1-standard-4"),),
)
"""


def test_an_edit_of_the_same_length_in_the_same_second_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "dont_write_bytecode", False)
    for number, machine in enumerate(("n1-standard-4", "n1-standard-8")):
        file = tmp_path / "one.py"
        file.write_text(FILE.format(name="one").replace("n1-standard-4", machine))
        os.utime(file, ns=(0, 10**18 + number * 10**6))
        template = load("one", tmp_path)
        assert template.worker_pools[0].machine == machine


def test_what_a_file_prints_is_no_part_of_a_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "one.py").write_text(f"{FILE.format(name='one')}\nprint('loaded')\n")
    load("one", tmp_path)
    assert capsys.readouterr() == ("", "loaded\n")


def test_a_missing_one_is_refused_with_a_suggestion(tmp_path: Path) -> None:
    folder = tmp_path / "templates"
    folder.mkdir()
    (folder / "dask_digits.py").touch()
    with pytest.raises(ConfigError) as error:
        load("dask-digit", folder)
    assert "no file templates/dask_digit.py" in error.value.what
    assert error.value.fix == "did you mean `dask-digits`?"


@pytest.mark.parametrize(
    ("place", "wrong", "fix"),
    [
        ('summary=""', "input={}", "did you mean `inputs`?"),
        ('summary=""', 'args=("--fast",)', "give `args=` to WorkerPool"),
        ('"n1-standard-4"', '"n1-standard-4", timeout_s=60', "give `timeout_s=` to JobTemplate"),
        ('"n1-standard-4"', '"n1-standard-4", size_gb=200', "give `size_gb=` to Disk"),
        ('"n1-standard-4"', 'machin="n1-standard-4"', "did you mean `machine`?"),
        ('summary=""', "zzz=1", "correct templates/one.py"),
    ],
)
def test_a_misspelled_field_is_refused_with_the_one_that_was_meant(
    tmp_path: Path, place: str, wrong: str, fix: str
) -> None:
    folder = tmp_path / "templates"
    folder.mkdir()
    (folder / "one.py").write_text(FILE.format(name="one").replace(place, wrong))
    with pytest.raises(ConfigError, match="can't be loaded") as error:
        load("one", folder)
    assert error.value.fix == fix


@pytest.mark.parametrize(
    ("content", "what", "why"),
    [
        ("TEMPLATE = 3", "does not define template 'one'", ""),
        (FILE.format(name="other"), "does not define template 'one'", ""),
        (FILE.format(name="One"), "is not well-formed", ""),
        ("x = 1\n1 / 0", "can't be loaded", "line 2: ZeroDivisionError: division by zero"),
        ("x = 1\n\nfoo bar", "can't be loaded", "line 3: SyntaxError: invalid syntax"),
        ("import json\njson.loads('{')", "can't be loaded", "line 2: JSONDecodeError"),
        ("raise SystemExit(3)", "can't be loaded", "line 1: SystemExit: 3"),
        ("raise KeyboardInterrupt", "can't be loaded", "line 1: KeyboardInterrupt"),
        ("class E(BaseException): ...\nraise E", "can't be loaded", "line 2: E"),
        ("x\0", "can't be loaded", "SyntaxError: source code"),
        ("class E(Exception):\n  def __str__(self): 1 / 0\nraise E", "can't be loaded", "line 3: E: its text can't be"),
        ("class A:\n  def __repr__(self): 1 / 0\nTEMPLATE = A()", "does not define", "TEMPLATE is of type A"),
        ("x = 1", "does not define", "it has no TEMPLATE"),
    ],
)
def test_a_file_that_does_not_define_the_template_of_its_name_is_refused_with_its_line(
    tmp_path: Path, content: str, what: str, why: str
) -> None:
    (tmp_path / "one.py").write_text(content)
    with pytest.raises(ConfigError, match=what) as error:
        load("one", tmp_path)
    assert error.value.why.startswith(why)


def test_a_person_s_interrupt_of_a_template_s_code_ends_it(tmp_path: Path) -> None:
    (tmp_path / "one.py").write_text("import signal\nsignal.raise_signal(signal.SIGINT)")
    with pytest.raises(KeyboardInterrupt):
        load("one", tmp_path)


def test_a_token_in_an_error_is_not_repeated(tmp_path: Path) -> None:
    """A review quotes the error in a comment, which many read."""
    (tmp_path / "one.py").write_text(f"raise ValueError('no access by hf_{'a1' * 16}')")
    with pytest.raises(ConfigError) as error:
        load("one", tmp_path)
    assert error.value.why == "line 1: ValueError: its text is hidden, as it may have a secret"


def test_a_file_with_a_dash_is_told_by_the_name_that_it_must_have(tmp_path: Path) -> None:
    """It was listed as a template, and then its file was not there."""
    (tmp_path / "my-train.py").write_text(FILE.format(name="my-train"))
    with pytest.raises(ConfigError) as error:
        load("my-train", tmp_path)
    assert error.value.fix == f"rename {tmp_path.name}/my-train.py to my_train.py"
    assert error.value.why == f"{tmp_path.name}/ has none"
    (tmp_path / "my_train.py").mkdir()
    with pytest.raises(ConfigError, match="no file"):
        load("my-train", tmp_path)


@pytest.mark.parametrize("module", ["shared", "templates.shared", ".shared"])
def test_the_import_of_a_file_beside_it_is_told_as_that(tmp_path: Path, module: str) -> None:
    folder = tmp_path / "templates"
    folder.mkdir()
    (folder / "shared.py").write_text("DISK = 1")
    (folder / "one.py").write_text(f"from {module} import DISK")
    with pytest.raises(ConfigError) as error:
        load("one", folder)
    assert error.value.why.startswith("line 1: ModuleNotFoundError: No module named ")
    assert error.value.fix.endswith("have in it what it takes from templates/shared.py")


def test_a_file_is_read_in_the_coding_that_it_declares(tmp_path: Path) -> None:
    text = "# -*- coding: latin-1 -*-\n# größer\n" + FILE.format(name="one")
    (tmp_path / "one.py").write_bytes(text.encode("latin-1"))
    assert load("one", tmp_path).name == "one"
    lines = text.splitlines()
    assert source("one", tmp_path) == f"{tmp_path.name}/one.py:{lines.index('TEMPLATE = JobTemplate(') + 1}"

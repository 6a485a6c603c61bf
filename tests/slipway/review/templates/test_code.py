"""A job's code before and after: what changes nothing is silent, and what saves less stops a merge. # N3"""

from __future__ import annotations

from dataclasses import replace

import pytest

from slipway.findings.finding import Finding, Grade
from slipway.review.change import Files
from slipway.review.job_code import edit, same_program
from tests.slipway.review.templates.lora import LORA, asking, found

FILE = "jobs/lora/task.py"
CODE = '"""Trains."""\n\nSAVE_EVERY = 20\n\n\ndef main(rank: int) -> None:\n    """Start."""\n    print(rank)\n'


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Trains", "Trains it"),
        ("SAVE_EVERY = 20", "SAVE_EVERY: int = 20  # steps"),
        ("(rank: int) -> None", "(rank)"),
        ("print(rank)", "print(\n        rank,\n    )"),
        ('    """Start."""\n', ""),
        ("SAVE_EVERY", "from typing import Any\n\nSAVE_EVERY"),
    ],
)
def test_what_no_run_sees_is_the_same_code(old: str, new: str) -> None:
    assert edit(FILE, CODE, CODE.replace(old, new)).same
    assert told(CODE.replace(old, new)) == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("x = 1\n", "x = 2\n"),
        ("def f(a): ...\n", "def f(b): ...\n"),
        ("class A:\n    x: int = 1\n", "class A:\n    x: str = 1\n"),
        ("@app\ndef f(a: int): ...\n", "@app\ndef f(a: str): ...\n"),
        ('"""a"""\nprint(__doc__)\n', '"""b"""\nprint(__doc__)\n'),
        ("import inspect\ndef f(a: int): ...\n", "import inspect\ndef f(a: str): ...\n"),
        ("x = 1\n", "x =\n"),
    ],
)
def test_what_a_run_could_see_is_other_code(before: str, after: str) -> None:
    assert not edit(FILE, before, after).same


def test_what_is_no_python_is_other_code() -> None:
    assert not edit("jobs/lora/data.txt", "a", "a b").same


@pytest.mark.parametrize(
    ("line", "times"),
    [
        ("SAVE_EVERY = 2000", 100),
        ("SAVE_EVERY = 10", 0),
        ("SAVE_EVERY = 'never'", 0),
    ],
)
def test_how_much_is_lost_is_known_by_a_constant_of_saving(line: str, times: float) -> None:
    (constant,) = edit(FILE, CODE, CODE.replace("SAVE_EVERY = 20", line)).constants
    assert constant.rarer == times


def test_other_constants_say_nothing_of_saving() -> None:
    (rate,) = edit(FILE, "EVERY = 20\n", "EVERY = 40\n").constants
    (kept,) = edit(FILE, "CHECKPOINTS_KEPT = 2\n", "CHECKPOINTS_KEPT = 4\n").constants
    assert rate.rarer == kept.rarer == 0


def told(after: str, *, torch: str = "2.4") -> list[Finding]:
    args = ("--module", "lora.task", "--")
    old = asking(args=args)
    new = replace(old, package="gs://acme-catalog/packages/lora-2.tar.gz", requirements=(f"torch=={torch}",))
    return found(old, new, files=Files(frozenset({FILE}), job_code={FILE: edit(FILE, CODE, after)}))


def test_a_constant_is_named_and_one_that_saves_less_blocks() -> None:
    (one,) = told(CODE.replace("SAVE_EVERY = 20", "SAVE_EVERY = 2000"))
    assert (one.kind, one.grade) == ("code-changed", Grade.BLOCKING)
    assert "`SAVE_EVERY` is 2000" in one.sentence
    (one,) = told(CODE.replace("SAVE_EVERY = 20", "SAVE_EVERY = 2"))
    assert (one.kind, one.grade) == ("code-changed", Grade.WARNING)
    assert "`SAVE_EVERY` `2` instead of `20`" in one.sentence


def test_other_code_and_what_it_installs_are_one() -> None:
    (one,) = told(CODE.replace("print", "input"), torch="2.5")
    assert one.kind == "requirements-changed"
    assert "run other code" in one.sentence and one.details == (f"`{FILE}`",)
    (one,) = told(CODE.replace("Trains", "Trains it"), torch="2.5")
    assert "run other code" not in one.sentence


@pytest.mark.parametrize(
    ("requirements", "grade", "words"),
    [
        ((), Grade.BLOCKING, "don't install `torch==2.4` any more"),
        (("torch",), Grade.WARNING, "the newest `torch` instead of `torch==2.4`"),
        (("torch==2.4", "dask==1"), Grade.WARNING, "install `dask==1`: it runs with all that their account may do"),
    ],
)
def test_packages_that_come_and_go(requirements: tuple[str, ...], grade: Grade, words: str) -> None:
    (one,) = found(LORA, replace(LORA, requirements=requirements))
    assert (one.kind, one.grade) == ("requirements-changed", grade)
    assert words in one.sentence


@pytest.mark.parametrize(
    ("after", "missing"),
    [
        ("def run(): pass\n\nmain()\n", ("main",)),
        ("def run(): pass\n\nrun()\n", ()),
        ("from tasks import *\n\nmain()\n", ()),
        ("from tasks import main\n\nmain()\n", ()),
        ("try:\n    pass\nexcept ImportError as main:\n    print(main)\n", ()),
        ("def f(main): return main\n", ()),
        ("for main in range(3): print(main)\n", ()),
    ],
    ids=("gone", "renamed everywhere", "any import", "imported", "caught", "argument", "loop"),
)
def test_a_name_that_is_used_and_defined_no_more(after: str, missing: tuple[str, ...]) -> None:
    assert edit("task.py", "def main(): pass\n\nmain()\n", after).missing == missing


def test_code_that_uses_what_it_defines_no_more_blocks() -> None:
    (one,) = told(CODE.replace("def main", "def run") + "main(0)\n")
    assert one.grade is Grade.BLOCKING and "`main`" in one.sentence


def test_hints_that_something_uses_are_code() -> None:
    uses = "from typing import cast\n\ndef main(n: int) -> None:\n    print(cast(int, n))\n"
    assert edit(FILE, uses, uses.replace("from typing import cast\n", "")).missing == ("cast",)
    read = "import tyro\n\ndef main(n: int) -> None:\n    print(n)\n\ntyro.cli(main)\n"
    assert not edit(FILE, read, read.replace("n: int", "n: str")).same


HIDDEN = "# {}\n# +AAo-import os\nprint()\n"
"""Read as UTF-7, its second line is code."""


def test_a_coding_makes_code_of_a_comment() -> None:
    one, other = HIDDEN.format("plain"), HIDDEN.format("coding: utf-7")
    assert not edit(FILE, one, other).same and not same_program(one, other)


@pytest.mark.parametrize(
    ("new", "same"),
    [
        (CODE.replace("Trains", "Trains it"), True),
        (CODE + "# a comment\n", True),
        (CODE.replace("(rank: int)", "(rank: str)"), False),
        (CODE.replace("20", "21"), False),
        (CODE + "x = __doc__\n", False),
        ("(" * 10_000, False),
    ],
)
def test_a_module_of_the_program_is_the_same_but_for_comments_docstrings_and_form(new: str, same: bool) -> None:
    assert same_program(CODE, new) is same

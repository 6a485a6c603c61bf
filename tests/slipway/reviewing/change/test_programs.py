"""Texts of code on two sides: the same program, and what code names. # N5 # N14"""

import pytest

from slipway.reviewing.change.edits import OWN, PLACE, SAVING
from slipway.reviewing.change.files import addresses
from slipway.reviewing.change.programs import edited_lines, forgetting, job_file, same_program
from slipway.reviewing.render.redaction import hidden

HIDDEN = "# {}\n# +AAo-import os\nprint()\n"
"""Read as UTF-7, its second line is code."""


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("x = 1\n", "x = (\n    1\n)\n", True),
        ("x = 1\n", "x = 2\n", False),
        ("x = 1\n", "x =\n", False),
        ("x =\n", "x =\n", False),
        ('def f():\n    """a"""\n    g()\n', 'def f():\n    """b"""\n    g()\n', True),
        ("def f(a):\n    return a\n", "def f(a: Path):\n    return a\n", False),
        ('x = """a"""\n', 'x = """b"""\n', False),
        ("y = [x for x in a]\n", "y = [each for each in a]\n", False),
        ("assert x\n", "x\n", False),
        ("x = 1\n", "x = True\n", False),
        ('"""--a"""\ndocopt(__doc__)\n', '"""--b"""\ndocopt(__doc__)\n', False),
        ('class A(dspy.Signature):\n    """a"""\n', 'class A(dspy.Signature):\n    """b"""\n', False),
        ('"""a"""\nexec(__doc__)\n', '"""b"""\nexec(__doc__)\n', False),
        ('"""a"""\nexec(__doc__)\n', '"""a"""\nexec(__doc__)  # b\n', True),
        ('def f():\n    """a"""\ng(inspect.getdoc(f))\n', 'def f():\n    """b"""\ng(inspect.getdoc(f))\n', False),
        ("x = 1\n", "# /// script\n# dependencies = ['evil']\n# ///\nx = 1\n", False),
        # Other bytes may have been read as the same text.
        ('# coding: latin-1\nx = "\ufffd"\n', '# coding: latin-1\nx = "\ufffd"\n', False),
        (HIDDEN.format("plain"), HIDDEN.format("coding: utf-7"), False),
    ],
)
def test_comments_docstrings_and_form_are_no_other_code(before: str, after: str, same: bool) -> None:
    assert same_program("a.py", before, after) is same
    assert not same_program("a.txt", before, after)


@pytest.mark.parametrize(
    ("before", "after", "lost"),
    [
        ('save(Path(os.environ["SLIPWAY_OUTPUT"], "ckpt.pt"))', 'save("ckpt.pt")', {PLACE, OWN}),
        ('save(Path(os.environ["SLIPWAY_OUTPUT"], "ckpt.pt"))', 'save(Path(args.output, "ckpt.pt"))', set()),
        ('save("gs://acme/a.pt")', '# save("gs://acme/a.pt")', {PLACE, SAVING}),
        ('save("a.pt")', 'save("b.pt")', set()),
        ("new.write_text(epoch)\nos.replace(new, kept)\ndone.write_text(loss)", "done.write_text(loss)", {SAVING}),
        ("torch.save(state, kept)", "model.save_pretrained(kept)", set()),
        ("os.replace(new, kept)", "new.replace(kept)", set()),
        ("os.replace(new, kept)", 'name.replace("a", "b")', {SAVING}),
        ("torch.save(state, kept)", "Trainer(callbacks=[ModelCheckpoint(every=9)])", set()),
    ],
)
def test_code_that_has_no_more_what_checkpoints_need(before: str, after: str, lost: set[str]) -> None:
    assert forgetting({"jobs/lora/task.py": (before, after)}) == ({"jobs/lora/task.py": lost} if lost else {})


def test_of_long_lines_what_differs_is_shown_and_what_is_left_out_is_counted() -> None:
    long = f"bucket({', '.join(f'option_{n}=True' for n in range(60))}"
    (edit,) = edited_lines("a.py", f"{long})\n", f"{long}, delete_after=90)\n")
    assert edit.before.startswith("…") and "delete_after=90" in str(edit) and str(edit).count("…") == 2
    (edit,) = edited_lines("a.py", "", "\n# Why.\n" + "first(1)\n\n" * 60)
    assert edit.after.startswith("first(1) ⏎ first(1)") and edit.after.endswith("… and 23 more lines")
    assert edit.key == "a.py:2"  # A block may begin with a blank line.


def test_a_file_that_no_person_reads_is_not_compared() -> None:
    for long in ("x = 1\n" * 5_001, f"x = '{'a' * 200_000}'\n"):
        assert edited_lines("a.py", long, f"{long}y = 2\n") == ()


@pytest.mark.parametrize(
    "text", [f"X = '{'deadbeef' * 25_000}'", "for a in [" * 20_000, f"f({'parser' * 30_000}", f"a@{'b' * 200_000}"]
)
def test_no_text_takes_long(text: str) -> None:
    """Each took minutes, where a word was read anew from each of its letters."""
    assert not job_file(f"parse_args()\n{text}", "jobs/a/task.py").flags
    assert not same_program("jobs/a/task.py", text, f"{text}x") and not forgetting({"a": (text, "")})
    assert addresses(text, "") == frozenset() and hidden(text) == text


@pytest.mark.parametrize(
    ("text", "required"),
    [
        ('p.add_argument("--trees", "-t", type=int, required=True)', (("--trees", "-t"),)),
        ('p.add_argument("--base", "--model", required=True)', (("--base", "--model"),)),
        ('p.add_argument("--trees", default=9)\np.add_argument("--seed", required=False)', ()),
        ('of = p.add_subparsers().add_parser("merge")\nof.add_argument("--into", required=True)', ()),
    ],
)
def test_what_arguments_code_requires(text: str, required: tuple[tuple[str, ...], ...]) -> None:
    assert tuple(each.names for each in job_file(text).arguments if each.required) == required


@pytest.mark.parametrize(
    ("declares", "choices"),
    [
        ('"--steps", type=int, default=9', ()),
        ('"--of", "-o", choices=("a", "b")', ("a", "b")),
        ('"--of", type=str.lower, default="A", choices=["a"]', ()),
        ('"--of", type=float, default=1, choices=[1, 2]', ()),
        ('"--of", nargs="*", choices=["a"]', ()),
        ('"--of", **common', ()),
        ('"--of", default=DEFAULT, choices=sorted(KNOWN)', ()),
        ('"--of", action="store_true"', ()),
    ],
)
def test_what_an_argument_is_declared_with(declares: str, choices: tuple[str, ...]) -> None:
    (found,) = job_file(f"p.add_argument({declares})\np.parse_args()\n").arguments
    assert found.choices == choices


@pytest.mark.parametrize(
    ("argument", "refused"),
    [
        ("--of=1", False),
        ("--of=1.0", True),
        ("--of=3", True),
        ("--of=${of}", False),
        ("--of", False),
        ("--on=3", False),
    ],
)
def test_values_that_code_refuses(argument: str, refused: bool) -> None:
    assert job_file('p.add_argument("--of", type=int, choices=[1, 2])').refuses(argument) is refused


@pytest.mark.parametrize(
    ("declares", "argument", "refused"),
    [
        ('"--of", type=int', "--of=1200.0", True),
        ('"--of", type=int', "--of=1200", False),
        ('"--of", type=int', "--of=true", True),
        ('"--of", type=int', "--of=${of}", False),
        ('"--of", type=int, nargs="*"', "--of=1.5", False),
        ('"--of", type=float', "--of=1200.0", False),
        ('"--of", type=whole', "--of=1200.0", False),
        ('"--of"', "--of=1200.0", False),
    ],
)
def test_values_that_are_no_whole_numbers(declares: str, argument: str, refused: bool) -> None:
    assert job_file(f"p.add_argument({declares})").refuses(argument) is refused


def test_imports_are_those_that_code_can_not_do_without() -> None:
    text = """\"\"\"Usage:
import a
\"\"\"
import os, common.data
from . import near
from .far import far
from common import checkpoint
from common.more import load
try:
    import fast
except ImportError:
    fast = None
def f():
    import late
"""
    found = {"os", "common.data", "lora.near", "lora.far.far", "common.checkpoint", "common.more.load"}
    assert job_file(text, "jobs/lora/task.py").imports == found
    assert job_file(text).imports == frozenset()
    assert job_file("import (", "jobs/lora/task.py").imports == frozenset()


@pytest.mark.parametrize(
    ("names", "known"),
    [('("size", "out")', {"--size", "--out", "--lr"}), ('["size"]', {"--size", "--lr"}), ("NAMES", set[str]())],
)
def test_arguments_of_a_list_are_known_by_its_names(names: str, known: set[str]) -> None:
    text = f'for name in {names}:\n    p.add_argument(f"--{{name}}")\np.add_argument("--lr")\np.parse_args()\n'
    assert job_file(text).flags == known

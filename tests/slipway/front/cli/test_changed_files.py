"""The files of a change, read from two checkouts of a repository, the project in a folder of it. # N14"""

from pathlib import Path

import pytest

from slipway.front.cli.terminal.changed_files import files_of
from slipway.reviewing.change.change import Files
from slipway.reviewing.change.edits import Edit
from slipway.reviewing.change.programs import same_program

FOLDER = "ml/training"


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project's folder in the base branch's checkout, where a review runs; the change's is beside it."""
    for side, version in (("base", "0.1.0"), ("head", "0.2.0")):
        folder = tmp_path / side / FOLDER
        (folder / "jobs/a").mkdir(parents=True)
        (folder / "requirements.txt").write_text(f"slipway-vertex=={version}\n")
        (folder / "requirements-dev.txt").write_text(f"pytest==9.0  # {version}\n")
        (folder / "jobs/a/task.py").write_text(f"x = 1  # {version}\n")
        (folder / "jobs/a/other.py").write_text(f"x = '{version}'\n")
    monkeypatch.chdir(tmp_path / "base" / FOLDER)
    return tmp_path


def read(base: Path, listed: str, side: str = "head") -> Files:
    (base / "files").write_text(listed)
    return files_of(str(base / "files"), str(base / side / FOLDER), FOLDER)


def test_a_file_that_moves_into_the_folder_counts(base: Path) -> None:
    (base / "head/web").mkdir()
    (base / "head/web/y.py").touch()
    files = read(base, f"R100\tweb/x.py\t{FOLDER}/x.py\nR100\t{FOLDER}/y.py\tweb/y.py\n")
    assert files.touched == {"../../web/x.py", "x.py", "y.py", "../../web/y.py"}
    assert "y.py" in files.removed and not files.links


def test_files_are_compared_with_another_checkout_alone(base: Path) -> None:
    """A file compared with itself would look as if nothing had changed."""
    names = ("requirements.txt", "requirements-dev.txt", "jobs/a/task.py", "jobs/a/other.py")
    listed = "".join(f"M\t{FOLDER}/{name}\n" for name in names)
    files = read(base, f"{listed}D\t{FOLDER}/jobs/a/gone.py\n")
    assert files.pins == {"requirements.txt": (Edit("slipway-vertex", "0.1.0", "0.2.0"),)}
    assert files.same == {"jobs/a/task.py"}
    assert files.lines == {"jobs/a/other.py": (Edit("jobs/a/other.py:1", "x = '0.1.0'", "x = '0.2.0'"),)}
    files = read(base, listed, "base")
    assert (files.pins, files.same) == ({}, frozenset())


HIDDEN = "# {}\n# +AAo-import os\nprint()\n"
"""Read as UTF-7, its second line is code."""


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("x = 1\n", "x = (\n    1\n)\n", True),
        ("x = 1\n", "x = 2\n", False),
        ("x = 1\n", "x =\n", False),
        ("x =\n", "x =\n", False),
        ("y = [x for x in a]\n", "y = [each for each in a]\n", True),
        ("y = [x for x in x]\n", "y = [each for each in each]\n", False),
        ("y = [(x, z) for x in a]\n", "y = [(z, z) for z in a]\n", False),
        ("y = [lambda x: x for x in a]\n", "y = [lambda x: z for z in a]\n", False),
        (HIDDEN.format("plain"), HIDDEN.format("coding: utf-7"), False),
    ],
)
def test_comments_and_form_are_no_other_code(before: str, after: str, same: bool) -> None:
    assert same_program("a.py", before, after) is same
    assert not same_program("a.txt", before, after)

"""Code that is a file, an archive, a notebook, a bucket's objects or a repository's commit. # N11 # N25"""

import json
import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.checkouts.git import git

from .stack import Stack
from .test_code import uploaded
from .test_run import open_to_commands as open_to_commands

TRAIN = "import pathlib, sys\nprint('from', *sys.argv[1:], *sorted(p.name for p in pathlib.Path().iterdir()))\n"


@pytest.fixture
def project(open_to_commands: Stack) -> Path:
    """A folder beside the one where commands are typed."""
    made = open_to_commands.folder / "project"
    made.mkdir()
    (made / "train.py").write_text(TRAIN)
    return made


def bucket_of(stack: Stack) -> str:
    return f"gs://w-{stack.name}/code-of-ada"


@pytest.mark.journey
def test_an_archive_a_file_a_notebook_and_a_commit_run(open_to_commands: Stack, project: Path) -> None:
    stack = open_to_commands
    shutil.make_archive(str(stack.folder / "code"), "zip", stack.folder, "project")
    cells = [{"cell_type": "code", "source": "%matplotlib inline\nprint('from the notebook')"}]
    (stack.folder / "look.ipynb").write_text(json.dumps({"cells": cells}))
    git(project, "init", "-q", "-b", "main")
    git(project, "add", ".")
    git(project, "commit", "-qm", "one")
    for code, command, line in (
        ("code.zip", "train.py a", "main  from a train.py"),
        ("project/train.py", "train.py b", "main  from b train.py"),
        ("look.ipynb", "look.py", "main  from the notebook"),
        (f"file://{project}@main", "train.py c", "main  from c .git train.py"),
    ):
        done = stack.well("run", "--code", code, *command.split())
        assert line.replace(".git ", "") in done.out.splitlines(), (code, done.out, done.err)
        assert f"code {code}" in done.err and "never committed" not in done.err
    label = git(project, "rev-parse", "HEAD")
    newest = max(stack.jobs(), key=lambda job: job["createTime"])
    assert newest["labels"]["slipway-code-commit"] == label and newest["labels"]["slipway-dirty"] == "false"


def test_a_command_that_the_form_lacks_is_refused_before_anything_is_sent(
    open_to_commands: Stack, project: Path
) -> None:
    stack = open_to_commands
    shutil.make_archive(str(stack.folder / "code"), "gztar", stack.folder, "project")
    for code, what in (
        ("code.tar.gz", "code.tar.gz has no other.py, which the command starts"),
        ("project/train.py", "project/train.py has no other.py"),
        ("nowhere.zip", "nowhere.zip is not a folder"),
        ("s3://bucket/code.zip", "is no address of code"),
        ("https://host/code.zip", "is no address of code"),
        ("https://host/train.py", "fix: curl -LO https://host/train.py, and name the file"),
        ("https://storage.googleapis.com/b/tf/train.py", "did you mean gs://b/tf/train.py?"),
    ):
        done = stack.run("run", "--code", code, "--dry-run", "other.py")
        assert done.code == 2 and what in done.err, done.err
    assert uploaded(stack) == [] and stack.jobs() == []


def test_a_fix_for_a_notebook_works_as_it_is_typed(open_to_commands: Stack) -> None:
    """The one before, nbconvert, writes get_ipython() for each magic, which no script has."""
    cells = [{"cell_type": "code", "source": "%matplotlib inline\nprint(1)"}]
    (open_to_commands.folder / "my look.ipynb").write_text(json.dumps({"cells": cells}))
    refused = open_to_commands.run("run", "--dry-run", "--", "python", "my look.ipynb")
    (fix,) = re.findall(r"fix: (--code .*), and (python .*) as the command", refused.err)
    open_to_commands.well("run", "--dry-run", *shlex.split(fix[0]), "--", *shlex.split(fix[1]))


def test_a_neighbour_of_a_single_file_is_told_and_its_fix_works(open_to_commands: Stack, project: Path) -> None:
    (project / "train.py").write_text("import model\n")
    (project / "model.py").write_text("")
    done = open_to_commands.well("run", "--dry-run", "--code", "project/train.py", "train.py")
    assert "! not packed, and named: model.py (project/train.py is all there is)" in done.err, done.err
    (fix,) = re.findall(r"to pack it: (--code \S+);", done.err)
    again = open_to_commands.well("run", "--dry-run", *fix.split(), "train.py")
    assert "not packed" not in again.err and "2 files" in again.err
    (project / "requirements.txt").write_text("six\n")
    done = open_to_commands.well("run", "--dry-run", "--code", "project/train.py", "train.py")
    assert "! what requirements.txt lists is not installed: --code project" in done.err
    refused = open_to_commands.run("run", "--dry-run", "--code", "project/train.py", "model.py")
    assert refused.code == 2 and "fix: --code project" in refused.err


def test_objects_of_a_bucket_are_code(open_to_commands: Stack, project: Path) -> None:
    stack = open_to_commands
    shutil.make_archive(str(stack.folder / "code"), "zip", stack.folder, "project")
    stack.write("code-of-ada/code.zip", (stack.folder / "code.zip").read_bytes())
    stack.write("code-of-ada/folder/train.py", TRAIN.encode())
    stack.write("code-of-ada/folder/.git/config", b"[core]")
    for code, files in (("code.zip", 1), ("folder", 1), ("folder/", 1), ("folder/train.py", 1)):
        done = stack.well("run", "--dry-run", "--code", f"{bucket_of(stack)}/{code}", "train.py")
        assert f"code {bucket_of(stack)}/{code}  {files} file" in done.err, done.err
    as_path = str(Path(f"{bucket_of(stack)}/folder"))
    assert as_path.startswith("gs:/w-"), "as Python's Path writes it"
    stack.well("run", "--dry-run", "--code", as_path, "train.py")
    done = stack.run("run", "--dry-run", "--code", f"{bucket_of(stack)}/absent", "train.py")
    assert done.code == 2 and f"nothing is at {bucket_of(stack)}/absent" in done.err

"""A small checkout, edited, proven and packed by the product's own code: once for all cases that share it."""

import atexit
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path

from slipway.authoring.stack.stack import parse
from slipway.authoring.stack.yaml_file import load
from slipway.base.errors import SlipwayError
from slipway.deploying.deployment.deployment import Packages, ProvenStack, build_packages, prove_stack
from tests.review.case import STACK, Edit

BASE = Path(__file__).parent / "base"


@cache
def proven(edits: tuple[Edit, ...]) -> tuple[ProvenStack, Packages] | SlipwayError:
    """Return the base with these edits, or why it can't be deployed."""
    folder = _checkout()
    try:
        for edit in edits:
            _apply(edit, folder)
        stack = prove_stack(parse(load(folder / STACK, shown_as=STACK)), folder / "templates")
        return build_packages(stack, folder)
    except SlipwayError as error:
        return error
    finally:
        for edit in edits:
            _restore(edit.file, folder)


@cache
def _checkout() -> Path:
    """Return a process's copy of the base, which each case leaves as it was. It is a repository, as outside of one git
    is asked several times for each package."""
    folder = Path(tempfile.mkdtemp())
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    shutil.copytree(BASE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["git", "init", "--quiet", "--template=", folder], check=True)
    return folder


def text(file: str, edits: tuple[Edit, ...]) -> str:
    """Return a file of the base with these edits; empty for a missing one."""
    content = (BASE / file).read_text(encoding="utf-8") if (BASE / file).is_file() else ""
    for edit in edits:
        if edit.file == file:
            content = "" if edit.new is None else content.replace(edit.old, edit.new) if content else edit.new
    return content


def _apply(edit: Edit, folder: Path) -> None:
    path = folder / edit.file
    if edit.new is None:
        path.unlink(missing_ok=True)  # files that the base lacks, the program's own, can go too
        return
    before = path.read_text(encoding="utf-8") if path.is_file() else ""
    assert before.count(edit.old) == 1 or not before, f"{edit.old!r} is {before.count(edit.old)} times in {edit.file}"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(before.replace(edit.old, edit.new) if before else edit.new, encoding="utf-8")


def _restore(file: str, folder: Path) -> None:
    (folder / file).unlink(missing_ok=True)
    if (BASE / file).is_file():
        shutil.copyfile(BASE / file, folder / file)

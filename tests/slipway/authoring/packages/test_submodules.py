"""Submodules of a folder of code, as they are told before it is sent. # N11 # N25"""

import re
import shutil
from pathlib import Path

from tests.checkouts.git import git

from .folder import folder, told, typed

__all__ = ["folder"]


def test_a_submodule_that_was_not_fetched_and_an_ignored_module_are_told(folder: Path) -> None:
    (folder / ".gitmodules").write_text('[submodule "lib"]\n\tpath = lib\n\turl = ../lib\n')
    (folder / "train.py").write_text("from secret import X\n")
    lines = told(folder, "python train.py")
    assert "! lib: a submodule that is not fetched: git submodule update --init" in lines
    assert "! not packed, and named: secret.py (git ignores it)" in lines
    (folder / "lib").mkdir()
    (folder / "lib" / "a.py").touch()
    assert "submodule" not in told(folder, "python train.py")


def test_a_submodule_is_told_below_the_top_of_a_checkout_and_within_another(folder: Path) -> None:
    """The list of submodules is at the top of a checkout, and each submodule may have one."""
    library = folder.parent / "library"
    library.mkdir()
    git(library, "init", "-q")
    git(library, "commit", "-q", "--allow-empty", "-m", "one")
    allowed = ("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library))
    git(folder, *allowed, "scripts/lib")
    git(folder, "submodule", "--quiet", "deinit", "-f", "scripts/lib")
    assert "! lib: a submodule that is not fetched" in told(folder / "scripts", "bash run.sh")
    (folder / "third").mkdir()
    (folder / "third" / ".gitmodules").write_text('[submodule "deep"]\n\tpath = deep\n\turl = ../deep\n')
    assert "! scripts/lib, third/deep: a submodule that" in told(folder, "nvidia-smi")


def test_a_submodule_that_has_no_address_is_told_so(folder: Path) -> None:  # lip6/alliance-check-toolkit 180
    library = folder / "lib"
    library.mkdir()
    git(library, "init", "-q")
    git(library, "commit", "-q", "--allow-empty", "-m", "one")
    git(folder, "add", "lib")
    shutil.move(library, folder.parent / "elsewhere")
    library.mkdir()
    (folder / "train.py").write_text("import lib\n")
    (fix,) = re.findall(r"a submodule that is not fetched: (.*), as no \.gitmodules", told(folder, "python train.py"))
    typed(folder, fix.replace("ADDRESS", "../elsewhere"))
    assert "submodule" not in told(folder, "python train.py")


def test_a_download_without_submodules_is_told_the_address(folder: Path) -> None:  # Daikenan/LTMU 13
    shutil.rmtree(folder / ".git")
    (folder / ".gitmodules").write_text('[submodule "lib"]\n\tpath = lib\n\turl = ../lib\n')
    assert "! lib: a submodule that is not fetched: --code https://" in told(folder, "python train.py")

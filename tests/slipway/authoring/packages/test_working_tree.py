"""The working tree as git sees it: what is tracked as it is on the disk, and what is new and not ignored. # N11"""

import os
import shutil
import sys
from pathlib import Path

import pytest

from slipway.authoring.packages import working_tree
from slipway.authoring.packages.code_folder import CodeFolder
from slipway.authoring.packages.working_tree import read
from slipway.base.errors import ConfigError
from slipway.base.files import OWN_PAGE
from tests.checkouts.git import git


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    folder = tmp_path / "src"
    (folder / "digits").mkdir(parents=True)
    (folder / "digits" / "__init__.py").write_text("")
    (folder / "digits" / "task.py").write_text("print('one')\n")
    (folder / ".gitignore").write_text("*.pyc\ndata/\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "begin")
    return folder


def test_a_clean_tree_is_its_commit(checkout: Path) -> None:
    tree = read(checkout)
    assert set(tree.files) == {".gitignore", "digits/__init__.py", "digits/task.py"}
    assert tree.revision.commit == git(checkout, "rev-parse", "HEAD") and not tree.revision.dirty


def test_files_are_as_they_are_on_the_disk(checkout: Path) -> None:
    (checkout / "digits" / "task.py").write_text("print('two')\n")
    (checkout / "digits" / "néw file.py").write_text("")
    (checkout / "digits" / "cache.pyc").write_bytes(b"x")
    (checkout / "data").mkdir()
    (checkout / "data" / "large.bin").write_bytes(b"x")
    (checkout / "digits" / "__init__.py").unlink()
    tree = read(checkout)
    assert tree.files["digits/task.py"] == b"print('two')\n" and tree.revision.dirty
    assert set(tree.files) == {".gitignore", "digits/task.py", "digits/néw file.py"}


def test_only_the_folder_itself_makes_it_dirty(checkout: Path) -> None:
    (checkout.parent / "notes.txt").write_text("elsewhere")
    assert not read(checkout).revision.dirty


def test_before_the_first_commit_there_is_none(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "task.py").write_text("")
    tree = read(tmp_path)
    assert tree.revision.commit == "" and tree.revision.dirty and set(tree.files) == {"task.py"}


def test_a_link_within_the_folder_is_what_it_leads_to(checkout: Path) -> None:
    (checkout / "digits" / "link.py").symlink_to("task.py")
    (checkout / "numbers").symlink_to("digits")
    git(checkout, "add", ".")
    tree = read(checkout)
    assert tree.files["digits/link.py"] == tree.files["numbers/task.py"] == b"print('one')\n" and not tree.links


@pytest.mark.parametrize("target", ["/etc/passwd", "../..", ".", "nowhere"])
@pytest.mark.parametrize("tracked", [True, False])
def test_a_link_out_of_the_folder_in_a_circle_or_to_nothing_is_named_and_not_packed(
    checkout: Path, target: str, tracked: bool
) -> None:
    (checkout / "digits" / "link").symlink_to(target)
    if tracked:
        git(checkout, "add", ".")
    tree = read(checkout)
    assert tree.links == {"digits/link": target} and not any("link" in name for name in tree.files)


def test_what_the_folder_s_own_list_names_is_left_out_tracked_or_not(checkout: Path) -> None:
    for name in ("legacy/tool.py", "legacy/deep/a.txt", "notes.txt", "digits/old.py"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text("print 'two'\n")
    git(checkout, "add", "legacy", "digits")
    (checkout / working_tree.IGNORES).write_text("legacy/\nnotes.*\nold.py\n")
    assert set(read(checkout).files) == {".gitignore", "digits/__init__.py", "digits/task.py"}


def test_a_new_file_of_a_submodule_is_no_part_of_the_commit(checkout: Path, tmp_path: Path) -> None:
    library = tmp_path / "library"
    library.mkdir()
    git(library, "init", "-q")
    git(library, "commit", "-q", "--allow-empty", "-m", "one")
    git(checkout, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(library), "lib")
    git(checkout, "add", ".")
    git(checkout, "commit", "-qm", "lib")
    assert not read(checkout).revision.dirty
    (checkout / "lib" / "new.py").touch()
    tree = read(checkout)
    assert "lib/new.py" in tree.files and tree.revision.dirty


@pytest.mark.parametrize("top", ["", "legacy/\n"])
def test_a_list_in_a_folder_holds_for_that_folder(checkout: Path, top: str) -> None:  # skypilot-org/skypilot 7262
    for name in ("legacy/a.py", "digits/a.csv", "digits/deep/a.csv", "digits/deep/kept.csv", "a.csv"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).touch()
    git(checkout, "add", "legacy", "digits")
    (checkout / "digits" / working_tree.IGNORES).write_text("*.csv\n!kept.csv\n")
    if top:
        (checkout / working_tree.IGNORES).write_text(top)
    own = {".gitignore", "digits/__init__.py", "digits/task.py", "digits/deep/kept.csv", "a.csv"}
    assert set(read(checkout).files) == own | (set() if top else {"legacy/a.py"})


def test_executables_are_those_of_the_disk_and_what_git_ignores_is_named(checkout: Path) -> None:
    (checkout / "tool").write_bytes(b"\x7fELF")
    (checkout / "tool").chmod(0o755)
    (checkout / "data").mkdir()
    (checkout / "data" / "large.bin").write_bytes(b"x")
    tree = read(checkout)
    assert tree.executable == {"tool"} and tree.ignored == ("data/",)


def test_a_folder_that_is_a_link_is_read_where_it_leads(checkout: Path, tmp_path: Path) -> None:
    (tmp_path / "short").symlink_to(checkout)
    assert read(tmp_path / "short").files == read(checkout).files


def test_a_name_that_no_package_can_hold_is_refused(checkout: Path) -> None:
    (checkout / "digits" / "two\nlines.py").touch()
    with pytest.raises(ConfigError, match=r"called 'digits/two\\nlines.py'") as error:
        read(checkout)
    assert "rename it" in error.value.fix


@pytest.mark.parametrize("tracked", [True, False])
def test_a_checkout_within_is_packed_as_it_lies_there(checkout: Path, tracked: bool) -> None:
    (checkout / "other").mkdir()
    git(checkout / "other", "init", "-q")
    (checkout / "other" / "used.py").write_text("")
    git(checkout / "other", "add", ".")
    git(checkout / "other", "commit", "-qm", "begin")
    (checkout / "other" / "new.py").write_text("")
    if tracked:
        git(checkout, "add", "other")
    assert {name for name in read(checkout).files if "/" in name} >= {"other/used.py", "other/new.py"}


def test_too_much_is_refused(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    os.truncate(checkout / "digits" / "task.py", working_tree.MOST_BYTES + 1)
    monkeypatch.setattr(Path, "read_bytes", lambda path: pytest.fail(f"{path} is read") if "task" in str(path) else b"")
    with pytest.raises(ConfigError, match="too large to pack") as error:
        read(checkout)
    assert "more than 64 MB: digits/ 67.1 MB" in error.value.why, "the folder that makes it large"
    monkeypatch.setattr(working_tree, "MOST_FILES", 2)
    (checkout / "digits" / "task.py").write_text("")
    with pytest.raises(ConfigError, match="is too large to pack"):
        read(checkout)


def test_a_folder_in_no_checkout_is_read_as_if_it_were_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    for name in ("train.py", "data/large.bin", "helpers/words.py", ".slipway/catalog", "__pycache__/train.cpython.pyc"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    (tmp_path / ".gitignore").write_text("data/\n")
    tree = read(tmp_path)
    assert set(tree.files) == {".gitignore", "train.py", "helpers/words.py"}
    assert tree.revision.commit == "" and tree.revision.dirty
    assert not (tmp_path / ".git").exists()


def test_what_slipway_python_and_its_tools_leave_there_is_no_code(checkout: Path) -> None:
    """A virtual environment is full of links, which are refused."""
    (checkout / ".gitignore").write_text("data/\n")
    git(checkout, "commit", "-qam", "ignore less")
    of_conda = ("conda/conda-meta/history", "conda/lib/six.py")
    of_tools = (
        *of_conda,
        "env/pyvenv.cfg",
        "env/lib/six.py",
        "digits/__pycache__/task.pyc",
        ".ipynb_checkpoints/a.ipynb",
    )
    for name in (*of_tools, ".slipway/catalog", "digits/.slipway/catalog"):
        (checkout / name).parent.mkdir(parents=True, exist_ok=True)
        (checkout / name).write_text("")
    (checkout / "env" / "python").symlink_to(sys.executable)
    tree = read(checkout)
    assert set(tree.files) == {".gitignore", "digits/__init__.py", "digits/task.py"} and not tree.revision.dirty
    (checkout / "digits" / "new.py").touch()
    assert read(checkout).revision.dirty


def test_a_page_of_the_board_is_no_code_wherever_it_was_written(checkout: Path) -> None:
    """`slipway board` writes a megabyte into the folder, with everybody's jobs."""
    (checkout / "report").mkdir()
    for name in ("board.html", "report/today.html"):
        (checkout / name).write_text(f"<!doctype html>\n{OWN_PAGE}\n<html>")
    assert not read(checkout).revision.dirty and not {"board.html", "report/today.html"} & {*read(checkout).files}
    (checkout / ".gitignore").write_text("*.html\n")
    assert read(checkout).ignored == ("report/",)
    (checkout / ".gitignore").write_text("")
    (checkout / "board.html").write_text("<!doctype html>\n<html>")
    assert "board.html" in read(checkout).files, "somebody's own"


def test_what_is_no_folder_is_refused() -> None:
    with pytest.raises(ConfigError, match="is not a folder"):
        read(Path("x" * 5000))


def test_what_git_refuses_is_told_in_its_words(checkout: Path) -> None:
    (checkout.parent / ".git" / "config").write_text("[core\n")
    with pytest.raises(ConfigError, match="git can't list the folder") as error:
        read(checkout)
    assert "bad config line 1" in error.value.why and error.value.fix.endswith("status")


def test_without_git_it_says_so(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(checkout))
    with pytest.raises(ConfigError, match="packing code needs git"):
        read(checkout)


@pytest.mark.parametrize("kind", ["checkout", "archive"])
@pytest.mark.parametrize("step", ["_left_out", "_followed", "_sizes"])
def test_what_is_deleted_while_the_folder_is_read_is_left_out_and_named(
    checkout: Path, monkeypatch: pytest.MonkeyPatch, kind: str, step: str
) -> None:
    """Exit code 2, with a fix that could not help."""
    for name in ("kept.txt", "scratch/part.tmp", "link.tmp"):
        (checkout / name).parent.mkdir(exist_ok=True)
        (checkout / name).write_text("x")
    (checkout / "link.tmp").unlink()
    (checkout / "link.tmp").symlink_to("kept.txt")
    real = getattr(working_tree, step)

    def delete(*given: object) -> object:
        done = real(*given)
        shutil.rmtree(checkout / "scratch", ignore_errors=True)
        (checkout / "link.tmp").unlink(missing_ok=True)
        return done

    monkeypatch.setattr(working_tree, step, delete)
    source = "a.zip" if kind == "archive" else ""
    told = list[str]()
    tree = CodeFolder(checkout, "code", source).tree(told.append)
    assert "kept.txt" in tree.files and "scratch/part.tmp" not in tree.files
    assert "scratch/part.tmp" in tree.vanished and "deleted while the folder was packed" in told[0]


def test_a_tracked_file_that_was_deleted_before_is_not_named(checkout: Path) -> None:
    tracked = next(name for name in read(checkout).files)
    (checkout / tracked).unlink()
    tree = read(checkout)
    assert tracked not in tree.files and not tree.vanished

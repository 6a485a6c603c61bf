"""`slipway init` writes a small repository of a team's own; a newer one renews it and keeps their edits. # D8"""

from __future__ import annotations

import json
import os
import pty
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import pytest
import yaml

from slipway import files
from tests.checkouts.shell import Done, slipway

from .releases import Release, release

FLAGS = ("--project", "acme-ml-dev", "--submitter", "group:ml@acme.example", "--team", "@acme/ml-platform", "--yes")
GITHUB = ("--workflows", "acme/slipway@v0.1.0")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Release:
    made = release(tmp_path / "releases", "0.1.0")
    made.run_it(monkeypatch)
    return made


@pytest.fixture
def newer(installed: Release, tmp_path: Path) -> Release:
    """The release after, which has another test target and another comment."""
    made = release(tmp_path / "releases", "0.2.0")
    made.edit("Makefile.in", "discover tests", "discover -v tests")
    made.edit("README.md.in", "seconds\n", "in seconds\n")
    return made


@pytest.fixture
def folder(tmp_path: Path, installed: Release) -> Path:
    made = tmp_path / "work"
    made.mkdir()
    return made


def run(folder: Path, *arguments: str, **environ: str) -> Done:
    return slipway(arguments, {"PATH": os.environ["PATH"], **environ}, folder)


def well(folder: Path, *arguments: str) -> Done:
    done = run(folder, *arguments)
    assert done.code == 0, done.said
    return done


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# What it writes


def test_a_repository_that_checks_itself_is_written(folder: Path) -> None:
    done = well(folder, "init", "training", *FLAGS)
    made = folder / "training"
    assert {path.split("/")[0] for path in tree(made)} == {
        ".github",
        ".gitignore",
        ".starter.json",
        "Makefile",
        "Pulumi.yaml",
        "README.md",
        "__main__.py",
        "jobs",
        "requirements-local.txt",
        "requirements.txt",
        "stacks",
        "templates",
        "tests",
    }
    assert len((made / "__main__.py").read_text().splitlines()) == 3
    stack = yaml.safe_load((made / "stacks" / "Pulumi.dev.yaml").read_text())["config"]
    assert stack["gcp:project"] == "acme-ml-dev" and stack["gcp:region"] == "us-central1"
    assert stack["slipway:workspace"]["submitters"] == ["group:ml@acme.example"]
    assert "cd training && make test" in done.err
    assert "ok  dev" in well(made, "check").out
    assert not any(b"@" + key + b"@" in text for text in tree(made).values() for key in (b"NAME", b"PROJECT", b"TEAM"))


def test_production_is_a_stack_in_a_project_of_its_own(folder: Path) -> None:
    well(folder, "init", "training", *FLAGS, "--prod", "acme-ml-prod")
    checked = well(folder / "training", "check")
    assert "ok  dev" in checked.out and "ok  prod" in checked.out
    assert "acme-ml-prod" in (folder / "training" / "stacks" / "Pulumi.prod.yaml").read_text()


def test_a_folder_with_spaces_is_fine(folder: Path) -> None:
    done = well(folder, "init", "our training", *FLAGS)
    assert "cd 'our training' && make test" in done.err
    assert yaml.safe_load((folder / "our training" / "Pulumi.yaml").read_text())["name"] == "our-training"


def test_a_folder_with_the_name_of_a_number_is_fine(folder: Path) -> None:
    well(folder, "init", "2024", *FLAGS)
    assert yaml.safe_load((folder / "2024" / "Pulumi.yaml").read_text())["name"] == "2024"


def test_its_makefile_says_what_it_can_do(folder: Path) -> None:
    well(folder, "init", "our training", *FLAGS)
    told = subprocess.run(
        ["make", "--no-print-directory", "help"],
        cwd=folder / "our training",
        capture_output=True,
        text=True,
        check=True,
    )
    assert [line.split()[1] for line in told.stdout.splitlines()] == [
        "help",
        "setup",
        "check",
        "test",
        "demo",
        "demo-down",
        "review",
        "select",
    ]


def test_its_own_tests_find_a_template_that_fits_no_pool(folder: Path) -> None:
    well(folder, "init", "training", *FLAGS)
    made = folder / "training"
    test = [sys.executable, "-m", "unittest", "discover", "tests"]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3])}
    whole = subprocess.run(test, cwd=made, env=environ, capture_output=True, text=True, check=False)
    assert whole.returncode == 0 and "ok  dev" in whole.stdout, whole.stderr
    stack = made / "stacks" / "Pulumi.dev.yaml"
    stack.write_text(stack.read_text().replace("n1-standard-4", "n1-standard-8"))
    broken = subprocess.run(test, cwd=made, env=environ, capture_output=True, text=True, check=False)
    assert broken.returncode == 1 and "hello" in broken.stderr and "!=" not in broken.stderr, broken.stderr


# The pins


def test_the_wheel_is_named_by_address_and_hash_and_all_it_needs_has_hashes(folder: Path, installed: Release) -> None:
    well(folder, "init", "training", *FLAGS)
    for name, extra in (("requirements.txt", "deploy"), ("requirements-local.txt", "local")):
        lines = (folder / "training" / name).read_text().splitlines()
        assert lines[1] == f"slipway-vertex[{extra}] @ {installed.wheel.as_uri()}#sha256={installed.sha256}"
        assert "certifi==2026.10.18 \\" in lines and any("--hash=sha256:" in line for line in lines)


def test_a_hash_that_the_installer_noted_is_taken(folder: Path, installed: Release) -> None:
    address = "https://files.example/s.whl"
    for origin in (
        {"url": address, "archive_info": {"hashes": {"sha256": "ab" * 32}}},
        {"url": f"{address}#sha256={'ab' * 32}", "archive_info": {}},
    ):
        installed.came_from(origin)
        shutil.rmtree(folder / "training", ignore_errors=True)
        assert "warning" not in well(folder, "init", "training", *FLAGS).err
        pins = (folder / "training" / "requirements.txt").read_text()
        assert f"slipway-vertex[deploy] @ {address}#sha256={'ab' * 32}\n" in pins


def test_a_commit_of_git_has_no_hash_so_nothing_has_and_that_is_said(folder: Path, installed: Release) -> None:
    installed.came_from({"url": "https://git.example/s", "vcs_info": {"vcs": "git", "commit_id": "3f" * 20}})
    done = well(folder, "init", "training", *FLAGS)
    assert "no hashes, as slipway comes from a commit of git" in done.err
    pins = (folder / "training" / "requirements.txt").read_text()
    assert f"@ git+https://git.example/s@{'3f' * 20}\ncertifi==2026.10.18\nclick==8.1.0\n" in pins


def test_a_wheel_that_can_not_be_read_any_more_has_no_hash_and_that_is_said(folder: Path, installed: Release) -> None:
    installed.wheel.unlink()
    done = well(folder, "init", "training", *FLAGS)
    assert "requirements.txt" in done.err and "warning" in done.err
    assert "--hash" not in (folder / "training" / "requirements.txt").read_text()


def test_a_credential_of_the_address_is_neither_sent_nor_shown(folder: Path, installed: Release) -> None:
    installed.came_from({"url": "https://ada:s3cret@127.0.0.1:9/s.whl", "archive_info": {}})
    done = well(folder, "init", "training", *FLAGS)
    assert "https://127.0.0.1:9/s.whl can't be read: it needs a credential" in done.err and "s3cret" not in done.said
    assert not any(b"s3cret" in text for text in tree(folder).values())


def test_another_wheel_at_the_address_is_refused(folder: Path, installed: Release, tmp_path: Path) -> None:
    installed.wheel.write_bytes(release(tmp_path / "other", "0.1.1").wheel.read_bytes())
    refused = run(folder, "init", "training", *FLAGS)
    assert (refused.code, tree(folder)) == (2, {})
    assert "another wheel than the one that runs" in refused.err


# Asking, and what is refused


def test_a_person_is_asked_and_asked_again_after_a_mistake(folder: Path) -> None:
    mine, theirs = pty.openpty()
    command = [sys.executable, "-m", "slipway", "init", str(folder / "training")]
    environ = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3]), "NO_COLOR": "1"}
    environ.pop("GOOGLE_CLOUD_PROJECT", None)
    os.write(mine, b"Acme!\nacme-ml-dev\n\ngroup:ml@acme.example\n@acme/ml\n")
    done = subprocess.run(command, stdin=theirs, env=environ, capture_output=True, text=True, check=False)
    os.close(mine)
    os.close(theirs)
    assert done.returncode == 0, done.stderr
    assert "is not a project id" in done.stderr and "Region [us-central1]" in done.stderr
    stack = yaml.safe_load((folder / "training" / "stacks" / "Pulumi.dev.yaml").read_text())["config"]
    assert (stack["gcp:project"], stack["gcp:region"]) == ("acme-ml-dev", "us-central1")


@pytest.mark.parametrize("flags", [(), ("--yes",)])
def test_where_nobody_can_be_asked_all_that_is_missing_is_told_at_once(folder: Path, flags: tuple[str, ...]) -> None:
    refused = run(folder, "init", "training", *flags)
    assert (refused.code, tree(folder)) == (2, {})
    assert "--project, --submitter and --team are missing" in refused.err
    assert "fix: add --project acme-ml-dev --submitter group:ml@acme.example --team @acme/ml-platform" in refused.err


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--project", "Acme_ML"), "is not a project id"),
        (("--project", 'acme"\ninjected: true'), "is not a project id"),
        (("--region", "us-centrl1"), "fix: us-central1"),
        (("--submitter", "ml@acme.example"), "is nobody who may submit"),
        (("--team", "@acme/ml platform"), "owns no code"),
        (("--prod", "x"), "is not a project id"),
        (("--workflows", "acme/slipway"), "OWNER/REPO@REF"),
    ],
)
def test_a_wrong_value_is_refused_and_nothing_written(folder: Path, flags: tuple[str, str], said: str) -> None:
    refused = run(folder, "init", "training", *FLAGS, *flags)
    assert (refused.code, tree(folder)) == (2, {})
    assert said in refused.err


def test_a_folder_of_somebody_else_is_refused_and_stays_as_it_is(folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")
    refused = run(folder, "init", ".", *FLAGS)
    assert (refused.code, tree(folder)) == (2, {"notes.txt": b"mine"})
    assert "notes.txt" in refused.err


def test_what_a_forge_puts_into_a_new_repository_is_left_as_it_is(folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / "README.md").write_text("# Ours\n")
    done = well(folder, "init", ".", *FLAGS)
    assert (folder / "README.md").read_text() == "# Ours\n" and (folder / "Makefile").is_file()
    assert "left as they are: README.md" in done.err


# Run again


def test_what_is_missing_is_written_again_and_an_edit_is_kept(folder: Path) -> None:
    well(folder, "init", "training", *FLAGS)
    made = folder / "training"
    (made / "README.md").write_text("ours")
    (made / "Makefile").unlink()
    again = well(folder, "init", "training", "--yes")
    assert (made / "README.md").read_text() == "ours"
    assert again.out.split() == ["training/Makefile"]


def test_production_and_workflows_may_come_later(folder: Path) -> None:
    well(folder, "init", "training", *FLAGS)
    well(folder, "init", "training", "--yes", "--prod", "acme-ml-prod", *GITHUB)
    made = folder / "training"
    assert (made / "stacks" / "Pulumi.prod.yaml").is_file() and (made / ".github" / "workflows").is_dir()


class Killed(BaseException):
    """What nothing catches."""


def killed_at(writes: int) -> Iterator[None]:
    """Have the process die at its n-th file."""
    left = [writes]

    def write(path: Path, content: str | bytes, *, mode: int = 0o644) -> None:
        left[0] -= 1
        if left[0] < 0:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.with_name(f".{path.name}.abcd_123").write_text("begun")
            raise Killed
        files.write_atomically(path, content, mode=mode)

    with mock.patch("slipway.cli.terminal.starter.write_atomically", write):
        yield


def killed(folder: Path, at: int, *arguments: str) -> bool:
    """Run a command that is killed at its n-th file; False where it has written all before."""
    for _ in killed_at(at):
        try:
            well(folder, *arguments)
        except Killed:
            return True
    return False


def test_killed_at_any_point_and_run_again_all_is_there(folder: Path) -> None:
    command = ("init", "training", *FLAGS, *GITHUB)
    well(folder, *command)
    whole = tree(folder)
    at = 0
    while True:
        shutil.rmtree(folder / "training")
        if not killed(folder, at, *command):
            break
        well(folder, *command)
        assert tree(folder) == whole, at
        at += 1
    assert at > len(whole)


# An upgrade


def test_an_upgrade_merges_the_release_with_the_edits_and_shows_what_it_does(
    folder: Path, newer: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    well(folder, "init", "training", *FLAGS)
    made = folder / "training"
    makefile = made / "Makefile"
    makefile.write_text(makefile.read_text() + "\nours: setup\n\techo ours\n")
    newer.run_it(monkeypatch)
    done = well(folder, "init", "training", "--upgrade", "--yes")
    assert "discover -v tests" in makefile.read_text() and "echo ours" in makefile.read_text()
    assert "+++ b/Makefile" in done.out and "+\t@$(PY) -m unittest discover -v tests" in done.out
    assert "ours" not in done.out
    assert "-click==8.1.0" in done.out and "+click==8.2.0" in done.out and "--hash" not in done.out
    assert newer.sha256 in (made / "requirements.txt").read_text()
    again = well(folder, "init", "training", "--upgrade", "--yes")
    assert again.out == "" and "all is as slipway 0.2.0 has it" in again.err


def test_stacks_templates_and_jobs_are_the_teams(folder: Path, newer: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    well(folder, "init", "training", *FLAGS)
    mine = {name: text for name, text in tree(folder).items() if "/stacks/" in name or "/templates/" in name}
    newer.edit("stacks/Pulumi.dev.yaml.in", "n1-standard-4", "n2-standard-4")
    newer.edit("templates/hello.py.in", "n1-standard-4", "n2-standard-4")
    newer.run_it(monkeypatch)
    well(folder, "init", "training", "--upgrade", "--yes")
    assert mine.items() <= tree(folder).items()


def test_a_deleted_file_stays_deleted_and_a_new_one_comes(
    folder: Path, newer: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    well(folder, "init", "training", *FLAGS)
    made = folder / "training"
    (made / "README.md").unlink()
    (newer.starter / "docs.md.in").write_text("new of @NAME@\n")
    (newer.starter / "tests" / "test_stacks.py.in").unlink()
    newer.run_it(monkeypatch)
    for _ in range(2):
        well(folder, "init", "training", "--upgrade", "--yes")
        assert not (made / "README.md").exists() and not (made / "tests" / "test_stacks.py").exists()
        assert (made / "docs.md").read_text() == "new of training\n"


def test_what_is_left_out_as_it_was_deleted_is_told(
    folder: Path, newer: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    well(folder, "init", "training", *FLAGS)
    (folder / "training" / "Pulumi.yaml").unlink()
    newer.run_it(monkeypatch)
    done = well(folder, "init", "training", "--upgrade", "--yes")
    assert "left out, as you deleted it: training/Pulumi.yaml\n" in done.err


def test_line_ends_of_windows_are_no_edits_and_stay(
    folder: Path, newer: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    well(folder, "init", "training", *FLAGS)
    made = folder / "training"
    names = ("Makefile", "README.md", "requirements.txt", ".gitignore")
    for name in names:
        path = made / name
        path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    (made / "Makefile").write_bytes((made / "Makefile").read_bytes() + b"# ours\r\n")
    ignored = (made / ".gitignore").read_bytes()
    newer.run_it(monkeypatch)
    done = well(folder, "init", "training", "--upgrade", "--yes")
    assert "your own pins" not in done.err and "click==8.2.0" in (made / "requirements.txt").read_text()
    text = (made / "Makefile").read_text()
    assert "discover -v tests" in text and "# ours" in text and (made / ".gitignore").read_bytes() == ignored
    for name in names:
        found = (made / name).read_bytes()
        assert found.count(b"\r\n") == found.count(b"\n") > 0 and b"\r\r" not in found


def test_links_and_modes_stay(folder: Path, newer: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    well(folder, "init", "training", *FLAGS)
    made = folder / "training"
    (made / "common").mkdir()
    makefile = (made / "Makefile").rename(made / "common" / "Makefile")
    makefile.chmod(0o755)
    (made / "Makefile").symlink_to("common/Makefile")
    outside = (made / "README.md").rename(folder / "README.md")
    (made / "README.md").symlink_to(outside)
    (made / "Pulumi.yaml").unlink()
    (made / "Pulumi.yaml").symlink_to("nowhere")
    before = outside.read_text()
    newer.run_it(monkeypatch)
    done = well(folder, "init", "training", "--upgrade", "--yes")
    assert (made / "Makefile").is_symlink() and makefile.stat().st_mode & 0o777 == 0o755
    assert "discover -v tests" in makefile.read_text()
    assert (made / "README.md").is_symlink() and outside.read_text() == before
    told = "left as they are, as their links lead to no file here: training/Pulumi.yaml and training/README.md"
    assert told in done.err
    (made / "README.md").unlink()
    (made / "README.md").write_text(before)
    well(folder, "init", "training", "--upgrade", "--yes")
    assert "in seconds" in (made / "README.md").read_text(), "the base is still that of the text that was left"


def test_a_link_to_nowhere_is_there_already(folder: Path) -> None:
    (folder / "README.md").symlink_to("nowhere")
    done = well(folder, "init", ".", *FLAGS)
    assert "left as they are: README.md" in done.err and not (folder / "nowhere").exists()


def test_own_pins_are_kept_and_told(folder: Path, newer: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    well(folder, "init", "training", *FLAGS)
    pins = folder / "training" / "requirements.txt"
    own = "pandas==3.0.0 \\\n    --hash=sha256:ff\n"
    pins.write_text(pins.read_text().replace("click==8.1.0", "click==8.1.7") + own)
    newer.run_it(monkeypatch)
    done = well(folder, "init", "training", "--upgrade", "--yes")
    assert "requirements.txt: your own pins are kept: click" in done.err
    text = pins.read_text()
    assert "click==8.1.7 \\" in text and "click==8.2.0" not in text and text.endswith(own)
    assert f"slipway-vertex[deploy] @ {newer.wheel.as_uri()}" in text and "0.1.0" not in text


def test_pins_of_one_package_by_marker_are_all_kept(
    folder: Path, newer: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    well(folder, "init", "training", *FLAGS)
    pins = folder / "training" / "requirements.txt"
    own = "zstd==1.0; python_version<'3.12' \\\n    --hash=sha256:ff\nzstd==2.0; python_version>='3.12'\n"
    pins.write_text(pins.read_text() + own)
    newer.run_it(monkeypatch)
    well(folder, "init", "training", "--upgrade", "--yes")
    assert pins.read_text().endswith(own) and "click==8.2.0" in pins.read_text()


def test_edits_at_odds_are_both_in_the_file_and_told_until_somebody_chooses(
    folder: Path, newer: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    well(folder, "init", "training", *FLAGS)
    makefile = folder / "training" / "Makefile"
    makefile.write_text(makefile.read_text().replace("discover tests", "discover --failfast tests"))
    newer.run_it(monkeypatch)
    odd = run(folder, "init", "training", "--upgrade", "--yes")
    assert odd.code == 1 and "training/Makefile must be mended by hand" in odd.err
    text = makefile.read_text()
    assert "<<<<<<< yours" in text and ">>>>>>> slipway 0.2.0" in text
    assert "discover --failfast tests" in text and "discover -v tests" in text
    assert "in seconds" in (folder / "training" / "README.md").read_text(), "all else is done"

    newer.edit("Makefile.in", "discover -v tests", "discover -vv tests")
    before = tree(folder)
    refused = run(folder, "init", "training", "--upgrade", "--yes")
    assert refused.code == 2 and "Makefile has conflict markers" in refused.err and tree(folder) == before


def test_markers_are_told_by_the_same_release_too(
    folder: Path, newer: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    well(folder, "init", "training", *FLAGS)
    makefile = folder / "training" / "Makefile"
    makefile.write_text(makefile.read_text().replace("discover tests", "discover --failfast tests"))
    newer.run_it(monkeypatch)
    assert run(folder, "init", "training", "--upgrade", "--yes").code == 1
    again = run(folder, "init", "training", "--upgrade", "--yes")
    assert again.code == 2 and "Makefile has conflict markers" in again.err


def test_an_upgrade_killed_at_any_point_and_run_again_is_the_same(
    folder: Path, newer: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    well(folder, "init", "training", *FLAGS, *GITHUB)
    made = folder / "training"
    makefile = made / "Makefile"
    makefile.write_text(makefile.read_text() + "# ours\n")
    readme = made / "README.md"
    readme.write_text(readme.read_text().replace("seconds\n", "a second\n"))
    shutil.copytree(made, folder / "before")
    newer.run_it(monkeypatch)
    command = ("init", "training", "--upgrade", "--yes")
    assert run(folder, *command).code == 1, "of the README both are kept"
    whole = tree(made)
    at = 0
    while True:
        shutil.rmtree(made)
        shutil.copytree(folder / "before", made)
        try:
            if not killed(folder, at, *command):
                break
        except AssertionError:
            break
        run(folder, *command)
        assert tree(made) == whole, at
        at += 1
    assert at > 3


def test_what_was_edited_since_a_kill_is_not_written_over(
    folder: Path, newer: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    well(folder, "init", "training", *FLAGS)
    newer.run_it(monkeypatch)
    assert killed(folder, 1, "init", "training", "--upgrade", "--yes")
    readme = folder / "training" / "README.md"
    readme.write_text(f"{readme.read_text()}ours\n")
    well(folder, "init", "training", "--upgrade", "--yes")
    text = readme.read_text()
    assert "ours\n" in text and "in seconds" in text, "what the killed one had for it comes as well"


def test_without_git_files_that_nobody_edited_are_renewed_and_a_merge_is_refused_whole(
    folder: Path, newer: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    well(folder, "init", "training", *FLAGS)
    makefile = folder / "training" / "Makefile"
    original = makefile.read_text()
    newer.run_it(monkeypatch)
    makefile.write_text(f"# ours\n{original}")
    before = tree(folder)
    refused = run(folder, "init", "training", "--upgrade", PATH="")
    assert refused.code == 2 and "git can't be run" in refused.err and tree(folder) == before
    makefile.write_text(original)
    assert run(folder, "init", "training", "--upgrade", PATH="").code == 0
    assert "discover -v" in makefile.read_text()


def test_only_what_init_wrote_can_be_upgraded(folder: Path) -> None:
    refused = run(folder, "init", "training", "--upgrade", *FLAGS)
    assert (refused.code, tree(folder)) == (2, {}) and "slipway init did not write it" in refused.err


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"slipway": "0.1.0", "values": {}, "files": {"../x": []}}'])
def test_a_record_that_is_broken_is_told_and_nothing_written(folder: Path, text: str) -> None:
    (folder / ".starter.json").write_text(text)
    refused = run(folder, "init", ".", *FLAGS)
    assert refused.code == 2 and ".starter.json" in refused.err and list(tree(folder)) == [".starter.json"]


# The forge


def test_workflows_and_owners_lie_where_the_forge_reads_them(folder: Path) -> None:
    well(folder, "init", "training", *FLAGS, *GITHUB, "--prod", "acme-ml-prod")
    forge = folder / "training" / ".github"
    assert "* @acme/ml-platform\n" in (forge / "CODEOWNERS").read_text()
    for path in (forge / "workflows").glob("*.yaml"):
        assert path.name.startswith("slipway-")
        workflow = yaml.safe_load(path.read_text())
        for job in workflow["jobs"].values():
            assert job["uses"].startswith("acme/slipway/.github/workflows/") and job["uses"].endswith("@v0.1.0")
            if "folder" in job.get("with", {}):
                assert job["with"]["folder"] == "."
            if "stacks" in job.get("with", {}):
                assert json.loads(job["with"]["stacks"]) == ["dev", "prod"]


def test_in_a_repository_of_several_projects_the_forges_files_are_at_its_root(folder: Path) -> None:
    (folder / ".git").mkdir()
    done = [well(folder, "init", f"ml/our {name}", *FLAGS, *GITHUB) for name in ("one", "two")]
    assert "  .github/CODEOWNERS\n" in done[0].out and "left as they are: .github/CODEOWNERS" in done[1].err
    owners = folder / ".github" / "CODEOWNERS"
    assert "/ml/our\\ one/ @acme/ml-platform\n" in owners.read_text()
    assert "two" not in owners.read_text(), "somebody else's file"
    assert not (folder / "ml" / "our one" / ".github").exists()
    found = sorted(path.name for path in (folder / ".github" / "workflows").glob("*"))
    assert {name.split("-")[3] for name in found} == {"one", "two"}
    for path in (folder / ".github" / "workflows").glob("*-one-*"):
        for job in yaml.safe_load(path.read_text())["jobs"].values():
            assert job.get("with", {}).get("folder", "ml/our one") == "ml/our one"


def test_folders_of_one_name_have_workflows_and_projects_of_their_own(folder: Path) -> None:
    (folder / ".git").mkdir()
    for name in ("", "ads/training", "search/training"):
        well(folder, "init", name or ".", *FLAGS, *GITHUB)
    found = {path: yaml.safe_load(path.read_text()) for path in (folder / ".github" / "workflows").glob("*.yaml")}
    assert len({workflow["name"] for workflow in found.values()}) == len(found) == 15
    for path, workflow in found.items():
        named = next((name for name in ("ads", "search") if f"-{name}-training-" in path.name), None)
        for job in workflow["jobs"].values():
            assert job.get("with", {}).get("folder") in (None, f"{named}/training" if named else ".")
    groups = {
        workflow["jobs"]["up"]["concurrency"]["group"] for path, workflow in found.items() if "sched" in path.name
    }
    assert len(groups) == 3, "what waits in one folder doesn't take the place of another's"
    names = {yaml.safe_load(path.read_text())["name"] for path in folder.rglob("Pulumi.yaml")}
    assert names == {"work", "ads-training", "search-training"}


def test_the_lines_that_are_missing_in_owners_of_others_are_told(folder: Path) -> None:
    (folder / ".git").mkdir()
    (folder / ".github").mkdir()
    (folder / ".github" / "CODEOWNERS").write_text("* @acme/everybody\n")
    done = well(folder, "init", "training", *FLAGS, *GITHUB)
    assert (folder / ".github" / "CODEOWNERS").read_text() == "* @acme/everybody\n"
    assert "/training/ @acme/ml-platform" in done.err


def test_an_upgrade_moves_the_workflows_where_it_is_told_to(
    folder: Path, newer: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    well(folder, "init", "training", *FLAGS, *GITHUB)
    newer.run_it(monkeypatch)
    well(folder, "init", "training", "--upgrade", "--yes", "--workflows", "acme/slipway@v0.2.0")
    for path in (folder / "training" / ".github" / "workflows").glob("*.yaml"):
        assert "@v0.2.0" in path.read_text() and "@v0.1.0" not in path.read_text()


def test_a_folder_that_workflows_can_not_name_is_refused(folder: Path) -> None:
    (folder / ".git").mkdir()
    refused = run(folder, "init", "it's $HOME", *FLAGS, *GITHUB)
    assert refused.code == 2 and "can't stand in CODEOWNERS and workflows" in refused.err

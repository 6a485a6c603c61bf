"""`slipway init` writes a small repository of a team's own, and what is missing of it when it runs again. # D8 # N21"""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from slipway.front.cli.terminal.starter_files import TEMPLATES, file_of
from tests.local.conftest import ROOT

from .commands import FLAGS, GITHUB, killed, run, tree, well
from .releases import Release, release


def test_a_repository_that_checks_itself_is_written(folder: Path) -> None:
    done = well(folder, "init", "training", *FLAGS)
    made = folder / "training"
    files = {".github", ".gitignore", ".starter.json", "Makefile", "Pulumi.yaml", "README.md", "__main__.py"}
    files |= {
        "AGENTS.md",
        ".claude",
        "requirements-local.txt",
        "requirements.txt",
        "bootstrap",
        "jobs",
        "stacks",
        "templates",
        "tests",
    }
    assert {path.split("/")[0] for path in tree(made)} == files
    assert len((made / "__main__.py").read_text().splitlines()) == 3
    stack = yaml.safe_load((made / "stacks" / "Pulumi.dev.yaml").read_text())["config"]
    assert stack["gcp:project"] == "acme-ml-dev" and stack["gcp:region"] == "us-central1"
    assert stack["slipway:workspace"]["submitters"] == ["group:ml@acme.example"]
    assert "cd training && make test" in done.err
    assert "ok  dev" in well(made, "check").out
    assert not any(b"@" + key + b"@" in text for text in tree(made).values() for key in (b"NAME", b"PROJECT", b"TEAM"))


def test_agents_find_one_page_as_a_file_and_as_a_skill(folder: Path) -> None:  # N25
    well(folder, "init", "training", *FLAGS)
    page = (folder / "training" / "AGENTS.md").read_text()
    skill = (folder / "training" / ".claude" / "skills" / "slipway" / "SKILL.md").read_text()
    head, text = skill.removeprefix("---\n").split("---\n\n", 1)
    assert (
        yaml.safe_load(head)["name"] == "slipway" and text == page and "gs://acme-ml-dev-training--dev-catalog" in page
    )


def test_templates_of_this_repository_may_come_with_it(folder: Path) -> None:
    shipped = [name for name in TEMPLATES if (ROOT / file_of(name)).exists()]  # A fork may have none of them.
    flags = [word for name in shipped for word in ("--template", name)]
    well(folder, "init", "training", *FLAGS, *flags, "--prod", "acme-ml-prod")
    made = folder / "training"
    stacks = [
        yaml.safe_load((made / "stacks" / f"Pulumi.{word}.yaml").read_text())["config"] for word in ("dev", "prod")
    ]
    assert stacks[0]["slipway:templates"] == ["hello", *sorted(shipped)]
    assert stacks[1]["slipway:templates"] == [
        "hello",
        *(template for template in sorted(shipped) if template != "script"),
    ]
    assert stacks[0]["slipway:workspace"].get("code", False) is ("script" in shipped)
    checked = well(made, "check")
    assert "ok  dev" in checked.out and "ok  prod" in checked.out
    assert "warning" not in checked.said, checked.said
    assert stacks[1]["gcp:project"] == "acme-ml-prod", "production is in a project of its own"


def test_one_that_comes_later_is_named_by_hand(folder: Path) -> None:
    well(folder, "init", "training", *FLAGS)
    before = tree(folder / "training")
    for name in (template for template in TEMPLATES if (ROOT / file_of(template)).exists()):
        done = well(folder, "init", "training", "--template", name)
        assert f"add to slipway:templates of training/stacks/Pulumi.dev.yaml:  {name}" in done.err
        assert ("code: true" in done.err) is (name == "script"), "without it script runs nobody's code"
    after = tree(folder / "training")
    assert all(after[path] == text for path, text in before.items())


def test_a_folder_with_spaces_is_fine_and_its_makefile_says_what_it_can_do(folder: Path) -> None:
    done = well(folder, "init", "our training", *FLAGS)
    made = folder / "our training"
    assert "cd 'our training' && make test" in done.err
    assert yaml.safe_load((made / "Pulumi.yaml").read_text())["name"] == "our-training"
    told = subprocess.check_output(["make", "--no-print-directory", "help"], cwd=made, text=True)
    targets = ["help", "setup", "check", "test", "demo", "demo-down", "review", "events", "preview", "up", "refresh"]
    assert [line.split()[1] for line in told.splitlines()] == [
        *targets,
        "destroy",
        "cancel",
        "select",
        "bootstrap",
        "shell",
    ]


def test_what_pages_have_people_type_is_the_same_in_this_checkout(folder: Path) -> None:
    well(folder, "init", "training", *FLAGS)
    ours, theirs = (place.read_text() for place in (ROOT / "Makefile", folder / "training" / "Makefile"))
    typed = "review: setup" + ours.partition("review: setup")[2].partition("verify-cloud: setup")[0]
    assert typed in theirs.replace("-m slipway.local.", "-m local.")


PYTHON = """#!/bin/sh
case "$*" in
  "-m venv"*) mkdir -p .venv/bin; cp "$0" .venv/bin/python ;;
  *"-m pip install"*) for last; do :; done; cat "$last" >> installed.txt; echo "-- end" >> installed.txt ;;
esac
"""


def test_without_uv_the_pip_that_is_pinned_installs_the_rest(folder: Path, tmp_path: Path) -> None:
    """A pip before 23.3 refuses hashes where a package asks for another's extra."""
    well(folder, "init", "training", *FLAGS)
    made, python = folder / "training", tmp_path / "tools" / "python3"
    lock = made / "requirements-local.txt"
    pip = "pip==26.3 \\\n    --hash=sha256:aa \\\n    --hash=sha256:bb\n"
    lock.write_text(f"{lock.read_text()}{pip}    # via us\nzip==1\n")
    python.parent.mkdir()
    python.write_text(PYTHON)
    python.chmod(0o755)
    environ = {**os.environ, "PATH": f"{python.parent}:/usr/bin:/bin"}
    done = subprocess.run(["make", "setup"], cwd=made, env=environ, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and (made / ".venv" / ".ready").exists(), done.stderr
    assert (made / "installed.txt").read_text().split("-- end\n")[:2] == [pip, lock.read_text()]


# The pins


def test_the_wheel_is_named_by_address_and_hash_and_all_it_needs_has_hashes(folder: Path, installed: Release) -> None:
    well(folder, "init", "training", *FLAGS)
    for name, extra in (("requirements.txt", "deploy"), ("requirements-local.txt", "local")):
        lines = (folder / "training" / name).read_text().splitlines()
        assert lines[1] == f"slipway-vertex[{extra}] @ {installed.wheel.as_uri()}#sha256={installed.sha256}"
        of_cloud = hashlib.sha256(installed.cloud.read_bytes()).hexdigest()
        assert extra == "deploy" or lines[2] == f"vertex-local @ {installed.cloud.as_uri()}#sha256={of_cloud}"
        assert "certifi==2026.10.18 \\" in lines and any("--hash=sha256:" in line for line in lines)


def test_a_hash_that_the_installer_noted_is_taken(folder: Path, installed: Release) -> None:
    address = "https://127.0.0.1:9/slipway_vertex-1.whl"
    installed.came_from({"url": address, "archive_info": {"hashes": {"sha256": "ab" * 32}}})
    said = well(folder, "init", "training", *FLAGS).err
    assert "requirements-local.txt: no hashes, as https://127.0.0.1:9/vertex_local" in said
    assert f"[deploy] @ {address}#sha256={'ab' * 32}\n" in (folder / "training" / "requirements.txt").read_text()


def test_a_commit_of_git_has_no_hash_so_nothing_has_and_that_is_said(folder: Path, installed: Release) -> None:
    installed.came_from({"url": "https://git.example/s", "vcs_info": {"vcs": "git", "commit_id": "3f" * 20}})
    done = well(folder, "init", "training", *FLAGS)
    assert "no hashes" in done.err and "commit of git" in done.err
    pins = (folder / "training" / "requirements.txt").read_text()
    at = f"@ git+https://git.example/s@{'3f' * 20}"
    assert f"{at}\ncertifi==2026.10.18\nclick==8.1.0\n" in pins
    of_laptop = (folder / "training" / "requirements-local.txt").read_text()
    assert f"{at}\nvertex-local {at}#subdirectory=vertex-local\ncertifi==2026.10.18\n" in of_laptop


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


@pytest.mark.parametrize("noted", [False, True], ids=["as uv notes it", "with pip's hash"])
@pytest.mark.parametrize("gone", ["slipway", "vertex-local"])
def test_pins_to_a_wheel_that_is_not_there_are_refused_and_an_upgrade_leaves_all_as_it_was(
    folder: Path, installed: Release, newer: Release, monkeypatch: pytest.MonkeyPatch, gone: str, *, noted: bool
) -> None:
    """Nobody could install by them, nor CI deploy."""
    well(folder, "init", "training", *FLAGS)
    before = tree(folder)
    newer.run_it(monkeypatch)
    if noted:
        newer.came_from({"url": newer.wheel.as_uri(), "archive_info": {"hashes": {"sha256": newer.sha256}}})
    {"slipway": newer.wheel, "vertex-local": newer.cloud}[gone].unlink()
    refused = run(folder, "init", "training", "--upgrade")
    assert (refused.code, tree(folder)) == (2, before)
    assert f"the wheel of {gone} is not there" in refused.err and newer.wheel.parent.as_uri() in refused.err
    refused = run(folder, "init", "other", *FLAGS)
    assert (refused.code, tree(folder)) == (2, before)


def test_another_wheel_than_pip_noted_is_refused(folder: Path, installed: Release) -> None:
    installed.came_from({"url": installed.wheel.as_uri(), "archive_info": {"hashes": {"sha256": "ab" * 32}}})
    refused = run(folder, "init", "training", *FLAGS)
    assert (refused.code, tree(folder)) == (2, {}) and "another hash than pip noted" in refused.err


# Run again


def test_what_is_missing_is_written_again_and_an_edit_is_kept(folder: Path) -> None:
    well(folder, "init", "training", *FLAGS)
    made = folder / "training"
    (made / "README.md").write_text("ours")
    (made / "Makefile").unlink()
    again = well(folder, "init", "training", "--yes")
    assert (made / "README.md").read_text() == "ours"
    assert again.out.split() == ["training/Makefile"]
    well(folder, "init", "training", "--yes", "--prod", "acme-ml-prod", *GITHUB)  # They may come later.
    assert (made / "stacks" / "Pulumi.prod.yaml").is_file() and (made / ".github" / "workflows").is_dir()


@pytest.mark.parametrize(
    ("flags", "stack"), [(("--prod", "acme-ml-prod"), "prod"), (("--project", "acme-ml-other"), "dev")]
)
def test_another_project_than_a_stack_has_is_refused_and_nothing_written(
    folder: Path, flags: tuple[str, str], stack: str
) -> None:
    well(folder, "init", "training", *FLAGS, "--prod", "acme-ml-prdo")
    before = tree(folder)
    for more in ((), ("--upgrade",)):
        refused = run(folder, "init", "training", "--yes", *flags, *more)
        assert (refused.code, tree(folder)) == (2, before)
        assert f"training/stacks/Pulumi.{stack}.yaml has another project than {' '.join(flags)}" in refused.err
    edited = folder / "training" / "stacks" / f"Pulumi.{stack}.yaml"
    edited.write_text(re.sub("gcp:project: .*", f"gcp:project: {flags[1]} # ours", edited.read_text()))
    well(folder, "init", "training", "--yes", *flags)


def test_no_authorities_are_read_for_a_wheel_in_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They took longer than all else of the command."""
    monkeypatch.delattr("ssl.create_default_context")
    well(folder, "init", "training", *FLAGS)


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
    assert at == len(whole)


def test_a_link_to_nowhere_is_there_already(folder: Path) -> None:
    (folder / "README.md").symlink_to("nowhere")
    done = well(folder, "init", ".", *FLAGS)
    assert "left as they are: README.md" in done.err and not (folder / "nowhere").exists()

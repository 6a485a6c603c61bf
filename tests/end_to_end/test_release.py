"""`make release`: one commit, all that is passed on, and the same bytes wherever it is built. # N18"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from tests.checkouts.git import git
from tests.checkouts.shell import Done
from tests.local.conftest import ROOT

pytestmark = pytest.mark.journey

FILES = ("pyproject.toml", "README.md", "LICENSE", "CHANGELOG.md", ".gitignore", ".gitattributes")
VERSION = "0.1.0"
NAME = f"slipway_vertex-{VERSION}"


def committed(folder: Path, *packages: str) -> Path:
    """Return a repository of one commit, with what a release reads before it builds, and version 0.1.0 at the top of
    its changelog."""
    folder.mkdir()
    for name in (*FILES, *(path.name for path in ROOT.glob("requirements*.txt"))):
        shutil.copy(ROOT / name, folder)
    for name in packages:
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        (folder / "vertex-local").mkdir(exist_ok=True)
        shutil.copy(ROOT / "vertex-local" / name, folder / "vertex-local" / name)
    for project in (folder / "pyproject.toml", folder / "vertex-local" / "pyproject.toml"):
        project.write_text(re.sub(r'(?m)^version = ".*"', f'version = "{VERSION}"', project.read_text()))
    (folder / "CHANGELOG.md").write_text(
        f"# Changelog\n\n## [Unreleased]\n\n## [{VERSION}] - 2026-11-23\n\n### Added\n\n- The first.\n"
    )
    git(folder, "init", "--quiet", "--initial-branch=main")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "Begin")
    return folder


def clone(repository: Path, folder: Path) -> Path:
    git(repository, "clone", "--quiet", str(repository), str(folder))
    return folder


def release(folder: Path, version: str = VERSION, umask: int = 0o022) -> Done:
    done = subprocess.run(
        [sys.executable, "-m", "journey.release", version],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        umask=umask,
        capture_output=True,
        text=True,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


@pytest.mark.long
def test_whoever_builds_a_commit_again_gets_the_same_bytes(tmp_path: Path) -> None:
    repository = committed(
        tmp_path / "repository", "slipway", "components", "local", "templates", "jobs", "vertex-local/vertex_local"
    )
    here, elsewhere = clone(repository, tmp_path / "here"), clone(repository, tmp_path / "else" / "where")
    done = release(here)
    assert done.code == 0, done.said
    made = here / "dist" / VERSION
    assert "git tag v0.1.0" in done.out
    it_has_sources_wheel_notes_bill_and_hashes(made, git(here, "rev-parse", "HEAD"))
    first = (made / "SHA256SUMS").read_text()
    assert release(elsewhere, umask=0o077).code == 0
    assert (elsewhere / "dist" / VERSION / "SHA256SUMS").read_text() == first
    (made / "notes.md").write_text("half")
    assert release(here).code == 0, "it can be run again"
    assert subprocess.run(["sha256sum", "--check", "--quiet", "SHA256SUMS"], cwd=made, check=False).returncode == 0
    assert [path.name for path in (here / "dist").iterdir()] == [VERSION]


def it_has_sources_wheel_notes_bill_and_hashes(made: Path, commit: str) -> None:
    assert {path.name for path in made.iterdir()} == {
        f"{NAME}.tar.gz",
        f"{NAME}-py3-none-any.whl",
        f"vertex_local-{VERSION}.tar.gz",
        f"vertex_local-{VERSION}-py3-none-any.whl",
        "notes.md",
        "sbom.cdx.json",
        "SHA256SUMS",
    }
    assert "- The first." in (made / "notes.md").read_text() and commit in (made / "notes.md").read_text()
    wheel = zipfile.ZipFile(made / f"{NAME}-py3-none-any.whl")
    assert wheel.read("slipway/commit.txt").decode().strip() == commit
    assert {"slipway/components/program.py", "slipway/front/starter/Makefile.in"} <= set(wheel.namelist())
    with tarfile.open(made / f"{NAME}.tar.gz") as sources:
        assert f"{NAME}/slipway/model/machines/table.json" in sources.getnames()
    bill = json.loads((made / "sbom.cdx.json").read_text())
    assert (bill["bomFormat"], bill["metadata"]["component"]["name"]) == ("CycloneDX", "slipway-vertex")
    pinned = re.findall(r"(?m)^([\w.-]+)==", (ROOT / "requirements.txt").read_text())
    kinds = {part["bom-ref"]: re.split("[:/]", part["purl"])[1] for part in bill["components"]}
    assert sorted(part["name"] for part in bill["components"] if kinds[part["bom-ref"]] == "pypi") == sorted(pinned)
    scripts = {part["description"]: part for part in bill["components"] if kinds[part["bom-ref"]] == "npm"}
    assert len(scripts) + len(pinned) == len(kinds) == len(bill["components"])
    assert scripts.keys() == {
        name for name in wheel.namelist() if re.fullmatch(r"slipway/operating/board/vendor/.+\.js", name)
    }
    for name, part in scripts.items():
        assert part["hashes"] == [{"alg": "SHA-256", "content": hashlib.sha256(wheel.read(name)).hexdigest()}]
        assert part["licenses"] == [{"license": {"id": "BSD-3-Clause"}}]
    assert {dependency["ref"] for dependency in bill["dependencies"]} >= kinds.keys()


def test_what_can_not_be_released_is_refused(tmp_path: Path) -> None:
    repository = committed(tmp_path / "repository")
    assert "pyproject.toml has version 0.1.0, not 0.2.0" in release(repository, "0.2.0").err
    (repository / "notes of mine.txt").touch()
    done = release(repository)
    assert (done.code, done.out) == (2, "")
    assert "changes that are in no commit" in done.err and "notes of mine.txt" in done.err
    assert not (repository / "dist").exists()

    # A released version never becomes another.
    (repository / "notes of mine.txt").unlink()
    git(repository, "tag", f"v{VERSION}")
    (repository / "LICENSE").write_text("another")
    git(repository, "commit", "--quiet", "--all", "--message", "Change")
    done = release(repository)
    assert done.code == 2 and "released, from another commit" in done.err

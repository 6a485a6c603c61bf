"""Which files of a repository reach a deployment from a folder of it, and what pins are read. # N14"""

import hashlib
import zipfile
from pathlib import Path

import pytest

from slipway.cli.terminal.changed_files import files_of
from slipway.review.program import program
from tests.slipway.review.builders import change, facts

FOLDER = "ml/training"


@pytest.fixture
def base(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The project's folder in the base branch's checkout, where a review runs; the change's is beside it."""
    for side in ("base", "head"):
        folder = tmp_path / side / FOLDER
        folder.mkdir(parents=True)
        (tmp_path / side / ".git").mkdir()
        (folder / "requirements.txt").write_text("slipway-vertex==0.1.0\n-r ../pins/all.txt\n-e ../lib\n")
        (folder / "requirements-local.txt").write_text("-r ../pins/laptop.txt\n")
        (tmp_path / side / "ml" / "pins").mkdir()
        (tmp_path / side / "ml" / "pins" / "laptop.txt").write_text("click==8.2.0\n")
        (tmp_path / side / "ml" / "pins" / "all.txt").write_text("click==8.2.0\n")
        (folder / "Pulumi.yaml").write_text("main: ../program/\n")
        (folder / "helpers").symlink_to("../../shared/helpers")
    monkeypatch.chdir(tmp_path / "base" / FOLDER)
    return tmp_path


def kinds(base: Path, *paths: str) -> list[tuple[str, str]]:
    (base / "files").write_text("".join(f"M\t{path}\n" for path in paths))
    files = files_of(str(base / "files"), str(base / "head" / FOLDER), FOLDER)
    found = program(change(facts(), facts(), files=files))
    return [(one.kind, one.sentence) for one in found]


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        (f"{FOLDER}/yaml.py", "guard-unproven"),
        (f"{FOLDER}/local/helper.py", "guard-unproven"),
        (f"{FOLDER}/slipway/review/review.py", "guard-unproven"),
        (f"{FOLDER}/slipway/cli/review.json", "guard-unproven"),
        (f"{FOLDER}/__main__.py", "guard-unproven"),
        (f"{FOLDER}/Pulumi.json", "guard-unproven"),
        (f"{FOLDER}/Pulumi.dev.yaml", "guard-unproven"),
        (f"{FOLDER}/requirements.txt", "guard-unproven"),
        (f"{FOLDER}/uv.lock", "guard-unproven"),
        (f"{FOLDER}/requirements-local.txt", "guard-unproven"),
        (f"{FOLDER}/policy/rules.py", "workflow-edited"),
        ("ml/pins/all.txt", "guard-unproven"),
        ("ml/lib/src/lib.toml", "guard-unproven"),
        ("ml/pins/laptop.txt", "guard-unproven"),
        ("ml/program/other.yaml", "guard-unproven"),
        ("shared/helpers/x.py", "guard-unproven"),
        (".github/workflows/up.yaml", "workflow-edited"),
        ("CODEOWNERS", "workflow-edited"),
        (".gitmodules", "workflow-edited"),
        (".gitlab-ci.yml", "workflow-edited"),
    ],
)
def test_what_reaches_the_deployment_of_a_folder(base: Path, path: str, kind: str) -> None:
    assert [found for found, _ in kinds(base, path)] == [kind]


@pytest.mark.parametrize(
    "path", ["requirements.txt", "web/sitecustomize.py", "Makefile", "stacks/Pulumi.prod.yaml", f"{FOLDER}/README.md"]
)
def test_what_lies_beside_the_folder_does_not(base: Path, path: str) -> None:
    assert kinds(base, path) == []


@pytest.mark.parametrize("name", ["Pulumi.yaml", "Pulumi.yml", "Pulumi.json"])
def test_where_the_project_s_file_leads_counts_inside_of_the_folder_too(base: Path, name: str) -> None:
    (base / "head" / FOLDER / "Pulumi.yaml").unlink()
    (base / "head" / FOLDER / name).write_text('{"main": "./jobs/app/"}')
    assert [found for found, _ in kinds(base, f"{FOLDER}/jobs/app/yaml.toml")] == ["guard-unproven"]
    (base / "head" / FOLDER / name).write_text('{"main": "./"}')
    assert kinds(base, f"{FOLDER}/jobs/app/yaml.toml", f"{FOLDER}/README.md") == []


def test_a_file_that_moves_into_the_folder_counts(base: Path) -> None:
    (base / "files").write_text(f"R100\tweb/x.py\t{FOLDER}/x.py\nR100\t{FOLDER}/y.py\tweb/y.py\n")
    files = files_of(str(base / "files"), str(base / "head" / FOLDER), FOLDER)
    assert files.touched == {"x.py", "y.py"} and "y.py" in files.removed


def pinned(folder: Path, version: str, changelog: str | None = None) -> tuple[str, Path]:
    """A requirement of a wheel that has nothing but its changelog."""
    wheel = folder / f"slipway_vertex-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("slipway/__init__.py", "raise SystemExit('it was run')")
        if changelog is not None:
            archive.writestr("slipway/CHANGELOG.md", changelog)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    return f"slipway-vertex[deploy] @ {wheel.as_uri()}#sha256={digest}\n", wheel


def test_a_wheel_tells_what_is_new_in_it_without_being_run(base: Path) -> None:
    new = "# Changelog\n## [0.2.0] - 2027-01-01\n### Added\n- a flag\n## [0.1.0] - 2026-11-23\n### Added\n- all\n"
    (base / "base" / FOLDER / "requirements.txt").write_text(pinned(base, "0.1.0")[0])
    text, wheel = pinned(base, "0.2.0", new)
    (base / "head" / FOLDER / "requirements.txt").write_text(text)
    (base / "files").write_text(f"M\t{FOLDER}/requirements.txt\n")

    def notes(*, fetch: bool = True) -> tuple[tuple[str, ...], str]:
        pins = files_of(str(base / "files"), str(base / "head" / FOLDER), FOLDER, fetch=fetch).pins
        assert pins is not None and pins.slipway is not None
        return pins.notes, pins.unnoted

    assert notes() == (("0.2.0 added: a flag",), "")
    assert notes(fetch=False)[1] == "nothing was to be read"
    wheel.write_bytes(wheel.read_bytes() + b"x")
    assert "another hash" in notes()[1]
    marked = text.replace("\n", " ; python_version >= '3'\n")
    (base / "head" / FOLDER / "requirements.txt").write_text(marked)
    assert "another hash" in notes()[1], "a marker is no part of the address"
    odd = f"slipway-vertex @ https://127.0.0.1:9/odd name/slipway_vertex-0.2.0-py3-none-any.whl#sha256={'a' * 64}\n"
    (base / "head" / FOLDER / "requirements.txt").write_text(odd)
    (base / "base" / FOLDER / "requirements.txt").write_text(odd.replace("0.2.0", "0.1.0"))
    assert "can't be read" in notes()[1]
    (base / "base" / FOLDER / "requirements.txt").write_text(pinned(base, "0.1.0")[0])
    (base / "head" / FOLDER / "requirements.txt").write_text(text)
    wheel.unlink()
    assert "can't be read" in notes()[1]
    (base / "head" / FOLDER / "requirements.txt").write_text("slipway-vertex @ git+https://example.com/x.git@v2\n")
    assert "git" in notes()[1]


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_a_wheel_of_another_host_is_not_asked_for(base: Path, scheme: str) -> None:
    for side, host in (("base", "ours.example"), ("head", "theirs.example")):
        version = "0.1.0" if side == "base" else "0.2.0"
        line = f"slipway-vertex @ {scheme}://{host}/slipway_vertex-{version}-py3-none-any.whl#sha256={'a' * 64}\n"
        (base / side / FOLDER / "requirements.txt").write_text(line)
    (base / "files").write_text(f"M\t{FOLDER}/requirements.txt\n")
    pins = files_of(str(base / "files"), str(base / "head" / FOLDER), FOLDER, fetch=True).pins
    assert pins is not None and "another host" in pins.unnoted

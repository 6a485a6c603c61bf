"""What is installed, from where, and what to type to have it again: never the package index's `slipway`."""

import json
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from slipway.base import installation
from slipway.front.cli import main

ROOT = Path(__file__).resolve().parents[3]
WHEEL = "https://files.example/slipway_vertex-0.1.0-py3-none-any.whl"
GIT = "https://git.example/acme/slipway"
ID = "3f9c2e1" + "0" * 33
FROM_GIT = {"url": GIT, "vcs_info": {"vcs": "git", "commit_id": ID}}
BY_TAG = {"url": GIT, "vcs_info": {"vcs": "git", "commit_id": ID, "requested_revision": "v0.1.0"}}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of packages with slipway-vertex, from an index and by pip."""
    package = tmp_path / "slipway"
    package.mkdir()
    (package / "commit.txt").write_text("$Format:%H$\n")
    about = tmp_path / "slipway_vertex-0.1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: slipway-vertex\nVersion: 0.1.0\n")
    (about / "INSTALLER").write_text("pip\n")
    monkeypatch.setattr(installation, "PACKAGE", package)
    return tmp_path


def come_from(site: Path, origin: dict[str, Any]) -> None:
    (site / "slipway_vertex-0.1.0.dist-info" / "direct_url.json").write_text(json.dumps(origin))


@pytest.mark.parametrize(
    ("origin", "source"),
    [
        ({}, "slipway-vertex[deploy]"),
        (
            {"url": WHEEL, "archive_info": {"hash": "sha256=ab", "hashes": {"sha256": "ab"}}},
            f"slipway-vertex[deploy] @ {WHEEL}#sha256=ab",
        ),
        ({"url": "file:///pass/on/s.whl", "archive_info": {}}, "slipway-vertex[deploy] @ file:///pass/on/s.whl"),
        (BY_TAG, f"slipway-vertex[deploy] @ git+{GIT}@{ID}"),
        ({**FROM_GIT, "subdirectory": "tools/s"}, f"slipway-vertex[deploy] @ git+{GIT}@{ID}#subdirectory=tools/s"),
        ({"url": "file:///my%20own/slipway", "dir_info": {}}, "/my own/slipway[deploy]"),
    ],
)
def test_an_extra_is_added_to_the_source_that_is_installed(origin: dict[str, Any], source: str) -> None:
    assert installation.requirement(origin, "deploy") == source


@pytest.mark.parametrize(
    ("origin", "source"),
    [
        ({}, "vertex-local"),
        (
            {"url": "https://files.example/slipway_vertex-1-py3-none-any.whl?X-Signature=token", "archive_info": {}},
            "vertex-local @ https://files.example/vertex_local-1-py3-none-any.whl",
        ),
        (BY_TAG, f"vertex-local @ git+{GIT}@{ID}#subdirectory=vertex-local"),
        ({"url": "file:///my%20own/slipway", "dir_info": {}}, "/my own/slipway/vertex-local"),
    ],
)
def test_the_local_cloud_comes_from_beside_it(
    monkeypatch: pytest.MonkeyPatch, origin: dict[str, Any], source: str
) -> None:
    monkeypatch.setattr(installation, "in_checkout", lambda: False)
    assert installation.requirement(installation.local_cloud(origin), name=installation.LOCAL_CLOUD) == source


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://ada:token@git.example/s", "https://git.example/s"),
        ("https://files.example/s.whl?X-Signature=token", "https://files.example/s.whl"),
        ("ssh://git:token@git.example/s", "ssh://git@git.example/s"),
    ],
)
def test_no_credential_of_a_source_is_shown(url: str, shown: str) -> None:
    assert installation.requirement({"url": url, "archive_info": {}}) == f"slipway-vertex @ {shown}"


def test_a_source_is_quoted_as_a_shell_wants_it(site: Path) -> None:
    assert installation.install_extra("deploy") == "pip install 'slipway-vertex[deploy]'"
    come_from(site, {"url": WHEEL, "archive_info": {}})
    assert installation.install_extra("deploy") == f"pip install 'slipway-vertex[deploy] @ {WHEEL}'"


@pytest.mark.parametrize(
    ("folder", "mark", "command"),
    [
        ("venv", "pyvenv.cfg", "uv pip install --python {} 'slipway-vertex[deploy]'"),
        ("tools/slipway-vertex", "uv-receipt.toml", "uv tool install 'slipway-vertex[deploy]'"),
        ("uv/archive-v0/fZGq", "pyvenv.cfg", "uvx --from 'slipway-vertex[deploy]' slipway"),
        ("venvs/slipway-vertex", "pipx_metadata.json", "pipx install --force 'slipway-vertex[deploy]'"),
    ],
)
def test_the_tool_that_made_the_environment_is_what_is_typed(
    site: Path, monkeypatch: pytest.MonkeyPatch, folder: str, mark: str, command: str
) -> None:
    (site / "slipway_vertex-0.1.0.dist-info" / "INSTALLER").write_text("uv")
    made = site / folder
    made.mkdir(parents=True)
    (made / mark).touch()
    monkeypatch.setattr(sys, "prefix", str(made))
    assert installation.install_extra("deploy") == command.format(made)


@pytest.mark.parametrize(
    ("origin", "update"),
    [
        ({}, "update slipway: pip install --upgrade slipway-vertex"),
        (FROM_GIT, f"update slipway: pip install --upgrade 'slipway-vertex @ git+{GIT}'"),
        (BY_TAG, f"update Slipway from where it came: slipway-vertex @ git+{GIT}@v0.1.0"),
        ({"url": WHEEL, "archive_info": {}}, f"update Slipway from where it came: slipway-vertex @ {WHEEL}"),
    ],
)
def test_an_update_is_a_command_only_where_it_brings_another(site: Path, origin: dict[str, Any], update: str) -> None:
    if origin:
        come_from(site, origin)
    assert installation.updating() == update


def test_in_a_checkout_setup_does_both() -> None:
    assert installation.install_extra("deploy").startswith("make setup")
    assert installation.updating().endswith("make setup")


class TestVersion:
    def said(self, capsys: pytest.CaptureFixture[str]) -> str:
        assert main(["--version"]) == 0
        return capsys.readouterr().out

    def test_of_a_checkout_has_gits_commit(self, capsys: pytest.CaptureFixture[str]) -> None:
        git = ("git", "-C", str(ROOT), "rev-parse", "HEAD")
        head = subprocess.run(git, capture_output=True, text=True, check=True).stdout
        assert re.fullmatch(rf"slipway \d+\.\d+\.\d+(\.dev0)? @ {head[:7]}(-dirty)?\n", self.said(capsys))

    def test_of_a_git_address_has_the_commit_that_pip_took(
        self, site: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        come_from(site, BY_TAG)
        assert self.said(capsys) == "slipway 0.1.0 @ 3f9c2e1\n"

    def test_of_a_release_has_the_commit_that_was_baked_in(
        self, site: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        assert self.said(capsys) == "slipway 0.1.0\n", "without a commit it is the version alone"
        (site / "slipway" / "commit.txt").write_text(f"{ID}\n")
        assert self.said(capsys) == "slipway 0.1.0 @ 3f9c2e1\n"

    def test_reads_nothing_of_it_for_another_command(self) -> None:
        program = (
            "import sys; from slipway.front.cli import main; main(['--help']); print(*sys.modules, file=sys.stderr)"
        )
        done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
        assert not {"importlib.metadata", "tomllib", "slipway.deploying.deployment.checkout"} & set(done.stderr.split())


class TestTheIndexsSlipwayBesideIt:
    def test_is_told_at_the_start_of_each_command(self, site: Path, capsys: pytest.CaptureFixture[str]) -> None:
        (site / "slipway-0.14.0.dist-info").mkdir()
        come_from(site, {"url": WHEEL, "archive_info": {}})
        assert main(["--version"]) == 0
        told = capsys.readouterr()
        assert told.out == "slipway 0.1.0\n"
        assert "another package called slipway" in told.err
        assert f"fix: pip uninstall slipway slipway-vertex, then pip install 'slipway-vertex @ {WHEEL}'" in told.err

    @pytest.mark.parametrize("own", ["slipway_vertex-0.1.0.dist-info", "slipway.egg-info", "slipway-notes"])
    def test_is_nothing_else(self, site: Path, own: str) -> None:
        (site / own).mkdir(exist_ok=True)
        assert installation.remove_namesake() == ""

    def test_does_not_disturb_completion(
        self, site: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        (site / "slipway-0.14.0.dist-info").mkdir()
        for name, value in {"_SLIPWAY_COMPLETE": "bash_complete", "COMP_LINE": "slipway te"}.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(SystemExit):
            main(["--help"])
        assert "another package" not in capsys.readouterr().err


def tracked() -> Iterator[Path]:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listed.split("\0")):
        if name != "tests/slipway/base/test_installation.py" and not name.startswith("requirements"):
            yield ROOT / name


def test_no_line_of_ours_tells_anybody_to_install_the_indexs_slipway() -> None:
    named = r"['\"`]?slipway(?![\w.-])"
    install = re.compile(
        rf"(?:pip3?|tool|pipx) (?:install|run|download)\b[^\n|]* {named}|(?:uvx|--from|--with)[ =]{named}"
    )
    extra = re.compile(r"\bslipway\[[a-z]")
    texts = [(path, path.read_text(encoding="utf-8", errors="replace")) for path in tracked() if path.is_file()]
    assert all(install.search(f"{line} slipway") for line in ["pip install -U", "uv tool install", "uvx", "uvx --from"])
    assert not install.search("uvx --from 'slipway-vertex[deploy]' slipway")
    found = [f"{path.relative_to(ROOT)}: {told[0]}" for path, text in texts for told in install.finditer(text)]
    found += [f"{path.relative_to(ROOT)}: {told[0]}" for path, text in texts for told in extra.finditer(text)]
    assert found == []


def test_the_local_cloud_is_released_with_it() -> None:
    """Its source is derived from slipway's, so that both have one version."""
    files = (ROOT / "pyproject.toml", ROOT / "vertex-local" / "pyproject.toml")
    ours, clouds = (tomllib.loads(file.read_text())["project"] for file in files)
    assert (clouds["name"], clouds["version"]) == (installation.LOCAL_CLOUD, ours["version"])
    assert f"{installation.LOCAL_CLOUD}=={ours['version']}" in ours["optional-dependencies"]["local"]

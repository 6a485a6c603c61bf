"""Packages from an index that requirements.txt names are installed in the job, as the job's account. # D3 # P5"""

import os
from pathlib import Path

import pytest

from slipway.authoring.packages import slipway_index
from slipway.authoring.packages.slipway_http import patiently
from slipway.authoring.packages.slipway_storage import RefusedError
from tests import package_index
from tests.package_index import TOKEN


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """An environment in which pip installs into a folder, asks this index alone, and reads no settings of people."""
    own = {name: value for name, value in os.environ.items() if not name.startswith("PIP_")}
    pip = {"PIP_USER": "0", "PIP_TARGET": str(tmp_path / "site"), "PIP_NO_CACHE_DIR": "1", "PIP_RETRIES": "0"}
    return {**own, **pip, "PIP_CONFIG_FILE": os.devnull, "TMPDIR": str(tmp_path)}


def test_it_signs_in_to_artifact_registry_alone_and_its_token_is_seen_nowhere(
    environ: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    with package_index.served(signed_in=True) as host:
        lines, asked = [f"--index-url http://{host}/simple/", "acme-words==1.0"], {**environ, "GCE_METADATA_HOST": host}
        with pytest.raises(RefusedError, match="pip, whose lines are above, ended with 1"):
            slipway_index.install(lines, asked)
        monkeypatch.setattr(slipway_index, "REGISTRY", "127.0.0.1")
        slipway_index.install(lines, asked)
    assert "hello from the index" in (tmp_path / "site" / "acme_words.py").read_text()
    said = capfd.readouterr()
    assert "Successfully installed acme-words-1.0" in said.out and TOKEN not in said.out + said.err
    assert [
        path for path in tmp_path.rglob("*") if path.is_file() and TOKEN in path.read_text("utf-8", "replace")
    ] == []


def test_constraints_hold_for_what_is_installed(environ: dict[str, str], capfd: pytest.CaptureFixture[str]) -> None:
    with package_index.served() as host:
        index = f"--index-url http://{host}/simple/"
        with pytest.raises(RefusedError):
            slipway_index.install([index, "--constraint acme-words<1", "acme-words"], environ)
        slipway_index.install([index, "--constraint acme-words<2", "acme-words"], environ)
    assert "Successfully installed acme-words-1.0" in capfd.readouterr().out


def test_without_a_token_nothing_is_asked(environ: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slipway_index, "patiently", lambda ask, _: patiently(ask, lambda _: None))
    nowhere = {**environ, "GCE_METADATA_HOST": "127.0.0.1:1"}
    with pytest.raises(RefusedError, match=r"no token of the job's account for us-python\.pkg\.dev"):
        slipway_index.install(["--index-url https://us-python.pkg.dev/acme-ml/wheels/simple/"], nowhere)


def test_a_package_without_an_index_has_nothing_to_install(environ: dict[str, str]) -> None:
    assert slipway_index.wanted() == []
    slipway_index.install([], environ)

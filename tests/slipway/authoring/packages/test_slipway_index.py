"""Packages from an index that requirements.txt names are installed in the job, as the job's account. # D3 # P5"""

import os
import site
import sys
import types
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
        with pytest.raises(
            RefusedError, match=r"pip ended with 1: .*No matching distribution found for acme-words==1\.0"
        ):
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


@pytest.mark.parametrize(
    ("written", "registry", "why", "fix"),
    [
        (
            "ERROR: Could not find a version that satisfies the requirement six==99\nERROR: No matching distribution",
            False,
            "six==99; No matching distribution",
            "correct that name or version in uv.lock",
        ),
        ("WARNING: Retrying (Retry(total=4)) after\nERROR: No matching distribution", False, "", "reach the index"),
        ("WARNING: 401 Error, Credentials not correct for https://a", True, "above", "roles/artifactregistry.reader"),
        ("WARNING: 401 Error, Credentials not correct for https://a", False, "above", "only Artifact Registry"),
        ("ERROR: THESE PACKAGES DO NOT MATCH THE HASHES FROM", False, "THESE", "write the hashes of uv.lock again"),
        ("ERROR: Cannot install a and b because of conflicting dependencies.", False, "a and b", "fit together"),
        ("ERROR: Package 'x' requires a different Python: 3.10", False, "x", "for the image's Python 3."),
        ("ERROR: Failed to build installable wheels", False, "wheels", "needs no compiler"),
        ("ERROR: [Errno 28] No space left on device", False, "No space", "a larger disk"),
        ("/usr/bin/python3: No module named pip", False, "No module named pip", "an image with pip"),
        ("ERROR: it is odd", False, "it is odd", "the packages are listed in uv.lock"),
    ],
)
def test_a_failure_has_pip_s_reason_and_a_fix_that_fits(
    written: str, registry: bool, why: str, fix: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = types.ModuleType(slipway_index.REQUIREMENTS)
    listed.SOURCE = "uv.lock"  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, listed.__name__, listed)
    assert why in slipway_index.reason(1, written) and fix in slipway_index.fix(written, registry=registry)


def test_a_virtual_environment_s_packages_are_replaced_and_another_image_s_are_kept() -> None:
    """pip installs no second version for a user of a virtual environment."""
    assert slipway_index.settings(in_environment=True)["PIP_USER"] == "0"
    assert slipway_index.settings(in_environment=False)["PIP_USER"] == str(int(bool(site.ENABLE_USER_SITE)))

"""The benchmarks run on a cloud of their own, whatever the caller's shell points to."""

from pathlib import Path

import pytest

from bench.ground import Cloud


def test_the_callers_cloud_is_forgotten(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("GOOGLE_OAUTH_ACCESS_TOKEN", "PULUMI_BACKEND_URL", "STORAGE_EMULATOR_HOST", "SLIPWAY_CATALOG"):
        monkeypatch.setenv(name, "the real one")
    monkeypatch.setenv("VERTEX_LOCAL_STATE", "mine")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    shell = Cloud(tmp_path, {}).shell
    assert "the real one" not in shell.values()
    assert "PYTHONDONTWRITEBYTECODE" not in shell, "it would slow the side that imports more"
    assert shell["VERTEX_LOCAL_STATE"] == str(tmp_path)
    assert shell["VERTEX_LOCAL_PORT"] == "0"

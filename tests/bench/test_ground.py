"""The ground of the benchmarks: a cloud of its own, whatever the caller's shell points to, and nothing left behind."""

import json
import os
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from bench.errors import BenchError
from bench.ground import Cloud, Ground, clear


def pid_of(cloud: Cloud) -> int:
    return int(json.loads((cloud.state / "cloud.json").read_text())["pid"])


def alive(pid: int) -> bool:
    try:
        # Where nobody waits for orphans, an ended one stays as a zombie.
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


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


def test_what_a_benchmark_sets_is_taken_back_where_it_fails_and_all_is_stopped_and_removed() -> None:
    """More quota than the stack was deployed with made another benchmark fail."""
    cpus = "custom_model_training_preemptible_cpus"
    with Ground(lambda line: None) as ground:
        cloud = ground.cloud("one", {})
        cloud.start()
        pid, before = pid_of(cloud), cloud.call("GET", "/vertex-local/settings")
        with pytest.raises(BenchError, match="GET /v1/nothing: 4"), cloud.set({f"quota.{cpus}": "640"}):
            assert cloud.call("GET", "/vertex-local/settings")["quota"][cpus] == 640
            cloud.call("GET", "/v1/nothing")
        assert cloud.call("GET", "/vertex-local/settings") == before
        assert alive(pid)
    assert not alive(pid)
    assert not ground.folder.exists()


def test_a_killed_run_is_cleaned_up_by_the_next(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    left = tmp_path / f"slipway-bench-{dead.pid}-abc" / "deployed"
    left.mkdir(parents=True)
    living = tmp_path / f"slipway-bench-{os.getpid()}-abc"
    living.mkdir()
    cloud = Cloud(left, {})
    cloud.start()
    pid = pid_of(cloud)
    lines: list[str] = []
    clear(tmp_path, lines.append)
    assert not left.parent.exists() and living.exists()
    assert lines == [f"cleaning up after a killed run: {left.parent.name}"]
    assert not alive(pid)

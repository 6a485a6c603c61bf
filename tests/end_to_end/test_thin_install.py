"""The package alone, in a clean environment and away from any checkout, is all that submitting needs. # N18 # D4"""

import os
import re
import shlex
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.checkouts.checkout import Checkout
from tests.checkouts.laptop import UV, Laptop, uv
from tests.checkouts.made_once import once
from tests.local.conftest import ROOT

pytestmark = pytest.mark.journey

BAR_MB = 40


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Path:
    """A virtual environment with the wheel and what it depends on, at the pinned versions."""

    def make(folder: Path) -> None:
        made, pinned = folder / "environment", ("--constraint", ROOT / "requirements.txt")
        uv("venv", "--python", sys.executable, made)
        uv("pip", "install", "--compile-bytecode", "--python", made / "bin" / "python", wheel, *pinned)

    return once(tmp_path_factory, "thin", make) / "environment"


@pytest.fixture
def laptop(environment: Path, deployed: Checkout, tmp_path: Path) -> Iterator[Laptop]:
    """Somebody's laptop, that has chosen the shared stack's catalog."""
    programs, folder = environment / "bin", tmp_path / "notebooks"
    folder.mkdir()
    path = os.pathsep.join([str(programs), os.environ.get("PATH", "")])
    environ = {**deployed.cloud.env("submitter"), "PATH": path, "NO_COLOR": "1", "SLIPWAY_USER": "ada"}
    mine = Laptop(programs, folder, environ)
    mine.well("use", deployed.catalog)
    yield mine


def test_the_wheel_has_the_package_with_its_data_and_nothing_beside_it(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.partition("/")[0].partition("-")[0] for name in names} == {"slipway", "slipway_vertex"}
    here = {path.relative_to(ROOT).as_posix() for path in (ROOT / "slipway").rglob("*") if path.is_file()}
    here |= {f"slipway/components/{path.name}" for path in (ROOT / "components").glob("*.py")}
    here |= {f"slipway/{path.relative_to(ROOT).as_posix()}" for path in (ROOT / "local").rglob("*") if path.is_file()}
    examples = [*ROOT.glob("templates/*.py"), *ROOT.glob("jobs/script/*.py"), *ROOT.glob("jobs/tune_digits/*.*")]
    here |= {f"slipway/examples/{path.relative_to(ROOT).as_posix()}" for path in examples}
    assert {name for name in names if name.startswith("slipway/")} == {
        name for name in here if "__pycache__" not in name
    }
    assert any(name.endswith("/licenses/LICENSE") for name in names)
    assert {
        "slipway/py.typed",
        "slipway/authoring/packages/slipway_launcher.py",
        "slipway/model/machines/table.json",
    } <= set(names)


def test_it_brings_neither_pulumi_nor_grpc_and_stays_small(environment: Path) -> None:
    (packages,) = (environment / "lib").glob("python*/site-packages")
    brought = {path.name for path in packages.iterdir()}
    assert not brought & {"pulumi", "pulumi_gcp", "grpc", "pydantic", "components", "local", "vertex_local"}
    assert {path.name for path in (packages / "google").iterdir()} == {"auth", "oauth2"}
    sizes = [(path.suffix == ".pyc", path.lstat().st_size) for path in packages.rglob("*") if path.is_file()]
    size, compiled = (sum(size for is_bytecode, size in sizes if more or not is_bytecode) / 1e6 for more in (0, 1))
    assert size <= BAR_MB
    ((told, with_bytecode),) = re.findall(
        r"(\d+) MB in all, (\d+) with the bytecode", (ROOT / "docs" / "cli.md").read_text()
    )
    assert 0.9 * int(told) <= size <= 1.1 * int(told), f"{size:.0f} MB"
    assert 0.9 * int(with_bytecode) <= compiled <= 1.1 * int(with_bytecode), f"{compiled:.0f} MB with bytecode"


def test_every_module_but_those_of_a_deployment_can_be_imported(environment: Path, tmp_path: Path) -> None:
    program = """
import importlib, pkgutil, slipway
for module in pkgutil.walk_packages(slipway.__path__, "slipway.", onerror=lambda name: None):
    if module.name != "slipway.__main__" and not module.name.startswith("slipway.local."):
        try:
            importlib.import_module(module.name)
        except ModuleNotFoundError as error:
            print(module.name, error.name)
"""
    done = Laptop(environment / "bin", tmp_path, dict(os.environ)).python(program)
    missing = [line.split() for line in done.splitlines()]
    assert {package for _, package in missing} == {"pydantic", "pulumi", "jinja2"}
    deploying = (
        "slipway.operating.board.page",
        "slipway.front.cli.board",
        "slipway.components",
        "slipway.authoring.stack",
        "slipway.deploying.deployment.",
        "slipway.deploying.creation.",
        "slipway.deploying.generations.adoption_entry",
        "slipway.authoring.template.",
        "slipway.reviewing.preview_text",
    )
    assert [name for name, _ in missing if not name.startswith(deploying)] == []


def test_from_a_laptop_jobs_are_submitted_followed_and_looked_at(laptop: Laptop) -> None:
    a_job_is_submitted_followed_and_looked_at(laptop)
    code_of_ones_own_is_packed_and_run(laptop)
    a_sweep_is_submitted(laptop)
    python_submits_and_waits(laptop)
    completion_knows_the_templates(laptop)
    what_deploying_needs_is_named_where_it_is_missing(laptop)


def a_job_is_submitted_followed_and_looked_at(laptop: Laptop) -> None:
    assert "nap" in laptop.well("templates").out
    job = laptop.well("submit", "nap", "-p", "say=thin", "--wait", "--output", "json").json["job"]["displayName"]
    assert "the word is thin" in laptop.well("jobs", "logs", job).out
    assert f"jobs/{job}" in laptop.well("jobs", "show", job).out
    assert job in laptop.well("jobs", "list").out
    assert "cpu" in laptop.well("pools").out
    assert "vCPUs" in laptop.well("quota").out
    assert "not looked at: the state" in laptop.slipway("doctor").err  # N10
    spot = laptop.slipway("submit", "nap", "-p", "say=thin", "--capacity", "spot", "--dry-run")
    assert (spot.code, spot.json["jobSpec"]["scheduling"]["strategy"]) == (5, "SPOT")
    assert "preemptible_cpus" in spot.err and "needs 4, limit 1" in spot.err


def code_of_ones_own_is_packed_and_run(laptop: Laptop) -> None:  # N11
    folder = laptop.folder / "nap"
    folder.mkdir()
    subprocess.run(["git", "init", "--quiet", folder], check=True)
    (folder / "__init__.py").touch()
    (folder / "task.py").write_text('print("from a folder of my own")\n')
    done = laptop.well("submit", "nap", "-p", "say=thin", "--code", str(folder), "--follow")
    assert "from a folder of my own" in done.said


def a_sweep_is_submitted(laptop: Laptop) -> None:  # N7
    (laptop.folder / "points.yaml").write_text("grid: {say: [a, b]}\n")
    done = laptop.well("submit", "nap", "--sweep", "points.yaml", "--wait")
    assert "2 succeeded" in done.said


def python_submits_and_waits(laptop: Laptop) -> None:  # N12
    program = """
import slipway
job = slipway.submit("nap", say="python")
print(job.wait().state, [line for line in job.logs() if "the word" in line])
"""
    said = laptop.python(program)
    assert said.startswith("succeeded")
    assert "the word is python" in said


def completion_knows_the_templates(laptop: Laptop) -> None:
    assert "_SLIPWAY_COMPLETE" in laptop.well("completion", "bash").out
    pressed = {"_SLIPWAY_COMPLETE": "bash_complete", "COMP_LINE": "slipway submit n"}
    assert "nap" in replace(laptop, environ=laptop.environ | pressed).well().out


def what_deploying_needs_is_named_where_it_is_missing(laptop: Laptop) -> None:
    (laptop.folder / "stacks").mkdir()
    (laptop.folder / "stacks" / "Pulumi.dev.yaml").write_text("config: {}\n")
    done = laptop.slipway("check")
    assert (done.code, done.out) == (2, "")
    assert "Traceback" not in done.err
    (fix,) = re.findall(r"fix: (uv pip install --python \S+ 'slipway-vertex\[deploy\] @ file://.*')", done.err)
    typed = [str(UV), *shlex.split(fix)[1:], "--dry-run"]
    tried = subprocess.run(typed, capture_output=True, text=True, check=False, env=laptop.environ)
    assert tried.returncode == 0 and "+ pulumi==" in tried.stderr, tried.stderr

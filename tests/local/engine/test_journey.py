"""The real engine runs a real Python program, its delete hook included."""

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from local.backend import file_backend
from local.engine.engine import Engine, ensure
from local.engine.version import PINNED, parse

pytestmark = pytest.mark.journey

Pulumi = Callable[..., subprocess.CompletedProcess[str]]

PROGRAM = """
import os, pulumi

def guard(args):
    if os.environ.get("BUSY"):
        raise Exception(f"{args.name} is in use")

hook = pulumi.ResourceHook("guard-v1", guard)

class Group(pulumi.ComponentResource):
    def __init__(self, name, facts):
        super().__init__("tests:index:Group", name, facts)
        bound = pulumi.ResourceHookBinding(before_delete=[hook])
        pulumi.Stash(f"{name}-thing", input=facts["fact"], opts=pulumi.ResourceOptions(parent=self, hooks=bound))
        self.register_outputs({"fact": facts["fact"]})

if os.environ.get("SLIPWAY_PURPOSE") != "destroy":
    Group("group", {"fact": pulumi.Config().require("fact")})
"""
PROJECT = "name: trial\nruntime: python\nstackConfigDir: stacks\noptions: {refresh: always}\n"


@pytest.fixture(scope="module")
def engine() -> Engine:
    return ensure(print)


@pytest.fixture
def pulumi(engine: Engine, tmp_path: Path) -> Pulumi:
    (tmp_path / "state").mkdir()
    project = tmp_path / "project"
    (project / "stacks").mkdir(parents=True)
    (project / "Pulumi.yaml").write_text(PROJECT)
    (project / "__main__.py").write_text(PROGRAM)
    (project / "stacks" / "Pulumi.try.yaml").write_text("config: {trial:fact: shown}\n")
    environ = {
        # The language host takes the first Python on PATH: ours comes before the engine's folder.
        "PATH": os.pathsep.join((str(Path(sys.executable).parent), str(engine.bin), os.environ["PATH"])),
        "HOME": str(tmp_path),
        "PULUMI_HOME": str(tmp_path / "home"),
        "PULUMI_BACKEND_URL": file_backend(tmp_path / "state"),
        "PULUMI_CONFIG_PASSPHRASE": "a phrase",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
        "PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION": "true",
    }

    def run(*args: str, **extra: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [engine.bin / "pulumi", *args, "--non-interactive"],
            cwd=project,
            env=environ | extra,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    return run


def test_the_engine_tells_a_version_that_serves(engine: Engine) -> None:
    printed = subprocess.run([engine.bin / "pulumi", "version"], capture_output=True, text=True, check=True).stdout
    assert printed == f"v{engine.version}\n"
    version = parse(printed)
    assert version is not None
    assert version.at_least(PINNED)


def test_a_stack_lives_from_preview_to_destroy_and_its_hook_guards_it(
    pulumi: Pulumi, forked: Mapping[str, str]
) -> None:
    """The first program is the language host's own process; the next ones need not import anything any more."""

    def well(*args: str, **extra: str) -> str:
        done = pulumi(*args, **extra)
        assert done.returncode == 0, done.stdout
        return done.stdout

    well("stack", "init", "try")
    assert "3 to create" in well("preview", "--stack", "try")
    assert "3 created" in well("up", "--yes", "--skip-preview", "--stack", "try", **forked)
    assert "3 unchanged" in well("preview", "--stack", "try", **forked)

    destroy = ("destroy", "--yes", "--skip-preview", "--stack", "try")
    said = pulumi(*destroy, **forked).stdout
    assert "--run-program" in said, "a delete hook needs the program"
    # As docs/runbook.md shows it.
    assert "Resource has delete hooks registered, but the program is not running. Hooks: " in said
    assert "You must run with the `--run-program` flag to use delete hooks during destroy." in said
    refused = pulumi(*destroy, "--run-program", SLIPWAY_PURPOSE="destroy", BUSY="1", **forked)
    assert refused.returncode != 0
    assert "group-thing is in use" in refused.stdout
    assert "3 deleted" in well(*destroy, "--run-program", SLIPWAY_PURPOSE="destroy", **forked)

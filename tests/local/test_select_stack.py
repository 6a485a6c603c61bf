"""`make select STACK=…` makes and selects a stack on the real engine, and writes nothing into the checkout."""  # D7

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from local.backend import file_backend
from local.select_stack import select
from slipway.errors import ConfigError, SlipwayError

REVIEWED = "# reviewed\n\nconfig:\n    plain:size:   3\n"


@pytest.fixture
def checkout(tmp_path: Path, engine: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder, state = tmp_path / "checkout", tmp_path / "state"
    (folder / "stacks").mkdir(parents=True)
    state.mkdir()
    (folder / "Pulumi.yaml").write_text("name: plain\nruntime: python\nstackConfigDir: stacks\n")
    for name in ("dev", "prod"):
        (folder / "stacks" / f"Pulumi.{name}.yaml").write_text(REVIEWED)
    for name, value in {
        "PATH": os.pathsep.join((str(engine), os.environ["PATH"])),
        "PULUMI_HOME": str(tmp_path / "home"),
        "PULUMI_BACKEND_URL": file_backend(state),
        "PULUMI_CONFIG_PASSPHRASE": "a phrase",
        "PULUMI_SKIP_UPDATE_CHECK": "true",
    }.items():
        monkeypatch.setenv(name, value)
    return folder


def selected(checkout: Path) -> str:
    command = ("pulumi", "stack", "--show-name")
    return subprocess.run(command, cwd=checkout, capture_output=True, text=True, check=True).stdout.strip()


def files(checkout: Path) -> dict[str, str]:
    return {str(file.relative_to(checkout)): file.read_text() for file in checkout.rglob("*") if file.is_file()}


@pytest.mark.journey
def test_a_stack_is_made_then_selected_and_its_file_stays(checkout: Path) -> None:
    before = files(checkout)
    for stack in ("dev", "prod", "dev"):
        select(checkout, stack)
        assert selected(checkout) == stack
    assert files(checkout) == before


@pytest.mark.journey
def test_a_state_that_is_not_there_is_told_in_the_engines_words(
    checkout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PULUMI_BACKEND_URL", f"file://{checkout / 'nowhere'}")
    with pytest.raises(SlipwayError) as told:
        select(checkout, "dev")
    assert "nowhere" in told.value.why
    assert "PULUMI_BACKEND_URL" in told.value.fix


def test_a_stack_without_a_file_is_refused_before_the_engine_is_asked(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as told:
        select(tmp_path, "dev")
    assert "stacks/Pulumi.dev.yaml" in told.value.what

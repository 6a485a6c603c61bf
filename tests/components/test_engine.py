"""The stack's configuration: the engine's values, the file's lines. # D6"""

import json
from pathlib import Path

import pytest
from pulumi.runtime import mocks

from components.engine import configured, place
from slipway.authoring.stack.yaml_file import StackErrors

FILE = """config:
  gcp:project: acme-dev
  gcp:region: us-central1
  gcp:addPulumiAttributionLabel: "false"
  slipway:quota: { mode: enforce }
"""
CONFIG = {"gcp:project": "acme-dev", "gcp:region": "us-central1", "gcp:addPulumiAttributionLabel": "false"}


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    mocks.set_mocks(None, project="slipway", stack="dev", preview=False)  # type: ignore[arg-type]  # none is called
    monkeypatch.setenv("PULUMI_CONFIG", json.dumps(CONFIG))
    (tmp_path / "stacks").mkdir()
    (tmp_path / "stacks" / "Pulumi.dev.yaml").write_text(FILE)
    return tmp_path


def test_the_file_as_it_is(checkout: Path) -> None:
    stack = configured(checkout)
    assert (stack.name, stack.project, stack.region, stack.quota.mode) == ("dev", "acme-dev", "us-central1", "enforce")


def test_the_engines_values_win(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`pulumi up --config …` and `--config-file …` reach the program through the engine alone."""
    monkeypatch.setenv("PULUMI_CONFIG", json.dumps({**CONFIG, "slipway:quota": '{"mode": "warn"}'}))
    assert configured(checkout).quota.mode == "warn"


def test_a_stack_without_a_file_is_configured_too(checkout: Path) -> None:
    (checkout / "stacks" / "Pulumi.dev.yaml").unlink()
    assert configured(checkout).project == "acme-dev"


def test_errors_name_file_line_and_key(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PULUMI_CONFIG", json.dumps({**CONFIG, "slipway:quota": '{"mode": "hope"}'}))
    with pytest.raises(StackErrors) as error:
        configured(checkout)
    (finding,) = error.value.mistakes
    assert (finding.file, finding.line, finding.key) == ("stacks/Pulumi.dev.yaml", 5, "slipway:quota.mode")


def test_project_and_region_alone_need_nothing_else(checkout: Path) -> None:
    assert place() == ("acme-dev", "us-central1")

"""`slipway diff`: the settings and the answers that a promotion would change, from two stack files alone."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from slipway.base.errors import ConfigError
from slipway.front.cli import main
from slipway.front.cli.diff import command

STACK = """
config:
  gcp:project: acme-{name}
  gcp:region: us-central1
  gcp:addPulumiAttributionLabel: "false"
  slipway:persistentResources:
    cpu:
      pools:
        workers: {{ machine: n1-standard-8, replicas: {{ min: 1, max: {most} }} }}
  slipway:templates: []
  slipway:workspace:
    submitters: ["group:{group}@acme.example"]
"""


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "stacks").mkdir()
    (tmp_path / "Pulumi.yaml").write_text("name: slipway\nruntime: python\n")
    write(tmp_path, "staging", most=8)
    write(tmp_path, "prod", most=4)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(checkout: Path, name: str, *, most: int, group: str = "ml") -> None:
    text = STACK.format(name=name, most=most, group=group)
    (checkout / "stacks" / f"Pulumi.{name}.yaml").write_text(text)


def diff(*words: str) -> Result:
    return CliRunner().invoke(command, ["staging", "prod", *words], catch_exceptions=False)


def test_the_settings_of_staging_replace_those_of_prod_but_not_its_names(checkout: Path) -> None:
    body = json.loads(diff("--output", "json").stdout)
    assert (body["kind"], body["from"], body["to"]) == ("diff", "staging", "prod")
    assert body["settings"] == [
        {"subject": "cluster cpu", "key": "pools.workers.replicas.max", "before": "4", "after": "8"}
    ]
    assert "cluster cpu" in {finding["subject"] for finding in body["findings"]}


def test_text_and_markdown_have_the_settings(checkout: Path) -> None:
    assert "cluster cpu pools.workers.replicas.max: 4 → 8" in diff().stdout
    assert "| cluster `cpu` | `pools.workers.replicas.max` | `4` → `8` |" in diff("--output", "markdown").stdout


def test_submitters_are_compared(checkout: Path) -> None:
    write(checkout, "staging", most=4, group="release")
    line = "slipway:workspace.submitters: group:ml@acme.example → group:release@acme.example"
    assert line in diff().stdout


def test_stacks_with_the_same_settings(checkout: Path) -> None:
    write(checkout, "staging", most=4)
    assert "staging and prod have the same settings" in diff().stdout


def test_mistakes_are_errors(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", "prod", "prod"]) == 2
    assert main(["diff", "stagin", "prod"]) == 2
    assert "fix: slipway diff staging prod" in capsys.readouterr().err
    (checkout / "stacks" / "Pulumi.staging.yaml").write_text("config: {gcp:region: 1}\n")
    with pytest.raises(ConfigError):
        diff()

"""A command's path is its name: a file in `slipway/cli` is a verb, a folder a group of verbs."""

from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

import slipway.cli
import slipway.cli.jobs
from slipway.cli import main

VERB = '''"""Greet somebody.

Politely.
"""

import click


@click.command()
@click.argument("name")
def command(name: str) -> None:
    click.echo(f"good morning, {name}")
'''


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose files are found as if they lay in `slipway/cli`, and those in its `jobs` beside `show.py`."""
    (tmp_path / "jobs").mkdir()
    monkeypatch.setattr(slipway.cli, "__path__", [*slipway.cli.__path__, str(tmp_path)])
    monkeypatch.setattr(slipway.cli.jobs, "__path__", [*slipway.cli.jobs.__path__, str(tmp_path / "jobs")])
    return tmp_path


@pytest.mark.parametrize("group", [(), ("jobs",)])
def test_a_file_is_a_verb_and_its_docstring_the_help(
    folder: Path, group: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    folder.joinpath(*group, "greet_kindly.py").write_text(VERB)
    assert main([*group, "greet-kindly", "Ada"]) == 0
    assert capsys.readouterr().out == "good morning, Ada\n"
    assert main([*group, "--help"]) == 0
    assert "  greet-kindly  Greet somebody." in capsys.readouterr().out
    assert main([*group, "greet-kindly", "--help"]) == 0
    assert "Usage: " + " ".join(["slipway", *group, "greet-kindly"]) in (said := capsys.readouterr().out)
    assert "  Greet somebody.\n\n  Politely." in said


def test_a_folder_is_a_group_of_verbs(
    snapshot: SnapshotAssertion, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "people").mkdir()
    (folder / "people" / "__init__.py").write_text('"""Look after people."""\n')
    (folder / "people" / "greet.py").write_text(VERB)
    assert main(["people", "greet", "Ada"]) == 0
    assert main(["people", "gret"]) == 2
    said = capsys.readouterr()
    assert said.out == "good morning, Ada\n"
    assert said.err == snapshot


def test_what_commands_share_is_no_verb() -> None:
    assert main(["terminal"]) == 2
    assert "terminal" not in slipway.cli.slipway.list_commands(None)  # type: ignore[arg-type]

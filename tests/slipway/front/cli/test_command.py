"""The command itself: its verbs, their help and what they need, mistakes, streams, and what is drawn on a terminal."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import slipway.front.cli
import slipway.front.cli.jobs
from slipway.base.errors import SlipwayError
from slipway.base.standard_output import READER_ENDED
from slipway.front.cli import INTERRUPTED, main
from slipway.front.cli.review import EXIT_EARLIER
from slipway.front.cli.terminal import watching
from slipway.google.endpoints import OVERRIDES
from slipway.model.capacity import CAPACITY_TYPES
from slipway.model.kinds import KINDS
from tests.local.conftest import ROOT

from .stack import Stack

pytestmark = pytest.mark.smoke

VERB = '''"""Greet somebody.

Politely.
"""

import click


@click.command()
@click.argument("name")
def command(name: str) -> None:
    click.echo(f"good morning, {name}")
'''


def python(program: str, folder: Path = ROOT) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, "-c", program], cwd=folder, capture_output=True, text=True, check=False)


def test_help_names_every_command_and_imports_none_of_them_and_submitting_no_sdk() -> None:
    done = python(
        "import sys\nfrom slipway.front.cli import main\nmain(['--help'])\n"
        "wanted = {'requests', 'rich', 'pydantic', 'google.auth', 'pulumi', 'slipway.front.cli.submit'}\n"
        "heavy = wanted & set(sys.modules)\n"
        "import slipway.front.cli.submit\n"
        "sdks = {'google.cloud.aiplatform', 'google.cloud.aiplatform_v1', 'pulumi', 'pydantic', 'rich', 'yaml'}\n"
        "sdks |= {'slipway.using.submission.fallback', 'slipway.model.fingerprint', 'urllib.request'}\n"
        "heavy |= sdks & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else 0)"
    )
    assert done.returncode == 0, done.stderr
    for command in ("submit", "templates", "jobs", "pools", "quota", "use", "check", "completion"):
        assert f"\n  {command} " in done.stdout


def test_every_command_has_help_and_what_commands_share_is_no_verb(capsys: pytest.CaptureFixture[str]) -> None:
    verbs = slipway.front.cli.slipway.list_commands(None)  # type: ignore[arg-type]
    assert "terminal" not in verbs and main(["terminal"]) == 2
    jobs = ("list", "show", "logs", "wait", "cancel", "open", "download", "compare")
    for words in (*((verb,) for verb in verbs), *(("jobs", verb) for verb in jobs), ("templates", "show")):
        capsys.readouterr()
        assert main([*words, "--help"]) == 0 and "Usage: slipway" in capsys.readouterr().out
    assert main(["--version"]) == 0 and capsys.readouterr().out.startswith("slipway 0.")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder whose files are found as if they lay in `slipway/front/cli`, and those in its `jobs` beside
    `show.py`."""
    (tmp_path / "jobs").mkdir()
    monkeypatch.setattr(slipway.front.cli, "__path__", [*slipway.front.cli.__path__, str(tmp_path)])
    monkeypatch.setattr(slipway.front.cli.jobs, "__path__", [*slipway.front.cli.jobs.__path__, str(tmp_path / "jobs")])
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


def test_a_folder_is_a_group_of_verbs(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "people").mkdir()
    (folder / "people" / "__init__.py").write_text('"""Look after people."""\n')
    (folder / "people" / "greet.py").write_text(VERB)
    assert main(["people", "greet", "Ada"]) == 0
    assert main(["people", "gret"]) == 2
    assert capsys.readouterr() == (
        "good morning, Ada\n",
        "error: unknown command 'gret'\n  fix: slipway people greet\n",
    )


def test_an_unknown_command_gets_a_suggestion(capsys: pytest.CaptureFixture[str]) -> None:
    for typed, meant in (
        ("sbmit", "slipway submit"),
        ("logs", "slipway jobs logs"),
        ("list", "slipway jobs list or slipway session list"),
        ("show", "slipway jobs show or slipway templates show"),
        ("status", "slipway jobs list, slipway jobs show JOB, slipway pools or slipway doctor"),
        ("version", "slipway --version"),
        ("sweep", "slipway submit NAME --sweep FILE"),
        ("ui", "slipway jobs open JOB, for its page in the console"),
        ("ps", "slipway jobs list or slipway session list"),
        ("stop", "slipway jobs cancel or slipway session stop"),
        ("launch", "slipway run COMMAND"),
        ("ssh", "slipway jobs open JOB --shell, or slipway session run COMMAND"),
        ("cp", "slipway jobs download JOB"),
        ("gpus", "slipway pools"),
    ):
        assert main([typed, "dask-digits"]) == 2
        assert capsys.readouterr().err == f"error: unknown command '{typed}'\n  fix: {meant}\n"
    assert main(["nothing-like-it"]) == 2
    assert capsys.readouterr().err == "error: unknown command 'nothing-like-it'.\n  fix: slipway --help\n"


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        (("templates", "dask-digits"), "slipway templates show dask-digits, if that is a name"),
        (("jobs", "dask-digits-7k2p3f9a"), "slipway jobs show dask-digits-7k2p3f9a, if that is a name"),
        (("jobs", "shwo"), "slipway jobs show"),
        (("jobs", "tail", "lr-01"), "slipway jobs logs JOB --follow\n"),
        (("jobs", "kill", "lr-01"), "slipway jobs cancel\n"),
        (("jobs", "describe", "lr-01"), "slipway jobs show\n"),
        (("jobs", "shell", "lr-01"), "slipway jobs open JOB --shell, or slipway session run COMMAND\n"),
        (("jobs", "exec", "ls"), "slipway run COMMAND\n"),
        (("session", "exec", "ls"), "slipway session run COMMAND\n"),
        (("session", "attach"), "slipway jobs open JOB --shell, or slipway session run COMMAND\n"),
        (("session", "down"), "slipway session stop\n"),
        (("pools", "cpu"), "slipway pools --help"),
    ],
)
def test_a_name_in_place_of_a_verb_is_shown_where_the_group_can(
    words: tuple[str, ...], fix: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert f"\n  fix: {fix}" in capsys.readouterr().err


WITHOUT = """
import sys
sys.modules[{missing!r}] = None
from slipway.front.cli import main
sys.exit(main({arguments!r}))
"""


@pytest.mark.parametrize(
    ("missing", "arguments", "said"),
    [
        (
            "pydantic",
            ["check"],
            "needs packages that are not installed\n|there is no pydantic|make setup",
        ),
        ("pydantic", ["check", "--debug"], "Traceback|make setup"),
        ("jinja2", ["board"], "there is no jinja2|a page"),
    ],
)
def test_a_command_that_needs_more_than_is_installed_says_what_to_type(  # N18
    tmp_path: Path, missing: str, arguments: list[str], said: str
) -> None:
    done = python(WITHOUT.format(missing=missing, arguments=arguments), tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert all(part in done.stderr for part in said.split("|")), done.stderr


def test_a_module_of_slipways_own_that_is_missing_is_a_fault_of_ours(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(_: str) -> None:
        raise ModuleNotFoundError("no module", name="slipway.front.cli.check")

    monkeypatch.setattr("importlib.import_module", broken)
    assert main(["check"]) == 1 and "is a fault of slipway" in capsys.readouterr().err
    assert main(["check", "--debug"]) == 1
    traced, _, told = capsys.readouterr().err.partition("\nerror: unexpected ModuleNotFoundError")
    assert "Traceback" in traced and "is a fault of slipway" in told


def test_a_traceback_is_shown_only_when_asked_for(standing: Stack) -> None:
    plain = standing.run("submit", "helo")
    asked = standing.run("submit", "helo", "--debug")
    assert "Traceback" not in plain.err and "Traceback" in asked.err
    assert asked.code == plain.code == 2


def test_colour_only_where_it_is_wanted(standing: Stack) -> None:
    assert "\x1b[" not in standing.run("templates").out
    assert "\x1b[" in standing.run("templates", FORCE_COLOR="1").out
    assert "\x1b[" not in standing.run("templates", FORCE_COLOR="1", NO_COLOR="1").out


# docs/cli.md and the pages that it leads to tell what the command does.


GUIDE, SUBMIT = ((ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("cli.md", "submit.md"))
VARIABLE = re.compile(r"\b(?:SLIPWAY|GOOGLE|XDG)_[A-Z_]+[A-Z]\b")
ROOMS = ("slipway", "components", "local", "jobs")


def subclasses(kind: type[SlipwayError]) -> set[type[SlipwayError]]:
    return {kind}.union(*(subclasses(subclass) for subclass in kind.__subclasses__()))


def test_every_exit_code_stands_in_its_table() -> None:
    written = {int(code) for code in re.findall(r"^\| (\d+) \|", GUIDE, re.MULTILINE)}
    assert written == {0, INTERRUPTED, READER_ENDED, EXIT_EARLIER, watching.Detached.exit_code} | {
        subclass.exit_code for subclass in subclasses(SlipwayError)
    }


@pytest.mark.parametrize("name", [*CAPACITY_TYPES, *KINDS])
def test_every_capacity_type_and_kind_of_job_stands_in_it(name: str) -> None:
    assert f"`{name}`" in SUBMIT


def test_its_variables_are_the_real_ones() -> None:
    led = [GUIDE, *((ROOT / "docs" / name).read_text("utf-8") for name in re.findall(r"\]\((\S+\.md)\)", GUIDE))]
    sources = "".join(path.read_text("utf-8") for room in ROOMS for path in ROOT.glob(f"{room}/**/*.py"))
    for name in {name for page in led for name in VARIABLE.findall(page)}:
        assert name in sources, name
    assert OVERRIDES["vertex"] in GUIDE

"""What was mistyped gets a suggestion that helps, or none."""

import click
import pytest

from slipway.front.cli import main
from slipway.front.cli.terminal.mistakes import in_words


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("submit", "--template", "hello"), "No such option '--template'. Did you mean TEMPLATE, without a flag?"),
        (("submit", "hello", "--no-such"), "No such option '--no-such'. Did you mean the parameter -p no_such=VALUE?"),
        (("submit", "hello", "--workers=3"), "Did you mean the parameter -p workers=VALUE?"),
        (("submit", "hello", "--seed", "3"), "Did you mean --sweep, or the parameter -p seed=VALUE?"),
        (("jobs", "show", "--job", "hello"), "No such option '--job'. Did you mean JOB, without a flag?"),
        (("jobs", "list", "--templates", "hello"), "No such option '--templates'. Did you mean --template?"),
        (("pools", "--pool", "cpu"), "No such option '--pool'.\n"),
        (("pools", "-x"), "No such option '-x'.\n"),
        (("submit", "hello", "workers=3"), "Got unexpected extra argument (workers=3); did you mean -p workers=3?"),
        (("submit", "hello", "a=1", "b=2"), "extra arguments (a=1 b=2); did you mean -p a=1 -p b=2?"),
        (("submit", "hello", "note=a b"), "Got unexpected extra argument (note=a b); did you mean -p 'note=a b'?"),
        (("submit", "hello", "-p", "lr", "0.1"), "Got unexpected extra argument (0.1)\n  fix: -p lr=0.1\n"),
        (("submit", "hello", "-p", "a", "1", "-p", "b", "x"), "extra arguments (1 x)\n  fix: -p a=1 -p b=x\n"),
        (("submit", "hello", "-p", "a", "1", "2"), "extra arguments (1 2)\n  fix: slipway submit --help\n"),
        (("jobs", "list", "--state", "runing"), "\n  fix: --state running\n"),
        (("submit", "hello", "--as", "custom"), "\n  fix: --as custom-job\n"),
        (("submit", "hello", "-o", "jsno"), "\n  fix: --output json\n"),
        (("jobs", "list", "--state", "zzz"), "\n  fix: slipway jobs list --help\n"),
        (("submit", "hello", "3"), "Got unexpected extra argument (3)\n"),
        (("jobs", "list", "cpu=3"), "Got unexpected extra argument (cpu=3)\n"),
        (("templates", "cpu=3"), "unknown command 'cpu=3'.\n"),
        (("jobs", "logs", "--tial", "3", "hello"), "No such option '--tial'. Did you mean --tail?"),
    ],
)
def test_a_mistake_gets_a_suggestion_that_helps_or_none(
    words: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err


def test_what_is_hidden_is_not_suggested(capsys: pytest.CaptureFixture[str]) -> None:
    hidden = click.Command("send", params=[click.Option(["--format"], hidden=True)])
    with pytest.raises(click.NoSuchOption) as mistake:
        hidden.main(["--formt"], standalone_mode=False)
    assert "--format" not in in_words(mistake.value)
    assert main(["submit", "hello", "--formt"]) == 2
    assert "Did you mean --format" in capsys.readouterr().err, "where it is not"

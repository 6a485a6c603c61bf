"""Tell what somebody should know of although nobody asked: for issues, or for a channel of your own.

\b
  slipway doctor --output json > doctor.json
  slipway schedule --output json > schedule.json
  slipway notices doctor.json schedule.json
  SLIPWAY_FINDINGS=$PWD/up.json pulumi up --stack prod --yes; slipway notices up.json

FILE is what `slipway doctor`, `schedule`, `drift` or this command printed with `--output json`, or what `pulumi up`
wrote of the clusters that it could not make, where SLIPWAY_FINDINGS names a file. A notice keeps its
shape until it becomes something else, so whoever passes it on knows what has been said. With --issues, the JSON also
has the requests that make a repository's issues tell it (docs/ci.md).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from slipway import codec
from slipway.cli.terminal import screen
from slipway.cli.terminal.findings import below
from slipway.cli.terminal.options import WORD, output_option
from slipway.errors import ConfigError
from slipway.formatting import join, quoted

if TYPE_CHECKING:
    from slipway.notices.notice import Notices

T = TypeVar("T")


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option(
    "--issues", type=WORD, metavar="FILE", help="The repository's issues, each a line of JSON as GitHub has it."
)
@click.option(
    "--run", type=WORD, metavar="FILE", help="The jobs of a scheduled deployment, each a line of JSON as GitHub has it."
)
@output_option
def command(files: tuple[str, ...], issues: str | None, run: str | None, output: str) -> None:
    from slipway.notices.issues import read, steps
    from slipway.notices.notice import Notices, of_document, of_run

    told = Notices()
    for file in files:
        told += of_document(_json(file), file)
    if run:
        told += _lines(run, "jobs of a run", "name, conclusion, steps and html_url", lambda jobs: of_run(jobs, told))
    if output == "json":
        there = _lines(issues, "issues", "number, state and body", read) if issues else ()
        asked = {"steps": codec.document(steps(told, there))} if issues else {}
        screen.out_json("notices", codec.document(told) | asked)
    else:
        _show(told, [*files, *filter(None, (run,))])


def _show(told: Notices, named: list[str]) -> None:
    sign = screen.styled("!", sys.stdout, fg="yellow", bold=True)
    for notice in told.notices:
        screen.out(f"{sign} {notice.title}")
        for line in notice.lines:
            screen.out(f"    {line.sentence}")
            for shown in below(line, 0, "      "):
                screen.out(shown)
    if told.notices:
        return
    if told.looked:
        screen.note("✓ nothing to tell")
    elif named:
        why = "it is of a run that was killed or stopped for another reason, or of what could not be read"
        screen.note(f"nothing can be told from {join(named)}: {why}; what was told before stays as it is")
    else:
        screen.note("nothing was looked at: name a file (slipway notices --help)")


def _lines(file: str, what: str, keys: str, read: Callable[[list[Any]], T]) -> T:
    """What `read` makes of a file's lines of JSON."""
    try:
        return read([json.loads(line) for line in _text(file).split("\n") if line.strip()])
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        why = f"a line of it can't be read: {error}"
        raise ConfigError(f"{quoted(file)} has no {what}", why=why, fix=f"{keys}, each") from error


def _json(file: str) -> Any:
    try:
        return json.loads(_text(file))
    except (ValueError, RecursionError) as error:
        raise ConfigError(
            f"{quoted(file)} is no JSON", why=str(error), fix="slipway doctor --output json > FILE, for example"
        ) from error


def _text(file: str) -> str:
    try:
        return Path(file).read_text(encoding="utf-8", errors="replace")
    except OSError as problem:
        raise ConfigError(f"{quoted(file)} can't be read", why=problem.strerror or str(problem)) from problem

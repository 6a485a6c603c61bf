"""Tell what somebody should know of although nobody asked: for issues, or for a channel of your own.

\b
  slipway doctor --output json > doctor.json
  slipway schedule --output json > schedule.json
  slipway notices doctor.json schedule.json
  SLIPWAY_FINDINGS=$PWD/up.json pulumi up --stack prod --yes; slipway notices up.json

FILE is what `slipway doctor`, `schedule`, `drift` or this command printed with `--output json`, or what `pulumi up`
wrote of the clusters that it could not make, where SLIPWAY_FINDINGS names a file. A notice keeps its
shape until it becomes something else, so whoever passes it on knows what has been said. With --tell,
in CI, issues of the repository tell it, one for each; with --issues, the JSON has the requests to
GitHub that would (docs/notices.md).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from slipway.base import codec
from slipway.base.errors import ConfigError
from slipway.base.formatting import join, quoted
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.findings import below
from slipway.front.cli.terminal.options import WORD, output_option
from slipway.front.cli.terminal.sources import lines_of, text_of

if TYPE_CHECKING:
    from slipway.operating.notices.notice import Notices

Found = TypeVar("Found")


@click.command()
@click.argument("files", nargs=-1, metavar="[FILE]...")
@click.option(
    "--issues", type=WORD, metavar="FILE", help="The repository's issues, each a line of JSON as GitHub has it."
)
@click.option(
    "--run", type=WORD, metavar="FILE", help="The jobs of a scheduled deployment, each a line of JSON as GitHub has it."
)
@click.option("--tell", is_flag=True, help="In CI: make the issues of the repository at GitHub or GitLab tell it.")
@output_option
def command(files: tuple[str, ...], issues: str | None, run: str | None, tell: bool, output: str) -> None:
    from slipway.operating.notices.issues import steps
    from slipway.operating.notices.notice import Notices, of_document, of_run
    from slipway.reviewing.forges.forge import words_of
    from slipway.reviewing.forges.github import issues_of, request

    told = Notices()
    for file in files:
        body = _parsed(file, "JSON", codec.from_json, "slipway doctor --output json > FILE, for example")
        told += of_document(body, file)
    if run:
        by_hand = words_of(os.environ).by_hand
        needed = "name, conclusion, steps and html_url, each"
        told += _parsed(run, "jobs of a run", lambda text: of_run(_json_lines(text), told, by_hand), needed)
    if tell:
        _tell(told)
    elif output == "json":
        body = codec.document(told)
        if issues:
            there = _parsed(issues, "issues", lambda text: issues_of(_json_lines(text)), "number, state and body, each")
            body["steps"] = [request(step) for step in steps(told, there)]
        screen.out_json("notices", body)
    else:
        _show(told, [*files, *filter(None, (run,))])


def _tell(told: Notices) -> None:
    from slipway.operating.notices.issues import steps
    from slipway.reviewing.forges.forge import forge_of

    forge = forge_of(os.environ, Path())
    todo = steps(told, forge.issues())
    for step in todo:
        screen.out(step.says)
        forge.write(step)
    if not todo:
        screen.note("the issues say all of it already")


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


def _parsed(file: str, what: str, parse: Callable[[str], Found], needed: str) -> Found:
    """Raise ConfigError for a file that lacks `what` a notice needs."""
    try:
        return parse(text_of(file))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ConfigError(f"{quoted(file)} has no {what}", why=f"it can't be read: {error}", fix=needed) from error


def _json_lines(text: str) -> list[Any]:
    return [codec.from_json(line) for line in lines_of(text) if line.strip()]

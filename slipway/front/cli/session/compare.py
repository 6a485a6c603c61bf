"""Show runs of a session side by side: command, files, metrics, how each ended.

What differs first; what is the same for all in one line below.

\b
  slipway session compare 2 3
"""

from __future__ import annotations

import click

from slipway.base.errors import ConfigError
from slipway.base.formatting import quoted
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.compared import compared_text, show_compared
from slipway.front.cli.terminal.options import WORD, catalog_and_output, word_option
from slipway.using.context import Context
from slipway.using.sessions.runs import compare_runs, read_runs
from slipway.using.sessions.session import find_recent_session


@click.command()
@click.argument("runs", type=WORD, nargs=-1, required=True, metavar="RUN RUN…")
@word_option("--session", "name", metavar="SESSION", help="Which, where you have several.")
@catalog_and_output
def command(*, runs: tuple[str, ...], name: str | None, catalog: str | None, output: str) -> None:
    numbers = [_number(run) for run in runs]
    named = next((run.rpartition("/")[0] for run in runs if "/" in run), None)
    context = Context(catalog)
    found = find_recent_session(context, name or named)
    compared = read_runs(context, found, numbers)
    fields = compare_runs(compared)
    if output == "json":
        document = {"session": found.name, "runs": [run.document for run in compared], "fields": fields}
        screen.out_json("session-comparison", document)
        return
    show_compared(
        [run.name for run in compared], fields, lambda field, place: compared_text(field, field.values[place])
    )


def _number(run: str) -> int:
    number = run.rpartition("/")[2]
    if not number.isdecimal():
        raise ConfigError(
            f"{quoted(run)} is not a run", why="a run is 2, or session/2", fix="slipway session runs lists them"
        )
    return int(number)

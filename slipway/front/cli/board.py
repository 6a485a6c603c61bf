"""Write a page of a stack as it is and of its past month, or serve it on this machine.

\b
  slipway board                                   board.html, one file, to be opened in any browser
  slipway board --serve                           keeps it fresh, until Ctrl-C
  slipway board --sweep lr-grid --sort -accuracy  with the runs of a sweep

Pools, queue, quota and findings; machines over time; money; runs of sweeps; the life of a job. Whoever has the page
sees everybody's jobs and costs. It loads nothing from elsewhere.
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

import click

from slipway.base.errors import ConfigError
from slipway.base.files import write_atomically
from slipway.base.formatting import counted, size
from slipway.front.cli.terminal import completions, screen
from slipway.front.cli.terminal.options import catalog_and_output, word_option
from slipway.operating.board.document import as_json
from slipway.operating.board.page import page
from slipway.operating.board.reader import Wanted, read_board
from slipway.operating.board.server import FRESH_S, BoardServer, FreshPages
from slipway.operating.history.reader import time_back
from slipway.using.context import Context
from slipway.using.jobs.results import Goal


@click.command()
@click.option(
    "--out", type=click.Path(dir_okay=False, path_type=Path), default="board.html", show_default=True, help="The file."
)
@click.option("--serve", is_flag=True, help="Serve it on 127.0.0.1 instead, read anew when it is a minute old.")
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Where to serve it.  [default: any free port]")
@click.option("--since", metavar="TIME", default="30d", show_default=True, help="How much of the past: 24h, 7d …")
@click.option(
    *("--sweep", "sweeps"),
    metavar="ID",
    multiple=True,
    shell_complete=completions.sweeps,
    help="Show this sweep's runs.  [default: the newest two]",
)
@click.option(
    *("--job", "jobs"),
    metavar="JOB",
    multiple=True,
    shell_complete=completions.jobs,
    help="Show this job's use, events and last lines.  [default: the newest that run or failed]",
)
@word_option(
    "--sort",
    metavar="[-]NAME",
    help="Draw sweeps by this metric: -accuracy where more is better, loss where less is. The best is starred.",
)
@catalog_and_output
def command(
    *,
    out: Path,
    serve: bool,
    port: int,
    since: str,
    sweeps: tuple[str, ...],
    jobs: tuple[str, ...],
    sort: str | None,
    catalog: str | None,
    output: str,
) -> None:
    context = Context(catalog)
    wanted = Wanted(time_back(since), sweeps, jobs, Goal.parse(sort) if sort else None)
    if serve:
        _serve(context, wanted, port)
        return
    board = read_board(context, wanted, screen.note)
    document = as_json(board, screen.SCHEMA)
    if output == "json":
        screen.out(screen.json_text(document, indent=2))
        return
    text = page(document)
    write_atomically(out, text)
    span = counted((board["time"] - board["since"]).days, "day")
    listed = counted(f"{len(board['jobs']):,}", "job")
    screen.out(f"wrote {out}: stack {board['stack']}, {listed} of {span}, {size(len(text.encode()))}")


def _serve(context: Context, wanted: Wanted, port: int) -> None:
    """Read the board before it is served, so that its errors are shown here. Raises ConfigError for a used port."""

    def make(job: str) -> str:
        asked = replace(wanted, jobs=(job,)) if job else wanted
        return page(as_json(read_board(context.anew(), asked, screen.note), screen.SCHEMA), fresh_s=FRESH_S)

    pages = FreshPages(make, time.monotonic, lambda problem: screen.note(f"! not read anew: {problem.what}"))
    pages.get("")
    try:
        server = BoardServer(pages, port)
    except OSError as problem:
        fix = "choose another --port, or none for any that is free"
        raise ConfigError(f"port {port} can't be had", why=(problem.strerror or "").lower(), fix=fix) from problem
    with server:
        screen.out(server.address)
        screen.hint("Ctrl-C ends it")
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            screen.note("ended")

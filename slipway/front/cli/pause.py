"""Hold whatever is submitted, to the stack or to one cluster, until it is resumed.

People submit on: their commands wait, and are told who paused it and why. What the service has already goes on.
"""

from __future__ import annotations

import click

from slipway.base.errors import PolicyError
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.options import WORD, catalog_and_output, word_option
from slipway.front.cli.terminal.submission import confirm_for_others
from slipway.using.context import Context
from slipway.using.jobs.pause import pause


@click.command()
@click.argument("cluster", type=WORD, required=False)
@word_option("--why", metavar="TEXT", help="What everybody who waits is told.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@catalog_and_output
def command(*, cluster: str | None, why: str | None, yes: bool, catalog: str | None, output: str) -> None:
    context = Context(catalog)
    if not yes and not context.agent:
        what = f"cluster {cluster}" if cluster else f"stack {context.catalog.stack}"
        theirs = PolicyError(
            f"nobody's new job starts on {what} until it is resumed", why="it concerns others", fix="--yes"
        )
        words = ["pause", *([cluster] if cluster else []), *(["--why", why] if why else [])]
        confirm_for_others(theirs, "Pause", words, catalog, "nothing is paused")
    paused = pause(context, cluster or "", why or "")
    if output == "json":
        screen.out_json("pause", paused.document)
        return
    screen.out(paused.words(context.catalog.stack))
    screen.hint(f"  {paused.resume}")

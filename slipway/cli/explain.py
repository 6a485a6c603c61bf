"""Say what to do about the errors of `pulumi up`, `preview` or `destroy` that do not say it themselves.

\b
  pulumi up 2>&1 | tee up.txt; slipway explain up.txt
  pulumi up 2>&1 | slipway explain -

The engine and its provider are programs of others. FILE is what one of their runs printed, `-` is stdin. What is not
understood is said too, with where to look. Reads nothing else, and changes nothing.
"""

from __future__ import annotations

import os

import click

from slipway.cli.terminal import screen
from slipway.cli.terminal.options import WORD, output_option
from slipway.cli.terminal.sources import text_of

_FIX = "name what a run printed: pulumi up 2>&1 | tee up.txt"


@click.command()
@click.argument("file", type=WORD, metavar="FILE")
@output_option
def command(file: str, output: str) -> None:
    from slipway.cloud.foreign_words import meanings

    found = meanings(text_of(file, _FIX).splitlines(), os.environ)
    if output == "json":
        rows = [{"what": one.what, "why": one.why, "fix": one.fix} for one in found]
        screen.out_json("explanation", {"meanings": rows})
        return
    for one in found:
        screen.out(f"✗ {one.what}\n    why: {one.why}\n    fix: {one.fix}")
    if not found:
        screen.out("nothing in it is known by its words: see docs/runbook.md, or let slipway doctor look at the stack")

"""Say what to do about the errors of `pulumi up`, `preview` or `destroy`.

\b
  make up STACK=dev ARGS=--yes 2>&1 | tee up.txt; slipway explain up.txt
  make up STACK=dev ARGS=--yes 2>&1 | slipway explain -

Slipway's own errors say it themselves, and are repeated. The engine and its provider are programs of others, whose
errors do not. FILE is what one of their runs printed, `-` is stdin. Where neither is found, that is said, with where to
look. Reads nothing else, and changes nothing.
"""

from __future__ import annotations

import os

import click

from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.options import WORD, output_option
from slipway.reviewing.sources import text_of

_FIX = "name what a run printed: make up STACK=NAME ARGS=--yes 2>&1 | tee up.txt"


@click.command()
@click.argument("file", type=WORD, metavar="FILE")
@output_option
def command(file: str, output: str) -> None:
    from slipway.google.provider_errors import meanings, own_errors

    own, lines = own_errors(text_of(file, _FIX))
    # A deployment tells the same behind the resource's name, with lines of the stack file in its fix.
    known = tuple(fault.what for fault in own)
    meant = own + [
        meaning
        for meaning in meanings(lines, os.environ)
        if not any(what.endswith(f": {meaning.what}") for what in known)
    ]
    if output == "json":
        screen.out_json("explanation", {"meanings": [meaning._asdict() for meaning in meant]})
        return
    for what, why, fix in meant:
        screen.out(f"✗ {what}")
        for name, text in (("why", why), ("fix", fix)):
            if text:
                screen.out(f"    {name}: {text}".replace("\n", "\n         "))
    if not meant:
        screen.out("nothing in it is known by its words: see docs/runbook.md, or let slipway doctor look at the stack")

"""`vertex-local cache [clear]`: what this machine keeps for all checkouts and local clouds."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

import click

from ..cache_folder import root
from ..images import upkeep


@click.group(invoke_without_command=True)
@click.pass_context
def cache(context: click.Context) -> None:
    """Show what this machine keeps for all checkouts: images, environments and wheels of jobs."""
    if context.invoked_subcommand is None:
        show(root(os.environ))


@cache.command()
def clear() -> None:
    """Remove images, environments and wheels, but none in use: the next jobs make them anew."""
    entries = upkeep.entries(root(os.environ))
    gone = [entry for entry in entries if upkeep.remove(entry)]
    click.echo(
        f"removed {len(gone)} {'entry' if len(gone) == 1 else 'entries'}, {shown(sum(entry.size for entry in gone))}"
    )
    if kept := len(entries) - len(gone):
        click.echo(f"kept {kept} in use")


def show(place: Path) -> None:
    """Print a line for each part, and the sum."""
    entries = upkeep.entries(place)
    rows = [("part", "size", "entries", "last used")]
    for part in upkeep.PARTS:
        mine = [entry for entry in entries if entry.part == part]
        last = max((entry.used for entry in mine), default=0.0)
        at = datetime.fromtimestamp(last).astimezone().isoformat(" ", "minutes")[:16] if mine else "–"
        rows.append((part, shown(sum(entry.size for entry in mine)), str(len(mine)), at))
    widths = [max(map(len, column)) + 2 for column in zip(*rows, strict=True)]
    for row in rows:
        click.echo("".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
    click.echo(f"{room(entries)} in {place}")
    click.echo(
        "Beyond that those go that were used longest ago; one that is larger by itself, a day after its last use."
    )


def room(entries: Sequence[upkeep.Entry]) -> str:
    """Return the size of all, and the bound: `1.2 GB of 2.0 GB`."""
    return f"{shown(sum(entry.size for entry in entries))} of {shown(upkeep.MOST_BYTES)}"


def shown(size: int) -> str:
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"

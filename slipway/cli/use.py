"""Choose the catalog for this checkout, or for this folder where there is none.

Without an argument, say which one is used and who chose it.
"""

from __future__ import annotations

import click

from slipway.catalog.lookup import VARIABLE, address, remember, select_catalog
from slipway.cli.terminal import screen
from slipway.context import Context
from slipway.errors import SlipwayError
from slipway.formatting import counted


@click.command()
@click.argument("catalog", required=False, metavar="[gs://BUCKET]")
def command(catalog: str | None) -> None:
    if catalog is None:
        context = Context()
        choice = select_catalog(None, context.environ, context.folder)
        screen.out(f"{choice.location}  (chosen by {choice.origin})")
        return
    location = address(catalog)
    context = Context(str(location))
    try:
        found = context.catalog
    except SlipwayError:
        screen.note("nothing is remembered: a catalog is read before it is chosen")
        raise
    file = remember(location, context.folder)
    with screen.after(f"{location} is remembered in {file}", "slipway use"):
        count = counted(len(found.templates), "template")
        screen.out(f"using {location}: stack {found.stack}, {found.project} {found.region}, {count}")
    screen.note(f"remembered in {file}")
    if context.environ.get(VARIABLE):
        screen.note(f"warning: ${VARIABLE} is set and takes precedence")

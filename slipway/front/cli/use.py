"""Choose your catalog, for every folder that has none of its own.

Without an argument, say which one is used and who chose it.
"""

from __future__ import annotations

import shlex

import click

from slipway.base.errors import SlipwayError
from slipway.base.formatting import counted
from slipway.front.cli.terminal import screen
from slipway.google.catalog.lookup import address, folder_file, own_file, recall, remember, select_catalog
from slipway.model.catalog.model import VARIABLE
from slipway.using.context import Context


@click.command()
@click.argument("catalog", required=False, metavar="[gs://BUCKET]")
@click.option("--here", is_flag=True, help="Choose for this checkout, or this folder outside of one, alone.")
def command(catalog: str | None, here: bool) -> None:
    if catalog is None:
        if here:
            raise click.UsageError("--here is for a choice: slipway use --here gs://BUCKET")
        context = Context()
        choice = select_catalog(None, context.environ, context.folder)
        screen.out(f"{choice.location}  (chosen by {choice.origin})")
        return
    location = address(catalog)
    context = Context(str(location))
    try:
        published = context.catalog
    except SlipwayError:
        screen.note("nothing is remembered: a catalog is read before it is chosen")
        raise
    own, of_folder = own_file(context.environ), folder_file(context.folder)
    nearer = None if here else recall(of_folder)
    file = remember(location, of_folder if here else own)
    with screen.after(f"{location} is remembered in {file}", "slipway use"):
        count = counted(len(published.templates), "template")
        screen.out(f"using {location}: stack {published.stack}, {published.project} {published.region}, {count}")
    screen.note(f"remembered in {file}")
    if context.environ.get(VARIABLE):
        screen.note(f"warning: ${VARIABLE} is set and takes precedence")
    elif nearer and nearer.location != location:
        screen.note(f"warning: this folder has a choice of its own, {nearer.location}, which takes precedence")
        screen.note(f"  fix: slipway use --here {location}, or rm {shlex.quote(nearer.origin)}")

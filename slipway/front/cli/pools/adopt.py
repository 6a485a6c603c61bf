"""Print the entry of a stack file that adopts a cluster.

ID is that of a cluster which somebody else made, in the project and region of the catalog. By its full name, as gcloud
ai persistent-resources list shows it, it needs no catalog. Nothing is changed: the entry goes into the file of a stack
in the same project and region, and the next deployment adopts the cluster.
"""

from __future__ import annotations

import click

from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.options import WORD, catalog_option
from slipway.google.answers import region_of
from slipway.using.context import Context


@click.command()
@click.argument("cluster", type=WORD, metavar="ID")
@click.option("--print", "_", is_flag=True, required=True, help="Print it: a stack file is edited by people.")
@catalog_option
def command(cluster: str, _: bool, catalog: str | None) -> None:
    from slipway.deploying.generations.adoption_entry import entry_of

    context, region = Context(catalog), region_of(cluster)
    project, region = (cluster.split("/")[1], region) if region else (context.catalog.project, context.catalog.region)
    text, note = entry_of(context.connection.vertex(project, region).persistent_resource_body(cluster), project, region)
    screen.out(text.rstrip("\n"))
    if note:
        screen.note(note)
    screen.note(f"next: put it below config: in the file of a stack of {project} in {region}, then slipway check")

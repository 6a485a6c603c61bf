"""Print the entry of a stack file that adopts a cluster.

ID is that of a cluster which somebody else made, in the project and region of the catalog. By its full name, as gcloud
ai persistent-resources list shows it, it needs no catalog. Nothing is changed: the entry goes into the file of a stack
in the same project and region, and the next deployment adopts the cluster.

\b
  slipway pools adopt team-a-h100 --print
  slipway pools adopt projects/P/locations/us-central1/persistentResources/team-a-h100 --print
"""

from __future__ import annotations

import re

import click

from slipway.base.errors import ConfigError
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.options import WORD, catalog_option
from slipway.using.context import Context

_FULL_NAME = re.compile(r"projects/([^/]+)/locations/([^/]+)/persistentResources/[^/]+")


@click.command()
@click.argument("cluster", type=WORD, metavar="ID")
@click.option("--print", "prints", is_flag=True, help="Print the entry: a stack file is edited by people.")
@catalog_option
def command(cluster: str, prints: bool, catalog: str | None) -> None:
    from slipway.deploying.generations.adoption_entry import entry_of

    if not prints:
        fix = f"slipway pools adopt {cluster} --print, and put it into the stack file"
        raise ConfigError("a cluster is adopted by an entry of a stack file, which people write", fix=fix)
    context = Context(catalog)
    full = _FULL_NAME.fullmatch(cluster)
    project, region = full.groups() if full else (context.catalog.project, context.catalog.region)
    body = context.connection.vertex(project, region).persistent_resource_body(cluster)
    text, note = entry_of(body, project, region)
    screen.out(text.rstrip("\n"))
    if note:
        screen.note(note)
    screen.note(f"next: put it below config: in the file of a stack of {project} in {region}, then slipway check")

"""Print the entry of a stack file that adopts a cluster.

ID is that of a cluster which somebody else made, in the project and region of the catalog. By its full name, as gcloud
ai persistent-resources list shows it, it needs no catalog. Nothing is changed: the entry goes into the file of a stack
in the same project and region, and the next deployment adopts the cluster.
"""

from __future__ import annotations

import re

import click

from slipway.base.errors import ConfigError
from slipway.base.formatting import quoted
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.options import WORD, catalog_option
from slipway.google.answers import region_of
from slipway.google.failures import NotFound
from slipway.model.cluster import PROJECT
from slipway.using.context import Context

_PLACE = re.compile(f"projects/([0-9]+|{PROJECT})/locations/[a-z0-9-]+/persistentResources/")


@click.command()
@click.argument("cluster", type=WORD, metavar="ID")
@click.option("--print", "_", is_flag=True, required=True, help="Print it: a stack file is edited by people.")
@catalog_option
def command(cluster: str, _: bool, catalog: str | None) -> None:
    from slipway.authoring.stack.bounds import CLUSTER_ID
    from slipway.deploying.generations.adoption_entry import entry_of

    place = _PLACE.match(cluster)
    if mistake := CLUSTER_ID.wrong(cluster[place.end() :] if place else cluster):
        raise ConfigError(f"{quoted(cluster)} is no cluster's id", fix=f"{mistake[1]}, or all of that name")
    context, region = Context(catalog), region_of(cluster)
    project, region = (cluster.split("/")[1], region) if region else (context.catalog.project, context.catalog.region)
    try:
        body = context.connection.vertex(project, region).persistent_resource_body(cluster)
    except NotFound as error:
        if region_of(cluster) or cluster not in context.catalog.clusters:
            raise
        id_ = context.catalog.clusters[cluster].id
        what = f"{cluster} is a name in stack {context.catalog.stack}, not a cluster's id"
        raise ConfigError(what, fix=f"its id is {id_}: slipway pools adopt {id_} --print") from error
    text, note = entry_of(body, project, region)
    screen.out(text.rstrip("\n"))
    if note:
        screen.note(note)
    file = f"the file of a stack of {project} in {region}"
    screen.note(f"next: put it below slipway:persistentResources: of {file}, with a name of yours, then slipway check")

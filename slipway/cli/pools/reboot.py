"""Reboot a cluster on which no job runs or waits, and wait for its end.

One that is rebooting already is waited for. It keeps its id; its autoscaled pools start at their minimum, and scarce
machines may not come again. Exit code: 0 it runs again, 4 it has jobs or ended in ERROR, 9 timeout.
"""

from __future__ import annotations

import sys
import time
from itertools import chain

import click

from slipway.catalog.clusters import Cluster
from slipway.catalog.model import Catalog
from slipway.cli.terminal import completions, screen
from slipway.cli.terminal.options import WORD, catalog_and_output
from slipway.cloud.failures import NotFound
from slipway.context import Context
from slipway.deployment.reboot import Watching, going_on, reboot, refuse
from slipway.errors import ConfigError, ResourceError
from slipway.formatting import nearest, quoted, seconds, span
from slipway.kinds import KINDS


@click.command()
@click.argument("cluster", type=WORD, shell_complete=completions.clusters)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--timeout", metavar="TIME", help="Stop waiting after 90s, 10m or 2h (exit 9); the reboot goes on.")
@catalog_and_output
def command(cluster: str, yes: bool, timeout: str | None, catalog: str | None, output: str) -> None:
    limit = seconds(timeout) if timeout is not None else None
    context = Context(catalog)
    one = _named(context.catalog, cluster)
    region = context.catalog.region_of(one.name)
    vertex = context.vertex.at(region)
    if one.adopted:
        raise ResourceError(
            f"cluster {one.name} is adopted, so it is not rebooted",
            why=f"somebody else made {one.id}, and nothing of stack {context.catalog.stack} changes it",
            fix=f"ask them; they type gcloud ai persistent-resources reboot {one.id} --region={region} "
            f"--project={context.catalog.project}",
        )
    try:
        found = vertex.persistent_resource(one.id)
    except NotFound as error:
        raise ResourceError(
            f"cluster {one.name} is gone",
            why=f"the service has no {one.id}{context.elsewhere(region)}",
            fix=f"pulumi up --stack {context.catalog.stack} makes it again",
        ) from error
    refuse(one.name, found, chain.from_iterable(map(vertex.active_jobs, KINDS.values())))
    if not yes and not going_on(found):
        _ask(one)
    with screen.interruptible(f"cluster {one.name} may be rebooting, which goes on", "slipway pools"):
        watching = Watching(screen.note, time.monotonic, time.sleep, limit)
        took = reboot(vertex, one.name, found, context.catalog.stack, watching)
    with screen.after(f"cluster {one.name} runs again", "slipway pools"):
        if output == "json":
            screen.out_json("reboot", {"cluster": one.name, "id": one.id, "region": region, "seconds": round(took, 1)})
        else:
            screen.out(f"cluster {one.name} runs again after {span(took)}")


def _named(catalog: Catalog, word: str) -> Cluster:
    found = catalog.clusters.get(word) or catalog.cluster_named(word)
    if found is not None:
        return found
    near = nearest(word, catalog.clusters)
    raise ConfigError(
        f"there is no cluster {quoted(word)} in stack {catalog.stack}",
        why=f"its clusters are {', '.join(catalog.clusters) or 'none'}",
        fix=f"slipway pools reboot {near}" if near else "slipway pools",
    )


def _ask(one: Cluster) -> None:
    if not sys.stdin.isatty():
        raise ConfigError(
            "nobody can be asked here whether to reboot it", why="the input is no terminal", fix="add --yes"
        )
    click.confirm(f"Reboot {one.name} ({one.id})? Scarce machines may not come again.", abort=True, err=True)

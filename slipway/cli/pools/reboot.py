"""Reboot a cluster on which no job runs or waits, and wait for its end.

One that is rebooting already is waited for. It keeps its id; its autoscaled pools start at their minimum, and scarce
machines may not come again. Exit code: 0 it runs again, 4 it has jobs or ended in ERROR, 9 timeout.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import chain
from math import inf

import click

from slipway.catalog.clusters import Cluster
from slipway.catalog.model import Catalog
from slipway.cli.terminal import completions, screen
from slipway.cli.terminal.options import WORD, catalog_and_output
from slipway.clock import poll
from slipway.cloud.clusters import PersistentResource
from slipway.cloud.failures import CloudError, NotFound
from slipway.cloud.jobs import VertexJob, state_word
from slipway.cloud.vertex import Vertex
from slipway.context import Context
from slipway.errors import ConfigError, ResourceError, Timeout
from slipway.formatting import join, nearest, quoted, seconds, span
from slipway.kinds import KINDS
from slipway.unfinished_jobs import UNLISTED, ways_out


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


_CAN = frozenset({"RUNNING", "ERROR"})
_BUSY = frozenset({"REBOOTING"})
_FIRST_S, _LONGEST_S, _SAID_EVERY_S = 1.0, 10.0, 60.0


def refuse(name: str, cluster: PersistentResource, jobs: Iterable[VertexJob]) -> None:
    """Raise ResourceError where a reboot could cost somebody a job, as the service does not tell its fate, or where the
    service would refuse it. A reboot under way costs no more."""
    if going_on(cluster):
        return
    on = [job for job in jobs if job.persistent_resource_id == cluster.id and not job.ended]
    fix = "wait until slipway pools shows it running and no machine in use"
    if on:
        why, fix = (
            f"on {cluster.id}: {join(f'{job.typed} ({state_word(job.state)})' for job in on)}",
            ways_out(on, "then reboot it"),
        )
    elif cluster.in_use:
        why = f"{cluster.id}: {UNLISTED}"
    elif cluster.state not in _CAN:
        why = f"{cluster.id} is {cluster.state}, and only one in RUNNING or ERROR can be"
    else:
        return
    raise ResourceError(f"cluster {name} is not rebooted now", why=why, fix=fix)


def going_on(cluster: PersistentResource) -> bool:
    """Tell whether an earlier reboot is under way: it is waited for, and no other is asked for."""
    return cluster.state in _BUSY


@dataclass(frozen=True)
class Watching:
    """A wait. `say` tells progress; `now` and `pause` are a clock in seconds. `timeout`: seconds, None without one."""

    say: Callable[[str], None]
    now: Callable[[], float]
    pause: Callable[[float], object]
    timeout: float | None = None


def reboot(vertex: Vertex, name: str, cluster: PersistentResource, stack: str, watching: Watching) -> float:
    """Reboot a cluster; return the seconds until it runs again. Raises ResourceError for another end, Timeout,
    CloudError."""
    began = watching.now()
    before, operation = going_on(cluster), None
    try:
        if not before:
            operation = vertex.reboot_persistent_resource(cluster.id)
    except CloudError as error:
        # Without an answer it may have begun: its state tells.
        if error.not_accepted or vertex.persistent_resource(cluster.id).state not in _BUSY:
            raise
    watching.say(f"{name} ({cluster.id}) is rebooting already" if before else f"rebooting {name} ({cluster.id})")
    told = began
    timeout = inf if watching.timeout is None else watching.timeout
    for spent in poll(watching.pause, _FIRST_S, _LONGEST_S, within=timeout, now=watching.now):
        found = vertex.persistent_resource(cluster.id)
        if operation is not None and not operation.done:
            operation = vertex.operation(operation.name)
        if found.state not in _BUSY and (operation is None or operation.done):
            break
        if watching.now() - told >= _SAID_EVERY_S:
            told = watching.now()
            watching.say(f"{name} is still rebooting after {span(spent)}")
    else:
        raise Timeout(
            f"cluster {name} is still rebooting after {span(timeout)}",
            why="it goes on without this command",
            fix="the same command waits for it; slipway pools shows its state",
        )
    if found.state == "ERROR":
        raise ResourceError(
            f"cluster {name} ended in ERROR after its reboot",
            why=found.error or (operation.error if operation else "") or "the service gives no reason",
            fix=f"pulumi up --stack {stack}, which makes another in its place; or reboot it once more",
        )
    return watching.now() - began

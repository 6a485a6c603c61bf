"""Cluster resources that the program declares without a component. None of them may be a cluster of Slipway's.

Pulumi replaces or deletes such a resource before Slipway has decided anything, and no guard asks for its jobs.
"""

from __future__ import annotations

import os

import pulumi

from slipway.base.errors import ConfigError
from slipway.google.clusters import PersistentResource
from slipway.google.live import Unknown
from slipway.model.identity import words_of
from slipway.model.labels import STACK_LABEL

from .engine import fail, known
from .live_reading import reader_of
from .world import World, mocked

_COLLECTIONS = ("projects", "locations", "persistentResources")
"""The words of `projects/P/locations/L/persistentResources/ID` that name nothing. An import may also be `P/L/ID`,
`L/ID` or `ID`."""


def refuse_cluster(args: pulumi.ResourceTransformationArgs) -> None:
    """End the program if a resource is a cluster of Slipway's, before Pulumi is sent that resource."""
    project, region, id_ = _place(args)
    if not id_:
        return
    state = known()
    if not isinstance(state, Unknown) and id_ in [cluster.name for cluster in state.clusters]:
        fail(_rejected(args.name, f"cluster {id_}, which a PersistentResource declares", "use its `cluster_id`"))
    if not (project and region) or os.environ.get("SLIPWAY_LIVE"):
        return
    cluster = _living(mocked(), project, region, id_)
    if isinstance(cluster, Unknown):
        pulumi.log.warn(f"can't check whether resource {args.name} is a cluster of another deployment: {cluster.why}")
    elif cluster and cluster.labels.get(STACK_LABEL):
        owner = words_of(cluster.labels[STACK_LABEL])
        fail(_rejected(args.name, f"cluster {id_} of {owner}", f"submit to the cluster by {owner}"))


def _place(args: pulumi.ResourceTransformationArgs) -> tuple[str, str, str]:
    """Return the project, the region and the id of a cluster; empty for those in an Output."""
    imported = args.opts.import_ if isinstance(args.opts.import_, str) else ""
    words = [word for word in imported.split("/") if word not in _COLLECTIONS]
    project, region, id_ = ["", "", *words][-3:]
    config = pulumi.Config("gcp")
    project = project or _text(args.props.get("project") or config.get("project"))
    region = region or _text(args.props.get("location") or config.get("region"))
    return project, region, id_ or _text(args.props.get("name"))


def _text(given: object) -> str:
    return given if isinstance(given, str) else ""


def _living(world: World | None, project: str, region: str, id_: str) -> PersistentResource | Unknown | None:
    if world is None:
        return reader_of(project, region, where=f" in {region}").cluster(id_)
    clusters = world.live.clusters
    if isinstance(clusters, Unknown):
        return clusters
    return next((cluster for cluster in clusters if cluster.id == id_), None)


def _rejected(resource: str, cluster: str, instead: str) -> ConfigError:
    return ConfigError(
        f"resource {resource} is {cluster}, so the resource is rejected",
        why=f"Pulumi would delete the cluster with its jobs when {resource} is edited, replaced or removed",
        fix=f"remove resource {resource} from the program, and {instead}\n"
        "if the state has the resource, the next run shows the command that removes it there",
    )

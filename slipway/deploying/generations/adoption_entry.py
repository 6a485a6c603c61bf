"""The entry of a stack file that adopts a living cluster, as text. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from textwrap import indent
from typing import Any

import yaml

from slipway.authoring.stack.declared import cluster_entry
from slipway.authoring.stack.stack import parse
from slipway.authoring.stack.yaml_file import StackErrors, from_text
from slipway.base.errors import ConfigError
from slipway.deploying.generations.adoption import obstacles
from slipway.google.clusters import PersistentResource
from slipway.model.cluster import Adoption, ClusterSpec, PoolSpec
from slipway.model.cluster_fields import attached
from slipway.model.fingerprint import LONGEST_NAME

_CLUSTERS = "slipway:persistentResources"
_READ_ALONE = ("usedReplicaCount",)


def entry_of(body: Mapping[str, Any], project: str, region: str) -> tuple[str, str]:
    """Return the entry of a cluster, which the service answered, and a note on its use, empty without one.

    It is read as a stack file is, and compared with the cluster as each deployment does. Raises ConfigError with all
    that no entry can say.
    """
    cluster = PersistentResource.read(body)
    name = cluster.id[:LONGEST_NAME].rstrip("-")
    adoption = Adoption(cluster.id)
    clusters = {_CLUSTERS: {name: _entry(replace(cluster.spec, name=name, adopted=adoption))}}
    place = {"gcp:project": project, "gcp:region": region, "gcp:addPulumiAttributionLabel": "false"}
    wrong = [f"{path}: a stack file has no such key" for path in _unsaid(body, cluster.spec)]
    try:
        (spec,) = parse(from_text(_yaml({"config": {**place, **clusters}}), ""), stack="adopting").clusters
    except StackErrors as error:
        wrong += [f"{mistake.key}: {mistake.what}" for mistake in error.mistakes]
    else:
        read = replace(spec, adopted=adoption)  # Its lines are of no file.
        wrong += obstacles(read, adoption, {cluster.id: cluster}, (), stack="", place=f"{region} of {project}")
    if wrong:
        raise ConfigError(f"no entry can adopt {cluster.id}", why="\n".join(wrong), fix="adopt another cluster")
    return indent(_yaml(clusters), "  "), "\n  fix: ".join(spec.closed or ())


def _entry(spec: ClusterSpec) -> dict[str, Any]:
    """Return the entry without what is usual, the id first."""
    entry = dict(cluster_entry(replace(spec, pools=tuple(map(_written, spec.pools)))))
    usual = {"serviceAccount": {"custom": True}, "reservedIpRanges": []}
    return {"id": entry.pop("id"), **{key: value for key, value in entry.items() if usual.get(key) != value}}


def _written(pool: PoolSpec) -> PoolSpec:
    """Return a pool without accelerators that its machines' name tells, and without what it began with."""
    machine = pool.machine if attached(pool) else replace(pool.machine, accelerator=None, accelerator_count=0)
    return replace(pool, machine=machine, replicas=pool.min)


def _yaml(values: Mapping[str, Any]) -> str:
    return yaml.safe_dump(values, sort_keys=False, default_flow_style=None, allow_unicode=True, width=120)


def _unsaid(body: Mapping[str, Any], spec: ClusterSpec) -> Iterator[str]:
    """Yield the settings of a cluster that are none of ours."""
    request = spec.request()
    runs = "resourceRuntimeSpec"
    yield from _beyond(body.get(runs, {}), request.get(runs, {}), runs)
    asked = {pool["id"]: pool for pool in request["resourcePools"]}
    for pool in body.get("resourcePools", ()):
        yield from _beyond(pool, asked[pool["id"]], f"pools.{pool['id']}")


def _beyond(answer: Mapping[str, Any], asked: Mapping[str, Any], path: str) -> Iterator[str]:
    for key, value in answer.items():
        if isinstance(value, Mapping):
            yield from _beyond(value, asked.get(key, {}), f"{path}.{key}")
        elif value and key not in asked and key not in _READ_ALONE and not str(value).endswith("_UNSPECIFIED"):
            yield f"{path}.{key}"

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
from slipway.model.cluster import Adoption, ClusterSpec
from slipway.model.cluster_fields import attached
from slipway.model.fingerprint import LONGEST_NAME


def entry_of(body: Mapping[str, Any], project: str, region: str) -> tuple[str, str]:
    """Return the entry of a cluster, which the service answered, and a note on its use, empty without one.

    It is indented as it stands below `slipway:persistentResources:`, is read as a stack file is, and compared with the
    cluster as each deployment does. Raises ConfigError with all that no entry can say.
    """
    cluster = PersistentResource.read(body)
    name = cluster.id[:LONGEST_NAME].rstrip("-")
    adoption = Adoption(cluster.id)
    entry = {name: _entry(replace(cluster.spec, name=name, adopted=adoption))}
    clusters = {"slipway:persistentResources": entry}
    place = {"gcp:project": project, "gcp:region": region, "gcp:addPulumiAttributionLabel": "false"}
    unsaid = _beyond(_settings(body), _settings(cluster.spec.request()))
    wrong = [f"{path}: a stack file has no such key" for path in unsaid]
    try:
        (spec,) = parse(from_text(_yaml({"config": {**place, **clusters}}), ""), stack="adopting").clusters
    except StackErrors as error:
        wrong += [f"{mistake.key}: {mistake.what}" for mistake in error.mistakes]
    else:
        read = replace(spec, adopted=adoption)  # Its lines are of no file.
        wrong += obstacles(read, adoption, {cluster.id: cluster}, (), stack="", place=f"{region} of {project}")
    if wrong:
        raise ConfigError(f"no entry can adopt {cluster.id}", why="\n".join(wrong), fix="adopt another cluster")
    return indent(_yaml(entry), " " * 4), "\n  fix: ".join(spec.closed or ())


def _entry(spec: ClusterSpec) -> dict[str, Any]:
    """Return the entry, the id first, without what is usual, what machines' names tell, and what pools began with."""
    entry = dict(cluster_entry(replace(spec, pools=tuple(replace(pool, replicas=pool.min) for pool in spec.pools))))
    for pool in spec.pools:
        if not attached(pool):
            entry["pools"][pool.name].pop("accelerator", None)
    usual = {"serviceAccount": {"custom": True}, "reservedIpRanges": []}
    return {"id": entry.pop("id"), **{key: value for key, value in entry.items() if usual.get(key) != value}}


def _yaml(values: Mapping[str, Any]) -> str:
    return yaml.safe_dump(values, sort_keys=False, default_flow_style=None, allow_unicode=True, width=120)


def _settings(body: Mapping[str, Any]) -> dict[str, Any]:
    pools = {pool["id"]: pool for pool in body.get("resourcePools", ())}
    return {"pools": pools, "resourceRuntimeSpec": body.get("resourceRuntimeSpec", {})}


def _beyond(body: Mapping[str, Any], said: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Yield the paths of a body's values that are not said."""
    for key, value in body.items():
        if isinstance(value, Mapping):
            yield from _beyond(value, said.get(key, {}), f"{path}{key}.")
        elif value and key not in said and key != "usedReplicaCount" and not str(value).endswith("_UNSPECIFIED"):
            yield f"{path}{key}"

"""This replica's node, and the address where nodes meet, from the CLUSTER_SPEC that Vertex AI sets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

DEFAULT_PORT = 29400


@dataclass(frozen=True)
class Topology:
    """Node `rank` of `nodes`, reached at `host`; all meet at `port` of the host `chief`, which is node 0."""

    rank: int = 0
    nodes: int = 1
    host: str = "localhost"
    chief: str = "localhost"
    port: int = DEFAULT_PORT

    @property
    def endpoint(self) -> str:
        return f"{self.chief}:{self.port}"


def read(environ: Mapping[str, str]) -> Topology:
    """Nodes are counted through the worker pools in their order. A job of one replica has a `chief` in their place."""
    spec = json.loads(environ.get("CLUSTER_SPEC") or "{}")
    cluster, task = spec.get("cluster", {}), spec.get("task", {})
    pools = sorted(name for name in cluster if name == "chief" or name.startswith("workerpool"))
    places = [(pool, index) for pool in pools for index in range(len(cluster[pool]))]
    if not places:
        return Topology()
    addresses = [cluster[pool][index].rpartition(":") for pool, index in places]
    hosts = [host for host, _, _ in addresses]
    rank = places.index((task["type"], int(task.get("index", 0))))
    # `open_ports` is this replica's. It is the chief's too, but where replicas share a host and differ by their ports.
    apart = len(set(hosts)) == len(hosts)
    port = int(spec["open_ports"][0] if apart and spec.get("open_ports") else addresses[0][2] or DEFAULT_PORT)
    return Topology(rank, len(places), hosts[rank], hosts[0], port)

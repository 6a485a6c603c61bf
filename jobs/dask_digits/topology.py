"""This replica's role and the scheduler's address, read from the CLUSTER_SPEC that Vertex AI sets."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from ipaddress import ip_address

DEFAULT_PORT = 8786


@dataclass(frozen=True)
class Topology:
    """`role` is scheduler, worker or alone. `host` is this replica's, `scheduler` is host:port, `workers` how many."""

    role: str
    index: int = 0
    host: str = ""
    scheduler: str = ""
    workers: int = 0

    @property
    def bind(self) -> str | None:
        """The address to listen on; None (all of them) when CLUSTER_SPEC has a name and not an address."""
        try:
            return str(ip_address(self.host))
        except ValueError:
            return None

    @property
    def port(self) -> int:
        return int(self.scheduler.rpartition(":")[2])


def read(environ: Mapping[str, str]) -> Topology:
    """The first worker pool is the scheduler, all others are workers; a job of one replica runs alone."""
    spec = json.loads(environ.get("CLUSTER_SPEC") or "{}")
    cluster, task = spec.get("cluster", {}), spec.get("task", {})
    chief = cluster.get("workerpool0", [])
    pools = sorted(name for name in cluster if name.startswith("workerpool") and name != "workerpool0")
    workers = sum(len(cluster[name]) for name in pools)
    if not chief or not workers:
        return Topology("alone")
    chief_host, _, chief_port = chief[0].rpartition(":")
    open_ports = spec.get("open_ports") or [chief_port or DEFAULT_PORT]
    me = cluster[task["type"]][int(task.get("index", 0))]
    return Topology(
        role="scheduler" if task["type"] == "workerpool0" else "worker",
        index=int(task.get("index", 0)),
        host=me.rpartition(":")[0],
        scheduler=f"{chief_host}:{open_ports[0]}",
        workers=workers,
    )

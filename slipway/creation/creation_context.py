"""Surroundings of a creation: the world, patience, and how clusters are removed for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from slipway import unfinished_jobs
from slipway.cloud.clusters import PersistentResource
from slipway.cloud.failures import CloudError, NotFound
from slipway.cloud.vertex import Vertex
from slipway.cluster import CurrentCluster
from slipway.deployment.removal import Removal
from slipway.errors import ResourceError, SlipwayError
from slipway.labels import NAME_LABEL, STACK_LABEL
from slipway.live import Unknown, Use


@dataclass(frozen=True)
class CreationPolicy:
    """Seconds. No new try is begun after `refused` of them, or after the stack file's `createWithin`, unless a person
    `insists`; a cluster that was accepted is waited for, up to `made`.

    `unreachable` is how long nothing may answer at all; pauses begin with `first` and double, up to `look` between two
    looks at a cluster and `again` between two tries. `cleared` is how long a failed one may take to be gone.
    """

    refused: float = 15 * 60
    insists: bool = False
    made: float = 2 * 3600
    unreachable: float = 60
    cleared: float = 5 * 60
    first: float = 1.0
    look: float = 10.0
    again: float = 60.0


@dataclass(frozen=True)
class CreationContext:
    """The world of a stack's creations. `use` tells what is on a cluster, by its full name. `clock` is for people."""

    stack: str
    vertex: Vertex
    use: Callable[[str], Use | Unknown]
    say: Callable[[str], None]
    warn: Callable[[str], None]
    now: Callable[[], float] = time.monotonic
    pause: Callable[[float], object] = time.sleep
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)

    def removal(self, clusters: Iterable[PersistentResource], *, instead: str = "", **how: Any) -> Removal:
        """The removal of these clusters; `instead` is for `must_be_idle`, the rest for the removal itself."""

        def must_be_idle(names: Sequence[str]) -> None:
            for name in names:
                stays = f"cluster {name.rsplit('/', 1)[-1]} is not deleted"
                unfinished_jobs.must_be_idle(self.use(name), stays, then="then pulumi up again", instead=instead)

        names = tuple(one.name for one in clusters)
        return Removal(names, lambda _: self.vertex, must_be_idle, self.say, self.warn, self.now, self.pause, **how)

    def is_ours(self, found: PersistentResource, known_by: Collection[str], one: CurrentCluster) -> bool:
        """Tell whether a cluster has these labels as the stack gives them to `one`."""
        labels = one.labels(self.stack)
        return all(found.labels.get(key) == labels[key] for key in known_by)

    def clear(self, name: str, successor: CurrentCluster, within: float) -> str:
        """Remove a failed cluster (its id or full name), within so many seconds, or tell what stays, and why.

        Only an earlier generation of its successor goes, and only in ERROR and without jobs.
        """
        try:
            found = self.vertex.persistent_resource(name)
            if found.state not in ("ERROR", "STOPPING"):
                return ""
            if not self.is_ours(found, (STACK_LABEL, NAME_LABEL), successor):
                raise ResourceError("it lacks the labels of this stack")
            why = f"it failed ({found.error or 'for no reason given'}) and holds nothing"
            self.removal([found], why=why, within=within, deletable=frozenset({"ERROR"})).run()
        except NotFound:
            pass
        except SlipwayError as error:
            why = error.why if isinstance(error, CloudError) else error.what
            id_ = name.rsplit("/", 1)[-1]
            left = f"the failed cluster {id_} stays, holds its name and no machines ({why})"
            self.warn(f"{left}; the next pulumi up makes another and clears it")
            return left
        return ""

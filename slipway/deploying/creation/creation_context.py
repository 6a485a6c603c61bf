"""The surroundings of a creation: the world, patience, and the removal of clusters for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal

from slipway.base.clock import poll
from slipway.base.errors import PolicyError, ResourceError, SlipwayError
from slipway.base.formatting import join, last_part, span
from slipway.deploying.deployment.deletion_guard import GuardSubject, StackGuard
from slipway.deploying.deployment.removal import Removal
from slipway.google import unfinished_jobs
from slipway.google.clusters import PersistentResource
from slipway.google.connection import connect
from slipway.google.failures import CloudError, NotFound
from slipway.google.live import InUse, Live, Unknown
from slipway.google.live_reader import limits
from slipway.google.quota.increases import requested
from slipway.google.quota.metrics import request_command
from slipway.google.quota.request import Requested, more
from slipway.google.quotas import Quotas
from slipway.google.vertex import Vertex
from slipway.model.cluster import CREATE_WITHIN_S, ClusterSpec, CurrentCluster
from slipway.model.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL
from slipway.model.origin import Origin

KNOWN_BY = (STACK_LABEL, NAME_LABEL, HASH_LABEL)
"""The labels by which a cluster is known as the stack's own."""


@dataclass(frozen=True)
class CreationPolicy:
    """The patience of a creation, in seconds."""

    #: No new try is begun after this time, or after the stack file's `createWithin`.
    refused: float = CREATE_WITHIN_S
    #: Whether a person set `refused`, so that it counts in the place of `createWithin`.
    insists: bool = False
    #: The names of clusters that quota does not permit, however long they are waited for: each is tried once.
    hopeless: frozenset[str] = frozenset()
    #: The time for which an accepted cluster is waited for.
    made: float = 2 * 3600
    #: The time for which the service may not answer at all.
    unreachable: float = 60
    #: The time that a failed cluster may take to be gone.
    cleared: float = 5 * 60
    #: The first pause; each later one is twice as long.
    first: float = 1.0
    #: The longest pause between two looks at a cluster.
    look: float = 10.0
    #: The longest pause between two tries.
    again: float = 60.0

    def patience(self, spec: ClusterSpec) -> float:
        """Return the seconds after which no new try is begun for a cluster."""
        if self.insists:
            return self.refused
        if spec.name in self.hopeless:
            return 0.0
        return self.refused if spec.create_within is None else spec.create_within.total_seconds()


@dataclass(frozen=True)
class CreationContext:
    stack: str
    vertex: Vertex
    #: Returns the use of a cluster, by its full name.
    use: Callable[[str], InUse | Unknown]
    say: Callable[[str], None]
    warn: Callable[[str], None]
    now: Callable[[], float] = time.monotonic
    pause: Callable[[float], object] = time.sleep
    #: The time of day, for messages; `now` measures.
    clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    #: Where the stack is declared.
    origin: Origin = field(default_factory=lambda: Origin(""))

    @classmethod
    def of(
        cls, environ: Mapping[str, str], guard: StackGuard, say: Callable[[str], None], warn: Callable[[str], None]
    ) -> CreationContext:
        """Return the surroundings of a stack's creations."""
        vertex = connect(environ).vertex(*guard.place)
        return cls(
            guard.stack, vertex, lambda cluster: guard.use(GuardSubject(cluster)), say, warn, origin=guard.origin
        )

    def removal(self, clusters: Iterable[PersistentResource], *, instead: str = "", **how: Any) -> Removal:
        """Return the removal of these clusters; `instead` is for `must_be_idle`, the rest for the removal itself."""

        def must_be_idle(names: Sequence[str]) -> None:
            for name in names:
                stays = f"cluster {name.rsplit('/', 1)[-1]} is not deleted"
                unfinished_jobs.must_be_idle(self.use(name), stays, then="then deploy again", instead=instead)

        names = tuple(cluster.name for cluster in clusters)
        return Removal(
            names=names,
            vertex=self.vertex,
            must_be_idle=must_be_idle,
            say=self.say,
            warn=self.warn,
            now=self.now,
            pause=self.pause,
            **how,
        )

    def is_ours(
        self, living: PersistentResource, current: CurrentCluster, known_by: Collection[str] = KNOWN_BY
    ) -> bool:
        """Tell whether a living cluster has these labels as the stack gives them to `current`."""
        labels = current.marked(self.stack).labels
        return all(living.labels.get(key) == labels[key] for key in known_by)

    def clear(self, name: str, successor: CurrentCluster, within: float) -> str:
        """Remove a failed cluster (its id or full name) within `within` seconds, or return what stays, and why.

        Only an earlier generation of its successor goes, and only in ERROR and without jobs.
        """
        try:
            cluster = self.vertex.persistent_resource(name)
            if cluster.state not in ("ERROR", "STOPPING"):
                return ""
            if not self.is_ours(cluster, successor, (STACK_LABEL, NAME_LABEL)):
                raise ResourceError("it lacks the labels of this stack", fix="see whose it is: slipway doctor")
            why = f"it failed ({cluster.error or 'for no reason given'}) and holds nothing"
            self.removal([cluster], why=why, within=within, deletable=frozenset({"ERROR"})).run()
        except NotFound:
            pass
        except SlipwayError as error:
            why = error.why if isinstance(error, CloudError) else error.what
            id_ = last_part(name)
            leftover = f"the failed cluster {id_} stays, holds its name and no machines ({why})"
            self.warn(f"{leftover}; the next deployment makes another and clears it")
            return leftover
        return ""


WITHIN_S = 30.0
EVERY_S = 2.0


@dataclass(frozen=True)
class _Missing:
    """A limit that does not suffice."""

    metric: str
    enough: int
    limit: int
    #: The state of the request for it.
    asked: Requested | None

    @property
    def outlook(self) -> Literal["undecided", "too little", "refused"]:
        """The request is undecided also while a grant is not in force yet, and too little where an existing one of
        somebody else was used unchanged."""
        asked = self.asked
        if asked is None or asked.state not in ("pending", "granted"):
            return "refused"
        enough = asked.state == "pending" or not more(self.enough, asked.asked or 0)
        return "undecided" if enough else "too little"


def await_grant(
    quotas: Quotas,
    region: str,
    awaited: Mapping[str, int],
    clusters: Collection[str],
    say: Callable[[str], None],
    *,
    within_s: float = WITHIN_S,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], object] = time.sleep,
) -> None:
    """Return when the limits of a region are those of `awaited`, by metric. `clusters` are the ids of those that wait.

    A pending decision is waited for a little. Raises PolicyError for a limit that is not granted by then, CloudError
    when the limits can't be read.
    """
    missing: list[_Missing] = []
    for spent in poll(sleep, EVERY_S, within=within_s, now=clock):
        missing = _missing(quotas, region, awaited)
        if not missing:
            return
        if any(limit.outlook != "undecided" for limit in missing):
            break
        if not spent:
            say(f"waiting up to {span(within_s)} for quota: {join(limit.metric for limit in missing)}")
    raise _refusal(missing, region, clusters)


def _missing(quotas: Quotas, region: str, awaited: Mapping[str, int]) -> list[_Missing]:
    now = limits(quotas.infos(awaited), region) if awaited else {}
    short = {metric: limit for metric, limit in now.items() if limit.lacks(awaited[metric])}
    if not short:
        return []
    asked = {preference.quota_id: preference for preference in quotas.preferences(region)}
    live = Live(clusters=(), jobs=(), limits=now, catalog=None, preferences=asked)
    return [
        _Missing(
            metric=metric,
            enough=awaited[metric],
            limit=limit.limit,
            asked=requested(live, metric, awaited[metric]),
        )
        for metric, limit in sorted(short.items())
    ]


def _refusal(missing: list[_Missing], region: str, clusters: Collection[str]) -> PolicyError:
    outlooks = {limit.outlook: limit for limit in missing}
    fixes = []
    if "undecided" in outlooks:
        fixes.append("deploy again once it is granted, which slipway quota shows")
    if "too little" in outlooks:
        fixes.append("deploy again, which asks for more: it has taken over what somebody else asked for")
    if refused := outlooks.get("refused"):
        command = request_command(refused.metric, refused.enough)
        fixes.append(f"lower `replicas`, or ask again: {command}")
    return PolicyError(
        f"quota does not suffice yet, so {join(sorted(clusters))} {'is' if len(clusters) == 1 else 'are'} not made",
        why="\n".join(
            f"quota {limit.metric} in {region}: needs {limit.enough:,}, limit {limit.limit:,}; "
            f"{limit.asked or 'not asked for'}"
            for limit in missing
        ),
        fix="\n".join(fixes),
    )

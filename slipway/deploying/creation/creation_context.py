"""The surroundings of a creation: the world, patience, and the removal of clusters for it."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Literal

from slipway.base.clock import poll
from slipway.base.errors import PolicyError, ResourceError, SlipwayError
from slipway.base.formatting import join, last_part, span
from slipway.deploying.deployment.removal import Removal
from slipway.google import unfinished_jobs
from slipway.google.clusters import PersistentResource
from slipway.google.failures import CloudError, NotFound
from slipway.google.live import Live, Unknown, Use
from slipway.google.live_reader import limits
from slipway.google.quota.increases import requested
from slipway.google.quota.metrics import request_command
from slipway.google.quota.request import Requested, lacks, more
from slipway.google.quotas import Quotas
from slipway.google.vertex import Vertex
from slipway.model.cluster import CREATE_WITHIN_S, CurrentCluster
from slipway.model.labels import NAME_LABEL, STACK_LABEL


@dataclass(frozen=True)
class CreationPolicy:
    """Limits in seconds. No new try is begun after `refused` of them, or after the stack file's `createWithin`, unless
    a person `insists`; an accepted cluster is waited for, up to `made`.

    `unreachable` is how long the service may not answer at all; pauses begin with `first` and double, up to `look`
    between two looks at a cluster and `again` between two tries. `cleared` is the time that a failed cluster may take
    to be gone.
    """

    refused: float = CREATE_WITHIN_S
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
        """Return the removal of these clusters; `instead` is for `must_be_idle`, the rest for the removal itself."""

        def must_be_idle(names: Sequence[str]) -> None:
            for name in names:
                stays = f"cluster {name.rsplit('/', 1)[-1]} is not deleted"
                unfinished_jobs.must_be_idle(self.use(name), stays, then="then pulumi up again", instead=instead)

        names = tuple(one.name for one in clusters)
        return Removal(names, self.vertex, must_be_idle, self.say, self.warn, self.now, self.pause, **how)

    def is_ours(self, found: PersistentResource, known_by: Collection[str], one: CurrentCluster) -> bool:
        """Tell whether a cluster has these labels as the stack gives them to `one`."""
        labels = one.labels(self.stack)
        return all(found.labels.get(key) == labels[key] for key in known_by)

    def clear(self, name: str, successor: CurrentCluster, within: float) -> str:
        """Remove a failed cluster (its id or full name) within `within` seconds, or return what stays, and why.

        Only an earlier generation of its successor goes, and only in ERROR and without jobs.
        """
        try:
            found = self.vertex.persistent_resource(name)
            if found.state not in ("ERROR", "STOPPING"):
                return ""
            if not self.is_ours(found, (STACK_LABEL, NAME_LABEL), successor):
                raise ResourceError("it lacks the labels of this stack", fix="see whose it is: slipway doctor")
            why = f"it failed ({found.error or 'for no reason given'}) and holds nothing"
            self.removal([found], why=why, within=within, deletable=frozenset({"ERROR"})).run()
        except NotFound:
            pass
        except SlipwayError as error:
            why = error.why if isinstance(error, CloudError) else error.what
            id_ = last_part(name)
            left = f"the failed cluster {id_} stays, holds its name and no machines ({why})"
            self.warn(f"{left}; the next pulumi up makes another and clears it")
            return left
        return ""


WITHIN_S = 30.0
EVERY_S = 2.0


@dataclass(frozen=True)
class _Missing:
    """A missing limit. `enough` is the needed limit, `limit` the present one; `asked`, the outcome of the request."""

    metric: str
    enough: int
    limit: int
    asked: Requested | None

    @property
    def outlook(self) -> Literal["undecided", "too little", "refused"]:
        """The outlook. Undecided also while a grant is not in force yet; too little, where an existing request of
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
        if any(one.outlook != "undecided" for one in missing):
            break
        if not spent:
            say(f"waiting up to {span(within_s)} for quota: {join(one.metric for one in missing)}")
    raise _refusal(missing, region, clusters)


def _missing(quotas: Quotas, region: str, awaited: Mapping[str, int]) -> list[_Missing]:
    now = limits(quotas.infos(awaited), region) if awaited else {}
    short = {metric: found for metric, found in now.items() if lacks(found, awaited[metric])}
    if not short:
        return []
    asked = {one.quota_id: one for one in quotas.preferences(region)}
    live = Live(clusters=(), jobs=(), limits=now, catalog=None, preferences=asked)
    return [
        _Missing(metric, awaited[metric], found.limit, requested(live, metric, awaited[metric]))
        for metric, found in sorted(short.items())
    ]


def _refusal(missing: list[_Missing], region: str, clusters: Collection[str]) -> PolicyError:
    outlooks, fixes = {one.outlook: one for one in missing}, []
    if "undecided" in outlooks:
        fixes.append("run pulumi up again once it is granted, which slipway quota shows")
    if "too little" in outlooks:
        fixes.append("run pulumi up again, which asks for more: it has taken over what somebody else asked for")
    if one := outlooks.get("refused"):
        fixes.append(f"lower `replicas` in the stack file, or ask again: {request_command(one.metric, one.enough)}")
    return PolicyError(
        f"quota does not suffice yet, so {join(sorted(clusters))} {'is' if len(clusters) == 1 else 'are'} not made",
        why="\n".join(
            f"quota {one.metric} in {region}: needs {one.enough:,}, limit {one.limit:,}; {one.asked or 'not asked for'}"
            for one in missing
        ),
        fix="\n".join(fixes),
    )

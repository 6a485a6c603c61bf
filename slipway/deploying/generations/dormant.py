"""Dormant clusters: the stack file names them, and they are not wanted now: out of their season, or given up when idle.

A cluster that was given up stays so until its entry changes: another `generation` or another field of its fingerprint,
other dates, another limit. Only the published catalog remembers it: where that is lost, the cluster is made again.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from slipway.base.formatting import join
from slipway.google.clusters import RUNNING_STATES, PersistentResource
from slipway.google.live import Live, Unknown
from slipway.model.cluster import ClusterSpec, CurrentCluster
from slipway.model.fingerprint import cluster_id
from slipway.model.season import why_dormant

_SLOWEST = timedelta(days=30)
"""The longest time from a job's creation to its end: it may wait, and runs for a week at most."""


@dataclass(frozen=True)
class Dormancy:
    spec: ClusterSpec
    id: str
    #: A `slipway.model.season.Reason`, or one of a newer version.
    why: str
    #: When its season ended, or its limit was reached; None before its season.
    since: datetime | None = None
    #: For a cluster whose season has begun, the missing quota as text, by metric; MACHINES, without a text, where its
    #: machines could not be had.
    lacks: Mapping[str, str] = field(default_factory=dict)

    @property
    def comes(self) -> bool:
        return self.why == "season" and self.since is None

    @property
    def words(self) -> str:
        return why_dormant(self.spec.season, self.why, self.since, self.lacks).of(f"cluster {self.spec.name}")

    @property
    def waits(self) -> str:
        """The warning that it is not made for want of quota. A want of machines is told when it comes."""
        short = "; ".join(self.lacks.values())
        what = f"cluster {self.spec.name} is not made yet, though its season has begun: {short}"
        return f"{what}; each deployment looks again\n  fix: end what draws it, or ask for more: slipway quota"


def ends_within(clusters: Iterable[ClusterSpec]) -> timedelta | None:
    """Return the age up to which jobs have to be read for their end; None where no cluster has an `idleLimit`."""
    longest = max((cluster.season.idle_limit for cluster in clusters if cluster.season.idle_limit), default=None)
    return None if longest is None else longest + _SLOWEST


def out_of_season(spec: ClusterSpec, fingerprint: str, now: datetime | None) -> Dormancy | None:
    season = spec.season
    if now is None or season.includes(now):
        return None
    ended = season.ends if season.ends is not None and season.ends <= now else None
    return Dormancy(spec, cluster_id(spec.name, fingerprint), "season", ended)


def given_up(
    current: CurrentCluster, clusters: Mapping[str, PersistentResource], live: Live, now: datetime | None
) -> Dormancy | Unknown | None:
    """Return the dormancy of a cluster that is given up in its season: by an earlier deployment, or now, after a long
    enough idle time.

    `clusters` are the living ones by id. Unknown where that can't be told of a cluster that would be made.
    """
    spec, limit = current.spec, current.spec.season.idle_limit
    if limit is None or now is None:
        return None
    would_be = cluster_id(spec.name, current.fingerprint)
    others = (cluster_id(spec.name, alternative.fingerprint) for alternative in current.alternatives)
    known = live.deployed.dormant.get(spec.name) if live.deployed else None
    if known and known.id in (would_be, *others) and (known.why, known.season) == ("idle", spec.season):
        return Dormancy(spec, known.id, "idle", known.since)
    if not current.import_:  # It would be made, so the catalog must be readable.
        return live.catalog if isinstance(live.catalog, Unknown) else None
    since = idle_since(current, clusters[current.id], live, now)
    return None if since is None or now - since < limit else Dormancy(spec, would_be, "idle", since + limit)


def idle_since(current: CurrentCluster, cluster: PersistentResource, live: Live, now: datetime) -> datetime | None:
    """Return since when a cluster has no job: its last job's end, its creation, or its season's beginning, whichever is
    last. None for a cluster in use, and where it can't be told."""
    jobs, ends = live.jobs, live.last_ends
    if isinstance(jobs, Unknown) or isinstance(ends, Unknown):
        return None
    # A job that no list shows yet may hold machines all the same.
    busy = cluster.in_use or any(job.is_on(cluster) and not job.ended for job in jobs)
    if busy or cluster.state not in RUNNING_STATES:
        return None
    known = [time for time in (cluster.create_time, ends.get(cluster.id)) if time]
    begins = current.spec.season.begins
    if known and begins:
        known.append(begins)
    return max(known, default=None)


def undecided(current: Iterable[CurrentCluster], live: Live) -> tuple[str, ...]:
    limited = [cluster.spec.name for cluster in current if cluster.spec.season.idle_limit]
    if not isinstance(live.last_ends, Unknown) or not limited:
        return ()
    return (f"can't tell since when {join(limited)} idles, so it stays, from {live.last_ends}",)

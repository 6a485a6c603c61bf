"""Times to come at which a change leaves a submission nowhere to run: by dates, or after an idle limit. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from slipway.answers.comparison import Comparison
from slipway.answers.probes import Probe, Submitter, probes
from slipway.answers.submissions import rejection_on
from slipway.base.formatting import exact_span
from slipway.model.catalog.clusters import DormantCluster
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.withdrawal import with_dormant
from slipway.model.season import moment_in_words


@dataclass(frozen=True)
class Gap:
    """A time without a place to run, before which there is one."""

    probe: Probe
    #: The time at which it begins at the earliest.
    begins: datetime
    #: It begins on a date, and not only if no job runs for long.
    is_dated: bool
    #: `from 2027-01-04 to 2027-01-11`, or `after 45 min without a job on cpu`.
    text: str
    why: str


def gaps(comparison: Comparison) -> Iterator[Gap]:
    """Yield the new gaps of each default submission, and of those of the last days."""
    days = _coming_dates(comparison)
    limits = _new_idle_limits(comparison)
    if not days and not limits:
        return
    for probe in probes(comparison):
        # The present has an answer of its own.
        is_accepted = _is_asked(comparison, probe) and not _rejection(comparison, probe, comparison.world.now)
        if is_accepted:
            yield from _of_dates(comparison, probe, days)
            yield from _of_limits(comparison, probe, limits)


def _rejection(comparison: Comparison, probe: Probe, day: datetime) -> str:
    return rejection_on(comparison.new, probe, probe.asked.template, day)


def _is_asked(comparison: Comparison, probe: Probe) -> bool:
    # Where a session can run on a coming cluster is not known.
    if probe.submitter is not Submitter.USER:
        return False
    shared = comparison.old.templates.keys() & comparison.new.templates.keys()
    if probe.asked.template not in shared:
        return False
    return probe.is_default or bool(probe.jobs)


def _coming_dates(comparison: Comparison) -> Sequence[datetime]:
    """Return the dates from now on at which a season or a reservation of either side begins or ends, in order."""
    now = comparison.world.now
    dates = {*_dates(comparison.old), *_dates(comparison.new)}
    return sorted(date for date in dates if date and date > now)


def _dates(catalog: Catalog) -> Iterator[datetime | None]:
    clusters = {**catalog.dormant, **catalog.clusters}
    for cluster in clusters.values():
        yield cluster.season.begins
        yield cluster.season.ends
    for reservation in catalog.reservations.values():
        yield reservation.begins
        yield reservation.ends


def _of_dates(comparison: Comparison, probe: Probe, days: Iterable[datetime]) -> Iterator[Gap]:
    former = comparison.renamed.get(probe.asked.template, probe.asked.template)
    rejected: dict[datetime, str] = {}
    ends = None
    for day in days:
        why = _rejection(comparison, probe, day)
        if not why and rejected:
            ends = day
            break
        if why and not rejection_on(comparison.old, probe, former, day):
            rejected[day] = why
    # An end without a later place to run is in the finding about the cluster.
    if ends is not None:
        begins, why = next(iter(rejected.items()))
        yield Gap(probe, begins, True, f"from {moment_in_words(begins)} to {moment_in_words(ends)}", why)


def _new_idle_limits(comparison: Comparison) -> Mapping[str, timedelta]:
    """Return the idle limits of clusters that are new or shorter, by the name of the cluster."""
    limits = {}
    for name, cluster in comparison.new.clusters.items():
        limit = cluster.season.idle_limit
        before = comparison.old.clusters.get(name, cluster).season.idle_limit
        is_new = name in comparison.old.clusters and (before is None or (limit is not None and limit < before))
        if limit is not None and is_new:
            limits[name] = limit
    return limits


def _of_limits(comparison: Comparison, probe: Probe, limits: Mapping[str, timedelta]) -> Iterator[Gap]:
    now = comparison.world.now
    for name, limit in limits.items():
        cluster = comparison.new.clusters[name]
        fields = {**vars(cluster), "why": "idle", "since": now}
        later = with_dormant(comparison.new, {name: DormantCluster(**fields)})
        why = rejection_on(later, probe, probe.asked.template, now)
        if why:
            text = f"after {exact_span(limit.total_seconds())} without a job on `{name}`"
            yield Gap(probe, now, False, text, "only an edit of its entry creates the cluster again")

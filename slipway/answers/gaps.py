"""Gaps in time: coming days on which a change leaves a submission nowhere to run, until a later date. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from slipway.answers.comparison import Comparison
from slipway.answers.probes import Probe, Submitter, probes
from slipway.answers.submissions import rejection_on
from slipway.model.catalog.model import Catalog
from slipway.model.season import moment_in_words


@dataclass(frozen=True)
class Gap:
    """A time without a place to run, before which and after which there is one."""

    probe: Probe
    begins: datetime
    ends: datetime
    why: str

    @property
    def text(self) -> str:
        """Return `from 2027-01-04 to 2027-01-11`."""
        return f"from {moment_in_words(self.begins)} to {moment_in_words(self.ends)}"


def gaps(comparison: Comparison) -> Iterator[Gap]:
    """Yield the first new gap of each default submission, and of those of the last days."""
    days = _coming_dates(comparison)
    if not days:
        return
    for probe in probes(comparison):
        if _is_asked(comparison, probe):
            yield from _of_probe(comparison, probe, days)


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


def _of_probe(comparison: Comparison, probe: Probe, days: Iterable[datetime]) -> Iterator[Gap]:
    name = probe.asked.template
    former = comparison.renamed.get(name, name)
    rejected: Mapping[datetime, str] = {}
    # The present has an answer of its own.
    if rejection_on(comparison.new, probe, name, comparison.world.now):
        return
    for day in days:
        why = rejection_on(comparison.new, probe, name, day)
        if not why and rejected:
            begins = next(iter(rejected))
            yield Gap(probe, begins, day, rejected[begins])
            return
        if why and not rejection_on(comparison.old, probe, former, day):
            rejected = {**rejected, day: why}

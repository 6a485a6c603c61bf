"""The earliest start of a job by one of its capacity types, from the service's data alone. A range and no promise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from slipway.base.formatting import counted, join, span
from slipway.using.jobs.earlier_jobs import SINCE, Times
from slipway.using.jobs.usual_end import UsualRoom


@dataclass(frozen=True)
class EarliestStart:
    """When a job may start by a capacity type; unknown without `least`."""

    label: str
    #: Seconds from now.
    least: float | None = None
    #: None where only the beginning is known.
    most: float | None = None
    #: The jobs that wait for the same machines already.
    queue: int = 0
    #: The earlier starts that tell it.
    earlier: int = 0

    @classmethod
    def by_room(cls, label: str, room: UsualRoom, queue: int) -> EarliestStart:
        latest = (room.latest - room.now).total_seconds() if room.latest else None
        return cls(label, (room.earliest - room.now).total_seconds(), latest, queue)

    @classmethod
    def by_history(cls, label: str, times: Times | None, queue: int = 0) -> EarliestStart:
        if times is None:
            return cls(label, queue=queue)
        return cls(label, times.shortest, times.longest, queue, times.count)

    @property
    def document(self) -> dict[str, Any]:
        return {
            "by": self.label,
            "leastSeconds": self.least,
            "mostSeconds": self.most,
            "jobsBefore": self.queue,
            "earlierStarts": self.earlier,
        }

    def __str__(self) -> str:
        """Return `pool cpu in 25 min–1 h 10 min (2 jobs before it)`, `spot unknown`."""
        when = "unknown"
        if self.least is not None and self.most is None:
            when = f"not before {span(self.least)}"
        elif self.least is not None and self.most is not None:
            when = f"in {Times(self.least, self.most, self.earlier).between}" if self.most else "now"
        by = [f"{counted(self.queue, 'job')} before it"] if self.queue else []
        by += [f"{counted(self.earlier, 'start')} in {SINCE.days} days"] if self.earlier else []
        return f"{self.label} {when}{f' ({join(by)})' if by else ''}"


def compared(starts: Iterable[EarliestStart]) -> str:
    """Return `may start: pool cpu in 40 min (2 jobs before it) · flex-start in 2–6 h · spot unknown`."""
    return f"may start: {' · '.join(map(str, starts))}"

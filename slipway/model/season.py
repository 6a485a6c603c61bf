"""Seasons: the times between which a cluster is wanted, and its idle limit."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Annotated, Literal, NamedTuple, get_args

from slipway.base.codec import As
from slipway.base.formatting import exact_span, join
from slipway.base.installation import updating

MOMENT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2})?([Zz]|[+-][0-9]{2}:[0-9]{2}))?"
"""A date, or a date and a time with its zone, as a stack file has it."""

Reason = Literal["season", "idle", "in-place"]
"""The reason why a cluster is dormant: out of its season, given up after `idleLimit`, or being replaced in place."""

MACHINES = "machines"
"""The entry in `lacks` of a cluster whose season has begun and whose machines could not be had. All other entries are
metrics of missing quota."""

_ENGINE_MOMENT = re.compile(r"(?P<date>\S+) (?P<time>[0-9:]{8})(?:\.[0-9]+)? (?P<zone>[+-][0-9]{4})(?: \S+)?")
"""The engine's form of a date without quotes in a stack file: `2027-01-10 00:00:00 +0000 UTC`."""


@dataclass(frozen=True)
class Season:
    """The time in which a cluster is wanted. None is no bound."""

    begins: datetime | None = None
    #: The first moment at which the cluster is no longer wanted.
    ends: datetime | None = None
    #: The cluster is given up after this time without a job.
    idle_limit: timedelta | None = None

    @property
    def stays_idle(self) -> bool:
        """Tell whether it is there a week later where nothing runs, so that a month of it is paid."""
        return self.idle_limit is None or self.idle_limit > timedelta(7)

    def includes(self, now: datetime) -> bool:
        return (self.begins is None or self.begins <= now) and not self.over(now)

    def over(self, now: datetime) -> bool:
        return self.ends is not None and self.ends <= now


ALWAYS = Season()


def moment(text: str) -> datetime:
    """Return a time as UTC; a date is its midnight there. Raises ValueError, also for a time without a zone."""
    if match := _ENGINE_MOMENT.fullmatch(text):
        text = f"{match['date']}T{match['time']}{match['zone']}"
    elif not re.fullmatch(MOMENT, text):
        raise ValueError(f"neither a date nor a date and a time with its zone: {text}")
    time = datetime.fromisoformat(text.upper())
    try:
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"out of range: {text}") from error


def moment_text(when: datetime) -> str:
    """Return `2027-01-10T00:00:00Z`."""
    return when.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


Moment = Annotated[datetime | None, As(lambda text: moment(str(text)), moment_text, "a date and a time with its zone")]


def moment_in_words(when: datetime) -> str:
    """Return `2027-01-10`, or `2027-01-10 08:30 UTC` where it is not midnight."""
    utc = when.astimezone(UTC)
    return f"{utc:%Y-%m-%d}" if (utc.hour, utc.minute) == (0, 0) else f"{utc:%Y-%m-%d %H:%M} UTC"


class WhyDormant(NamedTuple):
    """The reason why a cluster is dormant."""

    #: Text that continues the cluster's name.
    state: str
    #: The step that brings it back; empty where that needs no telling.
    back: str = ""

    def of(self, what: str) -> str:
        return f"{what} {'; '.join(filter(None, self))}"


def why_dormant(
    season: Season, why: str, since: datetime | None, lacks: Collection[str] = (), now: datetime | None = None
) -> WhyDormant:
    """Return the reason for a submitter to the cluster.

    - `why`: a `Reason`, or a newer version's.
    - `since`: the time since which it is dormant. None for a cluster that is still to come: its season has not begun,
      or has and something `lacks`, or it has no season and is being made.
    - `lacks`: the missing quota metrics, or MACHINES.
    - `now`: the reader's time: a season may have begun since the catalog was published.
    """
    if lacks and season.begins is not None:
        begun = f"since its season began on {moment_in_words(season.begins)}"
        if MACHINES in lacks:
            return WhyDormant(f"waits for machines {begun}")
        return WhyDormant(f"waits for quota {begun}: too little of {join(sorted(lacks))}")
    if why not in get_args(Reason):
        return WhyDormant(f"does not exist ({why}), for a reason that this version does not know", updating())
    if why == "idle":
        limit = f" after {exact_span(season.idle_limit.total_seconds())} without a job" if season.idle_limit else ""
        when = f" on {moment_in_words(since)}" if since else ""
        return WhyDormant(f"was given up{when}{limit}", "a higher `generation` brings it back")
    if why == "in-place":
        when = f" since {since.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if since else ""
        return WhyDormant(f"is being replaced in place{when}", "a deployment offers it again when its successor runs")
    if since is not None:
        return WhyDormant(f"is out of season since {moment_in_words(since)}")
    if season.begins is None:
        return WhyDormant("is not there yet: a deployment offers it when it runs")
    if now is not None and season.begins <= now:
        return WhyDormant("comes with the next deployment: its season has begun")
    return WhyDormant(f"is out of season until {moment_in_words(season.begins)}")

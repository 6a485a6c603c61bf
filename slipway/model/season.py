"""Seasons: the times between which a cluster is wanted, and its idle limit."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple, Protocol, TypeVar, get_args

from slipway.base.formatting import join, span
from slipway.base.installation import updating

MOMENT = r"[0-9]{4}-[0-9]{2}-[0-9]{2}([Tt ][0-9]{2}:[0-9]{2}(:[0-9]{2})?([Zz]|[+-][0-9]{2}:[0-9]{2}))?"
"""A date, or a date and a time with its zone, as a stack file has it."""

Reason = Literal["season", "idle", "in-place"]
"""The reason why a cluster is dormant: it is out of its season, it was given up after `idleLimit`, or a deployment is
replacing it in place."""

MACHINES = "machines"
"""The lack of a cluster whose season has begun and that could not be made; otherwise it lacks quota, by its metrics."""

_OF_ENGINE = re.compile(r"(?P<date>\S+) (?P<time>[0-9:]{8})(?:\.[0-9]+)? (?P<zone>[+-][0-9]{4})(?: \S+)?")
"""The engine's form of a date without quotes in a stack file: `2027-01-10 00:00:00 +0000 UTC`."""


@dataclass(frozen=True)
class Season:
    """A season: a cluster is wanted from `begins` on and no longer at `ends`, and is given up after `idle_limit`
    without a job. None is no bound."""

    begins: datetime | None = None
    ends: datetime | None = None
    idle_limit: timedelta | None = None

    def includes(self, now: datetime) -> bool:
        return (self.begins is None or self.begins <= now) and not self.over(now)

    def over(self, now: datetime) -> bool:
        return self.ends is not None and self.ends <= now


ALWAYS = Season()


class Dated(Protocol):
    @property
    def season(self) -> Season: ...


SomeDated = TypeVar("SomeDated", bound=Dated)


def at_once(
    there: Iterable[SomeDated], coming: Iterable[SomeDated]
) -> Iterator[tuple[datetime | None, list[SomeDated]]]:
    """Yield the resources that exist at once: now (None), and from the beginning of each coming season on."""
    now, later = list(there), list(coming)
    yield None, now
    for begins in sorted({one.season.begins for one in later if one.season.begins}):
        yield begins, [one for one in (*now, *later) if one.season.includes(begins)]


def moment(text: str) -> datetime:
    """Return a time as UTC; a date is its midnight there. Raises ValueError, also for a time without a zone."""
    if found := _OF_ENGINE.fullmatch(text):
        text = f"{found['date']}T{found['time']}{found['zone']}"
    elif not re.fullmatch(MOMENT, text):
        raise ValueError(f"neither a date nor a date and a time with its zone: {text}")
    read = datetime.fromisoformat(text.upper())
    try:
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
    except OverflowError as error:
        raise ValueError(f"out of range: {text}") from error


def moment_text(when: datetime) -> str:
    """Return `2027-01-10T00:00:00Z`."""
    return when.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def moment_in_words(when: datetime) -> str:
    """Return `2027-01-10`, or `2027-01-10 08:30 UTC` where it is not midnight."""
    utc = when.astimezone(UTC)
    return f"{utc:%Y-%m-%d}" if (utc.hour, utc.minute) == (0, 0) else f"{utc:%Y-%m-%d %H:%M} UTC"


class WhyDormant(NamedTuple):
    """The state of a dormant cluster, as text after its name, and what brings it back, if that is to be told."""

    state: str
    back: str = ""

    def of(self, what: str) -> str:
        return f"{what} {'; '.join(filter(None, self))}"


def why_dormant(
    season: Season, why: str, since: datetime | None, lacks: Collection[str] = (), now: datetime | None = None
) -> WhyDormant:
    """Return the reason for a submitter to the cluster. `since`: None before its season: that has not begun, or has and
    something `lacks`, or there is none and the cluster is being made. `now`: for a cluster that was published before
    its season began, as that may have begun since. `why` may be a newer version's."""
    if lacks and season.begins is not None:
        what, which = ("machines", "") if MACHINES in lacks else ("quota", f": too little of {join(sorted(lacks))}")
        return WhyDormant(f"waits for {what} since its season began on {moment_in_words(season.begins)}{which}")
    if why not in get_args(Reason):
        return WhyDormant(f"does not exist ({why}), for a reason that this version does not know", updating())
    if why == "idle":
        limit = f" after {span(season.idle_limit.total_seconds())} without a job" if season.idle_limit else ""
        when = f" on {moment_in_words(since)}" if since else ""
        return WhyDormant(f"was given up{when}{limit}", "a higher `generation` in the stack file brings it back")
    if why == "in-place":
        when = f" since {since.astimezone(UTC):%Y-%m-%d %H:%M} UTC" if since else ""
        return WhyDormant(f"is being replaced in place{when}", "pulumi up offers it again when its successor runs")
    if since is not None:
        return WhyDormant(f"is out of season since {moment_in_words(since)}")
    if season.begins is None:
        return WhyDormant("is not there yet: pulumi up offers it when it runs")
    if now is not None and season.begins <= now:
        return WhyDormant("comes with the next deployment: its season has begun")
    return WhyDormant(f"is out of season until {moment_in_words(season.begins)}")

"""A session as its job describes it, how far it is, and a person's sessions."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from itertools import islice

from slipway.authoring.packages.slipway_exchange import SESSION, Part, Request, request_name
from slipway.base.errors import ConfigError, Fix, ResourceError
from slipway.base.formatting import join, nearest, quoted
from slipway.google.failures import NotFound
from slipway.google.jobs import VertexJob
from slipway.google.storage import Location, Storage
from slipway.model.kinds import CUSTOM_JOB
from slipway.model.labels import SESSION_LABEL, STACK_LABEL, USER_LABEL, label_filter, label_value
from slipway.using.context import Context

_COMMAND = f"python -m {SESSION} "
_RECENT = 20
"""The sessions among which one that has ended is looked for."""


@dataclass(frozen=True)
class Session:
    job: VertexJob
    #: The address of its objects.
    at: Location
    #: Seconds without a run until it ends.
    idle: float
    #: Seconds from its start until it ends.
    longest: float

    @classmethod
    def of(cls, job: VertexJob) -> Session | None:
        """Return the session that a job is; None for other jobs."""
        commands = (value for value in (job.parameters or {}).values() if isinstance(value, str))
        command = next(filter(is_command, commands), "")
        words = shlex.split(command.removeprefix(_COMMAND))
        given = dict(zip(words[::2], words[1::2], strict=False))
        try:
            return cls(job, Location.parse(given["--at"]), float(given["--idle"]), float(given["--max"]))
        except (KeyError, ValueError):
            return None

    @property
    def name(self) -> str:
        return self.job.chosen_name or self.job.typed

    @property
    def replicas(self) -> tuple[str, ...]:
        """The names of its replicas, as they call themselves."""
        pools = enumerate(self.job.worker_pools)
        return tuple(f"workerpool{place}-{index}" for place, pool in pools for index in range(pool.replicas))

    def is_called(self, name: str | None) -> bool:
        """Tell whether it has this name or job; without a name any has."""
        return name is None or name in (self.name, self.job.display_name, self.job.id)

    def object(self, name: str) -> Location:
        return Location(self.at.bucket, f"{self.at.name}/{name}")


def is_command(text: str) -> bool:
    """Tell whether a command is that of a session's job."""
    return text.startswith(_COMMAND)


def command_of(at: Location, idle: float, longest: float, preload: str) -> str:
    """Return the command of a session's job."""
    warm = f" --preload {shlex.quote(preload)}" if preload else ""
    return f"{_COMMAND}--at {shlex.quote(str(at))} --idle {idle:.0f} --max {longest:.0f}{warm}"


def place_of(bucket: str, user: str, id_: str) -> Location:
    """Return where a session's objects are: under its owner's name."""
    return Location(bucket, f"sessions/{label_value(user) or 'nobody'}/{id_}")


@dataclass(frozen=True)
class LastRun:
    """How far a session is: its last run, or with number 0 none."""

    number: int
    #: What was sent; the folder that it began with where there was no run, and None before it has begun.
    request: Request | None
    sent: datetime | None
    #: None while it runs.
    ended: datetime | None

    @property
    def closed(self) -> str:
        """Why the session takes no run any more; empty while it does."""
        return self.request.closed if self.request else ""

    @property
    def goes_on(self) -> bool:
        return self.number > 0 and self.ended is None and not self.closed


def last_run(storage: Storage, session: Session) -> LastRun:
    """Read how far a session is, in two round trips, or four while a run goes on. Raises CloudError."""
    sent: dict[int, datetime | None] = {}
    ends: dict[int, list[datetime | None]] = {}
    for stored in storage.objects(session.object("runs/")):
        digits, _, what = stored.at.name.rpartition("/")[2].partition(".")
        if what == "request":
            sent[int(digits)] = stored.created
        elif what.startswith("ended."):
            ends.setdefault(int(digits), []).append(stored.created)
    number = max(sent, default=0)
    request = read_request(storage, session, number) if sent else None
    times = ends.get(number, [])
    if request and not request.closed and len(times) < len(session.replicas):
        times = _last_parts(storage, session, number)  # A run's mark comes after its last word.
    whole = len(times) >= len(session.replicas)
    return LastRun(number, request, sent.get(number), max(filter(None, times), default=None) if whole else None)


def _last_parts(storage: Storage, session: Session, number: int) -> list[datetime | None]:
    """Return the times of the last words of those replicas that have said how a run ended. Raises CloudError."""
    newest = {}
    for stored in storage.objects(session.object(f"output/{number:06}.")):
        _, replica, _ = stored.at.name.rpartition("/")[2].split(".")
        newest[replica] = stored  # They are listed by their names.
    return [stored.created for stored in newest.values() if Part.read(storage.read(stored.at)).code is not None]


def read_request(storage: Storage, session: Session, number: int) -> Request | None:
    """Return what was sent as a run; None where there is no such run. Raises CloudError."""
    try:
        return Request.read(storage.read(session.object(request_name(number))))[0]
    except NotFound:
        return None


def active_sessions(context: Context, *, of_all: bool = False) -> Iterator[Session]:
    """Yield sessions that have not ended, the newest first: one's own, or everybody's. Raises CloudError."""
    return _each(context.vertex.active_jobs(CUSTOM_JOB, _wanted(context, "" if of_all else context.user)))


def _wanted(context: Context, user: str) -> str:
    """Return the filter of sessions' jobs: a person's, or everybody's."""
    labels = {STACK_LABEL: context.catalog.identity.label, **({USER_LABEL: label_value(user)} if user else {})}
    return f"{label_filter(labels)} AND labels.{SESSION_LABEL}:*"


def _each(jobs: Iterable[VertexJob]) -> Iterator[Session]:
    seen = set[Location]()  # A submission may have a copy, or the attempt that it gives up.
    for session in filter(None, map(Session.of, jobs)):
        if session.at not in seen:
            seen.add(session.at)
            yield session


def find_session(context: Context, name: str | None) -> Session:
    """Return one's own session of this name or job; without a name the only one. Raises ResourceError where there is
    none, ConfigError where there are several, and CloudError."""
    own = list(active_sessions(context))
    found = [each for each in own if each.is_called(name)]
    if len(found) > 1:
        found = [each for each in found if not last_run(context.connection.storage, each).closed] or found[:1]
    if len(found) == 1:
        return found[0]
    names = [each.name for each in own]
    if found:
        raise ConfigError(f"you have {len(found)} sessions: {join(names)}", fix=f"--session {names[0]}, for example")
    near = nearest(name or "", names)
    if not near and (gone := _gone(context, name)):
        raise gone
    raise ResourceError(
        f"you have no session {quoted(name)}" if name else "you have no session",
        why=f"you have {join(names)}" if names else "none that you started goes on: each ends by itself",
        fix=f"--session {near}" if near else "slipway session start",
    )


def find_recent_session(context: Context, name: str | None) -> Session:
    """Return what `find_session` does, or else the newest of one's own recent sessions of this name that has ended.
    Raises the errors of `find_session`."""
    if not any(each.is_called(name) for each in active_sessions(context)) and (recent := _recent(context, name)):
        return recent
    return find_session(context, name)


def _recent(context: Context, name: str | None) -> Session | None:
    jobs = context.vertex.jobs(CUSTOM_JOB, _wanted(context, context.user), page_size=_RECENT)
    return next((each for each in _each(islice(jobs, _RECENT)) if each.is_called(name)), None)


def _gone(context: Context, name: str | None) -> ResourceError | None:
    """Return the error for the newest session of that name, which has ended; None where there was none lately. Raises
    CloudError."""
    found = _recent(context, name)
    if found is None:
        return None
    closed = last_run(context.connection.storage, found).closed
    return ended(found.job, f"it ended {closed}" if closed else f"its job has {found.job.outcome}")


def ended(job: VertexJob, why: str, fix: Fix = "slipway session start") -> ResourceError:
    """Return the error for a session that is no more."""
    return ResourceError(f"the session {job.chosen_name or job.typed} has ended", why=why, fix=fix)

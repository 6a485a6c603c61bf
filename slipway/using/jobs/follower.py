"""A job's state, its reason to wait and its log as a stream of events until it ends."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

from slipway.base.errors import ResourceError, WaitTimeout
from slipway.base.formatting import span
from slipway.google.failures import CloudError, Denied, Exhausted, Garbled, NoAnswer, NotFound, Unavailable, Unreachable
from slipway.google.jobs import VertexJob, state_word
from slipway.google.logging import LogEntry
from slipway.google.quotas import Quotas
from slipway.google.session import HttpPolicy
from slipway.google.vertex import Vertex
from slipway.using.context import Clock, Context
from slipway.using.jobs.log import Tail, last_word, log_pause
from slipway.using.jobs.pause import about_pause
from slipway.using.jobs.wait_reader import WaitReason, no_wait, read_why

TRANSIENT = (Unavailable, Unreachable, NoAnswer, Garbled, Exhausted)
"""Errors of the service after which it is asked again."""


REPORTED_AGAIN_S = 300.0


@dataclass
class Contact:
    """Contact with a service, which tells of its loss: at once, then rarely."""

    clock: Clock
    #: Seconds until it is given up.
    patience: float
    #: The name of a lost contact in messages.
    what: str = "no contact"
    #: The clause that tells what continues meanwhile.
    goes_on: str = "the job goes on"
    _lost_since: tuple[float, datetime] | None = field(default=None, init=False)
    _reported_at: float = field(default=0.0, init=False)

    def there(self) -> None:
        self._lost_since = None

    def lost(self, problem: CloudError) -> str:
        """Return the message about `problem`, mostly empty. Raises it after a long time without any answer."""
        now = self.clock.monotonic()
        if self._lost_since is None:
            self._lost_since, self._reported_at = (now, self.clock.now()), now
            still = "still trying" if self.patience == float("inf") else f"still trying for {span(self.patience)}"
            return f"{self.what} ({problem.message}); {still}; Ctrl-C loses nothing: {self.goes_on}"
        if now - self._lost_since[0] > self.patience:
            raise problem
        if now - self._reported_at < REPORTED_AGAIN_S:
            return ""
        self._reported_at = now
        return f"{self.what} since {self._lost_since[1]:%H:%M} UTC ({problem.message}); {self.goes_on}"


@dataclass(frozen=True)
class Progress:
    """The job as it is now."""

    job: VertexJob
    why: WaitReason = no_wait


@dataclass(frozen=True)
class LogLine:
    entry: LogEntry


@dataclass(frozen=True)
class Trouble:
    """A problem that passes: no contact, or logs that may not be read."""

    text: str


Event = Progress | LogLine | Trouble

WATCHING = HttpPolicy(connect=5.0, read=15.0, attempts=1)
"""For repeated looks: a look without an answer by then is reported and repeated."""


_WHY_EVERY_S = 10.0
_QUIET_POLLS, _DRAIN_EVERY_S, _DRAIN_S = 2, 1.0, 15.0


def look_pause(age: float) -> float:
    """Return the seconds until the next look at a state, by those of waiting. The service takes 600 calls a minute and
    region, from all callers together."""
    return 0.5 if age < 30 else 2.0 if age < 600 else 5.0


@dataclass
class Follower:
    """A job's follower, which never cancels anything."""

    vertex: Vertex
    job: VertexJob
    cluster_name: str = ""
    #: Reads the log too, where there is one.
    tail: Tail | None = None
    #: Seconds without contact until it gives up.
    gives_up: float = 3600.0
    clock: Clock = field(default_factory=Clock)
    #: Returns the service's newest line about a job that waits beside the pools.
    word: Callable[[VertexJob], str] | None = None
    quotas: Quotas | None = None
    #: Returns what else those who wait for the job are to be told, empty for nothing.
    also: Callable[[VertexJob], str] = lambda _: ""

    def __post_init__(self) -> None:
        self._begin = self.clock.monotonic()
        self._contact = Contact(self.clock, self.gives_up)
        self._logs = Contact(self.clock, float("inf"), "logs can't be read now")

    def events(self, timeout: float | None = None) -> Iterator[Event]:
        """Yield events until the job has ended and its log is quiet.

        Raises WaitTimeout after `timeout` seconds, and CloudError after a long time without contact.
        """
        state_at = log_at = why_at = self._begin
        why: WaitReason = no_wait
        while True:
            now = self.clock.monotonic()
            if timeout is not None and now - self._begin >= timeout and not self.job.ended:
                raise WaitTimeout(
                    f"job {self.job.called} has not ended after {timeout:.0f} s",
                    why=f"it is {state_word(self.job.state)}, and goes on",
                    fix=f"slipway jobs wait {self.job.typed}     or end it: slipway jobs cancel {self.job.typed}",
                )
            if now >= state_at:
                yield from self._look()
                if self.job.ended:
                    break
                if not self.job.waits:
                    why, why_at = no_wait, now
                elif now >= why_at:
                    at = self.clock.now()
                    why = read_why(
                        self.vertex, self.job, self.cluster_name, at, self.word, self.quotas, also=self.also(self.job)
                    )
                    why_at = now + _WHY_EVERY_S
                yield Progress(self.job, why)
                state_at = now + look_pause(now - self._begin)
            if self.tail and now >= log_at:
                yield from self._lines(self.tail)
                if self.tail:
                    log_at = now + log_pause(now - self._begin, self.tail.refusals, self.tail.pages)
            next_at = min(state_at, log_at) if self.tail else state_at
            if timeout is not None:
                next_at = min(next_at, self._begin + timeout)
            self.clock.sleep(max(0.0, next_at - self.clock.monotonic()))
        yield from self._drain()
        yield Progress(self.job)

    def _look(self) -> Iterator[Event]:
        try:
            self.job = self.vertex.job(self.job.name)
            self._contact.there()
            if self.tail:
                self.tail.ids = self.job.log_ids
        except NotFound as problem:
            raise ResourceError(
                f"job {self.job.called} was deleted while it was waited for",
                why=f"{problem.message}: nobody can tell how it ended",
                fix=f"slipway jobs list --template {self.job.template}" if self.job.template else "slipway jobs list",
            ) from problem
        except TRANSIENT as problem:
            if message := self._contact.lost(problem):
                yield Trouble(message)

    def _lines(self, tail: Tail) -> Iterator[Event]:
        try:
            for entry in tail.more():
                yield LogLine(entry)
            self._logs.there()
        except Denied as problem:
            self.tail = None
            yield Trouble(f"logs can't be shown: {problem.brief}")
        except TRANSIENT as problem:
            if message := self._logs.lost(problem):
                yield Trouble(message)

    def _drain(self) -> Iterator[Event]:
        """Yield the lines that arrive after the end: read on until a few polls bring none."""
        quiet, begin = 0, self.clock.monotonic()
        while self.tail and quiet < _QUIET_POLLS:
            came = False
            for event in self._lines(self.tail):
                came = came or isinstance(event, LogLine)
                yield event
            quiet = 0 if came else quiet + 1
            if self.clock.monotonic() - begin > _DRAIN_S:
                return
            if self.tail and quiet < _QUIET_POLLS:
                refused = self.tail.refusals
                self.clock.sleep(log_pause(0, refused) if refused else _DRAIN_EVERY_S)


def follower_of(
    context: Context,
    job: VertexJob,
    *,
    logs: bool,
    timeout: float | None = None,
    severity: str = "",
    begin: datetime | None = None,
    only: str = "",
) -> Follower:
    """Return a follower that bears with a service that is away for a while."""
    policy = WATCHING if timeout is None else replace(WATCHING, read=min(WATCHING.read, max(1.0, timeout)))
    connection = context.connection.with_policy(policy)
    logging = connection.logging(context.catalog.project)
    return Follower(
        context.vertex_by(connection),
        job,
        gives_up=context.no_contact,
        cluster_name=context.cluster_name(job.persistent_resource_id),
        tail=Tail(logging, job.log_ids, severity=severity, begin=begin, only=only) if logs else None,
        clock=context.right_clock,
        word=lambda waiting: last_word(logging, waiting),
        quotas=connection.quotas(context.catalog.project, context.catalog.quotas),
        also=lambda waiting: about_pause(context, waiting),
    )

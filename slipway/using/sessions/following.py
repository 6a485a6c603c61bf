"""A run of a session as its owner sees it: the wait for the session's machines, its output as it comes, and its end."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from slipway.authoring.packages.folder_packages import FILES
from slipway.authoring.packages.slipway_exchange import LOST, Part, part_name, request_name, stop_name
from slipway.base.errors import Interrupted, ResourceError
from slipway.google.failures import NotFound
from slipway.using.context import Context
from slipway.using.jobs.failure import read_cause
from slipway.using.jobs.follower import TRANSIENT, WATCHING, Contact, Event, Progress, Trouble, follower_of
from slipway.using.sessions.sending import SentRun
from slipway.using.sessions.session import Session, active_sessions, ended

INTERRUPTED = 130
_LOOK_S, _LOOK_AT_JOB_S = 0.25, 10.0
_STOPS = 2


def exit_code_of(ends: Iterable[Part]) -> int:
    """Return a run's exit code from the last part of each replica: of several that of the first which failed by
    itself."""
    codes = [int(part.code) for part in ends]
    return next((code for code in codes if code not in (0, INTERRUPTED)), max(codes, default=0))


@dataclass(frozen=True)
class Preparing:
    """A session whose machine runs, and takes no run yet: why."""

    why: str


Show = Callable[[str, int, str], None]
"""Shows a text that a replica wrote to 1 or 2, for stdout or stderr."""


@dataclass
class RunFollower:
    """A follower of a run, on all replicas of its session. It can be interrupted at any point, and go on."""

    context: Context
    session: Session
    run: SentRun
    show: Show
    #: Shows the state of a session that waits for its machines, and problems that pass.
    tell: Callable[[Event | Preparing], None]
    _places: dict[str, int] = field(default_factory=dict, init=False)
    _ends: dict[str, Part] = field(default_factory=dict, init=False)
    _stops: int = field(default=0, init=False)
    _told_stops: int = field(default=0, init=False)
    _told_preparing: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self._places = dict.fromkeys(self.session.replicas, 1)
        self._storage = self.context.connection.with_policy(WATCHING).storage
        self._contact = Contact(self.context.clock, self.context.no_contact, goes_on="the run goes on")

    def code(self) -> int:
        """Follow the run to its end, and return its exit code: of several replicas that of the first which failed by
        itself. Raises ResourceError for a run that is lost, CloudError, and KeyboardInterrupt, after which it may be
        called again."""
        if self.session.job.waits:
            self._await_machines()
        clock, looked = self.context.clock, self.context.clock.monotonic()
        self._report_preparing()
        while len(self._ends) < len(self._places):
            if self._read_all():
                looked = clock.monotonic()
            elif clock.monotonic() - looked >= _LOOK_AT_JOB_S:
                self._look()
                looked = clock.monotonic()
            else:
                clock.sleep(_LOOK_S)
        if lost := next((part.lost for part in self._ends.values() if part.lost), ""):
            again = f"slipway session run -- {self.run.request.command}"
            written = f"what it wrote: slipway jobs download {self.session.job.typed}"
            raise ResourceError(
                f"run {self.run.number} of {self.session.name} is lost: {lost}",
                why="it had begun, and is not begun again by itself",
                fix=f"once more, where the session starts again: {again}"
                if lost == LOST
                else f"slipway session start, then {again}; {written}",
            )
        return exit_code_of(self._ends.values())

    def stop(self) -> bool:
        """Interrupt the run, and the second time kill it; False where that was done. Raises CloudError, and Interrupted
        where it has not begun: it never will. A call that was interrupted itself is made good by the next one."""
        if self._told_stops == _STOPS:
            return False
        self._stops = min(self._stops + 1, _STOPS)
        while self._told_stops < self._stops:
            place = self.session.object(stop_name(self.run.number, self._told_stops + 1))
            self.context.connection.storage.create(place, self.context.user.encode(), "text/plain", again=True)
            self._told_stops += 1
        if self.session.job.waits:
            raise Interrupted(
                f"run {self.run.number} is taken back", fix="slipway session stop, if nothing else is to run"
            )
        return True

    def _await_machines(self) -> None:
        for event in follower_of(self.context, self.session.job, logs=False).events():
            self.tell(event)
            if isinstance(event, Progress):
                self.session = replace(self.session, job=event.job)
                if not event.job.waits:
                    return

    def _report_preparing(self) -> None:
        """Report once that the session has not begun: its machine installs packages before it takes the first run."""
        if self._told_preparing or self.run.number != 1:
            return
        try:
            self._storage.read(self.session.object(request_name(0)))
        except NotFound:
            self._told_preparing = True
            installs = not self.run.request.files.keys().isdisjoint(FILES)
            self.tell(Preparing("its machine installs packages" if installs else "its machine starts"))
        except TRANSIENT:  # The next look reports it.
            return

    def _read_all(self) -> bool:
        """Show the next part of each replica's output; False where no one has any."""
        came = [self._read(replica) for replica in self._places if replica not in self._ends]
        return any(came)

    def _read(self, replica: str) -> bool:
        """Show the next part of a replica's output; False where there is none yet."""
        place = self._places[replica]
        try:
            part = Part.read(self._storage.read(self.session.object(part_name(self.run.number, replica, place))))
        except NotFound:
            return False
        except TRANSIENT as problem:
            if message := self._contact.lost(problem):
                self.tell(Trouble(message))
            return False
        self._contact.there()
        self._places[replica] = place + 1
        for stream, text in part.output:
            self.show(replica, stream, text)
        if part.code is not None:
            self._ends[replica] = part
        return True

    def _look(self) -> None:
        """Raise ResourceError for a session whose job has ended without an end of the run."""
        try:
            job = self.context.vertex.job(self.session.job.name)
        except TRANSIENT as problem:
            if message := self._contact.lost(problem):
                self.tell(Trouble(message))
            return
        if not job.ended or self._read_all():
            return
        others = (each for each in active_sessions(self.context) if each.at == self.session.at)
        if other := next(others, None):  # A copy ends, and what it is a copy of goes on.
            self.session = other
        else:
            cause = read_cause(self.context, job).text or f"its job has {job.outcome}"
            gone = ended(job, cause, fix=f"slipway session start; what it wrote: slipway jobs logs {job.typed}")
            gone.what += f", and run {self.run.number} with it"
            raise gone

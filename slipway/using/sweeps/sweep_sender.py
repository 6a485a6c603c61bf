"""The sending of a sweep's runs: many at once, no faster than permitted, each until it is known to be accepted.

One thread decides and writes the journal; the others only wait for answers. A run whose answer was lost is looked for
among the sweep's jobs. When it does not show up in time it is sent again under the same request id where the claim lets
only one of two jobs run; elsewhere it is reported as unknown, unless the caller insists.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor, Future
from dataclasses import dataclass, field
from threading import Event

from slipway.base.errors import SlipwayError
from slipway.google.failures import CloudError, Denied, Exhausted, Unauthenticated
from slipway.google.jobs import VertexJob
from slipway.using.context import Clock
from slipway.using.submission.delivery import RetryPolicy, SendState, after
from slipway.using.submission.request import Request
from slipway.using.sweeps.rate_limit import RateLimiter
from slipway.using.sweeps.runs import Run
from slipway.using.sweeps.sweep_journal import SweepJournal

_REFUSALS_IN_A_ROW = 10
_RESENDS = 5
_SYNC_EVERY = 1.0
_LONGEST_TURN = 0.25
SECONDS_PER_CALL = 0.25
"""Seconds for each call of a search: 240 a minute at most, of the 600 that the service takes from all."""


@dataclass
class SendingResult:
    #: The runs that were accepted now, with their jobs' names.
    accepted: dict[Run, str] = field(default_factory=dict)
    refused: dict[Run, CloudError] = field(default_factory=dict)
    unknown: list[Run] = field(default_factory=list)
    stopped: SlipwayError | None = None
    interrupted: bool = False


@dataclass
class SendingProgress:
    """The progress of a sending."""

    total: int
    #: The runs of `total` that were accepted earlier.
    before: int = 0
    #: The runs accepted since.
    now: int = 0
    missed: int = 0
    refused: int = 0
    #: The number of times that a rate limit was met.
    limited: int = 0
    #: A rate limit was met by the last call.
    held: bool = False
    #: The reason why no call gets through, from the last call; empty while calls are answered.
    trouble: str = ""
    #: The reason why runs are not sent yet; empty where they are.
    hold: str = ""

    @property
    def done(self) -> int:
        return self.before + self.now


@dataclass(eq=False)
class PendingRun:
    """A run on its way."""

    run: Run
    #: The time on the monotonic clock when its answer was lost.
    lost_at: float = 0.0
    sent: int = 0
    #: It is sent again even where a copy would run as well.
    insisted: bool = False


@dataclass
class SweepSender:
    create: Callable[[Request], VertexJob]
    #: Returns the names of listed jobs by request id, and the number of calls.
    look: Callable[[Iterable[Request]], tuple[Mapping[str, str], int]]
    request: Callable[[Run], Request]
    journal: SweepJournal
    #: Submissions a minute in each region, 0 for no limit.
    rate: int
    threads: Executor
    width: int
    tell: Callable[[SendingProgress], None]
    policy: RetryPolicy = field(default_factory=RetryPolicy)
    clock: Clock = field(default_factory=Clock)
    #: Returns the reason why no more may be sent, as of a time on the monotonic clock.
    outdated: Callable[[float], SlipwayError | None] = lambda _: None
    #: Returns the cluster that a run goes to, empty for machines of its own.
    cluster: Callable[[Run], str] = lambda _: ""
    #: Returns the reason why a run may not be sent yet, as of such a time; empty where it is sent.
    hold: Callable[[Run, float], str] = lambda *_: ""

    def __post_init__(self) -> None:
        self._result = SendingResult()
        self._limiters: defaultdict[str, RateLimiter] = defaultdict(lambda: RateLimiter(self.rate))
        #: By region and cluster.
        self._queues: defaultdict[tuple[str, str], deque[PendingRun]] = defaultdict(deque)
        #: The runs that were sent, each until its answer.
        self._in_flight: dict[PendingRun, Future[VertexJob]] = {}
        #: The runs whose answers were lost, by their request ids, each until its job is found or given up.
        self._lost: dict[str, PendingRun] = {}
        #: Set by each answer: to wait for the futures themselves locks every one of them, each time.
        self._answer = Event()
        #: The search for lost runs, while it goes on.
        self._looking: Future[tuple[Mapping[str, str], int]] | None = None
        self._refused_in_a_row = 0
        # Times on the monotonic clock: the beginning of the last search, the next one, the last successful one, the
        # last flush of the journal, and the last job that was accepted or found.
        self._look_began = self._look_at = self._looked_at = self._synced_at = self._accepted_at = 0.0

    def send(
        self, send: Iterable[Run], look: Mapping[Run, float], progress: SendingProgress, *, insist: bool = False
    ) -> SendingResult:
        """Send all of `send`, and those of `look` (by when they were sent, wall clock) that are not found.

        `insist`: send those also where both jobs would run.
        """
        now, wall = self.clock.monotonic(), self.clock.now().timestamp()
        for run in send:
            self._queues[self._place(run)].append(PendingRun(run))
        for run, when in look.items():
            self._lost[self.request(run).id] = PendingRun(run, lost_at=now - max(0.0, wall - when), insisted=insist)
        self._accepted_at = self._synced_at = now
        try:
            while self._left:
                self._turn(progress)
        except KeyboardInterrupt:
            self._result.interrupted = True
            self._queues.clear()
            self._lost.clear()
            while self._in_flight:
                self._collect(progress, wait_for=_LONGEST_TURN)
        finally:
            self.journal.sync()
        return self._result

    @property
    def _left(self) -> bool:
        if self._result.stopped:
            return bool(self._in_flight)
        return bool(any(self._queues.values()) or self._in_flight or self._lost)

    def _region(self, run: Run) -> str:
        return self.request(run).region

    def _place(self, run: Run) -> tuple[str, str]:
        return self._region(run), self.cluster(run)

    def _turn(self, progress: SendingProgress) -> None:
        now = self.clock.monotonic()
        if not self._result.stopped and any(self._queues.values()):
            self._result.stopped = self.outdated(now)
        stopped, ready, progress.hold = self._result.stopped, list[RateLimiter](), ""
        for (region, _), todo in self._queues.items():
            limiter = self._limiters[region]
            while todo and not stopped and len(self._in_flight) < self.width and limiter.wait(now) <= 0:
                if hold := self.hold(todo[0].run, now):
                    progress.hold = hold
                    break
                pending = todo.popleft()
                request = self.request(pending.run)
                self.journal.write(pending.run, SendState.SENDING, self.clock.now().timestamp(), bucket=request.bucket)
                pending.sent += 1
                limiter.sent()
                self._in_flight[pending] = future = self.threads.submit(self.create, request)
                future.add_done_callback(self._wake)
            ready += [limiter] if todo and not progress.hold else []
        if self._lost and self._looking is None and now >= self._look_at and not self._result.stopped:
            requests = [self.request(pending.run) for pending in self._lost.values()]
            self._look_began = now
            self._looking = self.threads.submit(self.look, requests)
            self._looking.add_done_callback(self._wake)
        rest = _LONGEST_TURN
        if len(self._in_flight) < self.width:
            rest = min([rest, *(limiter.wait(now) for limiter in ready)])
        self._collect(progress, wait_for=rest)
        if now - self._synced_at >= _SYNC_EVERY:
            self.journal.sync()
            self._synced_at = now

    def _collect(self, progress: SendingProgress, *, wait_for: float) -> None:
        """Take the answers that have come, after at most `wait_for` seconds."""
        if self._in_flight or self._looking:
            self._answer.wait(wait_for)
            self._answer.clear()
        else:
            self.clock.sleep(wait_for)
        for pending in [pending for pending, future in self._in_flight.items() if future.done()]:
            self._answered(pending, self._in_flight[pending], progress)
            del self._in_flight[pending]  # Removed only now: after an interruption meanwhile the answer is taken again.
        if self._looking is not None and self._looking.done():
            looking, self._looking = self._looking, None
            self._looked(looking, progress)
        progress.now = len(self._result.accepted)
        progress.missed = len(self._lost)
        progress.refused = len(self._result.refused)
        self.tell(progress)

    def _wake(self, _: object) -> None:
        self._answer.set()

    def _answered(self, pending: PendingRun, future: Future[VertexJob], progress: SendingProgress) -> None:
        now = self.clock.monotonic()
        try:
            job = future.result()
        except CloudError as problem:
            self._failed(pending, problem, now, progress)
            return
        self._limiters[self._region(pending.run)].answered(now)
        progress.held, progress.trouble = False, ""
        self._accept(pending.run, job.name, now)

    def _accept(self, run: Run, job: str, now: float) -> None:
        self._accepted_at, self._refused_in_a_row = now, 0
        self._result.accepted[run] = job
        self.journal.write(run, SendState.ACCEPTED, self.clock.now().timestamp(), job)

    def _failed(self, pending: PendingRun, problem: CloudError, now: float, progress: SendingProgress) -> None:
        limiter = self._limiters[self._region(pending.run)]
        limited = isinstance(problem, Exhausted)
        # A rate limit passes, however long it lasts.
        step = after(problem, self.policy, 0.0 if limited else now - self._accepted_at)
        if step == "resend":
            retry_after = problem.answer.retry_after if problem.answer else None
            if limited:
                limiter.refused(now, retry_after)
                progress.limited += 1
            else:
                limiter.held(now, retry_after)
            progress.held, progress.trouble = limited, "" if limited else problem.message
            self._requeue(pending)
            return
        limiter.answered(now)
        if step == "stop":
            self._requeue(pending)
            self._result.stopped = problem
        elif step == "refuse":
            self._result.refused[pending.run] = problem
            self.journal.write(pending.run, SendState.REFUSED, self.clock.now().timestamp())
            self._refused_in_a_row += 1
            if self._refused_in_a_row >= _REFUSALS_IN_A_ROW:
                self._result.stopped = problem
        else:
            pending.lost_at = now
            self._lost[self.request(pending.run).id] = pending
            self._look_at = min(self._look_at, now + self.policy.look_every)

    def _requeue(self, pending: PendingRun) -> None:
        self.journal.write(pending.run, SendState.REQUEUED, self.clock.now().timestamp())
        self._queues[self._place(pending.run)].appendleft(pending)

    def _looked(self, future: Future[tuple[Mapping[str, str], int]], progress: SendingProgress) -> None:
        now = self.clock.monotonic()
        try:
            names, calls = future.result()
        except (Unauthenticated, Denied) as problem:
            self._result.stopped = problem
            return
        except CloudError as problem:
            progress.trouble = problem.message
            self._look_at = now + self.policy.look_every
            if now - max(self._accepted_at, self._looked_at) > self.policy.resend_for:
                self._result.stopped = problem
            return
        except SlipwayError as problem:
            self._result.stopped = problem
            return
        self._looked_at, progress.trouble = now, ""
        self._look_at = now + max(self.policy.look_every, calls * SECONDS_PER_CALL)
        for id_, pending in list(self._lost.items()):
            if id_ in names:
                del self._lost[id_]
                self._accept(pending.run, names[id_], now)
            elif self._look_began - pending.lost_at >= self.policy.look_for:  # No list hides it for so long.
                del self._lost[id_]
                if pending.insisted or (self.request(pending.run).runs_once and pending.sent <= _RESENDS):
                    pending.insisted = False
                    self._queues[self._place(pending.run)].append(pending)
                else:
                    self._result.unknown.append(pending.run)

"""The display of a job until it ends: one state line that is kept up to date on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from typing import TYPE_CHECKING

from slipway.base.errors import Interrupted
from slipway.base.formatting import clock, exact
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.log_lines import LogLines
from slipway.google.failures import CloudError
from slipway.google.jobs import VertexJob, state_word
from slipway.google.logging import LogEntry
from slipway.model.prices import UNKNOWN_PRICE, spent
from slipway.using.context import Clock, Context
from slipway.using.jobs.cost import JobCost, job_cost, needs_events
from slipway.using.jobs.follower import LogLine, Progress, Trouble, follower_of
from slipway.using.jobs.listing import with_parts
from slipway.using.jobs.log import JobEvents, line, read_events
from slipway.using.jobs.notification import Notifier
from slipway.using.jobs.race import decided
from slipway.using.submission.experiment_run import end_run
from slipway.using.submission.next_attempt import goes_on_as

if TYPE_CHECKING:
    from slipway.front.cli.terminal.redrawn import LiveDisplay


FOLLOWED = 200
"""The last lines of a followed log that are kept for the reason of a failure."""


class Detached(Interrupted):
    """The end of a watch by the person; the job goes on."""


class PlainDisplay:
    """A display with a line for each new state; log lines on stdout unless that is kept for JSON."""

    def __init__(self, clock: Clock, quiet: bool) -> None:
        self._clock, self._quiet, self._last = clock, quiet, ""

    def state(self, text: Callable[[datetime], str]) -> None:
        words = text(self._clock.now())
        # A running clock alone is not worth a line.
        timeless = " ".join(word for word in words.split() if not word.strip("()").replace(":", "").isdigit())
        if timeless != self._last:
            self._last = timeless
            screen.note(words)

    def line(self, text: str) -> None:
        if self._quiet:
            screen.note(text)
        else:
            screen.out_log(text)

    def move(self, bars: Sequence[str]) -> None:
        """Print nothing: only the last state of a progress bar is a line here."""

    def note(self, text: str) -> None:
        screen.note(text)


@contextmanager
def display(
    context: Context, quiet: bool, before: PlainDisplay | None = None, *, plain: bool = False
) -> Iterator[PlainDisplay | LiveDisplay]:
    """Keep one line up to date on a terminal, else print plain lines, as where stdout is kept for JSON: there `before`
    continues, which repeats no message."""
    if quiet or plain or not sys.stdout.isatty() or not screen.coloured(sys.stdout):
        yield before or PlainDisplay(context.right_clock, quiet)
        return
    from slipway.front.cli.terminal.redrawn import live

    with live(context.right_clock) as show:
        yield show


def watch(
    context: Context,
    job: VertexJob,
    *,
    logs: bool,
    timeout: float | None = None,
    quiet: bool = False,
    plain: bool = False,
    severity: str = "",
    begin: datetime | None = None,
    only: str = "",
    text: Callable[[LogEntry, VertexJob], str] = line,
) -> VertexJob:
    """Watch `job`, or the one that it is a copy of, to its end; return it as it is then, with a line of account. With
    `logs` show its lines, as `text` has them, from `begin` on, and only those of the filter `only`. Raises WaitTimeout
    after `timeout` seconds and Detached on Ctrl-C; the job goes on in both cases."""
    from slipway.front.cli.terminal.chart import UtilizationLine  # Most commands do not read series.

    begun, left, notifier = context.clock.monotonic(), timeout, Notifier(context)
    while True:
        job = decided(context, job, screen.note, timeout=left)
        if timeout is not None:
            left = max(0.0, timeout - (context.clock.monotonic() - begun))
        name = job.called
        back = f"come back with: slipway jobs logs {job.typed} --follow"
        follower = follower_of(context, job, logs=logs, timeout=left, severity=severity, begin=begin, only=only)
        try:
            with (
                display(context, quiet, plain=plain) as show,
                closing(UtilizationLine(context)) as utilization,
                closing(LogLines(show.line, text, show.move, every=plain)) as lines,
            ):
                for event in follower.events(left):
                    if logs and not quiet:
                        screen.require_reader()
                    if isinstance(event, LogLine):
                        lines.add(event.entry, follower.job)
                    elif isinstance(event, Trouble):
                        show.note(f"{name}  {event.text}")
                    else:
                        # Its use is shown only where the line is kept up to date.
                        uses = "" if isinstance(show, PlainDisplay) else utilization.words(event.job)
                        show.state(state_at(event, name, uses))
                        if problem := notifier.saw(event.job):
                            show.note(f"{name}  {problem}")
        except CloudError:
            if not follower.job.ended:
                screen.note(f"{name} goes on; {back}")
            raise
        except KeyboardInterrupt:
            raise Detached(f"stopped watching; {name} goes on", fix=back) from None
        later = goes_on_as(context, follower.job, screen.note, left)
        if later is None:
            break
        job = later
    if kept := end_run(context, follower.job):
        screen.note(kept)
    if problem := notifier.ended(follower.job):
        screen.note(f"{follower.job.called}  {problem}")
    screen.note(account_of(follower.job, context))
    return follower.job


def recorded(
    followed: deque[LogEntry], text: Callable[[LogEntry, VertexJob], str] = line
) -> Callable[[LogEntry, VertexJob], str]:
    """Return `text` for `watch`, which also adds each line to `followed`."""

    def recorded_text(entry: LogEntry, job: VertexJob) -> str:
        followed.append(entry)
        return text(entry, job)

    return recorded_text


def state_at(event: Progress, name: str, uses: str) -> Callable[[datetime], str]:
    """Return the state line by the time: waits count between two looks at the service."""
    job, why = event.job, event.why

    def text(now: datetime) -> str:
        again = job.start_time is not None and job.waits
        since = job.update_time if again else job.start_time or job.create_time
        age = clock(((job.end_time or now) - since).total_seconds()) if since else "0:00"
        if job.ended:
            return f"{name}  {job.outcome} {age}"
        if job.waits:
            return f"{name}  waiting {'again ' if again else ''}{age}  {why(now)}".rstrip()
        return f"{name}  {state_word(job.state)} {age}   {uses}".rstrip()

    return text


def account_of(job: VertexJob, context: Context) -> str:
    """Return `dask-digits-7k…  succeeded: started after 2.4 s, ran 41.0 s, its machines cost $0.01 (of a pool that
    …)`."""
    (job,) = with_parts(context, [job])
    money = job_cost(job, job.region, context.now, events_of_cost(context, job))
    parts = []
    if money.wait is not None:
        waited = exact(money.wait)
        parts.append(f"started after {waited}" if job.start_time else f"waited {waited} and never started")
    if money.run is not None:
        parts.append(f"ran {run_words(money)}")
        cost = cost_words(money)
        parts.append(cost if cost == UNKNOWN_PRICE else f"its machines cost {cost}")
    from slipway.front.cli.terminal.chart import accelerator_line

    use = accelerator_line(context, job, money)
    where = f"output {job.output}" if job.output else ""
    account = f"{job.called}  {job.outcome}: {', '.join(part for part in parts if part)}"
    return "\n  ".join(filter(None, (account, use, where)))


def events_of_cost(context: Context, job: VertexJob) -> JobEvents | None:
    """Read the events that the cost of a job on Spot machines depends on; None for other jobs."""
    return read_events(context.brief.logging(context.catalog.project), job) if needs_events(job) else None


def run_words(money: JobCost) -> str:
    """Return `2 min 59 s, 2 min 02 s of it without machines`."""
    without = f", {exact(money.without)} of it without machines" if money.without else ""
    return f"{exact(money.run or 0.0)}{without}"


def cost_words(money: JobCost) -> str:
    """Return `$0.0074 (of a pool that is paid for anyway)`; `at most` where the time without machines is not known."""
    cost = money.cost
    if cost is None or cost.unknown:
        return UNKNOWN_PRICE
    why = ": time without machines is not billed" if money.untold else ""
    return f"{spent(cost)}{' (of a pool that is paid for anyway)' if money.paid_anyway else why}"

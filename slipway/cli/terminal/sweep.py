"""`slipway submit --sweep`: what will be sent and how long that takes, the sending, and waiting for the runs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from slipway.cli.terminal import screen
from slipway.cli.terminal.arguments import SubmitArguments, WaitOptions
from slipway.cli.terminal.submission import commit_words
from slipway.cli.terminal.sweep_outcome import closing, document, problem_of_runs, problem_of_sending, until_ended
from slipway.context import Clock, Context
from slipway.errors import ConfigError
from slipway.formatting import exact
from slipway.submission.candidates import summary
from slipway.submission.choice import Choice, passed_over
from slipway.submission.submitter import with_code
from slipway.sweeps.rate_limit import SUBMISSIONS_PER_MINUTE, seconds_to_send
from slipway.sweeps.runs import RemainingRuns, Run
from slipway.sweeps.sweep_file import read
from slipway.sweeps.sweep_plan import SweepPlan, plan_sweep
from slipway.sweeps.sweep_sender import SendingProgress
from slipway.sweeps.sweep_submitter import send_sweep

_SHOWN_REQUESTS = 3
_LINE_EVERY = 15.0


def submit_sweep(
    context: Context,
    typed: SubmitArguments,
    name: str | None,
    ending: WaitOptions,
    *,
    dry_run: bool,
    retry: bool,
    rate: int | None,
    json: bool,
) -> None:
    """The command."""
    plan = _planned(context, typed, name, ending)
    terminal = SweepTerminal(context, plan, SUBMISSIONS_PER_MINUTE if rate is None else rate, retry=retry, json=json)
    if dry_run:
        terminal.dry_run()
        return
    sweep = send_sweep(context, plan, terminal.rate, terminal, retry=retry)
    again = typed.again(name)
    accepted = (
        f"sweep {sweep.id}: {len(sweep.result.accepted):,} runs were sent",
        f"slipway jobs list --sweep {sweep.id}",
    )
    if not json:
        with screen.after(*accepted):
            screen.out("\n".join(closing(sweep, again)))
    screen.hint(f"  slipway jobs list --sweep {sweep.id}      slipway jobs cancel --sweep {sweep.id}")
    problem, ended = problem_of_sending(sweep, again), None
    if ending.waits and problem is None:
        ended = until_ended(context, sweep, timeout=ending.timeout, quiet=json)
        problem = problem_of_runs(sweep, ended, again)
    if json:
        with screen.after(*accepted):
            screen.out_json("sweep", document(sweep, ended))
    if problem is not None:
        raise problem


def _planned(context: Context, typed: SubmitArguments, name: str | None, ending: WaitOptions) -> SweepPlan:
    """Raises ConfigError for what is wrong in the file, and for flags that are for one job."""
    assert typed.sweep is not None
    if ending.follows:
        raise ConfigError(
            "--follow shows the log of one job", fix="wait for all runs with --wait, or see one: slipway jobs logs"
        )
    if typed.wait_for or typed.then:
        raise ConfigError(
            "--wait-for and --then are for one job",
            why="all runs of a sweep that need the same machines get them from the same place",
            fix="choose it: --capacity TYPE",
        )
    if typed.experiment_run is not None:
        raise ConfigError(
            "--experiment-run is the name of one job's run",
            why="all runs of the sweep would log into that one run, mixed up",
            fix="leave it out: each is a run of its own in the experiment, named after its job",
        )
    points = read(Path(typed.sweep))
    asked = typed.request()
    if typed.code is not None:
        asked = with_code(context, asked, Path(typed.code), tell=screen.note)
    return plan_sweep(context.catalog, asked, points, context.user, name)


class SweepTerminal:
    """Results go to stdout, unless that is kept for JSON."""

    def __init__(self, context: Context, plan: SweepPlan, rate: int, *, retry: bool, json: bool) -> None:
        self._context, self._plan, self._retry, self._json = context, plan, retry, json
        self._tell = screen.note if json else screen.out
        self.rate = rate

    def dry_run(self) -> None:
        """How many, how long, and the first requests. Nothing is read of pools and quota, nothing is sent."""
        from slipway.submission.preflight import offline_request

        plan = self._plan
        requests = [offline_request(plan.prepared(Run(index))) for index in range(min(_SHOWN_REQUESTS, plan.count))]
        screen.note(f"{plan.count:,} runs, sweep {plan.id}{self._takes(plan.count)}; the first {len(requests)}:")
        document = {"sweep": plan.id, "count": plan.count, "takesSeconds": seconds_to_send(plan.count, self.rate)}
        screen.out_json("sweep-plan", {**document, "requests": requests})

    def chosen(self, choices: Sequence[Choice], left: RemainingRuns, begun_at: str) -> None:
        catalog, plan = self._context.catalog, self._plan
        template = plan.groups[0].prepared.template.name
        for group, choice in list(zip(plan.groups, choices, strict=True))[:5]:
            self._tell(f"{template}{commit_words(catalog)}  →  {group.runs:,} × {summary(choice.taken.candidate)}")
            self._tell(f"  the first: {choice.taken.verdict.text}")
            for one in choice.passed:
                self._tell(f"  {passed_over(one)}")
        if len(choices) > 5:
            self._tell(f"  … and {len(choices) - 5} more shapes")
        self._tell(f"sweep {plan.id}: {self._how_many(left)}")
        now = catalog.revision.short
        if begun_at != now and (left.send or left.look):
            screen.note(f"note: begun with the templates of {begun_at}; the rest runs those of {now}")

    def _how_many(self, left: RemainingRuns) -> str:
        count = self._plan.count
        if self._retry and left.send:
            what = "has failed and is" if len(left.send) == 1 else "have failed and are"
            return f"{len(left.send):,} of {count:,} runs {what} sent once more"
        if self._retry:
            return f"none of {count:,} runs has failed{'' if left.look else ', nothing is sent'}"
        before = f", {left.done:,} of them submitted before" if left.done else ""
        return f"{count:,} runs{before}{self._takes(len(left.send))}"

    def _takes(self, count: int) -> str:
        takes = seconds_to_send(count, self.rate)
        shared = f"({self.rate} a minute, shared by all who submit in the region)"
        return f", will take about {exact(takes)} to send {shared}" if takes else ""

    @contextmanager
    def sending(self, progress: SendingProgress) -> Iterator[Callable[[SendingProgress], None]]:
        """On stderr: a bar on a terminal, a line now and then elsewhere."""
        if self._json or not screen.coloured(sys.stderr):
            yield _lines(self._context.clock)
            return
        from slipway.cli.terminal.redrawn import bar

        with bar(progress.total, progress.done) as show:
            yield lambda now: show(now.done, words(now))


def words(progress: SendingProgress) -> str:
    """What there is beside the number: `2 looked for, 1 refused`."""
    facts = (
        (progress.missed, "looked for, as their answers were lost"),
        (progress.refused, "refused"),
        (progress.limited, "rate-limited and retried"),
    )
    return ", ".join(f"{count:,} {what}" for count, what in facts if count)


def _lines(clock: Clock) -> Callable[[SendingProgress], None]:
    last = clock.monotonic()

    def tell(now: SendingProgress) -> None:
        nonlocal last
        if clock.monotonic() - last < _LINE_EVERY:
            return
        last = clock.monotonic()
        rest = words(now)
        screen.note(f"{now.done:,} of {now.total:,} submitted{f'; {rest}' if rest else ''}")

    return tell

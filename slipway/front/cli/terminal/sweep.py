"""`slipway submit --sweep`: the plan and its time, the sending, and waiting for the runs."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from slipway.base.errors import ConfigError
from slipway.base.formatting import counted, exact, join
from slipway.front.cli.terminal import screen
from slipway.front.cli.terminal.arguments import SubmitArguments, WaitOptions
from slipway.front.cli.terminal.options import found_job
from slipway.front.cli.terminal.submission import below_verdict, commit_words, confirm
from slipway.front.cli.terminal.submission_document import choice_document
from slipway.front.cli.terminal.sweep_outcome import closing, document, forecast_document, trouble_in_sending, watched
from slipway.google.jobs import VertexJob
from slipway.using.context import Clock, Context
from slipway.using.submission.candidate import summary
from slipway.using.submission.costs import Spending, leaving
from slipway.using.submission.parameters import assignments
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.submission.submitter import with_code
from slipway.using.sweeps.forecast import Forecast, forecast_lines
from slipway.using.sweeps.points import Given
from slipway.using.sweeps.rate_limit import SUBMISSIONS_PER_MINUTE
from slipway.using.sweeps.runs import RemainingRuns, RunsAgain
from slipway.using.sweeps.sweep_choice import SoonerChoice
from slipway.using.sweeps.sweep_code import CodeChangedError
from slipway.using.sweeps.sweep_end import Again, problem_of_gone, problem_of_runs, problem_of_taken
from slipway.using.sweeps.sweep_file import read
from slipway.using.sweeps.sweep_plan import SweepPlan, plan_sweep
from slipway.using.sweeps.sweep_sender import SendingProgress
from slipway.using.sweeps.sweep_submitter import ChosenSweep, dry_run_sweep, send_sweep

_SHOWN_REQUESTS = 3
_LINE_EVERY = 15.0


def submit_sweep(
    context: Context,
    typed: SubmitArguments,
    name: str | None,
    ending: WaitOptions,
    *,
    dry_run: bool,
    again: RunsAgain,
    rate: int | None,
    json: bool,
) -> None:
    """Run the command."""
    model = None
    if typed.like is not None:
        model = found_job(context, typed.like)
        typed = replace(typed, like=model.typed)  # A template's name does not name the job for good.
    plan = _planned(context, typed, model, name, ending, upload=not dry_run)
    end = f"{'' if rate is None else f' --rate {rate}'}{' --wait' if ending.waits else ''}"
    end += f" --timeout {shlex.quote(ending.typed)}" if ending.typed else ""

    def by(types: tuple[str, ...]) -> str:
        return f"{replace(typed, then=types, yes=True).again(name)}{end}"

    sent_a_minute = SUBMISSIONS_PER_MINUTE if rate is None else rate
    terminal = SweepTerminal(context, sent_a_minute, again, by, json=json, yes=typed.yes, asks=not dry_run)
    if dry_run:
        dry_run_sweep(context, plan, terminal.rate, terminal, again, terminal.dry_run)
        return
    try:
        sweep = send_sweep(context, plan, terminal.rate, terminal, again)
    except CodeChangedError as changed:
        if _keeps_code(changed):
            again = replace(again, keep_code=True)
        else:
            name = plan.id_by_code
            plan = plan.under(name)
        sweep = send_sweep(context, plan, terminal.rate, terminal, again)
    begin = typed.again(name)
    how = Again(f"{begin}{end}", f"{begin} --retry-failed{end}", f"{begin} --retry-cancelled{end}")
    listing = f"slipway jobs list --sweep {sweep.id}"
    accepted = f"sweep {sweep.id}: {len(sweep.result.accepted):,} runs were sent", listing
    if not json:
        with screen.after(*accepted):
            screen.out("\n".join(closing(sweep, how)))
    screen.hint(f"  {listing}      slipway jobs cancel --sweep {sweep.id}")
    problem, ended = trouble_in_sending(sweep, how), None
    if ending.waits and problem is None:
        ended = watched(context, sweep, timeout=ending.timeout, quiet=json)
        problem = problem_of_runs(context, sweep, ended, how)
    taken = ended.taken if ended else sweep.jobs.taken(sweep.accepted)
    if ended is None and problem is None:
        problem = problem_of_taken(sweep, taken) or problem_of_gone(sweep, sweep.left.gone, how)
    if json:
        with screen.after(*accepted):
            screen.out_json("sweep", document(sweep, taken, ended), problem)
    if problem is not None:
        raise problem


def _keeps_code(changed: CodeChangedError) -> bool:
    """Ask which code the rest of a sweep runs. Raises the error where nobody can be asked."""
    if not sys.stdin.isatty():
        raise changed
    screen.note(f"{changed.what}\n{changed.why}")
    question = "old: the rest with the code that it began with; new: all again with the folder's"
    try:
        answer: str = click.prompt(question, type=click.Choice(["old", "new"]), err=True)
    except click.Abort:
        raise KeyboardInterrupt from None
    return answer == "old"


def _planned(
    context: Context,
    typed: SubmitArguments,
    model: VertexJob | None,
    name: str | None,
    ending: WaitOptions,
    *,
    upload: bool,
) -> SweepPlan:
    """Plan a sweep of a template, or like the job `model`. Raises ConfigError for mistakes in the file, and for flags
    that are for one job."""
    assert typed.sweep is not None
    for flag, given, fix in (
        ("--follow", ending.follows, "wait for all runs with --wait, or see one: slipway jobs logs JOB"),
        ("--wait-for", typed.wait_for, "choose it for all runs: --capacity TYPE"),
        ("--experiment-run", typed.experiment_run is not None, "leave it out: each run is named after its job"),
    ):
        if given:
            raise ConfigError(f"{flag} is for one job", fix=fix)
    points, then = read(Path(typed.sweep)), typed.then
    typed = replace(typed, then=())
    if model is None:
        asked = typed.request()
    else:
        swept = {name for point in points.each for name in point.given} - assignments(typed.params).keys()
        likeness = typed.request_like(context, model, swept)
        # The job's own parameters hold where a point gives no other value.
        asked, place = likeness.asked, f"--like {model.typed}"
        own = {name: Given(value, place, place) for name, value in likeness.swept.items()}
        completed = tuple(replace(point, given={**own, **point.given}) for point in points.each)
        points = replace(points, each=completed)

    def plan(asked: SubmissionRequest) -> SweepPlan:
        return plan_sweep(context.catalog, asked, points, context.user, name, team=context.team, then=then)

    return with_code(context, asked, typed.code, plan, tell=screen.note, upload=upload, swept=points.values)


class SweepTerminal:
    """A display of a sweep on stdout, unless that is kept for JSON. `by` returns the command that takes other capacity
    types where runs would wait; `asks` tells whether a person at a terminal is asked."""

    def __init__(
        self,
        context: Context,
        rate: int,
        again: RunsAgain,
        by: Callable[[tuple[str, ...]], str],
        *,
        json: bool,
        yes: bool,
        asks: bool,
    ) -> None:
        self._context, self._again, self._by, self._json = context, again, by, json
        self._yes, self._asks = yes, asks
        self._agreed: Spending | None = None
        self._tell = screen.note if json or not asks else screen.out
        self.rate = rate

    def dry_run(self, chosen: ChosenSweep) -> None:
        """Print what would be sent, and the first requests."""
        first = [chosen.candidate(run) for run in chosen.left.send[:_SHOWN_REQUESTS]]
        self.chosen(chosen)
        if costs := chosen.spending:
            screen.note(f"  {costs.words}")
        screen.note(f"not sent; the first {len(first)}:" if first else "not sent")
        document = {
            "sweep": chosen.plan.id,
            "count": chosen.plan.count,
            "takesSeconds": chosen.forecast.seconds_to_send if chosen.forecast else 0.0,
            "forecast": forecast_document(chosen.forecast),
            "groups": [
                {"runs": chosen.counts[group], **choice_document(self._context.catalog, choice, choice.taken)}
                for group, choice in chosen.choices.items()
            ],
            "toConfirm": [chosen.spending.words] if chosen.spending else [],
            "regions": [candidate.region for candidate in first],
            "requests": [candidate.body for candidate in first],
        }
        screen.out_json("sweep-plan", document)

    def note(self, text: str) -> None:
        screen.note(text)

    def takes_sooner(self, sooner: SoonerChoice) -> bool:
        if self._yes:
            if sooner.spending:
                raise sooner.refusal(sooner.spending, self._by(sooner.types))
            return True
        if self._asks and sys.stdin.isatty():
            dear = f"\n{sooner.spending.words}" if sooner.spending else ""
            question = f"{sooner.waits}\n{sooner.words}{dear}\nSend them there instead of waiting?"
            agreed = click.confirm(question, err=True)
            self._agreed = sooner.spending if agreed else None
            return agreed
        return False

    def chosen(self, chosen: ChosenSweep) -> None:
        plan, choices, left, forecast = chosen.plan, chosen.choices, chosen.left, chosen.forecast
        catalog, template = self._context.catalog, plan.template.name
        for group, choice in list(choices.items())[:5]:
            runs = chosen.counts[group]
            if departure := leaving(catalog, choice, runs):
                self._tell(departure)
            what = summary(choice.taken.candidate, catalog.region, runs)
            self._tell(f"{template}{commit_words(catalog)}  →  {what}")
            self._tell(f"  the first: {choice.taken.verdict.text}")
            for line in below_verdict(self._context, plan.groups[group], choice):
                self._tell(line)
        if len(choices) > 5:
            self._tell(f"  … and {len(choices) - 5} more shapes")
        self._tell(f"sweep {plan.id}: {self._how_many(plan.count, left, forecast)}")
        for line in forecast_lines(forecast) if forecast else ():
            self._tell(f"  {line}")
        if sooner := chosen.sooner:
            self._tell(f"  {sooner.words}: --then {','.join(sooner.types)}")
        then, now = chosen.begun_at, catalog.revision.short
        if then != now and choices:
            screen.note(f"note: begun with the templates of {then}; the rest runs those of {now}")

    def confirm(self, costs: Spending) -> None:
        if not self._yes and costs != self._agreed:  # What was asked about may be a part of the runs.
            confirm(f"{costs.words}. Send it?", costs.refusal)

    def _how_many(self, count: int, left: RemainingRuns, forecast: Forecast | None) -> str:
        runs = counted(f"{count:,}", "run")
        if self._again.any:
            fresh = sum(not run.resend for run in left.send)
            if sent := _counts((len(left.send) - fresh, "once more"), (fresh, "for the first time")):
                return f"{len(left.send):,} of {runs} to send: {sent}"
            return f"none of {runs} {join(self._again.words, 'or')}{'' if left.look else ', nothing is sent'}"
        before = f", {left.done:,} of them submitted before" if left.done else ""
        takes = forecast.seconds_to_send if forecast else 0.0
        shared = f"({self.rate} a minute, shared by all who submit in the region)"
        return f"{runs}{before}{f', will take about {exact(takes)} to send {shared}' if takes else ''}"

    @contextmanager
    def sending(self, progress: SendingProgress) -> Iterator[Callable[[SendingProgress], None]]:
        """Draw a bar on stderr on a terminal; print a line now and then elsewhere."""
        if self._json or not screen.coloured(sys.stderr):
            yield _lines(self._context.clock)
            return
        from slipway.front.cli.terminal.redrawn import bar

        with bar(progress.total, progress.done) as show:
            yield lambda now: show(now.done, words(now))


def _counts(*facts: tuple[int, str]) -> str:
    return ", ".join(f"{count:,} {what}" for count, what in facts if count)


def words(progress: SendingProgress) -> str:
    """Return `2 looked for, 1 refused`, and that no call or no run gets through."""
    text = _counts(
        (progress.missed, "looked for, as their answers were lost"),
        (progress.refused, "refused"),
        (progress.limited, "rate-limited and retried"),
    )
    if progress.trouble:
        text += f"{', ' if text else ''}no contact ({progress.trouble}), still trying"
    if progress.hold:
        text += f"{', ' if text else ''}held: {progress.hold}"
    still = progress.trouble or progress.held or progress.hold
    return text + ("; Ctrl-C loses nothing: the same command sends the rest" if still else "")


def _lines(clock: Clock) -> Callable[[SendingProgress], None]:
    last, known = clock.monotonic(), ""

    def tell(now: SendingProgress) -> None:
        nonlocal last, known
        news = now.trouble or now.hold
        if clock.monotonic() - last < _LINE_EVERY and (not news or known):
            return
        last, known = clock.monotonic(), news
        rest = words(now)
        screen.note(f"{now.done:,} of {now.total:,} submitted{f'; {rest}' if rest else ''}")

    return tell

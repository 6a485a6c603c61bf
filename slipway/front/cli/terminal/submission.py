"""A submission on the terminal, shown while its offer is chosen, and while it is sent and waited for."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

import click

from slipway.base.errors import PolicyError, SlipwayError
from slipway.base.formatting import clock, join, span
from slipway.front.cli.terminal import screen
from slipway.google.jobs import AT_LEAST_ONCE, VertexJob
from slipway.model.catalog.model import Catalog
from slipway.model.machines.images import misfits
from slipway.model.prices import UNKNOWN_PRICE, dollars, unpriced
from slipway.using.context import Context
from slipway.using.jobs.earliest_start import compared
from slipway.using.jobs.verdict import Outcome
from slipway.using.submission.candidate import Candidate, added, price, summary
from slipway.using.submission.choice import Choice, JudgedCandidate, never_runs, not_taken, quota_commands
from slipway.using.submission.costs import Spending, dearest, leaving, left_pool, region_lines, run_total
from slipway.using.submission.prepared import PreparedSubmission
from slipway.using.submission.sender import about_copies, about_earlier
from slipway.using.submission.submission_result import SubmissionResult
from slipway.using.submission.waiting_attempt import FOR_EVER, WaitingAttempt

if TYPE_CHECKING:
    from slipway.front.cli.terminal.watching import PlainDisplay
    from slipway.using.jobs.follower import Event


class TerminalDisplay:
    """A display of a submission on stdout, unless that is kept for JSON. `again` is the command that resumes it, `yes`
    confirms any cost."""

    def __init__(self, context: Context, *, json: bool, again: str, yes: bool) -> None:
        self._context, self._json, self._again, self._yes = context, json, again, yes
        self._tell = screen.note if json else screen.out
        self.any_sent = False
        self._agreed = dict[type[Spending], Spending]()
        self._never: tuple[str, ...] | None = None
        self._plain: PlainDisplay | None = None

    def note(self, text: str) -> None:
        screen.note(text)

    def chosen(self, prepared: PreparedSubmission, choice: Choice) -> None:
        taken = choice.taken
        with nullcontext() if self.any_sent else screen.after("nothing was sent", self._again):
            for line in choice_lines(self._context, prepared, choice, taken.verdict.text):
                self._tell(line)
            if prepared.races:
                for judged in choice.hopeless:
                    self._tell(f"  {never_runs(judged)}")
                return
            later = prepared.candidates[prepared.candidates.index(taken.candidate) + 1 :]
            if taken.candidate.wait is not None and later:
                self._never = tuple(judged.candidate.label for judged in choice.hopeless)
                possible = self._possible(later)
                moves = f"up to {span(taken.candidate.wait)}, then moves on to {_labels(possible)}"
                self._tell(f"  waits here {moves if possible and taken.candidate.wait else 'until it starts'}")
                for judged in choice.hopeless:
                    self._tell(f"  {never_runs(judged)}")
                    for command in quota_commands(judged) if judged.verdict.lacking else ():
                        screen.hint(f"  to ask for more: {command}")
                screen.hint(f"  after an interruption: {self._again}")

    def _possible(self, later: Sequence[Candidate]) -> tuple[Candidate, ...]:
        """Return the candidates that were not told to be out of reach, now or, for a resumed submission, at the last
        deployment."""
        never = self._never
        if never is None:
            return tuple(candidate for candidate in later if candidate.offer.available)
        return tuple(candidate for candidate in later if candidate.label not in never)

    def sent(self, submitted: SubmissionResult) -> None:
        job, attempt = submitted.attempt.job, submitted.attempt
        self.any_sent = True
        with screen.after(*sent_words(job)):
            if earlier := about_earlier(submitted.request, attempt):
                self._tell(earlier)
            if copies := about_copies(submitted.request, attempt):
                screen.note(f"warning: {copies}")
            self._tell(f"job {screen.styled(job.display_name, sys.stdout, bold=True)}  {job.name}")
            if link := self._context.console_link(job):
                self._tell(f"  {link}")
            cancel = "" if job.ended else f"      slipway jobs cancel {job.display_name}"
            screen.hint(f"  slipway jobs logs {job.display_name} --follow{cancel}")

    def confirm(self, costs: Spending) -> None:
        # A deployment meanwhile may have made dearer what it moves on to.
        agreed = self._agreed.get(type(costs))
        if not self._yes and not (agreed and costs.within(agreed)):
            confirm(f"{costs.words}. Send it?", costs.refusal)
            self._agreed[type(costs)] = costs

    def leaves_pool(self, departure: str) -> None:
        if self._yes or not sys.stdin.isatty():
            return
        if not click.confirm(f"{departure}\nSend it there instead of waiting?", err=True):
            raise KeyboardInterrupt

    def falling_back(self, waiting: WaitingAttempt) -> None:
        sure = ", and none of its code runs" if waiting.launcher else ", unless it has just begun"
        gone = "" if waiting.job.ended else f"; that job is cancelled{sure}"
        self._tell(
            f"{waiting.job.display_name} did not start on {waiting.candidate.label}, so the submission moves on as "
            f"planned: next is {_labels(waiting.later)}{gone}"
        )

    @contextmanager
    def watching(self, waiting: WaitingAttempt) -> Iterator[Callable[[Event], None]]:
        from slipway.front.cli.terminal.watching import PlainDisplay, display, state_at
        from slipway.using.jobs.follower import Progress, Trouble

        begin = self._context.clock.monotonic()

        def time_left(job: VertexJob) -> str:
            if waiting.seconds == FOR_EVER or job.start_time is not None:
                return ""
            later = _labels(self._possible(waiting.later)[:1])
            # The service ends its wait; the display goes on until the service says so, or a while.
            if waiting.candidate.waits_by_itself:
                return f"  (then {later})" if later else ""
            rest = waiting.seconds - (self._context.clock.monotonic() - begin)
            if waiting.overdue:
                return f"  (looks at {_labels(waiting.later)} again in {clock(max(rest, 0.0))})"
            return f"  (then {later} in {clock(rest)})" if rest > 0 and later else ""

        # One for all waits of a submission: a repeated message is no news.
        self._plain = self._plain or PlainDisplay(self._context.right_clock, self._json)
        with display(self._context, self._json, self._plain) as show:

            def tell(event: Event) -> None:
                if isinstance(event, Progress):
                    job, text = event.job, state_at(event, event.job.display_name, "")
                    show.state(lambda now: text(now) + time_left(job))
                elif isinstance(event, Trouble):
                    show.note(event.text)

            yield tell


def choice_lines(context: Context, prepared: PreparedSubmission, choice: Choice, verdict: str) -> Iterator[str]:
    """Yield the machines that are taken, the verdict with its price, and what both leave out."""
    catalog, taken = prepared.catalog, choice.taken
    if departure := leaving(catalog, choice):
        yield departure
    yield f"{prepared.template.name}{commit_words(catalog)}  →  {summary(taken.candidate, catalog.region)}"
    yield f"{verdict}{_money(catalog, taken)}"
    if choice.earliest:
        yield f"  {compared(choice.earliest)}"
    if total := run_total(catalog, dearest(catalog, choice)):
        yield f"  {total.words}"
    if not prepared.races:
        yield from below_verdict(context, prepared, choice)
    yield from region_lines(prepared, choice)


def below_verdict(context: Context, prepared: PreparedSubmission, choice: Choice) -> Iterator[str]:
    """Yield what the verdict leaves out: parameters that do nothing, how often it may run, parts of the price, an image
    unfit for the GPU, and why offers were not taken, except as `leaving` reports."""
    offer = choice.taken.candidate.offer
    if idle := prepared.without_effect(offer):
        has = "has" if len(idle) == 1 else "have"
        yield f"  {join(idle)} {has} no effect on {offer.shape}: its arguments leave out what other shapes are given"
    if not choice.taken.candidate.request.job.starts_once:
        yield f"  {AT_LEAST_ONCE}"
    if lacking := unpriced(part.machine for part in choice.taken.candidate.demand.parts):
        yield f"  prices are {lacking}"
    on_cluster = not offer.region
    if on_cluster and (crossing := context.crossing(choice.taken.candidate.region)):
        yield f"  {crossing}"
    pools, asked = offer.worker_pools, prepared.overrides
    if asked.of_folder:  # What reviewed code brings was judged when it was deployed.
        yield from (f"  {why}" for why in misfits(pools, asked.requirements))
    known = left_pool(choice)
    yield from (f"  {not_taken(judged)}" for judged in choice.passed if judged is not known)


def confirm(question: str, refusal: SlipwayError) -> None:
    """Ask on the terminal. Raises `refusal` where there is none, and KeyboardInterrupt where the answer is no."""
    if not sys.stdin.isatty():
        raise refusal
    try:
        agreed = click.confirm(question, err=True)
    except click.Abort:
        agreed = False
    if not agreed:
        raise KeyboardInterrupt


def confirm_for_others(theirs: PolicyError, asks: str, words: Sequence[str], catalog: str | None, state: str) -> None:
    """Ask on the terminal about what concerns others, as `theirs` tells. Raises PolicyError, with these words and
    `--yes` as its fix, where there is none, and Interrupted, with the `state` of things, where the answer is no."""
    again = ["slipway", *words, *(["--catalog", catalog] if catalog else []), "--yes"]
    with screen.interruptible(state, f"slipway {'jobs list' if words[0] == 'jobs' else 'pools'}"):
        confirm(f"{theirs.what}. {asks}?", PolicyError(theirs.what, why=theirs.why, fix=shlex.join(again)))


def sent_words(job: VertexJob) -> tuple[str, str]:
    """Return that it was sent, where nothing else is known, and how to see more."""
    return f"job {job.display_name} was sent", f"slipway jobs show {job.display_name}"


def commit_words(catalog: Catalog) -> str:
    """Return the reviewed commit that defined the template, with `-dirty` for changes beyond it."""
    return f"  @ {catalog.revision.short}" if catalog.commit else ""


def _money(catalog: Catalog, taken: JudgedCandidate) -> str:
    """Return the price where it belongs to the verdict's line."""
    cost, outcome = price(catalog, taken.candidate), taken.verdict.outcome
    if cost.unknown:
        return f", {UNKNOWN_PRICE}"
    if not taken.candidate.offer.cluster:
        return f" ({dollars(cost)} while it runs, waiting is not billed)"
    if outcome is Outcome.STARTS:
        return f", no extra charge (pool machines: {dollars(cost)} for these, paid for anyway)"
    if outcome is Outcome.SCALES:
        return f" (adds {dollars(added(catalog, taken.candidate, taken.verdict))} while the pool is that large)"
    return f" (pool machines: {dollars(cost)} for these, paid for anyway)"


def _labels(candidates: tuple[Any, ...]) -> str:
    return ", ".join(dict.fromkeys(candidate.label for candidate in candidates))

"""`slipway submit --sweep`: what will be sent and how long that takes, and the sending."""

from __future__ import annotations

import shlex
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slipway.cli import screen
from slipway.cli.context import Context
from slipway.cli.submission_display import commit_words
from slipway.cli.submit_arguments import WaitOptions
from slipway.cli.sweep_outcome import Sweep, closing, document, problem_of_runs, problem_of_sending, until_ended
from slipway.cli.sweep_progress import shown
from slipway.errors import ConfigError, PolicyError
from slipway.formatting import exact
from slipway.submission.candidates import summary
from slipway.submission.choice import Choice, choose, passed_over
from slipway.submission.journal import state_folder
from slipway.submission.preflight import Preflight, offline
from slipway.submission.request import Request
from slipway.submission.sender import RetryPolicy
from slipway.sweep.rate_limit import SUBMISSIONS_PER_MINUTE, Estimate, RateLimiter
from slipway.sweep.runs import RemainingRuns, Run, known_runs, remaining_runs
from slipway.sweep.service import VertexSweepService
from slipway.sweep.sweep_file import read
from slipway.sweep.sweep_journal import SweepHeader, SweepJournal
from slipway.sweep.sweep_plan import SweepPlan, plan_sweep
from slipway.sweep.sweep_sender import SendingProgress, SendingResult, SweepSender

if TYPE_CHECKING:
    from slipway.cli.submit_arguments import SubmitArguments

WIDTH = 64
"""Requests under way at once: enough to use any permitted rate at a second's latency."""

_SHOWN_REQUESTS = 3


class SweepCommand:
    """One command's sweep."""

    def __init__(
        self, context: Context, typed: SubmitArguments, name: str | None, *, rate: int | None, json: bool
    ) -> None:
        self._context, self._json = context, json
        self._tell = screen.note if json else screen.out
        self._rate = SUBMISSIONS_PER_MINUTE if rate is None else rate
        assert typed.sweep is not None
        if typed.wait_for or typed.then:
            raise ConfigError(
                "--wait-for and --then are for one job",
                why="all runs of a sweep that need the same machines get them from the same place",
                fix="choose it: --capacity TYPE",
            )
        if typed.experiment_run is not None:
            raise ConfigError(
                "--experiment-run is the name of one job's run",
                why="what the runs of a sweep log would be mixed up there",
                fix="leave it out: each is a run of its own in the experiment, named after its job",
            )
        points = read(Path(typed.sweep))
        asked = typed.request()
        if typed.code is not None:
            from slipway.cli.code_flag import with_code

            asked = with_code(context, asked, Path(typed.code), upload=True)
        self.plan: SweepPlan = plan_sweep(context.catalog, asked, points, context.user, name)
        self._again = typed.again(name) if name else shlex.join(typed.words)

    def dry_run(self) -> None:
        """How many, how long, and the first requests. Nothing is read of pools and quota, nothing is sent."""
        from slipway.submission.preflight import offline_request

        found = self.plan
        requests = [offline_request(found.prepared(Run(index))) for index in range(min(_SHOWN_REQUESTS, found.count))]
        screen.note(f"{found.count:,} runs, sweep {found.id}{self._takes(found.count)}; the first {len(requests)}:")
        document = {"sweep": found.id, "count": found.count, "takesSeconds": self._estimate(found.count)}
        screen.out_json("sweep-plan", {**document, "requests": requests})

    def run(self, *, retry: bool) -> tuple[Sweep, SendingResult, RemainingRuns]:
        """Sends what is left of it. Raises PolicyError when some run can go nowhere, and SlipwayError."""
        catalog, found = self._context.catalog, self.plan
        with ThreadPoolExecutor(WIDTH, thread_name_prefix="sweep") as threads, self._journal() as journal:
            self._context.connection.session.widen(WIDTH)
            metadata = self._context.connection.metadata(catalog.region)
            service = VertexSweepService(
                self._context.vertex, metadata, found.groups[0].prepared.kind, catalog.stack, found.id
            )
            listing = threads.submit(service.all)
            choices = self._choices(threads)
            journal.begin(self._head())
            left = remaining_runs(
                found.count, known_runs(found.id, journal.jobs, journal.open, listing.result()), retry=retry
            )
            self._said(choices, left, retry=retry)
            now = catalog.revision.short
            if journal.commit != now and (left.send or left.look):
                screen.note(f"note: begun with the templates of {journal.commit}; the rest runs those of {now}")
            result = self._deliver(journal, threads, service, choices, left, insist=retry)
        return Sweep(found.id, found.count, self._again, service.all), result, left

    def _deliver(
        self,
        journal: SweepJournal,
        threads: ThreadPoolExecutor,
        service: VertexSweepService,
        choices: list[Choice],
        left: RemainingRuns,
        *,
        insist: bool,
    ) -> SendingResult:
        made: dict[Run, Request] = {}

        def request(run: Run) -> Request:
            if run not in made:
                candidate = choices[self.plan.of_group[run.index]].taken.candidate
                made[run] = self.plan.request(run, candidate)
            return made[run]

        progress = SendingProgress(total=left.done + len(left.send) + len(left.look), before=left.done)
        policy = RetryPolicy(look_for=self._context.look_for)
        with shown(self._context.clock, progress, plain=self._json) as tell:
            sender = SweepSender(
                service, request, journal, RateLimiter(self._rate), threads, WIDTH, tell, policy, self._context.clock
            )
            return sender.send(left.send, left.look, progress, insist=insist)

    def _journal(self) -> SweepJournal:
        catalog = self._context.catalog
        folder = state_folder(self._context.folder, self._context.environ) / "sweeps"
        return SweepJournal(folder / catalog.project / catalog.stack / f"{self.plan.id}.jsonl")

    def _head(self) -> SweepHeader:
        catalog, found = self._context.catalog, self.plan
        template = found.groups[0].prepared.template.name
        commit, when = catalog.revision.short, self._context.now.isoformat()
        return SweepHeader(found.id, template, found.digest, found.count, commit, when)

    def _choices(self, threads: ThreadPoolExecutor) -> list[Choice]:
        """A candidate for each group of runs. Raises PolicyError when one has none, or a run breaks a rule of the
        service."""
        candidates = [candidate for group in self.plan.groups for candidate in group.prepared.candidates]
        preflight = Preflight(self._context.hurried, self._context.catalog, candidates, self._context.now, threads)
        found = []
        for group in self.plan.groups:
            judging = preflight.judge(group.prepared.candidates)
            found.append(choose(group.prepared.template.name, judging, settle=True))
        broken = [
            f"run {index}: {'; '.join(judged.reasons)}"
            for index in range(self.plan.count)
            for judged in [self._offline(index, found[self.plan.of_group[index]])]
            if judged is not None
        ]
        if broken:
            raise PolicyError(
                f"{len(broken):,} of {self.plan.count:,} runs can never run",
                why="\n".join(broken[:10]),
                fix="correct them",
            )
        return found

    def _offline(self, index: int, choice: Choice) -> Any:
        return offline(self.plan.candidate(Run(index), choice.taken.candidate), self._context.catalog.region)

    def _said(self, choices: list[Choice], left: RemainingRuns, *, retry: bool) -> None:
        catalog, found = self._context.catalog, self.plan
        template = found.groups[0].prepared.template.name
        for group, choice in list(zip(found.groups, choices, strict=True))[:5]:
            self._tell(f"{template}{commit_words(catalog)}  →  {group.runs:,} × {summary(choice.taken.candidate)}")
            self._tell(f"  the first: {choice.taken.verdict.text}")
            for one in choice.passed:
                self._tell(f"  {passed_over(one)}")
        if len(choices) > 5:
            self._tell(f"  … and {len(choices) - 5} more shapes")
        if retry and left.send:
            what = "has failed and is" if len(left.send) == 1 else "have failed and are"
            self._tell(f"sweep {found.id}: {len(left.send):,} of {found.count:,} runs {what} sent once more")
        elif retry:
            self._tell(
                f"sweep {found.id}: none of {found.count:,} runs has failed{'' if left.look else ', nothing is sent'}"
            )
        else:
            before = f", {left.done:,} of them submitted before" if left.done else ""
            self._tell(f"sweep {found.id}: {found.count:,} runs{before}{self._takes(len(left.send))}")

    def _estimate(self, count: int) -> float:
        return Estimate.of(count, self._rate).seconds

    def _takes(self, count: int) -> str:
        takes = self._estimate(count)
        if not takes:
            return ""
        return (
            f", will take about {exact(takes)} to send ({self._rate} a minute, shared by all who submit in the region)"
        )


def sweep_runs(
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
    if ending.follows:
        raise ConfigError(
            "--follow shows the log of one job", fix="wait for all runs with --wait, or see one: slipway jobs logs"
        )
    sweeping = SweepCommand(context, typed, name, rate=rate, json=json)
    if dry_run:
        sweeping.dry_run()
        return
    sweep, result, left = sweeping.run(retry=retry)
    if not json:
        screen.out("\n".join(closing(sweep, result, left)))
    screen.note(
        screen.faint(f"  slipway jobs list --sweep {sweep.id}      slipway jobs cancel --sweep {sweep.id}", sys.stderr)
    )
    problem, ended = problem_of_sending(sweep, result), None
    if ending.waits and problem is None:
        sent = [run.index for run in result.accepted]
        ended = until_ended(context, sweep, sent, timeout=ending.timeout, quiet=json)
        problem = problem_of_runs(sweep, ended)
    if json:
        screen.out_json("sweep", document(sweep, result, left, ended))
    if problem is not None:
        raise problem

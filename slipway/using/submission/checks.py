"""Looks at what a submission needs beside its verdicts before a job is sent: the stack's budget, and its inputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass

from slipway.base.clock import right_time
from slipway.model.budget import Ledger
from slipway.model.catalog.parameter_types import Value
from slipway.model.labels import USER_LABEL, team_of
from slipway.using.context import Context
from slipway.using.submission.budget_check import check_budget, read_ledger
from slipway.using.submission.candidate import Candidate
from slipway.using.submission.inputs import InputCheck
from slipway.using.submission.prepared import PreparedSubmission


@dataclass(frozen=True)
class Checks:
    """Looks that have begun; None where there is nothing to look at."""

    context: Context
    ledger: Future[Ledger | str] | None
    inputs: InputCheck | None

    @classmethod
    def begin(
        cls, context: Context, prepared: PreparedSubmission, runs: Iterable[Mapping[str, Value]], threads: Executor
    ) -> Checks:
        """Begin to look for `runs` of a submission with these parameters. Raises ConfigError for an input whose address
        is none."""
        ledger = None
        if context.catalog.budget is not None:
            ledger = threads.submit(read_ledger, context.hurried.storage, context.selected.location.bucket)
        return cls(context, ledger, InputCheck.begin(context, prepared.candidates[0].offer, runs, threads))

    @property
    def most(self) -> int:
        """The most bytes of inputs that a run reads, as far as was looked."""
        return self.inputs.most if self.inputs else 0

    def check(
        self, candidates: Sequence[Candidate], tell: Callable[[str], None], places: Iterable[int] | None = None
    ) -> None:
        """Check jobs on these candidates, by the cloud's month where this machine's clock is wrong. `places`: those of
        the runs that are sent, None for all. Tells what has to be known. Raises PolicyError where the budget refuses
        them, and ConfigError for inputs that are not there, or do not fit."""
        context = self.context
        if self.ledger and context.catalog.budget:
            labels = candidates[0].body.get("labels", {})
            check_budget(
                context.catalog.budget,
                self.ledger.result(),
                origin=context.catalog.origin,
                stack=context.catalog.stack,
                team=team_of(labels),
                user=labels.get(USER_LABEL, ""),
                now=right_time(context.now, context.connection.session.time),
                tell=tell,
            )
        if self.inputs:
            self.inputs.check(candidates, tell, places)

"""Looks at what a submission needs beside its verdicts before a job is sent: the stack's budget, its inputs, and the
secret of `--notify`, never its value."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, Future
from dataclasses import dataclass

from slipway.base.clock import right_time
from slipway.base.errors import ConfigError
from slipway.google.failures import Call, CloudError, Denied, NotFound
from slipway.model.budget import Ledger
from slipway.model.catalog.parameter_types import Value
from slipway.model.labels import USER_LABEL, team_of
from slipway.model.secret import secret_version
from slipway.using.context import Context
from slipway.using.submission.budget_check import check_budget, read_ledger
from slipway.using.submission.candidates import Candidate, PreparedSubmission
from slipway.using.submission.inputs import InputCheck


@dataclass(frozen=True)
class Checks:
    """Looks that have begun; None where there is nothing to look at."""

    context: Context
    ledger: Future[Ledger | str] | None
    inputs: InputCheck | None
    #: The version of the secret, and why it can't be looked at.
    secret: tuple[str, Future[CloudError | None]] | None

    @classmethod
    def begin(
        cls, context: Context, prepared: PreparedSubmission, runs: Iterable[Mapping[str, Value]], threads: Executor
    ) -> Checks:
        """Begin to look for `runs` of a submission with these parameters. Raises ConfigError for an input whose address
        is none."""
        ledger, secret = None, None
        if context.catalog.budget is not None:
            ledger = threads.submit(read_ledger, context.hurried.storage, context.selected.location.bucket)
        inputs = InputCheck.begin(context, prepared.candidates[0].offer, runs, threads)
        if prepared.overrides.notify:
            version = secret_version(prepared.overrides.notify, context.catalog.project)
            secret = version, threads.submit(_secret_problem, context, version)
        return cls(context, ledger, inputs, secret)

    def check(
        self, candidates: Sequence[Candidate], tell: Callable[[str], None], places: Iterable[int] | None = None
    ) -> None:
        """Check jobs on these candidates, by the cloud's month where this machine's clock is wrong. `places`: those of
        the runs that are sent, None for all. Tells what has to be known. Raises PolicyError where the budget refuses
        them, and ConfigError for inputs or a secret that are not there, or inputs that do not fit."""
        context = self.context
        if self.ledger and context.catalog.budget:
            labels = candidates[0].body.get("labels", {})
            check_budget(
                context.catalog.budget,
                self.ledger.result(),
                stack=context.catalog.stack,
                team=team_of(labels),
                user=labels.get(USER_LABEL, ""),
                now=right_time(context.now, context.connection.session.time),
                tell=tell,
            )
        if self.inputs:
            self.inputs.check(candidates, tell, places)
        if self.secret:
            version, problem = self.secret[0], self.secret[1].result()
            if isinstance(problem, NotFound):
                raise ConfigError(
                    f"nothing was sent: there is no {version}",
                    why="the job would tell nobody how it goes",
                    fix="correct the secret's name, or make it: docs/follow.md",
                )
            if isinstance(problem, Denied):
                tell("--notify not checked, as you may not look at secrets: the job's log says when nobody is told")
            elif problem:
                tell(f"--notify not checked: {problem.message}")


def _secret_problem(context: Context, version: str) -> CloudError | None:
    connection, call = context.hurried, Call(f"look for {version}", "secretmanager.versions.get", version)
    try:
        connection.session.get(f"{connection.endpoints.of('secrets')}{version}", call)
    except CloudError as problem:
        return problem
    return None

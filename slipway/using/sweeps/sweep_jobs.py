"""The jobs of one sweep: made, looked for and listed; and those of another sweep of its name, told apart."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Lock

from slipway.base.errors import ConfigError
from slipway.base.formatting import first_lines
from slipway.google.jobs import VertexJob
from slipway.model.labels import REQUEST_LABEL
from slipway.using.context import Context
from slipway.using.jobs.claimant import claimant, has_claim
from slipway.using.submission.experiment_run import create_run, experiment_of, prepare_experiment
from slipway.using.submission.lookup import PAGE, JobLookup
from slipway.using.submission.request import Request
from slipway.using.sweeps.points import MOST
from slipway.using.sweeps.runs import Run, latest, runs_in_words, sweep_filter
from slipway.using.sweeps.sweep_code import SweepCode
from slipway.using.sweeps.sweep_plan import SweepPlan

_ONE_BY_ONE = 8
_SHOWN = 5


def calls_of(listed: int) -> int:
    return 1 + listed // PAGE


class SweepJobs:
    """The jobs of one sweep, all of one `kind`. May be shared by threads.

    A search leaves out the jobs of another sweep of this name, which were sent for other runs and bear the ids of
    these. They are kept in mind: the claims decide which of the two run.
    """

    def __init__(self, context: Context, plan: SweepPlan, note: Callable[[str], None]) -> None:
        """Begin with a plan. `note` is told of regions that are left out."""
        self._context, self._plan, self.lookup = context, plan, JobLookup(context, note)
        self._filter = sweep_filter(context.catalog.identity.label, plan.id)
        self.any_request = plan.groups[0].candidates[0].request
        self._others: dict[Run, VertexJob] = {}
        self._sent: frozenset[Run] = frozenset()
        self._code: SweepCode | None = None
        self._experiments: set[str] = set()
        self._preparing = Lock()

    def begin(self, runs: Iterable[Run], code: SweepCode | None) -> None:
        """Begin to send these runs with this code: a job of theirs with another one is another sweep's from now on."""
        self._sent, self._code = frozenset(runs), code

    def create(self, request: Request) -> VertexJob:
        """Make a job, after the experiment run that its request names: where that fails, no job is made."""
        create_run(self._context, request, partial(self._experiment_ready, request))
        return self._context.vertex.at(request.region).create(request.kind, request.body)

    def _experiment_ready(self, request: Request) -> None:
        name = experiment_of(request)
        with self._preparing:
            if name not in self._experiments:  # The first of the runs makes it; the others wait for that.
                prepare_experiment(self._context, request)
                self._experiments.add(name)

    def look(self, requests: Iterable[Request]) -> tuple[Mapping[str, str], int]:
        """Return the names of listed jobs by request id, and the number of calls. A few are asked for one by one; many
        by reading the whole sweep."""
        wanted = [request.id for request in requests]
        if len(wanted) <= _ONE_BY_ONE:
            filters = (f'{self._filter} AND labels.{REQUEST_LABEL}="{id_}"' for id_ in wanted)
            jobs = tuple(job for filter_ in filters for job in self._listed(filter_))
            calls = len(wanted)
        else:
            jobs = self.all()
            calls = calls_of(len(jobs))
        names = {job.request_id: job.name for job in reversed(jobs)}
        return {id_: names[id_] for id_ in wanted if id_ in names}, calls

    def all(self) -> tuple[VertexJob, ...]:
        return self._listed(self._filter)

    def any_under(self, sweep: str) -> bool:
        wanted = sweep_filter(self._context.catalog.identity.label, sweep)
        return bool(self.lookup.jobs(self._plan.kind, wanted, runs_once=self.any_request.runs_once, most=1))

    def own(self, jobs: Iterable[VertexJob]) -> tuple[VertexJob, ...]:
        """Return the jobs without those of another sweep of this name, which are kept in mind."""
        own = []
        for job in jobs:
            run = Run.of(job)
            if run and (self._plan.difference(job) or (run in self._sent and self._has_other_code(job))):
                self._others[run] = job
            else:
                own.append(job)
        return tuple(own)

    def _has_other_code(self, job: VertexJob) -> bool:
        theirs = SweepCode.of(job)
        return self._code is not None and theirs is not None and not self._code.same(theirs)

    def require_own(self, sent: Collection[Run]) -> None:
        """Raise ConfigError where the ids of runs that were not `sent` are those of another sweep's jobs."""
        count = self._plan.count if sent else MOST
        others = {run: job for run, job in sorted(self._others.items()) if run not in sent and run.index < count}
        if not others:
            return
        differences = (f"{self._plan.difference(job)} ({job.numbered})" for job in others.values())
        left_out = ""
        if sent:
            left_out = f"\nand leave out what was sent of it: {runs_in_words(sorted({run.index for run in sent}))}"
        raise ConfigError(
            f"sweep {self._plan.id} was begun with other runs",
            why="\n".join(first_lines(differences, _SHOWN)),
            fix=("name this one differently: ", {"request_id": "NAME"}, left_out),
        )

    def taken(self, accepted: Mapping[Run, str]) -> dict[Run, VertexJob]:
        """Return those of the `accepted` runs, with their jobs' names, that do not run, each with the job of another
        sweep that has its claim. Where nothing is claimed, as by an image, both run."""
        rivals = {run: job for run, job in sorted(self._others.items()) if run in accepted}
        storage = self._context.connection.storage
        with ThreadPoolExecutor(_ONE_BY_ONE) as threads:
            answers = threads.map(lambda job: has_claim(storage, job), rivals.values())
        return {run: job for (run, job), claimed in zip(rivals.items(), answers, strict=True) if claimed}

    def latest(self) -> dict[int, VertexJob]:
        return latest(self.all(), self.choose_job)

    def choose_job(self, jobs: list[VertexJob]) -> VertexJob:
        """Return the job that has the attempt's claim, among several jobs of it."""
        return claimant(self._context.connection.storage, jobs)

    def _listed(self, filter_: str) -> tuple[VertexJob, ...]:
        return self.own(self.lookup.jobs(self._plan.kind, filter_, runs_once=self.any_request.runs_once))

"""The jobs of one sweep: made, looked for and listed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from itertools import islice
from threading import Lock

from slipway.cloud.jobs import VertexJob
from slipway.cloud.vertex import Vertex
from slipway.context import Context
from slipway.errors import ConfigError
from slipway.jobs.claim import settled
from slipway.labels import REQUEST_LABEL
from slipway.submission.experiment_run import create_run, experiment_of, prepare_experiment
from slipway.submission.request import Request
from slipway.sweeps.runs import in_order, latest, sweep_filter
from slipway.sweeps.sweep_plan import SweepPlan

_ONE_BY_ONE = 8
_PAGE = 100
_SHOWN = 5


def calls_of(listed: int) -> int:
    """How many calls it takes to list so many jobs."""
    return 1 + listed // _PAGE


class SweepJobs:
    """The jobs of one sweep, all of one `kind`: made, and listed by the service. May be shared by threads.

    `skipped`: regions that are done without, as they did not answer. Whatever looks for jobs raises ConfigError where
    one bears the id of a run and is another one's.
    """

    def __init__(self, context: Context, plan: SweepPlan, note: Callable[[str], None]) -> None:
        """`note` is told of regions that are done without."""
        self._context, self._plan, self._note = context, plan, note
        self.kind, self._filter = plan.kind, sweep_filter(context.catalog.stack, plan.id)
        self._once = plan.groups[0].candidates[0].request.runs_once
        self.skipped: frozenset[str] = frozenset()
        self._experiments: set[str] = set()
        self._preparing = Lock()

    def create(self, request: Request) -> VertexJob:
        """With the run of an experiment that the request names. What fails there has made no job all the same."""
        create_run(self._context, request, partial(self._experiment_ready, request))
        return self._context.vertex.at(request.region).create(request.kind, request.body)

    def _experiment_ready(self, request: Request) -> None:
        """Its experiment is prepared by the first of its runs; the others wait for that."""
        name = experiment_of(request)
        with self._preparing:
            if name not in self._experiments:
                prepare_experiment(self._context, request)
                self._experiments.add(name)

    def look(self, requests: Iterable[Request]) -> tuple[Mapping[str, str], int]:
        """Names by request id, of those that are listed, and how many calls it took. A few are asked for one by one;
        many by reading the whole sweep."""
        wanted = [request.id for request in requests]
        if len(wanted) > _ONE_BY_ONE:
            jobs = self.all()
            found = {job.request_id: job.name for job in reversed(jobs)}
            return {id_: found[id_] for id_ in wanted if id_ in found}, calls_of(len(jobs))
        listed = {
            id_: job.name
            for id_ in wanted
            for job in self._listed(f'{self._filter} AND labels.{REQUEST_LABEL}="{id_}"')
        }
        return listed, len(wanted)

    def all(self) -> tuple[VertexJob, ...]:
        """Every job of the sweep that is listed."""
        return self._listed(self._filter)

    def any_under(self, sweep: str) -> bool:
        """Whether a job of the sweep is listed under another of its ids."""
        return bool(self._read(sweep_filter(self._context.catalog.stack, sweep), 1))

    def checked(self, jobs: Iterable[VertexJob]) -> tuple[VertexJob, ...]:
        """The same. Raises ConfigError where some are jobs of other runs."""
        found = tuple(jobs)
        if differences := [one for one in map(self._plan.difference, in_order(found)) if one]:
            more = len(differences) - _SHOWN
            raise ConfigError(
                f"sweep {self._plan.id} was begun with other runs",
                why="\n".join([*differences[:_SHOWN], *([f"and {more:,} more"] if more > 0 else [])]),
                fix=("name this one differently: ", {"request_id": "NAME"}),
            )
        return found

    def _listed(self, filter_: str) -> tuple[VertexJob, ...]:
        return self.checked(self._read(filter_))

    def _read(self, filter_: str, most: int | None = None) -> tuple[VertexJob, ...]:
        """Where the claim lets only one job of each run run, a region without clusters that does not answer is done
        without; once it did not, it is not asked again."""

        def read(vertex: Vertex) -> tuple[VertexJob, ...]:
            return tuple(islice(vertex.jobs(self.kind, filter_, page_size=most or _PAGE), most))

        if not self._once:
            return read(self._context.vertex)
        return read(self._context.vertex_of_clusters) if self.skipped else self._context.looked_up(read, self._skip)

    def _skip(self, words: str) -> None:
        if not self.skipped:
            self.skipped = frozenset(self._context.catalog.regions_without_clusters)
            self._note(words)

    def latest(self) -> dict[int, VertexJob]:
        """The job that counts for each run that is listed."""
        return latest(self.all(), self.settle)

    def settle(self, jobs: list[VertexJob]) -> VertexJob:
        """Which of several jobs of one attempt has its claim."""
        return settled(self._context.connection.storage, jobs)

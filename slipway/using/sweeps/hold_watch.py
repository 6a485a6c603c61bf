"""A reader of what holds the runs of a sweep, beside their sending: pauses, and the shares of teams."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Executor, Future
from contextlib import suppress
from dataclasses import dataclass, field

from slipway.google.clusters import PersistentResource
from slipway.google.failures import CloudError, Denied, NotFound
from slipway.google.jobs import VertexJob
from slipway.model.kinds import CUSTOM_JOB
from slipway.using.context import Context
from slipway.using.jobs.pause import Pause, pause_of, read_pauses
from slipway.using.jobs.team_share import team_share
from slipway.using.submission.candidate import Candidate
from slipway.using.sweeps.runs import Run

EVERY_S = 10.0


@dataclass(frozen=True)
class _Look:
    pauses: Mapping[str, Pause] = field(default_factory=dict)
    #: The shared clusters by name, each with its teams' shares and the unfinished jobs of its region.
    shared: Mapping[str, tuple[Mapping[str, int], PersistentResource, tuple[VertexJob, ...]]] = field(
        default_factory=dict
    )


class HoldWatch:
    """Times are those of the monotonic clock."""

    def __init__(
        self,
        context: Context,
        candidate: Callable[[Run], Candidate],
        clusters: Collection[str],
        threads: Executor,
        shares: Callable[[], Mapping[str, Mapping[str, int]] | None],
    ) -> None:
        """`candidate`: returns that of a run. `clusters`: the names of those that runs are sent to. `shares`: returns
        the teams' in clusters, which a deployment may edit meanwhile."""
        self._context, self._candidate, self._threads = context, candidate, threads
        self._clusters, self._shares = clusters, shares
        self._look: _Look | None = None
        self._ask_at, self._failed = 0.0, ""
        self._reading: Future[_Look] | None = None
        #: The machines of runs that were sent since the last look began, by cluster, and since the present one did.
        self._sent, self._sent_since = Counter[str](), Counter[str]()

    def why(self, run: Run, now: float) -> str:
        """Return the reason why a run is not sent now, as of the last look; empty where it is, and then it counts as
        sent. The first look is waited for, and nothing is sent before one tells; a later one that fails tells nothing
        new."""
        if self._reading is None and now >= self._ask_at:
            self._reading, self._ask_at = self._threads.submit(self._read), now + EVERY_S
            self._sent_since = Counter()
        if self._reading and (self._reading.done() or self._look is None):
            reading, self._reading = self._reading, None
            try:
                self._look, self._sent = reading.result(), Counter(self._sent_since)
            except CloudError as problem:
                self._failed = problem.message
        look = self._look
        if look is None:
            return f"not known whether anything is paused: {self._failed}"
        candidate, catalog = self._candidate(run), self._context.catalog
        name = candidate.offer.cluster
        if pause := pause_of(look.pauses, name):
            return pause.words(catalog.stack)
        if name not in look.shared:
            return ""
        team, demand = candidate.request.job.team, candidate.demand
        share = team_share(name, *look.shared[name], team, demand)
        needs = demand.machines
        why = share.keeps_out(needs, self._sent[name], queues=False)
        for sent in () if why else (self._sent, self._sent_since):
            sent[name] += needs
        return why

    def _read(self) -> _Look:
        context, shared = self._context, {}
        shares = self._shares() or {}
        for name in (name for name in self._clusters if name in shares):
            here = context.vertex_by(context.hurried).at(context.catalog.region_of(name))
            with suppress(Denied, NotFound):  # Another look would not tell either.
                cluster = here.persistent_resource(context.catalog.clusters[name].id)
                shared[name] = shares[name], cluster, tuple(here.active_jobs(CUSTOM_JOB))
        return _Look(read_pauses(context.hurried.storage, context.catalog.work_bucket), shared)

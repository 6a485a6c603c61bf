"""Runs that are waited for and that no list shows, yet or any more: their jobs are asked for, a few at each look."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from slipway.cloud.failures import NotFound
from slipway.cloud.jobs import VertexJob
from slipway.context import Context
from slipway.sweeps.runs import Run

_AT_A_LOOK = 8


class UnlistedRuns:
    """`gone`: the numbers of those whose jobs were deleted; `calls`: how many the last look took."""

    def __init__(self, context: Context, accepted: Mapping[Run, str], gone: Iterable[int]) -> None:
        """`accepted`: the name of the job of each run's last attempt."""
        self._context, self._accepted = context, accepted
        self._ended: dict[int, VertexJob] = {}
        self.gone, self.calls = set(gone), 0

    def look(self, listed: Mapping[int, VertexJob]) -> dict[int, VertexJob]:
        """The runs' jobs, by the runs' numbers: those `listed`, and those that were asked for.

        Nothing is asked while one that is listed goes on: all may be listed by then. Raises CloudError.
        """
        jobs, missing = dict(listed), self._missing(listed)
        self.calls = 0
        for run in missing:
            jobs.pop(run.index, None)  # An earlier attempt.
            if run.index in self._ended:
                jobs[run.index] = self._ended[run.index]
        if all(job.ended for job in jobs.values()):
            for run in [one for one in missing if one.index not in jobs][:_AT_A_LOOK]:
                self.calls += 1
                try:
                    job = self._context.vertex.job(self._accepted[run])
                except NotFound:
                    self.gone.add(run.index)
                    continue
                jobs[run.index] = job
                if job.ended:
                    self._ended[run.index] = job
        return {index: job for index, job in jobs.items() if index not in self.gone}

    def unseen(self, jobs: Mapping[int, VertexJob]) -> set[int]:
        """The numbers of those that nothing is known of yet."""
        return {run.index for run in self._accepted} - jobs.keys() - self.gone

    def _missing(self, listed: Mapping[int, VertexJob]) -> list[Run]:
        return sorted(run for run in self._accepted if run.index not in self.gone and not _shown(run, listed))


def _shown(run: Run, listed: Mapping[int, VertexJob]) -> bool:
    """Whether its job is listed, or that of a later attempt; there may be an earlier one's alone."""
    job = listed.get(run.index)
    seen = Run.of(job) if job else None
    return seen is not None and seen >= run

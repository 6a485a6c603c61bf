"""Notifications by whoever waits for a sweep: of the first run that fails, and of the end, by the marks of its runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from slipway.authoring.packages import slipway_notify as notify
from slipway.google.jobs import FAILED, VertexJob, state_word
from slipway.using.context import Context
from slipway.using.jobs.failure import read_causes
from slipway.using.jobs.metrics import read_metrics
from slipway.using.jobs.notification import Notifier
from slipway.using.jobs.results import number
from slipway.using.sweeps.runs import GONE
from slipway.using.sweeps.sweep_submitter import SubmittedSweep

_METRICS = 3


class SweepNotifier(Notifier):
    def __init__(self, context: Context, sweep: SubmittedSweep) -> None:
        """Raises the ConfigError of Notifier."""
        super().__init__(context)
        self._sweep, self._failure = sweep, ""
        self._facts = {"sweep": sweep.id, "runs": str(sweep.count)}
        self._mark = notify.place_of(f"gs://{context.catalog.work_bucket}/claims/", sweep.id)

    def looked(self, jobs: Mapping[int, VertexJob]) -> str:
        """Tell of the run that failed first, if any; return why that could not be done, mostly nothing."""
        failed = [(job.end_time, run) for run, job in jobs.items() if job.state in FAILED and job.end_time]
        if not self._url or self._failure or not failed:
            return ""
        run = min(failed)[1]
        cause = read_causes(self._context, [jobs[run]]).get(jobs[run].name, "")
        self._failure = f"; run {run}: {cause or notify.FAILED}"
        return self._tell(jobs[run], notify.FAILED, cause, self._mark, run=str(run), **self._facts)

    def all_ended(self, jobs: Mapping[int, VertexJob], gone: int) -> str:
        """Tell how many runs ended how, why the first failed, and the least and most of the first metrics; return why
        that could not be done. Runs that are sent once more make another end."""
        if not self._url or not jobs:
            return ""
        states = Counter(state_word(job.state) for job in jobs.values()) + Counter({GONE: gone})
        why = notify.counted(self._sweep.count, states) + self._failure
        succeeded = {run: job for run, job in jobs.items() if job.state == "JOB_STATE_SUCCEEDED"}
        read = read_metrics(self._context, list(succeeded.values()))
        for name in list(dict.fromkeys(name for metrics in read.values() for name in metrics))[:_METRICS]:
            values = sorted((read[job.name][name], run) for run, job in succeeded.items() if name in read[job.name])
            ends = values[:1] + values[-1:] * (values[0][0] < values[-1][0])
            why += f"; {name} {' to '.join(f'{number(value)} (run {run})' for value, run in ends)}"
        resends = sum(run.resend for run in self._sweep.accepted)
        mark = f"{self._mark}/{resends}" if resends else self._mark
        return self._tell(next(iter(jobs.values())), notify.ENDED, why, mark, job="", **self._facts)

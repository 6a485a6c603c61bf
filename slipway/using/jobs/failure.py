"""The reason for a job's failure beyond the service's own message: the last lines of the replica that failed first, or
its memory use. One call, of bounded time, and a second one where memory was not sampled, or the last lines have no
error."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from operator import itemgetter
from typing import Annotated

from slipway.base.codec import NOT_WRITTEN, At, MaybeText
from slipway.base.errors import COLOUR
from slipway.base.formatting import counted, last_part, percent, short, span
from slipway.google.failures import CloudError, Exhausted
from slipway.google.jobs import FAILED, VertexJob
from slipway.google.logging import LogEntry
from slipway.google.monitoring import MEMORY
from slipway.google.pipeline_tasks import PipelineTask
from slipway.google.trials import Trial
from slipway.model.labels import CODE_LABEL
from slipway.using.context import Context
from slipway.using.jobs.log import PAGE, job_filter, newest, shown
from slipway.using.jobs.reason_line import reason_of_lines, telling_lines
from slipway.using.jobs.remedy import MORE_MEMORY, OTHER_KILLS, is_gpu_memory, meaning, remedy
from slipway.using.jobs.roles import REPLICA, TRIAL_LABEL, prefix, task_filter, who_of
from slipway.using.jobs.severity import is_at_least, tells_reason

_MOST_READ = 20
"""The most failed jobs whose log is read, as logs take 60 reads a minute; the others have the service's words."""
_AT_ONCE = 8
_NOT_READ = f"its log was not read: a list reads {_MOST_READ} logs at most; slipway jobs show reads it"
_OUT_OF_MEMORY = re.compile(r"\b(?:out of|low on) memory\b|\bstatus of 137\b", re.IGNORECASE)
_GUESS = re.compile(r"\bran out of memory and (?=exited with a non-zero status of 137)")
"""Vertex AI's words for every process that SIGKILL has ended."""
_FAILED = ("INFEASIBLE", "failed")
"""The states of a trial, and of a pipeline's task, that failed."""
_ERROR = "ERROR"
_ANY_REPLICA = 'resource.labels.task_name:"workerpool"'
_LOOKED_AT, _LINES, _LONGEST, _BRIEF = 100, 8, 300, 120
"""The lines read, the lines shown, and the most characters of a line, in full and in brief."""
_MUCH_MEMORY = 0.5
"""The peak use of memory from which a kill is taken for a lack of it: memory grows between two samples."""
_QUOTA_PAUSE_S = 15.0
"""The seconds until a log is read again that a limit of reads a minute has hidden."""
_BEFORE, _LATE = timedelta(hours=1), timedelta(minutes=4)
"""The times before and after a job's end for which its memory use is read: samples come late."""

_PLACES = re.compile(r"(?:/[\w.+-]+)*/slipway-\w+/(?:[\w.-]+/)*?code/|(?:/[\w.+-]+)+/(?=python[\d.]*: )")
"""The folders before a file of the job's folder, and before Python: in a short line they displace the reason."""


@dataclass(frozen=True)
class Failure:
    """A failure, as far as its log and its memory use tell."""

    #: The failed replica by its role's name; empty where the service names none.
    who: Annotated[MaybeText, At("role")] = ""
    #: The newest errors that the replica wrote, else its newest lines, the oldest first.
    lines: tuple[str, ...] = ()
    #: The peak use of its machine's memory, 0 to 1, where that was sampled.
    memory: float | None = None
    machine: Annotated[str, NOT_WRITTEN] = ""
    why: MaybeText = ""
    killed: Annotated[bool, NOT_WRITTEN] = False
    #: The service's message.
    error: Annotated[str, NOT_WRITTEN] = ""
    #: The template's own image ran, in which no package is installed.
    own_image: Annotated[bool, NOT_WRITTEN] = False
    #: The job had the folder of its submitter.
    has_folder: Annotated[bool, NOT_WRITTEN] = True
    #: Why the log or the memory use could not be read.
    unreadable: Annotated[str, NOT_WRITTEN] = ""

    @property
    def brief(self) -> str:
        """The failure in brief: `out of memory (chief, 97 % of its n1-standard-8)` or its last line; may be empty."""
        if self.memory is not None:
            cause = "out of memory" if self.is_out_of_memory else "killed by SIGKILL"
            return f"{cause} ({self.who or 'a replica'}, {percent(self.memory)} of its {self.machine})"
        if self.killed:
            return f"killed, most likely out of memory ({self.who or 'a replica'})"
        if self.gpu_memory:
            return f"out of a GPU's memory ({self.who or 'a replica'})"
        # A launcher's error ends with its ways out, and its last word of a command with the files that are kept.
        lines = [line for line in self.lines if not line.lstrip().startswith(("why: ", "fix: "))] or self.lines
        last = reason_of_lines(lines).removeprefix("slipway: ").partition("; files kept: ")[0]
        return f"{_between(_PLACES.sub('', last))} ({self.who or 'a replica'})" if lines else ""

    @property
    def is_out_of_memory(self) -> bool:
        """Return whether SIGKILL ended it, with at least half of its memory in use if there are samples of that."""
        return self.killed if self.memory is None else self.memory >= _MUCH_MEMORY

    def without_guess(self, error: str) -> str:
        """Return the service's message; without its guess at memory if the samples contradict that."""
        return error if self.memory is None or self.is_out_of_memory else _GUESS.sub("", error)

    @property
    def gpu_memory(self) -> bool:
        """Tell whether its code found no room in a GPU's memory."""
        return is_gpu_memory(self.lines)

    @property
    def words(self) -> list[str]:
        who = self.who or "a replica"
        if self.memory is not None:
            used = f"used {percent(self.memory)} of the memory of its {self.machine}, as far as was sampled"
            return [f"{who} {used}" if self.is_out_of_memory else f"SIGKILL ended {who}, which {used}"]
        words = [self.why] if self.why else []
        if self.lines:
            words += [f"the last lines of {who}:", *(f"  {line}" for line in self.lines)]
        return words

    @property
    def fix(self) -> str:
        """The remedy, empty where the lines tell it."""
        known = remedy(self.lines, self.error, own_image=self.own_image, has_folder=self.has_folder)
        if known or not self.killed:
            return known
        return MORE_MEMORY if self.is_out_of_memory else OTHER_KILLS


@dataclass(frozen=True)
class FailureReason:
    """Why a job failed, in a line."""

    #: As its log or its memory use tells, else Vertex AI's message. Empty for a job that has not failed.
    text: str = ""
    #: Why its log was not read, so that `text` is Vertex AI's message. Empty for a log that was read, and for none.
    why: str = ""


def read_causes(context: Context, jobs: Iterable[VertexJob]) -> dict[str, FailureReason]:
    """Return why each failed or expired job did so, by its full name. Only the logs of the first ones are read."""
    failed = [job for job in jobs if job.state in FAILED or job.timed_out]
    read = _read_failures(context, [job for job in failed if _has_log(job)])
    return {job.name: reason_in(read[job.name], job) if job.name in read else unread_reason(job) for job in failed}


def read_cause(context: Context, job: VertexJob) -> FailureReason:
    """Return why a job failed; an empty reason for a job that has not."""
    return read_causes(context, [job]).get(job.name, FailureReason())


def reason_in(failure: Failure | None, job: VertexJob) -> FailureReason:
    """Return the reason by a failure that was read; None for a job without a log."""
    if failure is None:
        return FailureReason(reason_of(job))
    return FailureReason(failure.brief or reason_of(job), failure.unreadable)


def unread_reason(job: VertexJob) -> FailureReason:
    """Return the reason as far as the job itself tells."""
    return FailureReason(reason_of(job), _NOT_READ if _has_log(job) else "")


def unread_notes(reasons: Iterable[FailureReason]) -> list[str]:
    """Return a line for each cause why reasons are Vertex AI's messages: for how many jobs, and why."""
    counts = Counter(reason.why for reason in reasons if reason.why)
    return [f"{counted(count, 'job')} with Vertex AI's message only: {why}" for why, count in counts.items()]


def reason_of(job: VertexJob) -> str:
    """Return why a job failed, as far as the job itself tells; empty for other jobs."""
    if job.timed_out:
        return f"reached its time limit of {span(job.timeout or 0)}"
    return _between(job.error) if job.state in FAILED else ""


def read_briefs(context: Context, failed: Sequence[VertexJob]) -> dict[str, str]:
    """Return what the logs of the first of these jobs tell, in a line each, by their full names."""
    read = _read_failures(context, [job for job in failed if _has_log(job)])
    return {name: failure.brief for name, failure in read.items() if failure}


def _read_failures(context: Context, failed: Sequence[VertexJob]) -> dict[str, Failure | None]:
    with ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="causes") as threads:
        read = threads.map(partial(read_failure, context), failed[:_MOST_READ])
        return {job.name: failure for job, failure in zip(failed, read, strict=False)}


def _has_log(job: VertexJob) -> bool:
    """Return whether a failed job has a log that may tell the reason."""
    # The service calls a job begun once all its replicas have; a job that failed before the last replica started did
    # run all the same.
    ran = job.start_time is not None or REPLICA.search(job.error) is not None
    return job.state == "JOB_STATE_FAILED" and not job.timed_out and ran and bool(job.log_ids)


def _between(text: str) -> str:
    """Return a text as a line with both of its ends: what went wrong stands at the first, or at the last."""
    line = " ".join(text.split())
    return line if len(line) <= _BRIEF else f"{line[: _BRIEF // 3]}…{line[-2 * _BRIEF // 3 :]}"


def read_failure(
    context: Context, job: VertexJob, followed: Sequence[LogEntry] = (), *, waits: bool = False
) -> Failure | None:
    """Read a failure; None for a job that has not failed, or never ran. An unreadable part is reported, not raised.
    `followed` are log lines that were read before. With `waits`, read again after a pause if a limit of reads a minute
    hides the log."""
    if not _has_log(job):
        return None
    replica = REPLICA.search(job.error)
    killed = _OUT_OF_MEMORY.search(job.error) is not None
    task = replica[0] if replica else ""
    try:
        return _read_patiently(context, job, task, killed=killed, waits=waits and not followed)
    except CloudError as problem:
        own = [entry for entry in followed if entry.task == task or not task]
        if own:
            return _failure(job, _of_last_writer(own), task, None)
        return Failure(why=f"more is not known: {problem.brief}", killed=killed, unreadable=problem.brief)


def _read_patiently(context: Context, job: VertexJob, task: str, *, killed: bool, waits: bool) -> Failure:
    look_at = _memory if killed else _last_lines
    runs: list[Trial | PipelineTask] = [*job.tried, *job.tasks]
    failed = [(run.end_time, run.job, run) for run in runs if run.state in _FAILED and run.job and run.end_time]
    first = min(failed, key=itemgetter(0, 1), default=(None,))[-1]
    try:
        return look_at(context, job, first, task)
    except Exhausted:
        if not waits:
            raise
        context.clock.sleep(_QUOTA_PAUSE_S)
        return look_at(context, job, first, task)


def _last_lines(context: Context, job: VertexJob, run: Trial | PipelineTask | None, task: str) -> Failure:
    ids, wanted = job.log_ids, task_filter(task) if task else _ANY_REPLICA
    if isinstance(run, Trial):
        wanted += f' AND labels."{TRIAL_LABEL}"="{run.id}"'
    elif run:
        ids = (last_part(run.job),)
    logging = context.brief.logging(context.catalog.project)
    entries = newest(logging, job_filter(ids, only=wanted), _LOOKED_AT)
    own = _of_last_writer(entries)
    if not any(is_at_least(entry, _ERROR) for entry in own) and len(entries) == _LOOKED_AT:
        # What was written after the error may be long.
        errors = newest(logging, job_filter(ids, severity=_ERROR, only=wanted), _LOOKED_AT, _ERROR, within=PAGE)
        if any(tells_reason(entry.text) for entry in errors):
            own = _of_last_writer(errors)
    return _failure(job, own, task, run)


def _failure(job: VertexJob, own: Sequence[LogEntry], task: str, run: Trial | PipelineTask | None) -> Failure:
    """Return the failure by the lines of one writer: its errors, or else all of them."""
    chosen = [entry for entry in own if is_at_least(entry, _ERROR)] or own
    lines = [line for entry in chosen for line in COLOUR.sub("", shown(entry.text)).split("\n")]
    telling = telling_lines(lines, _LINES)
    cut = (line if len(line) <= _LONGEST else f"{line[:_LONGEST]}…" for line in telling)
    who = prefix(chosen[-1], job) if chosen else who_of(task, job, last_part(run.job) if run else "")
    own_image = bool(job.worker_pools) and not job.worker_pools[0].module
    return Failure(
        short(who),
        tuple(cut),
        why=meaning(job.error),
        error=job.error,
        own_image=own_image,
        has_folder=CODE_LABEL in job.labels,
    )


def _of_last_writer(entries: Sequence[LogEntry]) -> list[LogEntry]:
    return [entry for entry in entries if (entry.job, entry.task) == (entries[-1].job, entries[-1].task)]


def _memory(context: Context, job: VertexJob, run: Trial | PipelineTask | None, task: str) -> Failure:
    end = job.end_time or context.now
    begin = max(job.start_time or job.create_time or end, end - _BEFORE)
    monitoring = context.brief.monitoring(context.catalog.project)
    ids = (last_part(run.job),) if run else job.run_ids
    measured = [series for series in monitoring.series(MEMORY, ids, begin, end + _LATE) if task in ("", series.task)]
    if not measured:
        lines = _last_lines(context, job, run, task)
        return replace(lines, why="most likely it ran out of memory; how much it used was not sampled", killed=True)
    peak, replica, id_ = max((point.value, series.task, series.job) for series in measured for point in series.points)
    pool = REPLICA.fullmatch(replica)
    position = int(pool[1]) if pool else len(job.worker_pools)
    machine = str(job.worker_pools[position].machine) if position < len(job.worker_pools) else "machine"
    return Failure(short(who_of(replica, job, id_)), memory=peak, machine=machine, killed=True)

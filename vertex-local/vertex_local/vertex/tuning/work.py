"""The work behind tuning jobs: looks at trials, decisions on new ones, starts and stops of their custom jobs."""

import math
from dataclasses import replace
from datetime import datetime

from ...clock import timestamp
from ...wire import ApiError
from ...world import World
from ..clusters.records import CLUSTERS
from ..jobs import replicas
from ..jobs import table as jobs
from ..names import cluster_name, id_of
from ..scheduling import submission
from . import life, reports, search, space
from .life import Progress, Seen
from .records import TUNING_JOBS, Ending, Tuning, trial_job
from .space import Assignment
from .trial import Trial

_PROGRESS: dict[str, Progress] = {
    "JOB_STATE_QUEUED": "queued",
    "JOB_STATE_PENDING": "pending",
    "JOB_STATE_SUCCEEDED": "succeeded",
}
_CODES = {"INVALID_ARGUMENT": 3, "NOT_FOUND": 5, "PERMISSION_DENIED": 7, "RESOURCE_EXHAUSTED": 8}
_FAILED_PRECONDITION = 9


def step(world: World) -> bool:
    """Move every tuning job on once and return whether any is under way."""
    alive = TUNING_JOBS.alive(world.store)
    for tuning in alive:
        _advance(world, tuning, world.clock.now())
    return bool(alive)


def cancel(world: World, before: Tuning) -> None:
    """End a tuning job that is not over, and its trials' jobs. Within a transaction."""
    moment = world.now()
    changed = life.cancelled(before)
    _stop_jobs(world, before, changed)
    _keep(world, changed, moment, moment)


def _advance(world: World, before: Tuning, now: datetime) -> None:
    """Take a step of a job. Slow decisions come before the transaction, which then starts the decided trials and writes
    them down, or does nothing when the job has changed meanwhile: so no trial is ever decided twice."""
    seen = {trial.id: _look(world, before, trial) for trial in before.open_trials}
    after = life.observed(before, seen, timestamp(now))
    after = life.decided(after, now, world.settings.failed_trials)
    chosen: list[Assignment] = []
    if not _cluster_is_away(world, after):
        after, chosen = _chosen(after)
    if after == before and not chosen:
        return
    with world.store.transaction():
        if TUNING_JOBS.get(world.store, before.name) != before:
            return
        _stop_jobs(world, before, after)
        for assignment in chosen:
            count = len(after.trials)
            after = _begun(world, after, assignment)
            if len(after.trials) == count:
                break
        _keep(world, after, timestamp(now), life.end_time(before, after, timestamp(now)))
    world.changed.set()


def _chosen(tuning: Tuning) -> tuple[Tuning, list[Assignment]]:
    """Return the points of the trials that may begin now; the job is closed when there are no more."""
    study, points = tuning.study, list[Assignment]()
    for _ in range(life.wanted(tuning)):
        point = search.suggested(study, tuning.name, len(tuning.trials) + len(points))
        if point is None:
            return replace(tuning, closed="the whole grid was searched"), points
        points.append(point)
    return tuning, points


def _begun(world: World, tuning: Tuning, assignment: Assignment) -> Tuning:
    """Return the job with one more trial. A refusal ends it, unless a pool is full: that is tried again."""
    trial = Trial(str(len(tuning.trials) + 1), "ACTIVE", assignment, "")
    arguments = [f"--{name}={space.argument(value)}" for name, value in assignment]
    body, region = trial_job(tuning, trial, arguments), tuning.name.split("/")[3]
    try:
        email = submission.admit(world, None, region, body, "trial_job_spec")
    except ApiError as error:
        if error.status == "RESOURCE_EXHAUSTED" and world.settings.full_pool == "reject":
            return tuning
        code = _CODES.get(error.status, _FAILED_PRECONDITION)
        return life.ended_by(tuning, Ending("JOB_STATE_FAILED", code, f"Trial {trial.id}: {error.message}"))
    job = submission.submit(world, region, body, email, trial=trial.id, tuning=id_of(tuning.name))
    return replace(tuning, trials=(*tuning.trials, replace(trial, job=job.body["name"])))


def _look(world: World, tuning: Tuning, trial: Trial) -> Seen:
    """Return a look at a trial's job, with its reports since the last look, and those of its last moment again: code
    may give one to many."""
    job = jobs.get(world.store, trial.job)
    new, read = [], {}
    for path in sorted(replicas.metrics_folder(world, id_of(trial.job)).glob(f"*/{replicas.METRICS}")):
        last = tuning.read.get(f"{trial.id}/{path.parent.name}", -math.inf)
        fresh = [item for item in reports.reports(path.read_text("utf-8", "replace")) if item.time >= last]
        if fresh:
            new += fresh
            read[path.parent.name] = max(item.time for item in fresh)
    tuning_job = tuple(sorted(new, key=lambda item: item.time))
    if job is None:
        return Seen("ended", None, None, f"The job {trial.job} does not exist any more.", tuning_job, read)
    body = job.body
    progress = _PROGRESS.get(body["state"], "running" if job.run else "ended")
    message = body.get("error", {}).get("message", "")
    return Seen(progress, body.get("startTime"), body.get("endTime"), message, tuning_job, read)


def _cluster_is_away(world: World, tuning: Tuning) -> bool:
    """Return whether the persistent resource is being rebooted, so that new trials wait for it."""
    cluster_id = tuning.declared["trialJobSpec"].get("persistentResourceId")
    if not cluster_id:
        return False
    cluster = CLUSTERS.get(world.store, cluster_name(world.project, tuning.name.split("/")[3], cluster_id))
    return cluster is not None and cluster.state == "REBOOTING"


def _stop_jobs(world: World, before: Tuning, after: Tuning) -> None:
    """Cancel the jobs of trials that were to go on before, and are to stop now."""
    active = {trial.id for trial in before.trials if trial.state == "ACTIVE"}
    for trial in after.trials:
        if trial.id in active and trial.state == "STOPPING":
            submission.cancel(world, trial.job, "The trial was stopped.")


def _keep(world: World, tuning: Tuning, moment: str, end_time: str) -> None:
    """Write a job, changed at a moment; `end_time` is when it ended, if it is over."""
    ended = replace(tuning, update_time=moment, end_time=end_time if life.over(tuning) else None)
    TUNING_JOBS.put(world.store, ended)

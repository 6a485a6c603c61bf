"""Writing a step in a job's life: the job itself, and what the service says of it in the job's log."""

from local.cloud.services import World
from local.cloud.vertex import job_logs, jobs
from local.cloud.vertex.job import Run
from local.cloud.vertex.jobs import Job


def keep(world: World, run: Run, job: Job) -> None:
    """Write a job after a step; `run` is it before. Within a transaction."""
    jobs.put(world.store, run.number, run.region, job.body, job.run)
    if job.said:
        job_logs.tell(world, run, job.said)

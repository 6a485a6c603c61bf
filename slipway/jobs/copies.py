"""Copies: a job whose launcher found the submission taken by another job has ended well and run nothing."""

from __future__ import annotations

from slipway.cloud.failures import CloudError
from slipway.cloud.kinds import CUSTOM_JOB, TUNING_JOB
from slipway.cloud.resources import CustomJob
from slipway.cloud.storage import Location, Storage
from slipway.cloud.vertex import Vertex
from slipway.labels import REQUEST_LABEL


def original(vertex: Vertex, storage: Storage, job: CustomJob) -> CustomJob | None:
    """The job that has the claim of a succeeded ``job``, which was its copy. None where it is the job itself.

    None as well where that can't be told: without a launcher, or for who may not read claims.
    """
    claim = _claim(job)
    if job.state != "JOB_STATE_SUCCEEDED" or job.kind is TUNING_JOB or not claim:
        return None
    try:
        holder = storage.read(Location.parse(claim)).decode(errors="replace").strip().rsplit("/", 1)[-1]
        if not holder.isdecimal() or holder in _numbers(job):
            return None
        if job.kind is CUSTOM_JOB:
            return vertex.job(f"{job.name.rpartition('/')[0]}/{holder}")
        condition = f'labels.{REQUEST_LABEL}="{job.labels.get(REQUEST_LABEL, "")}"'
        return next((one for one in vertex.jobs(job.kind, condition) if holder in _numbers(one)), None)
    except CloudError:
        return None


def _claim(job: CustomJob) -> str:
    args = job.worker_pools[0].args if job.worker_pools else ()
    return args[args.index("--claim") + 1] if "--claim" in args[:-1] else ""


def _numbers(job: CustomJob) -> tuple[str, str]:
    """By which its launcher may have signed: its own, or that of the job behind a pipeline."""
    return job.id, job.backing.rsplit("/", 1)[-1]

"""Why a job waits, in words, from what the service tells and nothing else. Pure."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime

from slipway.cloud.resources import CustomJob, PersistentResource
from slipway.submit.demand import Demand
from slipway.submit.verdict import Outcome, on_cluster

_PLAIN = {
    "JOB_STATE_QUEUED": "queued by the service",
    "JOB_STATE_PENDING": "accepted, getting ready to run",
    "JOB_STATE_PAUSED": "paused",
    "JOB_STATE_UPDATING": "being updated",
}


def reason(
    job: CustomJob,
    cluster: PersistentResource | None,
    cluster_name: str,
    jobs: Iterable[CustomJob],
    now: datetime,
) -> str:
    """``cluster`` is the one the job is on, None when it runs beside the pools or the cluster can't be read."""
    plain = _PLAIN.get(job.state, state_word(job.state))
    if not job.persistent_resource_id:
        if job.state == "JOB_STATE_QUEUED":
            return "queued by the service: its quota is in use, or there are no machines"
        return plain
    if cluster is None:
        return f"{plain} (cluster {cluster_name} can't be read)"
    if cluster.state not in ("RUNNING", "UPDATING"):
        detail = f": {cluster.error}" if cluster.error else ""
        return f"cluster {cluster_name} is {cluster.state}{detail}"
    if job.state == "JOB_STATE_PENDING":
        return plain
    others = [one for one in jobs if one.id != job.id]
    verdict = on_cluster(cluster_name, Demand.of(job), cluster, others, now)
    if verdict.outcome is Outcome.SCALES:
        return f"pool {'grows' if cluster.state == 'UPDATING' else 'has to grow'}: {verdict.text.partition(': ')[2]}"
    if verdict.outcome is Outcome.STARTS:
        return plain
    return verdict.text


def state_word(state: str) -> str:
    """``JOB_STATE_RUNNING`` as ``running``."""
    return state.removeprefix("JOB_STATE_").lower().replace("_", " ")

"""A job's description: the fields that tables, JSON and Python share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from slipway.google.jobs import VertexJob
from slipway.model.labels import CODE_LABEL, own_labels
from slipway.model.prices import exact_text
from slipway.using.context import Context
from slipway.using.jobs.cost import JobCost, job_cost
from slipway.using.jobs.failure import FailureReason, unread_reason
from slipway.using.jobs.log import JobEvents
from slipway.using.jobs.roles import role_at


@dataclass(frozen=True)
class JobDescription:
    """A job with its data from the catalog and the price book."""

    job: VertexJob
    account: JobCost
    #: The cluster's name, its id where the catalog has no name for it, empty beside the pools.
    cluster: str
    #: `templates/lora.py:5` in the job's commit, without the line where the catalog's commit is another; empty where
    #: the catalog lacks the template.
    source: str
    #: The job's page in the console, empty where there is none.
    console: str
    #: The labels that somebody gave the job, and not its template: `ablation=decay, seed=3`.
    own_labels: str = ""
    #: Why it failed; None if nothing but the job itself was read.
    reason: FailureReason | None = None

    @property
    def on(self) -> str:
        return self.cluster or self.account.capacity_type

    @property
    def document(self) -> Mapping[str, Any]:
        """The description for JSON: seconds, and USD as text; null for unknown and absent values."""
        job, account = self.job, self.account
        reason = self.reason or unread_reason(job)
        return {
            "name": job.name,
            "id": job.id,
            "region": job.region,
            "displayName": job.display_name,
            "kind": job.kind.name,
            "state": job.job_state,
            "rawState": job.state,
            "ended": job.ended,
            "error": job.error or None,
            "failureReason": reason.text or None,
            "failureReasonWhy": reason.why or None,
            "template": job.template or None,
            "templateSource": self.source or None,
            "requestId": job.request_id or None,
            "parameters": job.parameters,
            "user": job.user or None,
            "team": job.team or None,
            "commit": job.revision.commit or None,
            "dirty": job.revision.dirty,
            "code": _code_document(job),
            "labels": job.labels,
            "note": job.note or None,
            "givenName": job.chosen_name or None,
            "settings": job.own_settings or None,
            "capacityType": account.capacity_type,
            "cluster": self.cluster or None,
            "clusterId": job.persistent_resource_id or None,
            "output": job.output or None,
            "experiment": job.experiment or None,
            "experimentRun": job.experiment_run or None,
            "webAccess": job.shells,
            "console": self.console or None,
            "createTime": job.create_time,
            "startTime": job.start_time,
            "endTime": job.end_time,
            "waitSeconds": account.wait,
            "runSeconds": account.run,
            **_cost_document(account),
            "model": job.model or None,
            "trials": job.tried,
            "bestTrial": job.best_trial and job.best_trial.id,
            "workerPools": [_worker_pool(job, index) for index, pool in enumerate(job.worker_pools) if pool.replicas],
        }


def _code_document(job: VertexJob) -> dict[str, Any] | None:
    """Return the code that a job was given; None if it is the template's."""
    if CODE_LABEL not in job.labels:
        return None
    return {"hash": job.labels[CODE_LABEL], "commit": job.code.commit or None, "dirty": job.code.dirty}


def _cost_document(account: JobCost) -> dict[str, Any]:
    return {
        "pricePerHour": exact_text(account.per_hour),
        "cost": exact_text(account.cost),
        "costAtMost": bool(account.cost and account.cost.at_most),
        "priceComplete": account.per_hour.complete,
        "priceAtMost": account.per_hour.at_most,
        "costPaidAnyway": account.paid_anyway,
    }


def _worker_pool(job: VertexJob, index: int) -> dict[str, Any]:
    pool = job.worker_pools[index]
    return {
        "role": role_at(job, index),
        "machine": pool.machine.type,
        "accelerator": pool.machine.accelerator,
        "acceleratorCount": pool.machine.accelerator_count,
        "disk": pool.machine.disk,
        "replicas": pool.replicas,
        "image": pool.image,
        "packages": pool.packages,
        "args": pool.args,
    }


def describe(
    job: VertexJob, context: Context, events: JobEvents | None = None, reason: FailureReason | None = None
) -> JobDescription:
    """Describe a job. `events` as in `job_cost`; `reason` as `read_causes` has it."""
    id_ = job.persistent_resource_id
    template = context.catalog.templates.get(job.template)
    source = template.source if template else ""
    of_template = {
        pair for offer in (template.offers if template else ()) for pair in offer.request.get("labels", {}).items()
    }
    return JobDescription(
        job=job,
        account=job_cost(job, job.region, context.now, events),
        cluster=context.cluster_name(id_) if id_ else "",
        # The line is that of the catalog's commit, and may be another one in the job's.
        source=source if job.revision.commit == context.catalog.commit else source.partition(":")[0],
        console=context.console_link(job),
        own_labels=labels_text(dict(own_labels(job.labels).items() - of_template)),
        reason=reason,
    )


def labels_text(labels: Mapping[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(labels.items()))

"""Jobs and templates as the JSON that `--output json` prints.

Times are RFC 3339 in UTC, durations seconds, prices USD as text.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Any

from slipway.catalog.clusters import DormantCluster
from slipway.catalog.lookup import reason
from slipway.catalog.model import Catalog, Template
from slipway.cloud.jobs import VertexJob
from slipway.cloud.trials import best
from slipway.context import Context
from slipway.jobs.cost import job_cost
from slipway.jobs.roles import role_at, who_of
from slipway.labels import (
    CODE_LABEL,
    REQUEST_LABEL,
    TEMPLATE_LABEL,
    USER_LABEL,
    code_revision_of,
    revision_of,
)
from slipway.prices import Price

if TYPE_CHECKING:
    from slipway.deployment.schedule import Due
    from slipway.jobs.failure import Failure
    from slipway.jobs.log import JobEvents
    from slipway.jobs.utilization import Utilization


def source_of(job: VertexJob, catalog: Catalog) -> str:
    """`templates/lora.py:5` in the job's commit; without the line where the catalog is of another one. Empty for a job
    of no template that the catalog has."""
    template = catalog.templates.get(job.labels.get(TEMPLATE_LABEL, ""))
    if template is None:
        return ""
    same = revision_of(job.labels).commit == catalog.commit
    return template.source if same else template.source.partition(":")[0]


def job_document(job: VertexJob, context: Context, events: JobEvents | None = None) -> dict[str, Any]:
    """`events`: those that its cost depends on, None where nobody looked."""
    money = job_cost(job, job.region, context.now, events)
    return {
        "name": job.name,
        "id": job.id,
        "region": job.region,
        "displayName": job.display_name,
        "kind": job.kind.name,
        "state": job.state,
        "ended": job.ended,
        "error": job.error or None,
        "template": job.labels.get(TEMPLATE_LABEL),
        "templateSource": source_of(job, context.catalog) or None,
        "requestId": job.labels.get(REQUEST_LABEL),
        "user": job.labels.get(USER_LABEL),
        "commit": revision_of(job.labels).commit or None,
        "dirty": revision_of(job.labels).dirty,
        "code": _code(job),
        "labels": dict(job.labels),
        "capacityType": money.capacity_type,
        "cluster": context.cluster_name(job.persistent_resource_id) if job.persistent_resource_id else None,
        "clusterId": job.persistent_resource_id or None,
        "output": job.output or None,
        "experiment": job.experiment or None,
        "experimentRun": job.experiment_run or None,
        "webAccess": dict(job.shells),
        "console": context.console_link(job) or None,
        "createTime": iso(job.create_time),
        "startTime": iso(job.start_time),
        "endTime": iso(job.end_time),
        "waitSeconds": money.wait,
        "runSeconds": money.run,
        "pricePerHour": dollars_text(money.per_hour),
        "cost": dollars_text(money.cost),
        "costAtMost": bool(money.cost and money.cost.at_most),
        "priceComplete": money.per_hour.complete,
        "priceAtMost": money.per_hour.at_most,
        "costPaidAnyway": money.paid_anyway,
        "model": job.model or None,
        "trials": [
            {
                "id": trial.id,
                "state": trial.state,
                "values": dict(trial.values),
                "metrics": dict(trial.metrics),
                "job": trial.job or None,
            }
            for trial in job.tried
        ],
        "bestTrial": found.id if (found := best(job.tried, job.goals)) else None,
        "workerPools": [
            {
                "role": role_at(job, index),
                "machine": pool.machine.type,
                "accelerator": pool.machine.accelerator,
                "acceleratorCount": pool.machine.accelerator_count,
                "disk": {"type": pool.machine.disk.type, "sizeGb": pool.machine.disk.size_gb},
                "replicas": pool.replicas,
                "image": pool.image,
                "packages": list(pool.packages),
                "args": list(pool.args),
            }
            for index, pool in enumerate(job.worker_pools)
            if pool.replicas
        ],
    }


def _code(job: VertexJob) -> dict[str, Any] | None:
    """What --code packed; None for a job of the reviewed code."""
    if CODE_LABEL not in job.labels:
        return None
    revision = code_revision_of(job.labels)
    return {"hash": job.labels[CODE_LABEL], "commit": revision.commit or None, "dirty": revision.dirty}


def events_document(events: JobEvents, job: VertexJob) -> dict[str, Any]:
    """What happened to a job, in the service's words; numbers are null where its log could not be read."""
    return {
        "restarts": None if events.why else len(events.of("restart")),
        "preemptions": None if events.why else len(events.of("preemption")),
        "events": [
            {
                "kind": event.kind,
                "time": iso(event.at),
                "replica": event.replica or None,
                "role": who_of(event.replica, job) if event.replica else None,
                "trial": event.trial or None,
                "text": event.text,
            }
            for event in events.all
        ],
        "eventsWhy": events.why or None,
    }


def failure_document(failure: Failure) -> dict[str, Any]:
    """`memory` is a share from 0 to 1, null unless it ran out."""
    why = failure.why or None
    return {"role": failure.who or None, "lines": list(failure.lines), "memory": failure.memory, "why": why}


def usage_document(usage: Utilization) -> dict[str, Any]:
    """Shares from 0 to 1. `periodSeconds`: each point is the mean of so many seconds; 0: as measured."""
    return {
        "why": usage.why or None,
        "periodSeconds": usage.period,
        "series": [
            {
                "metric": row.series.metric,
                "replica": row.series.task,
                "role": row.who,
                "job": row.series.job,
                "accelerator": row.series.accelerator or None,
                "last": row.last,
                "mean": row.mean,
                "max": row.max,
                "points": [{"time": iso(point.at), "value": point.value} for point in row.points],
            }
            for row in usage.rows
        ],
    }


def iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None


def dollars_text(amount: Price | None) -> str | None:
    """The known part of a price, in USD; None where nothing is known. A flag beside it says whether that is all."""
    if amount is None or amount.unknown:
        return None
    return f"{amount.known:.6f}".rstrip("0").rstrip(".")


def due_document(due: Due, now: datetime) -> dict[str, Any]:
    return {
        "cluster": due.name,
        "clusterId": due.id,
        "what": due.what,
        "nextDeployment": due.now,
        "time": iso(due.at),
        "why": due.why or None,
        "overdue": due.overdue,
        "pricePerHour": dollars_text(due.per_hour),
        "priceUntilThen": dollars_text(due.until(now)),
        "priceComplete": due.per_hour.complete,
    }


def dormant_document(cluster: DormantCluster, now: datetime) -> dict[str, Any]:
    begins = cluster.why == "season" and cluster.since is None and not cluster.lacks
    return {
        "cluster": cluster.name,
        "why": cluster.why,
        "since": iso(cluster.since),
        "until": iso(cluster.season.begins) if begins else None,
        "lacks": list(cluster.lacks or ()),
        "words": cluster.words_at(now),
    }


def catalog_document(context: Context) -> dict[str, Any]:
    catalog = context.catalog
    return {
        "address": str(context.selected.location),
        "stack": catalog.stack,
        "project": catalog.project,
        "region": catalog.region,
        "commit": catalog.commit,
        "dirty": catalog.dirty,
    }


def template_document(template: Template) -> dict[str, Any]:
    return {
        "name": template.name,
        "summary": template.summary,
        "kind": template.kind,
        "kinds": list(template.kinds),
        "codeFlag": template.code_flag,
        "codeWhy": template.code_why or None,
        "study": None if template.study is None else asdict(template.study),
        "roles": list(template.roles),
        "parameters": [{**asdict(one), "required": one.required} for one in template.parameters],
        "offers": [
            {
                "capacityType": offer.capacity_type,
                "kind": offer.kind,
                "when": {name: list(values) for name, values in offer.when.items()},
                "wait": offer.wait,
                "note": offer.note or None,
                "available": offer.available,
                "why": (offer.why or None) if offer.available else reason(offer),
                "cluster": offer.cluster or None,
                "pools": list(offer.pools),
                "pricePerHour": None if offer.price_per_hour.unknown else str(offer.price_per_hour.known),
                "priceComplete": offer.price_per_hour.complete,
                "priceAtMost": offer.price_per_hour.at_most,
            }
            for offer in template.offers
        ],
    }

"""From the APIs' resources to the values that decisions are made on."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any

from slipway.capacity import CAPACITY_TYPES
from slipway.cloud.quotas import SERVICE, QuotaInfo
from slipway.cloud.resources import CustomJob, Json, PersistentResource, Shape, WorkerPool
from slipway.cloud.timestamps import parse_timestamp
from slipway.cluster import Disk
from slipway.kinds import CUSTOM_JOB, PIPELINE, TUNING_JOB
from slipway.live import INCREASABLE, JobReplicas, LiveCluster, LiveJob, LivePool, QuotaLimit
from slipway.messages import message

_BUCKET = re.compile(r"(?:gs://|/gcs/)([a-z0-9][a-z0-9_.-]*[a-z0-9])")
_PREEMPTIBLE = tuple(row.strategy for row in CAPACITY_TYPES.values() if row.preemptible)
_INELIGIBLE = {
    "NOT_ENOUGH_USAGE_HISTORY": "no increase: too little usage history",
    "NO_VALID_BILLING_ACCOUNT": "no increase: no valid billing account",
    "NOT_SUPPORTED": "no increase: not supported for this quota",
}


def cluster(resource: PersistentResource) -> LiveCluster:
    return LiveCluster(
        id=resource.id,
        state=resource.state,
        labels=resource.labels,
        pools=tuple(
            LivePool(
                id=pool.id,
                machine_type=pool.shape.machine,
                accelerator_type=pool.shape.accelerator,
                accelerator_count=pool.shape.accelerator_count,
                disk=_disk(pool.shape),
                replicas=pool.replicas,
                used=pool.used,
                min=pool.min,
                max=pool.max,
            )
            for pool in resource.pools
        ),
        create_time=resource.create_time,
        error=resource.error,
    )


def custom_job(job: CustomJob) -> LiveJob:
    return LiveJob(
        name=job.name,
        display_name=job.display_name,
        state=job.state,
        cluster_id=job.persistent_resource_id or None,
        labels=job.labels,
        create_time=job.create_time,
        start_time=job.start_time,
        end_time=job.end_time,
        replicas=_replicas(job.worker_pools, 1),
        spot=job.strategy in _PREEMPTIBLE,
        kind=CUSTOM_JOB.words,
        service_account=job.service_account,
        buckets=_buckets(
            [job.output, *((pool.packages, pool.args, pool.env, pool.command) for pool in job.worker_pools)]
        ),
    )


def tuning_job(body: Mapping[str, Any]) -> LiveJob:
    """A hyperparameter tuning job: the machines of all trials that run at once."""
    spec = body.get("trialJobSpec", {})
    return _job(body, spec, TUNING_JOB.words, times=int(body.get("parallelTrialCount", 1)))


def pipeline(body: Mapping[str, Any]) -> LiveJob:
    """A training pipeline: its inputs are a job's spec, in either spelling of the keys, or a tuning job's."""
    inputs = camel(body.get("trainingTaskInputs", {}))
    inputs = inputs if isinstance(inputs, Mapping) else {}
    spec = inputs.get("trialJobSpec", inputs)
    return _job(body, spec, PIPELINE.words, times=int(inputs.get("parallelTrialCount", 1)))


def _job(body: Mapping[str, Any], spec: Mapping[str, Any], kind: str, times: int) -> LiveJob:
    return LiveJob(
        name=body.get("name", ""),
        display_name=body.get("displayName", ""),
        state=body.get("state", "UNSPECIFIED"),
        cluster_id=spec.get("persistentResourceId", "").rsplit("/", 1)[-1] or None,
        labels=dict(body.get("labels", {})),
        create_time=parse_timestamp(body.get("createTime")),
        start_time=parse_timestamp(body.get("startTime")),
        end_time=parse_timestamp(body.get("endTime")),
        replicas=_replicas(tuple(map(WorkerPool.read, spec.get("workerPoolSpecs", ()))), times),
        spot=spec.get("scheduling", {}).get("strategy") in _PREEMPTIBLE,
        kind=kind,
        service_account=spec.get("serviceAccount", ""),
        buckets=_buckets(body),
    )


def _buckets(request: object) -> frozenset[str]:
    """Every bucket that a request names, wherever."""
    return frozenset(_BUCKET.findall(json.dumps(request)))


def camel(value: Any) -> Any:
    """JSON with its keys in camelCase; the SDK sends pipelines' inputs in snake_case and they come back like that."""
    if isinstance(value, Mapping):
        return {_camel(str(key)): camel(item) for key, item in value.items()}
    return [camel(item) for item in value] if isinstance(value, list) else value


def _camel(key: str) -> str:
    first, *rest = key.split("_")
    return first + "".join(part.capitalize() for part in rest)


def limits(infos: Iterable[QuotaInfo], region: str) -> dict[str, QuotaLimit]:
    """The limits of a region by metric, without the service's name. A quota silent on a region is left out."""
    found: dict[str, QuotaLimit] = {}
    for info in infos:
        metric, limit = info.metric.removeprefix(f"{SERVICE}/"), info.limit(region)
        if limit is not None:
            found[metric] = QuotaLimit(metric, region, limit, _increase(info))
    return found


def _increase(info: QuotaInfo) -> str:
    if info.ineligibility is None:
        return INCREASABLE
    return _INELIGIBLE.get(info.ineligibility, "no increase can be requested")


def _replicas(pools: tuple[WorkerPool, ...], times: int) -> tuple[JobReplicas, ...]:
    return tuple(
        JobReplicas(
            pool.shape.machine,
            pool.shape.accelerator,
            pool.shape.accelerator_count,
            pool.replicas * times,
            _disk(pool.shape),
        )
        for pool in pools
        if pool.replicas
    )


def _disk(shape: Shape) -> Disk:
    return Disk(shape.disk_type, shape.disk_gb)


def quota_info(body: Json) -> QuotaInfo:
    """Fields and reasons of a newer API are passed over. Raises ValueError for values of another type."""
    from google.protobuf.json_format import ParseDict, ParseError

    empty = message("google.cloud.cloudquotas_v1", "resources", "QuotaInfo")()
    try:
        info = ParseDict(dict(body), empty, ignore_unknown_fields=True)
    except ParseError as error:
        raise ValueError(str(error)) from error
    eligibility = info.quota_increase_eligibility
    return QuotaInfo(
        info.metric,
        tuple((tuple(one.applicable_locations), one.details.value) for one in info.dimensions_infos),
        None if eligibility.is_eligible else eligibility.IneligibilityReason.Name(eligibility.ineligibility_reason),
    )

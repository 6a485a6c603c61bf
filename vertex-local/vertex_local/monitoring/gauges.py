"""Time series as the API writes them: those of jobs' machines, and those of quotas."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..quotas import limits
from ..quotas.metrics import SERVICE, table
from ..supply import machines
from ..world import World
from . import records
from .records import Sample

_TRAINING = "ml.googleapis.com/training/"
_USAGE, _LIMIT = "serviceruntime.googleapis.com/quota/allocation/usage", "serviceruntime.googleapis.com/quota/limit"
_ACCELERATOR = "accelerator_id"
_MEASURED = ("cpu/utilization", "memory/utilization", "accelerator/utilization", "accelerator/memory/utilization")
TYPES = (*(_TRAINING + name for name in _MEASURED), _USAGE, _LIMIT)
"""The metrics that the local cloud has."""


@dataclass(frozen=True)
class Series:
    """A gauge."""

    metric: str
    metric_labels: Mapping[str, str]
    resource: str
    resource_labels: Mapping[str, str]
    #: The newest first.
    points: Sequence[Sample]
    #: They are whole numbers.
    whole: bool = False

    def document(self) -> dict[str, Any]:
        """Return the series as the document that a filter tests; both spellings of labels are in use."""
        metric, resource = dict(self.metric_labels), dict(self.resource_labels)
        return {
            "metric": {"type": self.metric, "labels": metric, "label": metric},
            "resource": {"type": self.resource, "labels": resource, "label": resource},
            "project": self.resource_labels["project_id"],
        }

    def answer(self, *, headers_only: bool) -> dict[str, Any]:
        body: dict[str, Any] = {
            "metric": {"type": self.metric, "labels": dict(self.metric_labels)},
            "resource": {"type": self.resource, "labels": dict(self.resource_labels)},
            "metricKind": "GAUGE",
            "valueType": "INT64" if self.whole else "DOUBLE",
            "unit": "1" if self.whole else "10^2.%",
        }
        return body if headers_only else {**body, "points": [self._point(item) for item in self.points]}

    def _point(self, sample: Sample) -> dict[str, Any]:
        value = {"int64Value": str(int(sample.value))} if self.whole else {"doubleValue": sample.value}
        return {"interval": {"startTime": sample.moment, "endTime": sample.moment}, "value": value}


def of_jobs(world: World, after: str, until: str) -> Iterator[Series]:
    """Yield the series of replicas, still without points: `filled` reads them."""
    for source in records.sources(world.store, after, until):
        yield Series(
            _TRAINING + source.metric,
            {_ACCELERATOR: source.part} if source.part else {},
            "cloudml_job",
            {"project_id": world.project.id, "job_id": source.job, "task_name": source.task},
            (),
        )


def filled(world: World, series: Series, after: str, until: str) -> Series:
    """Return a job's series with its points; other series have theirs."""
    if series.resource != "cloudml_job":
        return series
    labels = series.resource_labels
    source = records.Source(
        labels["job_id"],
        labels["task_name"],
        series.metric.removeprefix(_TRAINING),
        series.metric_labels.get(_ACCELERATOR, ""),
    )
    return replace(series, points=records.read(world.store, source, after, until))


def of_quotas(world: World) -> Iterator[Series]:
    """Yield the use of each quota, and its limit: one point each, of now."""
    now = world.now()
    preferences = limits.granted(world)
    for region in machines.table().all_regions:
        used = world.quota_in_use(region)
        for quota in table().quotas:
            metric = {"quota_metric": f"{SERVICE}/{quota.metric}"}
            resource = {"project_id": world.project.id, "service": SERVICE, "location": region}
            if used[quota.metric]:
                point = Sample(now, used[quota.metric])
                yield Series(_USAGE, metric, "consumer_quota", resource, (point,), whole=True)
            limit = limits.limit(world, quota, region, preferences)
            named = {**metric, "limit_name": quota.quota_id}
            yield Series(_LIMIT, named, "consumer_quota", resource, (Sample(now, limit),), whole=True)

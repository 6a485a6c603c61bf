"""Cloud Monitoring: the utilization of jobs' machines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from math import isfinite
from typing import Annotated

from slipway.base.codec import At
from slipway.google.answers import Json, parse_timestamp, shaped
from slipway.google.endpoints import Endpoints
from slipway.google.failures import Call
from slipway.google.session import Session

CPU, MEMORY = "cpu/utilization", "memory/utilization"
ACCELERATOR, ACCELERATOR_MEMORY = "accelerator/utilization", "accelerator/memory/utilization"


@dataclass(frozen=True)
class Point:
    at: Annotated[datetime, At("time")]
    #: A share, 0 to 1.
    value: float


@dataclass(frozen=True)
class Series:
    """A metric of one replica of a job, or of one of its accelerators."""

    metric: str
    job: str
    #: The replica: `workerpool0-0`.
    task: str
    accelerator: str
    #: The oldest first.
    points: tuple[Point, ...]

    @classmethod
    def read(cls, body: Json) -> Series:
        metric, resource = body.get("metric", {}), body.get("resource", {}).get("labels", {})
        points = (_point(point) for point in body.get("points", ()))
        return cls(
            metric=metric.get("type", "").removeprefix(_TYPE),
            job=resource.get("job_id", ""),
            task=resource.get("task_name", ""),
            accelerator=metric.get("labels", {}).get("accelerator_id", ""),
            points=tuple(sorted((point for point in points if point), key=lambda point: point.at)),
        )


class Monitoring:
    def __init__(self, session: Session, endpoints: Endpoints, project: str) -> None:
        self._session, self._project = session, project
        self._url = f"{endpoints.monitoring}projects/{project}/timeSeries"

    def series(
        self, metric: str, jobs: tuple[str, ...], begin: datetime, end: datetime, period: int = 0
    ) -> tuple[Series, ...]:
        """Read one metric of the custom jobs with these numbers. Raises CloudError.

        With a `period` (seconds, a minute at least) each point is the mean of that many seconds, else points are as
        measured.
        """
        call = Call(f"read the metrics of {self._project}", "monitoring.timeSeries.list", f"project {self._project}")
        numbers = ", ".join(f'"{number}"' for number in jobs)
        params: dict[str, str | int] = {
            "filter": f'metric.type="{_TYPE}{metric}" AND resource.type="cloudml_job" AND resource.labels.job_id='
            + (numbers if len(jobs) == 1 else f"one_of({numbers})"),
            "interval.startTime": begin.isoformat(),
            "interval.endTime": end.isoformat(),
        }
        if period:
            params |= {"aggregation.alignmentPeriod": f"{period}s", "aggregation.perSeriesAligner": "ALIGN_MEAN"}
        by_replica: dict[tuple[str, str, str], Series] = {}
        for body in self._session.pages(self._url, call, "timeSeries", params):
            series = shaped(call, Series.read, body)
            key = (series.job, series.task, series.accelerator)
            # A series may continue on the next page.
            earlier = by_replica[key].points if key in by_replica else ()
            points = tuple(sorted({*earlier, *series.points}, key=lambda point: point.at))
            by_replica[key] = replace(series, metric=metric, points=points)
        return tuple(by_replica.values())


_TYPE = "ml.googleapis.com/training/"


def _point(body: Json) -> Point | None:
    value, at = body.get("value", {}), parse_timestamp(body.get("interval", {}).get("endTime"))
    number = value.get("doubleValue", value.get("int64Value"))
    # "NaN" is the mean of no samples.
    return None if number is None or at is None or not isfinite(float(number)) else Point(at, float(number))

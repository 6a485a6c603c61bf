"""The kinds of jobs, all made of one job spec. A new kind is a new class and its name in this table."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from slipway.model.kinds.kind import CUSTOM_JOB, PIPELINE, TUNING_JOB, JobKind, Json
from slipway.model.kinds.pipeline_job import PIPELINE_JOB

__all__ = ["CUSTOM_JOB", "KINDS", "PIPELINE", "PIPELINE_JOB", "TUNING_JOB", "JobKind", "kind_of", "kind_of_request"]

KINDS: Mapping[str, JobKind] = MappingProxyType(
    {kind.name: kind for kind in (CUSTOM_JOB, TUNING_JOB, PIPELINE, PIPELINE_JOB)}
)


def kind_of(name: str) -> JobKind:
    """Return the kind in `projects/P/locations/R/COLLECTION/NUMBER`; a name without a collection is a custom job's."""
    return next((kind for kind in KINDS.values() if f"/{kind.collection}/" in name), CUSTOM_JOB)


def kind_of_request(body: Json) -> JobKind:
    """Return the kind that a request's body asks for."""
    return next((kind for kind in KINDS.values() if kind.spec in body), CUSTOM_JOB)

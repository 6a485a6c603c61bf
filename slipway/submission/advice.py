"""What to do about a job that got no machines, or lost them too often, as commands that can be typed. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from slipway.capacity import CAPACITY_TYPES, POOL
from slipway.catalog.lookup import standing
from slipway.catalog.model import Offer, Scalar
from slipway.cloud.resources import CustomJob
from slipway.errors import ConfigError
from slipway.labels import CODE_LABEL
from slipway.submission.recovery import RecoveredSubmission

_OTHERS = sorted(CAPACITY_TYPES.values(), key=lambda row: not row.waits_by_itself)
"""In the order in which they are proposed: first what waits for its machines by itself."""


class Cause(Enum):
    """Why a job has ended without having done its work, as far as it is for want of machines."""

    STOCK_OUT = "there were no machines for it, and the service has stopped trying"
    EXPIRED = "its machines did not come in the time that it was to wait"
    PREEMPTED = "its Spot machines were taken away too often, and the service restarts it no more"


@dataclass(frozen=True)
class Suggestion:
    """`command` can be typed as it is, except for what is written `…` or `BUCKET`."""

    what: str
    command: str


def cause_of(job: CustomJob) -> Cause | None:
    """From the state and the service's words, of which only what is sure to be meant is taken. None for other ends."""
    capacity_type, error = job.capacity_type, job.error.lower()
    if capacity_type == POOL or job.state not in ("JOB_STATE_FAILED", "JOB_STATE_EXPIRED"):
        return None
    insufficient = "resources are insufficient" in error or "stockout" in error
    if CAPACITY_TYPES[capacity_type].waits_by_itself:
        late = job.state == "JOB_STATE_EXPIRED" or "max wait duration" in error
        return Cause.EXPIRED if job.start_time is None and (late or insufficient) else None
    if CAPACITY_TYPES[capacity_type].preemptible and (
        "preempted" in error or (insufficient and job.start_time is not None)
    ):
        return Cause.PREEMPTED
    return Cause.STOCK_OUT if insufficient else None


def suggestions(
    job: CustomJob, cause: Cause, again: RecoveredSubmission, region: str, catalog: str | None = None
) -> tuple[Suggestion, ...]:
    """Other capacity types that the template has, fewer machines, a longer wait, another region.

    `catalog` as it was typed, None where it was not.
    """
    return tuple(_steps(job, cause, again, region, catalog))


def _steps(
    job: CustomJob, cause: Cause, again: RecoveredSubmission, region: str, catalog: str | None
) -> Iterator[Suggestion]:
    own = ("--capacity", again.offer.capacity_type)
    if cause is Cause.EXPIRED:
        longer = [*own, "--wait-for", f"{again.offer.capacity_type}=0"]
        yield Suggestion("waits for as long as it takes", _command(job, again, catalog, *longer))
    for offer in _others(again):
        what = CAPACITY_TYPES[offer.capacity_type].instead.format(offer.cluster)
        yield Suggestion(what, _command(job, again, catalog, "--capacity", offer.capacity_type))
    for name, fewer, machines in _fewer(again):
        what = f"fewer machines: {again.values[name]} → {fewer} {machines}"
        yield Suggestion(what, _command(job, again, catalog, *own, **{name: fewer}))
    elsewhere = f"another region than {region}, by the catalog of a stack that is there"
    yield Suggestion(elsewhere, _command(job, again, "gs://BUCKET", *own))


def _others(again: RecoveredSubmission) -> list[Offer]:
    """An offer of each other capacity type that applies to the same parameters and is available."""
    try:
        offers = standing(again.template, again.kind, again.values)
    except ConfigError:
        return []
    first = {offer.capacity_type: offer for offer in reversed(offers) if offer.available}
    return [first[row.name] for row in _OTHERS if row.name in first and row.name != again.offer.capacity_type]


def _fewer(again: RecoveredSubmission) -> Iterator[tuple[str, int, str]]:
    """(parameter, half of its value, role) for those that count the replicas of a worker pool and may be smaller."""
    roles = again.offer.roles or again.template.roles
    bounds = {one.name: one.min for one in again.template.parameters}
    for index, spec in enumerate(again.kind.spec_of(again.offer.request).get("workerPoolSpecs", ())):
        name = str(spec.get("replicaCount", "")).removeprefix("${").removesuffix("}")
        value = again.values.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            least = max(1, int(bounds.get(name) or 1))
            if value > least:
                yield name, max(least, value // 2), roles[index] if index < len(roles) else name


def _command(job: CustomJob, again: RecoveredSubmission, catalog: str | None, *flags: str, **params: Scalar) -> str:
    words = ["slipway", "submit", again.template.name, *again.words(**params), *flags]
    if again.kind.name != again.template.kind:
        words += ["--as", again.kind.name]
    if CODE_LABEL in job.labels:
        words += ["--code", "…"]
    if catalog:
        words += ["--catalog", catalog]
    return " ".join(word if "…" in word else shlex.quote(word) for word in words)

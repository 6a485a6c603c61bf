"""Submissions of the last days, sent again with their own parameters: the way that each would take. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from slipway.google.jobs import VertexJob
from slipway.google.quota.metrics import drawn_by
from slipway.model.catalog.model import OF_TEAM, Catalog, Offer, Template, applying
from slipway.model.catalog.parameter_types import Scalar
from slipway.model.catalog.placeholders import fill
from slipway.model.cluster import Reservation
from slipway.model.facts import QuotaLine
from slipway.model.kinds import CUSTOM_JOB, KINDS, PIPELINE_JOB, JobKind
from slipway.model.prices import per_hour
from slipway.reviewing.change.usual import takes


def again(job: VertexJob, template: Template, catalog: Catalog, sent_by: Template | None = None) -> Offer | None:
    """Return the first way that a job's parameters can take; None where they are refused, or no way has room.
    `sent_by`: the template that it was sent by, where that is another version."""
    return first_way(_values(job, template, sent_by or template), template, catalog, job.kind, job.team)


def first_way(
    values: Mapping[str, Any],
    template: Template,
    catalog: Catalog,
    kind: JobKind | None = None,
    team: str = "",
    lines: Iterable[QuotaLine] = (),
) -> Offer | None:
    """Return the first way that a submission with all these values can take, filled with them, at its own price. By
    default it is the usual kind of job, of no team. `lines`: quota that its own machines have to fit."""
    kind = kind or KINDS.get(template.kind, CUSTOM_JOB)
    if any(each.refusal(values[each.name]) for each in template.parameters):
        return None
    for offer in applying((offer for offer in template.offers if offer.kind == kind.name), values, team):
        if not offer.available:
            continue
        sent = replace(offer, request=fill(offer.request, values))
        cluster = catalog.clusters.get(offer.cluster)
        most = {pool.name: pool.max for pool in cluster.pools} if cluster else {}
        # A pipeline's tasks wait for a cluster's machines one by one.
        needs = takes(sent, {}).items() if kind is not PIPELINE_JOB else ()
        if all(count <= most.get(pool, 0) for pool, count in needs if pool) and not breaches(offer, values):
            machines = VertexJob.read(sent.request, kind).machines
            drawn = {need.metric: need.amount for need in drawn_by(offer.capacity_type, machines)}
            limits = {line.metric: line.limit for line in lines if line.limit is not None and not line.region}
            if any(0 <= limits[metric] < amount for metric, amount in drawn.items() if metric in limits):
                continue
            cost = per_hour(machines, catalog.region_of_offer(offer), offer.capacity_type)
            return replace(sent, price_per_hour=cost)
    return None


def breaches(
    offer: Offer, values: Mapping[str, Any], reserved: Mapping[str, Reservation] | None = None
) -> tuple[str, ...]:
    """Return how a submission with these values breaks rules of the service, but for what only sending fills in.
    `reserved`: reservations by path."""
    from slipway.model.rules.table import check

    told = (
        breach.text for breach in check(offer.kind, offer.capacity_type, fill(offer.request, values), reserved=reserved)
    )
    return tuple(text for text in told if "${" not in text)


def _values(job: VertexJob, template: Template, sent_by: Template) -> Mapping[str, Any]:
    """Return the values of the same submission to a template: a job's record has the defaults of its time as well."""
    defaults = {each.name: each.default for each in sent_by.parameters}
    given = {name: value for name, value in (job.parameters or {}).items() if value != defaults.get(name)}
    return {**{each.name: each.default for each in template.parameters}, **given}


def is_case(job: VertexJob, case: Mapping[str, tuple[Scalar, ...]]) -> bool:
    """Tell whether a job is of a case, as far as its record has the values."""
    values = {**(job.parameters or {}), OF_TEAM: job.team}
    return all(name not in values or values[name] in wanted for name, wanted in case.items())

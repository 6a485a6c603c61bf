"""Usage in the columns of FOCUS 1.2, the FinOps Open Cost and Usage Specification: a charge for each day. Pure.

A persistent resource keeps machines: jobs on it are the used part of a capacity reservation, and the machines that no
job had the unused part. Costs are list prices: the bill, with its discounts, is Google's. Slipway's own columns begin
with `x_`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from slipway.capacity import SPOT
from slipway.history.charges import IdleCharge, JobCharge, idle_charges, job_charges
from slipway.history.model import History
from slipway.history.timeline import timelines
from slipway.history.usage import LABEL, names_by, pool_name
from slipway.labels import TEAM_LABEL, TEMPLATE_LABEL, USER_LABEL
from slipway.prices import Price, exact_text
from slipway.season import moment_text

COLUMNS = (
    "BillingCurrency",
    "CapacityReservationId",
    "CapacityReservationStatus",
    "ChargeCategory",
    "ChargeDescription",
    "ChargePeriodEnd",
    "ChargePeriodStart",
    "ConsumedQuantity",
    "ConsumedUnit",
    "ListCost",
    "PricingCategory",
    "ProviderName",
    "RegionId",
    "ResourceId",
    "ResourceName",
    "ResourceType",
    "ServiceCategory",
    "ServiceName",
    "SubAccountId",
    "Tags",
    "x_AcceleratorHours",
    "x_CostBound",
    "x_MachineType",
)
_NOTHING = Price()
_LABELS = {"user": USER_LABEL, "team": TEAM_LABEL, "template": TEMPLATE_LABEL}
_ALWAYS = {
    "BillingCurrency": "USD",
    "ChargeCategory": "Usage",
    "ConsumedUnit": "Hours",
    "ProviderName": "Google Cloud",
    "ServiceCategory": "AI and Machine Learning",
    "ServiceName": "Vertex AI",
}


@dataclass(frozen=True)
class _Resource:
    """Machines that are charged together on a day: `name` groups them, None for idle ones."""

    name: str | None
    where: str
    cluster_id: str
    region: str
    capacity_type: str
    machine: str


@dataclass(frozen=True)
class _Sum:
    hours: float = 0.0
    accelerator_hours: float = 0.0
    cost: Price = _NOTHING

    def __add__(self, one: JobCharge | IdleCharge) -> _Sum:
        return _Sum(self.hours + one.hours, self.accelerator_hours + one.accelerator_hours, self.cost + one.cost)


def focus_rows(history: History, by: str) -> Iterator[Mapping[str, str]]:
    """Yield a row for each day in UTC, name and place. Raises ConfigError for an unknown grouping."""
    named, pools = names_by(by), timelines(history)
    label = by.removeprefix(LABEL) if by.startswith(LABEL) else _LABELS.get(by, "")
    for begin, end in _days(history.since, history.until):
        found: dict[_Resource, _Sum] = {}
        for one in job_charges(history.jobs, begin, end, history.until):
            job, machine = one.job, str(one.machines.machine)
            where = pool_name(job, one.machines)
            name = named(job, one.machines)
            key = _Resource(name, where, job.cluster_id, job.region, job.capacity_type, machine)
            found[key] = found.get(key, _Sum()) + one
        for idle in idle_charges(pools, history.jobs, begin, end, history.until):
            if idle.hours:
                where = f"{idle.cluster}/{idle.key.pool}"
                key = _Resource(None, where, idle.key.cluster_id, idle.region, "", str(idle.machine))
                found[key] = found.get(key, _Sum()) + idle
        for key, total in found.items():
            yield _row(history.project, key, total, label, begin, end)


def _days(since: datetime, until: datetime) -> Iterator[tuple[datetime, datetime]]:
    begin = since.astimezone(UTC)
    while begin < until:
        end = min(until, begin.replace(hour=0, minute=0, second=0, microsecond=0) + timedelta(days=1))
        yield begin, end
        begin = end


def _row(project: str, key: _Resource, total: _Sum, label: str, begin: datetime, end: datetime) -> Mapping[str, str]:
    cluster = (
        f"projects/{project}/locations/{key.region}/persistentResources/{key.cluster_id}" if key.cluster_id else ""
    )
    row = {
        **_ALWAYS,
        "CapacityReservationId": cluster,
        "CapacityReservationStatus": "" if not cluster else "Unused" if key.name is None else "Used",
        "ChargeDescription": f"{key.machine} of {key.where}, {'idle' if key.name is None else 'used by jobs'}",
        "ChargePeriodEnd": moment_text(end),
        "ChargePeriodStart": moment_text(begin),
        "ConsumedQuantity": f"{total.hours:.6f}",
        "ListCost": exact_text(total.cost) or "",
        "PricingCategory": "Dynamic" if key.capacity_type == SPOT else "Standard",
        "RegionId": key.region,
        "ResourceId": cluster,
        "ResourceName": key.where,
        "ResourceType": "Persistent resource" if cluster else "Machines of a job",
        "SubAccountId": project,
        "Tags": json.dumps({label: key.name} if label and key.name else {}),
        "x_AcceleratorHours": f"{total.accelerator_hours:.6f}",
        "x_CostBound": "at least" if not total.cost.complete else "at most" if total.cost.at_most else "",
        "x_MachineType": key.machine,
    }
    return {column: row[column] for column in COLUMNS}

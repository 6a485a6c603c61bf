"""The quota metrics that a machine draws, and how much of each.

A metric has its name in the service's list of quotas (`quotaInfos`), without `aiplatform.googleapis.com/`, and a limit
in each region. Where no page of Google's has the name, it is inferred by pattern, and the need is not `documented`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from slipway.google.quotas import PREFIX
from slipway.model.capacity import CAPACITY_TYPES
from slipway.model.machines.spec import Disk, MachineGroup, is_tpu
from slipway.model.machines.table import Machine, MachineError, accelerator, all_accelerators, rows

ON_DEMAND_QUOTA = "on-demand"
PREEMPTIBLE = "preemptible"
_DISKS: Mapping[str, tuple[str, str, bool]] = {
    "pd-ssd": ("pd_ssd", "PD SSD GB", True),
    "pd-standard": ("pd_standard", "PD Standard GB", False),
}
"""By the type of a disk: the end of the metric's name, its label, and whether a page names it."""


@dataclass(frozen=True)
class Need:
    """An amount of a metric: GPUs, chips of TPUs, vCPUs or GB."""

    #: Without the service's name.
    metric: str
    amount: int
    #: False where the metric's name is inferred: when the service does not list it, it is not checked.
    documented: bool = True


def needs(group: MachineGroup, *, preemptible: bool = False) -> tuple[Need, ...]:
    """Return the GPUs, vCPUs and GB of disk that so many machines draw.

    Preemptible draws (Spot and flex-start) share one CPU metric over all families; there is no preemptible disk metric.
    No metric is known for hyperdisks, for preemptible TPUs, and for the CPUs of TPU machines: they draw nothing that
    could be checked. TPUs are counted in chips. Raises MachineError for a machine that the table lacks.
    """
    shape = group.machine.shape
    disk, replicas = group.machine.disk, group.count
    drawn: list[Need] = []
    if is_tpu(shape.type):
        if not preemptible:
            chip = accelerator(shape.accelerator or shape.family)
            drawn.append(Need(PREFIX + chip.quota, replicas * shape.accelerator_count, chip.documented))
        return (*drawn, *_disks(disk, replicas))
    if shape.accelerator is not None:
        gpu = accelerator(shape.accelerator)
        if gpu.preemptible or not preemptible:
            metric = f"{PREFIX}{'preemptible_' if preemptible else ''}{gpu.quota}"
            drawn.append(Need(metric, replicas * shape.accelerator_count, gpu.documented))
    return (*drawn, _cpus(shape, replicas, preemptible), *_disks(disk, replicas))


def unmetered(groups: Iterable[MachineGroup], *, preemptible: bool) -> tuple[str, ...]:
    """Return the draws without a known metric: disks and, for preemptible machines, accelerators.

    Raises MachineError as `needs` does.
    """
    draws: list[str] = []
    for group in groups:
        shape = group.machine.shape
        kind = shape.accelerator or (shape.family if is_tpu(shape.type) else "")
        if preemptible and kind and (is_tpu(shape.type) or not accelerator(kind).preemptible):
            draws.append(f"preemptible {accelerator(kind).label}")
        if group.machine.disk.type not in _DISKS:
            draws.append(group.machine.disk.type)
    return tuple(dict.fromkeys(draws))


def _disks(disk: Disk, replicas: int) -> Iterator[Need]:
    if disk.type in _DISKS:
        slug, _, documented = _DISKS[disk.type]
        yield Need(PREFIX + slug, replicas * disk.size_gb, documented)


def needs_of(groups: Iterable[MachineGroup], *, preemptible: bool = False) -> tuple[Need, ...]:
    """Return the needs of several groups of machines, summed by metric. Raises MachineError as `needs` does."""
    by_metric: dict[str, Need] = {}
    for need in (need for group in groups for need in needs(group, preemptible=preemptible)):
        before = by_metric.get(need.metric)
        by_metric[need.metric] = replace(need, amount=need.amount + before.amount) if before else need
    return tuple(by_metric.values())


def drawn_by(capacity_type: str, groups: Iterable[MachineGroup]) -> tuple[Need, ...]:
    """Return the needs of a job's own machines. Empty for an unknown shape, and where no rule is known."""
    row = CAPACITY_TYPES[capacity_type]
    if row.draws not in (ON_DEMAND_QUOTA, PREEMPTIBLE):
        return ()
    try:
        return needs_of(groups, preemptible=row.preemptible)
    except MachineError:
        return ()


def namespace(metric: str) -> str:
    return PREEMPTIBLE if metric.startswith(f"{PREFIX}preemptible_") else ON_DEMAND_QUOTA


def label(metric: str) -> str:
    """Return the metric in a person's words: H100 GPUs, A3 vCPUs, PD SSD GB."""
    rest = metric.removeprefix(PREFIX).removeprefix("preemptible_")
    for row in all_accelerators():
        if rest == row.quota:
            return row.label
    for slug, words, _ in _DISKS.values():
        if rest == slug:
            return words
    if rest == "cpus":
        return "vCPUs" if namespace(metric) == PREEMPTIBLE else "N1/E2 vCPUs"
    return f"{rest.removesuffix('_cpus').upper()} vCPUs" if rest.endswith("_cpus") else metric


def quota_id(metric: str, listed: Mapping[str, str] | None = None) -> str | None:
    """Return the quota's id in the Cloud Quotas API.

    It is as `listed` by the service, by metric; else it follows a pattern, which is known for GPUs, TPUs, and the
    preemptible CPUs.
    """
    if listed and metric in listed:
        return listed[metric]
    preemptible = namespace(metric) == PREEMPTIBLE
    rest = metric.removeprefix(PREFIX).removeprefix("preemptible_")
    metered = (row for row in all_accelerators() if row.preemptible or not preemptible)
    infix = next((row.quota_id for row in metered if rest == row.quota), None)
    if infix is None and preemptible and rest == "cpus":
        infix = "CPUs"
    if infix is None:
        return None
    return f"CustomModelTraining{'Preemptible' if preemptible else ''}{infix}PerProjectPerRegion"


ALL_SHORT_COMMAND = "slipway quota --request --contact EMAIL"
"""The command that asks for all missing quota."""


def request_command(metric: str, limit: int) -> str:
    return f"slipway quota --request {metric}={limit} --contact EMAIL"


def rank(metric: str) -> tuple[bool, bool, bool, str]:
    """Return the order in the table: on-demand before preemptible; GPUs and TPUs, vCPUs, disks."""
    is_accelerator = metric.endswith("_gpus") or f"{PREFIX}tpu" in metric
    return namespace(metric) == PREEMPTIBLE, not is_accelerator, not metric.endswith("cpus"), metric


def _cpus(shape: Machine, replicas: int, preemptible: bool) -> Need:
    amount = replicas * shape.vcpus
    if preemptible:
        return Need(f"{PREFIX}preemptible_cpus", amount)
    listed = rows("cpus").get(shape.family)
    return Need(PREFIX + (listed or f"{shape.family}_cpus"), amount, documented=listed is not None)

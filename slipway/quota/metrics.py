"""Which quota metrics a machine draws, and how much of each.

Names are those of service aiplatform.googleapis.com, without the service, each limited per region. They are for finding
the metric in a listed `quotaInfos`; those marked as not documented are inferred by pattern.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from slipway.machines import Disk, Machine, MachineGroup, MachineSpec, is_tpu, machine, one_tpu
from slipway.quota.report import ON_DEMAND, PREEMPTIBLE, Need

_PREFIX = "custom_model_training_"


@dataclass(frozen=True)
class Gpu:
    """`slug` makes the metric, `infix` the quota id, `label` is for people. GB200 and TPUs have none preemptible."""

    slug: str
    infix: str
    label: str
    documented: bool = True
    preemptible: bool = True


_GPUS: Mapping[str, Gpu] = {
    "NVIDIA_TESLA_T4": Gpu("nvidia_t4", "T4GPUs", "T4 GPUs"),
    "NVIDIA_L4": Gpu("nvidia_l4", "L4GPUs", "L4 GPUs"),
    "NVIDIA_TESLA_V100": Gpu("nvidia_v100", "V100GPUs", "V100 GPUs"),
    "NVIDIA_TESLA_P100": Gpu("nvidia_p100", "P100GPUs", "P100 GPUs"),
    "NVIDIA_TESLA_P4": Gpu("nvidia_p4", "P4GPUs", "P4 GPUs"),
    "NVIDIA_TESLA_A100": Gpu("nvidia_a100", "A100GPUs", "A100 GPUs"),
    "NVIDIA_A100_80GB": Gpu("nvidia_a100_80gb", "A10080GBGPUs", "A100 80GB GPUs"),
    "NVIDIA_H100_80GB": Gpu("nvidia_h100", "H100GPUs", "H100 GPUs"),
    "NVIDIA_H100_MEGA_80GB": Gpu("nvidia_h100_mega", "H100MEGAGPUs", "H100 Mega GPUs"),
    "NVIDIA_H200_141GB": Gpu("nvidia_h200", "H200GPUs", "H200 GPUs"),
    "NVIDIA_B200": Gpu("nvidia_b200", "B200GPUs", "B200 GPUs", documented=False),
    "NVIDIA_GB200": Gpu("nvidia_gb200", "GB200GPUs", "GB200 GPUs", documented=False, preemptible=False),
    "NVIDIA_RTX_PRO_6000": Gpu("nvidia_rtx_pro_6000", "RTXPRO6000GPUs", "RTX PRO 6000 GPUs", documented=False),
}
_TPUS: Mapping[str, Gpu] = {
    "TPU_V2": Gpu("tpu_v2", "V2TPUs", "TPU v2", documented=False),
    "TPU_V3": Gpu("tpu_v3", "V3TPUs", "TPU v3"),
    "ct5lp": Gpu("tpu_v5e", "V5ETPU", "TPU v5e"),
    "ct6e": Gpu("tpu_v6e", "V6ETPU", "TPU v6e", documented=False),
    "tpu7x": Gpu("tpu7x", "7XTPU", "TPU 7x", documented=False),
}
_CPU_FAMILIES = frozenset({"n2", "n4", "c2", "m1", "a2", "a3", "g2"})
_DISKS: Mapping[str, tuple[str, str, bool]] = {
    "pd-ssd": ("pd_ssd", "PD SSD GB", True),
    "pd-standard": ("pd_standard", "PD Standard GB", False),
}


def needs(group: MachineGroup, *, preemptible: bool = False) -> tuple[Need, ...]:
    """GPUs, vCPUs and GB of disk that so many machines draw. Raises MachineError for one that the table does not have.

    Preemptible draws (Spot and flex-start) share one CPU metric over all families; there is no preemptible disk metric.
    No metric is known for hyperdisks, for preemptible TPUs, and for the CPUs of TPU machines: they draw nothing that
    could be checked. TPUs are counted in chips.
    """
    shape, disk, replicas = _shape(group.machine), group.machine.disk, group.count
    found: list[Need] = []
    if is_tpu(shape.type):
        if not preemptible:
            chip = _TPUS[shape.accelerator or shape.family]
            found.append(Need(_PREFIX + chip.slug, replicas * shape.accelerator_count, chip.documented))
        return (*found, *_disks(disk, replicas))
    if shape.accelerator is not None:
        gpu = _GPUS[shape.accelerator]
        if gpu.preemptible or not preemptible:
            metric = f"{_PREFIX}{'preemptible_' if preemptible else ''}{gpu.slug}_gpus"
            found.append(Need(metric, replicas * shape.accelerator_count, gpu.documented))
    return (*found, _cpus(shape, replicas, preemptible), *_disks(disk, replicas))


def _disks(disk: Disk, replicas: int) -> Iterator[Need]:
    if disk.type in _DISKS:
        slug, _, documented = _DISKS[disk.type]
        yield Need(_PREFIX + slug, replicas * disk.size_gb, documented)


def needs_of(groups: Iterable[MachineGroup], *, preemptible: bool = False) -> tuple[Need, ...]:
    """The needs of several groups of machines, summed by metric. Raises MachineError for an unknown machine type."""
    return _summed(need for group in groups for need in needs(group, preemptible=preemptible))


def _shape(spec: MachineSpec) -> Machine:
    if is_tpu(spec.type):
        return one_tpu(spec.type, spec.accelerator, spec.accelerator_count)
    return machine(spec.type, spec.accelerator, spec.accelerator_count or None)


def _summed(all_needs: Iterable[Need]) -> tuple[Need, ...]:
    by_metric: dict[str, Need] = {}
    for need in all_needs:
        before = by_metric.get(need.metric)
        by_metric[need.metric] = Need(need.metric, need.amount + (before.amount if before else 0), need.documented)
    return tuple(by_metric.values())


def namespace(metric: str) -> str:
    return PREEMPTIBLE if metric.startswith(f"{_PREFIX}preemptible_") else ON_DEMAND


def label(metric: str) -> str:
    """The metric in a person's words: H100 GPUs, A3 vCPUs, PD SSD GB."""
    rest = metric.removeprefix(_PREFIX).removeprefix("preemptible_")
    for gpu in _GPUS.values():
        if rest == f"{gpu.slug}_gpus":
            return gpu.label
    for chip in _TPUS.values():
        if rest == chip.slug:
            return f"{chip.label} chips"
    for slug, words, _ in _DISKS.values():
        if rest == slug:
            return words
    if rest == "cpus":
        return "vCPUs" if namespace(metric) == PREEMPTIBLE else "N1/E2 vCPUs"
    return f"{rest.removesuffix('_cpus').upper()} vCPUs" if rest.endswith("_cpus") else metric


def quota_id(metric: str) -> str | None:
    """The quota's id in the Cloud Quotas API, where its pattern is known: GPUs, TPUs, and the preemptible CPUs."""
    kind = "Preemptible" if namespace(metric) == PREEMPTIBLE else ""
    rest = metric.removeprefix(_PREFIX).removeprefix("preemptible_")
    infix = next((gpu.infix for gpu in _GPUS.values() if rest == f"{gpu.slug}_gpus"), None)
    infix = next((chip.infix for chip in _TPUS.values() if rest == chip.slug and not kind), infix)
    if infix is None and kind and rest == "cpus":
        infix = "CPUs"
    return None if infix is None else f"CustomModelTraining{kind}{infix}PerProjectPerRegion"


def rank(metric: str) -> tuple[bool, int, str]:
    """Order of the table: on-demand before preemptible; GPUs and TPUs, vCPUs, disks."""
    kind = 0 if metric.endswith("_gpus") or f"{_PREFIX}tpu" in metric else 1 if metric.endswith("cpus") else 2
    return namespace(metric) == PREEMPTIBLE, kind, metric


def _cpus(shape: Machine, replicas: int, preemptible: bool) -> Need:
    amount = replicas * shape.vcpus
    if preemptible:
        return Need(f"{_PREFIX}preemptible_cpus", amount)
    if shape.family in ("n1", "e2"):
        return Need(f"{_PREFIX}cpus", amount)
    return Need(f"{_PREFIX}{shape.family}_cpus", amount, shape.family in _CPU_FAMILIES)

"""Quota metrics of custom training and how much of each a set of replicas draws (data: metrics.toml)."""

import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from ..supply import machines
from ..supply.shape import Shape

SERVICE = "aiplatform.googleapis.com"
UNLIMITED = -1
_DATA = Path(__file__).with_name("metrics.toml")


@dataclass(frozen=True)
class Quota:
    """A regional quota of plain counts (GPUs, vCPUs, GB); -1 is unlimited."""

    #: Without the service's name.
    metric: str
    quota_id: str
    title: str
    other: int
    regions: Mapping[str, int] = field(default_factory=dict)

    def default(self, region: str) -> int:
        return self.regions.get(region, self.other)


@dataclass(frozen=True)
class QuotaTable:
    quotas: tuple[Quota, ...]
    on_demand_gpus: Mapping[str, str]
    preemptible_gpus: Mapping[str, str]
    cpus: Mapping[str, str]
    preemptible_cpus: str
    disks: Mapping[str, str]

    def by_id(self, quota_id: str) -> Quota | None:
        return next((quota for quota in self.quotas if quota.quota_id == quota_id), None)

    def by_metric(self, metric: str) -> Quota:
        return next(quota for quota in self.quotas if quota.metric == metric)


def drawn(replicas: Iterable[tuple[Shape, int]], *, preemptible: bool = False) -> Counter[str]:
    """Return the quota that replicas draw: metric to amount. `replicas` are shapes with their counts."""
    quotas = table()
    gpus = quotas.preemptible_gpus if preemptible else quotas.on_demand_gpus
    needs: Counter[str] = Counter()
    for shape, count in replicas:
        machine = machines.table().types[shape.machine_type]
        needs[quotas.preemptible_cpus if preemptible else quotas.cpus[machine.family]] += count * machine.vcpus
        if shape.accelerator_type:
            needs[gpus[shape.accelerator_type]] += count * shape.accelerator_count
        if shape.disk_type in quotas.disks:
            needs[quotas.disks[shape.disk_type]] += count * shape.disk_gb
    return +needs


def over(needs: Mapping[str, int], used: Mapping[str, int], limits: Mapping[str, int]) -> list[str]:
    """Return the metrics whose limit is below use and need together, in the order of `needs`."""
    return [
        metric
        for metric, amount in needs.items()
        if limits[metric] != UNLIMITED and used.get(metric, 0) + amount > limits[metric]
    ]


@cache
def table() -> QuotaTable:
    """Return the table of metrics.toml, read once."""
    data = tomllib.loads(_DATA.read_text(encoding="utf-8"))
    quotas: list[Quota] = []
    on_demand: dict[str, str] = {}
    preemptible: dict[str, str] = {}
    cpus: dict[str, str] = {}
    for accelerator, item in data["accelerators"].items():
        on_demand[accelerator] = f"custom_model_training_nvidia_{item['name']}_gpus"
        title = f"Custom model training Nvidia {item['name'].replace('_', ' ').upper()} GPUs per region"
        quotas.append(_quota(on_demand[accelerator], f"{item['infix']}GPUs", title, item))
        # No document names a preemptible GB200 metric; a name by the pattern, with limit 0, refuses such a job by name.
        preemptible[accelerator] = f"custom_model_training_preemptible_nvidia_{item['name']}_gpus"
        title = title.replace("training Nvidia", "training preemptible Nvidia")
        allowed = {"other": item.get("preemptible", 0)}
        quotas.append(_quota(preemptible[accelerator], f"Preemptible{item['infix']}GPUs", title, allowed))
    for family, item in data["cpus"].items():
        metric = item.get("metric", f"custom_model_training_{family}_cpus")
        title = item.get("title", f"Custom model training CPUs for {family.upper()} machine types per region")
        quotas.append(_quota(metric, f"{family.upper()}CPUs", title, item))
        cpus |= dict.fromkeys(item.get("families", [family]), metric)
    plain = [data["preemptible_cpus"], *data["disks"].values()]
    quotas += [_quota(item["metric"], "", item["title"], item) for item in plain]
    disks = {disk: item["metric"] for disk, item in data["disks"].items()}
    return QuotaTable(tuple(quotas), on_demand, preemptible, cpus, data["preemptible_cpus"]["metric"], disks)


def _quota(metric: str, infix: str, title: str, item: Mapping[str, Any]) -> Quota:
    quota_id = item.get("id", f"CustomModelTraining{infix}PerProjectPerRegion")
    return Quota(metric, quota_id, title, item["other"], item.get("regions", {}))

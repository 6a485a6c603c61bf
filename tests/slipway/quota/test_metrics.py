"""Which metrics machines draw (vertex-rules 4.3): names, amounts, quota ids."""

import pytest

from slipway.machines.spec import Disk, MachineGroup, MachineSpec
from slipway.machines.table import accelerators, machine, machine_types
from slipway.quota.metrics import Need, label, namespace, needs, needs_of, quota_id

from .region import CPUS, H100, SPOT_CPUS, SPOT_H100, SSD, M, cpu, h100, machines

NO_DISK = Disk("hyperdisk-balanced", 100)


def one(type_: str, accelerator: str | None = None, count: int | None = None, disk: Disk | None = None) -> MachineGroup:
    return MachineGroup(MachineSpec(type_, accelerator, count or 0, disk or Disk("pd-ssd")), 1)


def metrics(type_: str, accelerator: str | None = None, count: int | None = None, *, spot: bool = False) -> list[str]:
    found = needs(one(type_, accelerator, count, NO_DISK), preemptible=spot)
    return [need.metric.removeprefix(M) for need in found]


@pytest.mark.parametrize(
    ("type_", "accelerator", "on_demand", "preemptible"),
    [
        ("n1-standard-8", "NVIDIA_TESLA_T4", "nvidia_t4_gpus", "preemptible_nvidia_t4_gpus"),
        ("n1-standard-8", "NVIDIA_TESLA_V100", "nvidia_v100_gpus", "preemptible_nvidia_v100_gpus"),
        ("n1-standard-8", "NVIDIA_TESLA_P100", "nvidia_p100_gpus", "preemptible_nvidia_p100_gpus"),
        ("n1-standard-8", "NVIDIA_TESLA_P4", "nvidia_p4_gpus", "preemptible_nvidia_p4_gpus"),
        ("g2-standard-4", None, "nvidia_l4_gpus", "preemptible_nvidia_l4_gpus"),
        ("a2-highgpu-1g", None, "nvidia_a100_gpus", "preemptible_nvidia_a100_gpus"),
        ("a2-ultragpu-1g", None, "nvidia_a100_80gb_gpus", "preemptible_nvidia_a100_80gb_gpus"),
        ("a3-highgpu-8g", None, "nvidia_h100_gpus", "preemptible_nvidia_h100_gpus"),
        ("a3-megagpu-8g", None, "nvidia_h100_mega_gpus", "preemptible_nvidia_h100_mega_gpus"),
        ("a3-ultragpu-8g", None, "nvidia_h200_gpus", "preemptible_nvidia_h200_gpus"),
        ("a4-highgpu-8g", None, "nvidia_b200_gpus", "preemptible_nvidia_b200_gpus"),
        ("g4-standard-48", None, "nvidia_rtx_pro_6000_gpus", "preemptible_nvidia_rtx_pro_6000_gpus"),
    ],
)
def test_gpu_metrics(type_: str, accelerator: str | None, on_demand: str, preemptible: str) -> None:  # D2, W6
    count = 1 if accelerator else None
    assert metrics(type_, accelerator, count)[0] == on_demand
    assert metrics(type_, accelerator, count, spot=True)[0] == preemptible


@pytest.mark.parametrize(
    ("type_", "accelerator", "count", "metric", "amount"),
    [
        ("ct5lp-hightpu-4t", None, 0, "tpu_v5e", 8),
        ("ct6e-standard-8t", None, 0, "tpu_v6e", 16),
        ("tpu7x-standard-4t", None, 0, "tpu7x", 8),
        ("cloud-tpu", "TPU_V3", 8, "tpu_v3", 16),
    ],
)
def test_tpus_are_counted_in_chips(type_: str, accelerator: str | None, count: int, metric: str, amount: int) -> None:
    group = MachineGroup(MachineSpec(type_, accelerator, count), 2)
    chips, disk = needs_of((group,))
    assert (chips.metric, chips.amount) == (f"{M}{metric}", amount)
    assert (disk.metric, disk.amount) == (SSD, 200)
    assert [need.metric for need in needs_of((group,), preemptible=True)] == [SSD]
    assert label(chips.metric).endswith(" chips")


def test_gb200_has_no_preemptible_metric() -> None:
    assert metrics("a4x-highgpu-4g") == ["nvidia_gb200_gpus", "a4x_cpus"]
    assert metrics("a4x-highgpu-4g", spot=True) == ["preemptible_cpus"]


@pytest.mark.parametrize(
    ("type_", "metric"),
    [
        ("n1-standard-8", "cpus"),
        ("e2-standard-4", "cpus"),
        ("n2-standard-4", "n2_cpus"),
        ("n4-standard-4", "n4_cpus"),
        ("c2-standard-4", "c2_cpus"),
        ("m1-megamem-96", "m1_cpus"),
        ("a2-highgpu-1g", "a2_cpus"),
        ("a3-megagpu-8g", "a3_cpus"),
        ("g2-standard-8", "g2_cpus"),
    ],
)
def test_cpu_metrics_by_family_and_one_for_all_that_is_preemptible(type_: str, metric: str) -> None:  # D2
    assert metrics(type_)[-1] == metric
    assert metrics(type_, spot=True)[-1] == "preemptible_cpus"


def test_amounts_are_gpus_vcpus_and_gb_over_all_replicas() -> None:  # D2, N6
    assert needs(MachineGroup(MachineSpec("a3-highgpu-8g", disk=Disk("pd-ssd", 500)), 3)) == (
        Need(H100, 24),
        Need(f"{M}a3_cpus", 624),
        Need(SSD, 1500),
    )
    assert needs_of((machines(h100(), 1), machines(cpu(), 2)), preemptible=True) == (
        Need(SPOT_H100, 8),
        Need(SPOT_CPUS, 208 + 16),
        Need(SSD, 700),
    )
    assert needs_of(()) == ()


def test_inferred_names_are_marked_so() -> None:
    assert [need.documented for need in needs(one("a4-highgpu-8g", disk=Disk("pd-standard", 100)))] == [False] * 3


@pytest.mark.parametrize(
    ("metric", "words", "id_"),
    [
        (H100, "H100 GPUs", "CustomModelTrainingH100GPUsPerProjectPerRegion"),
        (SPOT_H100, "H100 GPUs", "CustomModelTrainingPreemptibleH100GPUsPerProjectPerRegion"),
        (f"{M}nvidia_a100_80gb_gpus", "A100 80GB GPUs", "CustomModelTrainingA10080GBGPUsPerProjectPerRegion"),
        (SPOT_CPUS, "vCPUs", "CustomModelTrainingPreemptibleCPUsPerProjectPerRegion"),
        (CPUS, "N1/E2 vCPUs", None),
        (f"{M}a3_cpus", "A3 vCPUs", None),
        (SSD, "PD SSD GB", None),
    ],
)
def test_words_and_quota_ids(metric: str, words: str, id_: str | None) -> None:
    assert label(metric) == words
    assert quota_id(metric) == id_
    assert namespace(metric) == ("preemptible" if "preemptible" in metric else "on-demand")


def test_every_machine_and_accelerator_has_its_metrics() -> None:
    seen = set()
    for type_ in machine_types():
        shape = machine(type_)
        seen |= {shape.accelerator}
        assert needs(one(type_))[-1].metric == SSD
    for accelerator in set(accelerators()) - seen:
        assert label(metrics("n1-highcpu-64", accelerator, 8 if "V100" in accelerator else 4)[0]) is not None

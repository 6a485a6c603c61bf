"""Which machine takes which accelerator, in which region (vertex-rules 7.1)."""

import pytest

from local.cloud.supply import machines


@pytest.mark.parametrize(
    ("machine", "accelerator", "count", "region", "field"),
    [
        ("a2-highgpu-1g", None, 0, "us-central1", "accelerator_type"),
        ("a2-highgpu-1g", "NVIDIA_TESLA_A100", 2, "us-central1", "accelerator_count"),
        ("a2-highgpu-1g", "NVIDIA_TESLA_T4", 1, "us-central1", "accelerator_type"),
        ("n2-standard-4", "NVIDIA_TESLA_T4", 1, "us-central1", "accelerator_type"),
        ("n1-standard-32", "NVIDIA_TESLA_T4", 1, "us-central1", "accelerator_count"),
        ("n1-standard-4", "NVIDIA_TESLA_T4", 1, "us-south1", "accelerator_type"),
        ("n1-standard-4", None, 1, "us-central1", "accelerator_count"),
        ("", None, 0, "us-central1", "machine_type"),
    ],
)
def test_a_machine_that_does_not_fit_its_accelerator_or_region(
    machine: str, accelerator: str | None, count: int, region: str, field: str
) -> None:
    assert [item for item, _ in machines.table().mistakes(machine, accelerator, count, region)] == [field]


@pytest.mark.parametrize(
    ("machine", "disk"),
    [
        ("a3-ultragpu-8g", "hyperdisk-balanced"),
        ("a4-highgpu-8g", "hyperdisk-balanced"),
        ("a4x-highgpu-4g", "hyperdisk-balanced"),
        ("g4-standard-48", "hyperdisk-balanced"),
        ("n4-highmem-8", "hyperdisk-balanced"),
        ("a3-highgpu-8g", "pd-ssd"),
        ("n2-standard-4", "pd-ssd"),
    ],
)
def test_the_boot_disk_where_nobody_names_one(machine: str, disk: str) -> None:
    assert machines.default_disk_type(machine) == disk


@pytest.mark.parametrize(
    ("machine", "accelerator", "count"),
    [("a3-highgpu-8g", "NVIDIA_H100_80GB", 8), ("n1-standard-4", "NVIDIA_TESLA_T4", 4), ("e2-standard-4", None, 0)],
)
def test_machines_that_fit(machine: str, accelerator: str | None, count: int) -> None:
    assert machines.table().mistakes(machine, accelerator, count, "us-central1") == []

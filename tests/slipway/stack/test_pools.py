"""A pool that can't be: its keys, sizes, machine, accelerator, disk, name and region."""

import pytest

from .files import FILE, only, with_config, with_pool

POOL = "slipway:persistentResources.cpu.pools.workers"
GOOD = "machine: n1-standard-8\nreplicas: {min: 1, max: 4}\n"


@pytest.mark.parametrize(
    ("pool", "line", "key", "what", "fix"),
    [
        # unknown key, missing key, duplicate key
        (GOOD + "disc: {}", 11, "disc", "unknown key", "did you mean `disk`?"),
        (GOOD + "zzzz: {}", 11, "zzzz", "unknown key", "one of machine, accelerator, disk, replicas"),
        ("machine: n1-standard-8", 8, "replicas", "is missing", "add `replicas: {min: 1, max: 4}`"),
        ("replicas: 1", 8, "machine", "is missing", "add `machine: n1-standard-8`"),
        (GOOD + "machine: n1-standard-4", 11, "machine", "twice, on lines 9 and 11", "keep one"),
        # sizes
        ("machine: n1-standard-8\nreplicas: {min: 0, max: 4}", 10, "replicas.min", "shrink to 0", "1 or more"),
        ("machine: n1-standard-8\nreplicas: {min: 4, max: 4}", 10, "replicas.max", "not more than min 4", "max: 5"),
        (
            "machine: n1-standard-8\nreplicas: {min: 1000000, max: 1000000}",
            10,
            "replicas.max",
            "not more than min 1000000",
            "`replicas: 1000000` for a fixed pool",
        ),
        ("machine: n1-standard-8\nreplicas: {min: 4, max: 2}", 10, "replicas.max", "not more", "`replicas: 4`"),
        ("machine: n1-standard-8\nreplicas: {min: 1}", 10, "replicas.max", "is missing", "add `max: 4`"),
        ("machine: n1-standard-8\nreplicas: 0", 10, "replicas", "can't have 0 machines", "remove the pool"),
        ("machine: n1-standard-8\nreplicas: -1", 10, "replicas", "can't have -1", "1 or more"),
        ("machine: n1-standard-8\nreplicas: three", 10, "replicas", "whole number, or {min, max}", "replicas: {"),
        ("machine: n1-standard-8\nreplicas: '3'", 10, "replicas", "is the text '3'", "replicas: {"),
        ("machine: n1-standard-8\nreplicas: 1.5", 10, "replicas", "whole number, or {min, max}, is 1.5", "{min: 1"),
        ("machine: n1-standard-8\nreplicas: true", 10, "replicas", "is true", "{min: 1"),
        ("machine: n1-standard-8\nreplicas:", 10, "replicas", "is empty", "{min: 1"),
        (
            "machine: n1-standard-8\nreplicas: {min: 1, max: 4, initial: 5}",
            10,
            "replicas.initial",
            "5 is not",
            "1 to 4",
        ),
        ("machine: n1-standard-8\nreplicas: {min: 1, max: 4, intial: 2}", 10, "replicas.intial", "unknown", "initial"),
        ("machine: n1-standard-8\nreplcas: 2", 10, "replcas", "unknown key", "did you mean `replicas`?"),
        # machines and accelerators
        ("machine: n1-standrd-8\nreplicas: 1", 9, "machine", "unknown machine", "did you mean `n1-standard-8`?"),
        ("machine: ct6e-standard-4t\nreplicas: 1", 9, "machine", "TPU", "VM or GPU"),
        ("machine: 8\nreplicas: 1", 9, "machine", "should be text, is 8", "`machine: n1-standard-8`"),
        (
            GOOD + "accelerator: {type: NVIDIA_T4, count: 1}",
            11,
            "accelerator.type",
            "unknown accelerator",
            "did you mean",
        ),
        (
            GOOD + "accelerator: {type: NVIDIA_H100_80GB, count: 8}",
            11,
            "accelerator.type",
            "can't have",
            "a3-highgpu-8g",
        ),
        (GOOD + "accelerator: {type: NVIDIA_TESLA_T4, count: 3}", 11, "accelerator.count", "can't have 3", "1, 2, 4"),
        (GOOD + "accelerator: {type: NVIDIA_TESLA_T4}", 11, "accelerator.count", "is missing", "add `count: 1`"),
        (GOOD + "accelerator: {count: 1}", 11, "accelerator.type", "is missing", "add `type: NVIDIA_TESLA_T4`"),
        (
            "machine: a2-highgpu-1g\nreplicas: 1\naccelerator: {type: NVIDIA_TESLA_T4, count: 1}",
            11,
            "accelerator.type",
            "a2-highgpu-1g can't have NVIDIA_TESLA_T4",
            "NVIDIA_TESLA_A100 × 1 built in",
        ),
        (
            "machine: a2-highgpu-1g\nreplicas: 1\naccelerator: {type: NVIDIA_TESLA_A100, count: 2}",
            11,
            "accelerator.count",
            "can't have 2",
            "leave the accelerator out",
        ),
        # disks
        (GOOD + "disk: {sizeGb: 50}", 11, "disk.sizeGb", "can't have 50 GB", "100 to 64,000"),
        (GOOD + "disk: {sizeGb: 64001}", 11, "disk.sizeGb", "64,001", "100 to 64,000"),
        (GOOD + "disk: {type: ssd}", 11, "disk.type", "unknown disk type", "did you mean `pd-ssd`?"),
        (
            GOOD + "disk: {type: floppy}",
            11,
            "disk.type",
            "unknown disk type 'floppy'",
            "pd-ssd, pd-standard, hyperdisk-balanced",
        ),
        (GOOD + "disk: {type: hyperdisk-balanced}", 11, "disk.type", "can't have hyperdisk", "pd-ssd or pd-standard"),
        (
            "machine: n4-standard-8\nreplicas: 1\ndisk: {type: pd-ssd}",
            11,
            "disk.type",
            "can't have pd-ssd",
            "hyperdisk",
        ),
        (GOOD + "disk: {sizeGB: 200}", 11, "disk.sizeGB", "unknown key", "did you mean `sizeGb`?"),
        # not there yet, by name
        (GOOD + "id: old", 11, "id", "only a cluster is adopted", "beside `pools`"),
        (GOOD + "strategy: FLEX_START", 11, "strategy", "no strategy", "job templates"),
        (GOOD + "spot: true", 11, "spot", "can't be of capacity type spot", "job templates"),
        (GOOD + "reservationAffinity: {}", 11, "reservationAffinity", "can't be combined", "leave it out"),
    ],
)
def test_a_pool_that_cannot_be(pool: str, line: int, key: str, what: str, fix: str) -> None:
    finding = only(with_pool(pool))
    assert (finding.file, finding.line, finding.key) == (FILE, line, f"{POOL}.{key}")
    assert what in finding.what and fix in finding.fix


@pytest.mark.parametrize("name", ["Workers", "w_1", "a" * 64])
def test_a_name_that_no_pool_can_have(name: str) -> None:
    text = f"slipway:persistentResources:\n  cpu: {{pools: {{{name}: {{machine: n1-standard-8, replicas: 1}}}}}}"
    assert "can't be a pool's name" in only(with_config(text)).what


def test_a_region_without_that_accelerator() -> None:
    text = with_pool("machine: a3-highgpu-8g\nreplicas: 1").replace("us-central1", "europe-west2")
    finding = only(text)
    assert finding.key == f"{POOL}.machine" and "europe-west2 has no NVIDIA_H100_80GB" in finding.what
    assert "us-central1" in finding.fix and "europe-west2" not in finding.fix
    attached = with_pool(GOOD + "accelerator: {type: NVIDIA_TESLA_V100, count: 1}").replace("us-central1", "us-east4")
    assert only(attached).key == f"{POOL}.accelerator.type"

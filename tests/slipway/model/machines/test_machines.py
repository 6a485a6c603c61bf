"""Machines of Vertex AI (vertex-rules 7.1–7.3), TPUs too; what is said of others; and tables of prices. # Z8"""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from journey.prices import BOOK, tables
from slipway.base.errors import ConfigError
from slipway.model.machines.spec import Disk, MachineSpec, is_tpu, tpu
from slipway.model.machines.table import (
    MachineError,
    accelerators,
    default_disk,
    machine,
    machine_types,
    region_has,
    regions,
    regions_with,
    rows,
)


@pytest.mark.parametrize(
    ("type_", "vcpus", "memory", "family", "accelerator", "count"),
    [
        ("n1-standard-8", 8, 30, "n1", None, 0),
        ("n1-highmem-2", 2, 13, "n1", None, 0),
        ("e2-highcpu-16", 16, 16, "e2", None, 0),
        ("a2-highgpu-1g", 12, 85, "a2", "NVIDIA_TESLA_A100", 1),
        ("a3-megagpu-8g", 208, 1872, "a3", "NVIDIA_H100_MEGA_80GB", 8),
        ("a3-ultragpu-8g", 224, 2952, "a3", "NVIDIA_H200_141GB", 8),
        ("a4x-highgpu-4g", 140, 884, "a4x", "NVIDIA_GB200", 4),
        ("g2-standard-24", 24, 96, "g2", "NVIDIA_L4", 2),
        ("g2-standard-32", 32, 128, "g2", "NVIDIA_L4", 1),
        ("g4-standard-384", 384, 1440, "g4", "NVIDIA_RTX_PRO_6000", 8),
    ],
)
def test_shapes(type_: str, vcpus: int, memory: float, family: str, accelerator: str | None, count: int) -> None:  # D1
    spec = machine(type_)
    assert (spec.vcpus, rows("machines")[type_]["memoryGb"], spec.family) == (vcpus, memory, family)
    assert (spec.accelerator, spec.accelerator_count) == (accelerator, count)


@pytest.mark.parametrize(
    ("type_", "accelerator", "counts"),
    [
        ("n1-standard-4", "NVIDIA_TESLA_T4", (1, 2, 4)),
        ("n1-highmem-8", "NVIDIA_TESLA_V100", (1, 2, 4, 8)),
        ("n1-standard-16", "NVIDIA_TESLA_V100", (2, 4, 8)),
        ("n1-standard-96", "NVIDIA_TESLA_P100", ()),
        ("n1-highcpu-64", "NVIDIA_TESLA_P100", (4,)),
        ("n1-highcpu-96", "NVIDIA_TESLA_V100", (8,)),
        ("n2-standard-8", "NVIDIA_TESLA_T4", ()),
    ],
)
def test_the_attach_table_of_n1(type_: str, accelerator: str, counts: tuple[int, ...]) -> None:  # P2
    for count in range(1, 9):
        if count in counts:
            spec = machine(type_, accelerator, count)
            assert (spec.accelerator, spec.accelerator_count) == (accelerator, count)
        else:
            with pytest.raises(MachineError):
                machine(type_, accelerator, count)


def test_a_built_in_accelerator_may_be_repeated_but_not_changed() -> None:  # P2
    assert machine("a3-highgpu-8g", "NVIDIA_H100_80GB", 8) == machine("a3-highgpu-8g")
    for accelerator, count, field in (("NVIDIA_TESLA_T4", 8, "type"), ("NVIDIA_H100_80GB", 4, "count")):
        with pytest.raises(MachineError) as caught:
            machine("a3-highgpu-8g", accelerator, count)
        assert caught.value.field == field
        assert "NVIDIA_H100_80GB × 8 built in" in caught.value.fix


@pytest.mark.parametrize(
    ("type_", "accelerator", "count", "field", "what", "fix"),
    [
        ("n1-standrd-8", None, None, "machine", "unknown machine type 'n1-standrd-8'", "n1-standard-8"),
        ("n1-standard-2", None, None, "machine", "too small", "n1-standard-4"),
        ("h3-standard-88", None, None, "machine", "unknown", "one of family a2, a3, a4,"),
        ("n1-standard-8", "NVIDIA_TESLA_K80", 1, "type", "Vertex AI has no 'NVIDIA_TESLA_K80' any more", "T4"),
        ("n1-standard-8", "nvidia-tesla-k80", 1, "type", "any more", "T4"),
        ("n1-standard-8", "NVIDIA_M40", 1, "type", "unknown accelerator", "one of NVIDIA_A100_80GB, "),
        ("n1-standard-8", "h100", 1, "type", "unknown accelerator", "`NVIDIA_H100_80GB`?"),
        ("n1-standard-8", "nvidia_tesla_t4", 1, "type", "unknown accelerator", "NVIDIA_TESLA_T4"),
        ("n1-standard-8", "NVIDIA_TESLA_T4", None, "accelerator", "no count", "1, 2, 4"),
        ("c2-standard-4", "NVIDIA_TESLA_T4", 1, "type", "can't have", "takes none"),
        ("n1-standard-8", None, 2, "type", "without a type", "NVIDIA_TESLA_T4 × 1/2/4"),
    ],
)
def test_refusals_say_what_would_be_right(
    type_: str, accelerator: str | None, count: int | None, field: str, what: str, fix: str
) -> None:
    with pytest.raises(MachineError) as caught:
        machine(type_, accelerator, count)
    assert caught.value.field == field and caught.value.exit_code == 2
    assert what in caught.value.what
    assert fix in caught.value.fix


def test_every_type_of_the_table_can_be_looked_up() -> None:
    for type_ in machine_types():
        assert not is_tpu(type_), "a persistent resource is offered none"
        spec = machine(type_)
        assert spec.vcpus > 0 and rows("machines")[type_]["memoryGb"] > 0
        assert default_disk(type_) in spec.disks
        assert type_.startswith(spec.family)


def test_disks() -> None:
    assert default_disk("n1-standard-8") == "pd-ssd"
    assert machine("n4-standard-8").disks == ("hyperdisk-balanced",)
    assert default_disk("a3-ultragpu-8g") == "hyperdisk-balanced"
    assert "hyperdisk-balanced" not in machine("a2-highgpu-1g").disks


def test_a_disk_that_nobody_names_is_the_machines_default_and_a_request_says_so() -> None:
    a4 = MachineSpec("a4-highgpu-8g", "NVIDIA_B200", 8)
    assert a4.disk == Disk("hyperdisk-balanced", 100) and MachineSpec.read(a4.request()) == a4
    assert MachineSpec("a4-highgpu-8g", disk=Disk(size_gb=500)).disk == Disk("hyperdisk-balanced", 500)
    assert MachineSpec.read({"machineSpec": {"machineType": "n4-standard-8"}}).disk.type == "hyperdisk-balanced"
    assert MachineSpec.read({"machineSpec": {"machineType": "a9-of-tomorrow"}}).disk == Disk("pd-ssd", 100)


def test_the_local_cloud_has_the_same_disks() -> None:
    supply = pytest.importorskip("vertex_local.supply.machines", reason="needs the local cloud", exc_type=ImportError)
    assert {type_: supply.default_disk_type(type_) for type_ in machine_types()} == {
        type_: default_disk(type_) for type_ in machine_types()
    }
    disks = {type_: machine(type_).disks for type_ in machine_types()}
    assert {type_: supply.disk_types(type_) for type_ in machine_types()} == disks


def test_the_local_cloud_has_accelerators_and_tpus_in_the_same_regions() -> None:
    supply = pytest.importorskip("vertex_local.supply.machines", reason="needs the local cloud", exc_type=ImportError)
    there = supply.table().accelerator_regions
    tpus = {"ct5lp": "TPU_V5E", "ct6e": "TPU_V6E", "tpu7x": "TPU_7X"}
    ours = {tpus.get(name, name): regions_with(name) for name in (*accelerators(), "TPU_V2", "TPU_V3", *tpus)}
    assert {name: set(some) for name, some in ours.items()} == {name: set(some) for name, some in there.items()}


def accelerators_in(region: str) -> tuple[str, ...]:
    return tuple(name for name in accelerators() if region_has(region, name))


def test_regions_and_their_accelerators() -> None:
    assert region_has("us-central1", "NVIDIA_H100_80GB")
    assert not region_has("europe-west2", "NVIDIA_H100_80GB")
    assert accelerators_in("europe-west2") == ("NVIDIA_L4", "NVIDIA_TESLA_T4")
    assert accelerators_in("europe-west6") == () and "europe-west6" in regions()
    assert regions_with("NVIDIA_GB200") == ("us-central1", "us-east4")
    assert {kind for region in regions() for kind in accelerators_in(region)} <= set(accelerators())
    assert accelerators_in("nowhere") == ()


SAMPLES = Path(__file__).parent / "samples"
ORIGIN = "somebody's list, 2026-07-30"
MADE = ("on-demand.csv", "spot.csv", "disks.csv")
HEAD = "machine,region,on_demand,spot,local_ssd_gb\n"
DISKS = ("disk,region,month\n", "local,us-central1,0.08\n")


def cells(text: str) -> Iterator[tuple[str, str, str]]:
    head, *rows = [line.split(",") for line in text.splitlines() if not line.startswith("#")]
    for row in rows:
        yield from ((row[0], region, price) for region, price in zip(head[1:], row[1:], strict=True) if price)


def test_the_book_is_what_the_command_makes_of_its_source(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "journey.prices", str(SAMPLES / "compute-prices.csv")]
    command += [str(SAMPLES / "disk-prices.csv"), "--source", "somebody's list", "--date", "2026-07-30"]
    subprocess.run([*command, "--into", str(tmp_path)], check=True, capture_output=True, text=True)
    for name in MADE:
        made = list(cells((tmp_path / name).read_text("utf-8")))
        book = set(cells((BOOK / name).read_text("utf-8")))
        assert made and set(made) <= book
        assert "# somebody's list, 2026-07-30. " in (tmp_path / name).read_text("utf-8")


@pytest.mark.parametrize("name", [*MADE, "flex-start.csv"])
def test_every_table_tells_its_source_and_date_and_stays_small(name: str) -> None:
    text = (BOOK / name).read_text("utf-8")
    assert text.startswith("# ") and "202" in text.splitlines()[1]
    assert len(text) < 50_000
    assert {row for row, _, _ in cells(text)} <= {*machine_types(), "pd-ssd", "pd-standard"}
    assert {region for _, region, _ in cells(text)} <= set(regions())


def test_machines_and_regions_that_slipway_does_not_know_are_left_out() -> None:
    lines = (HEAD, "c4-standard-8,us-central1,0.4,0.1,\n", "n1-standard-4,asia-southeast3,0.4,0.1,\n")
    assert list(cells(tables(lines, DISKS, ORIGIN)["on-demand.csv"])) == []


def test_local_ssd_is_taken_out_of_the_on_demand_price_alone() -> None:
    made = tables((HEAD, "a3-highgpu-8g,us-central1,88.49,50.609541,6000\n"), DISKS, ORIGIN)
    assert list(cells(made["on-demand.csv"])) == [("a3-highgpu-8g", "us-central1", "87.832466")]
    assert list(cells(made["spot.csv"])) == [("a3-highgpu-8g", "us-central1", "50.609541")]


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("machine,price\n",), "begin it with a line that names local_ssd_gb, machine, on_demand, region, spot"),
        ((), "it has none"),
        ((HEAD, "n1-standard-4,us-central1,cheap,0.1,\n"), "on_demand is 'cheap' in the line n1-standard-4,"),
        ((HEAD, "n1-standard-4,us-central1,NaN,0.1,\n"), "on_demand is 'NaN'"),
        ((HEAD, "n1-standard-4,us-central1,0.2,-1,\n"), "spot is '-1'"),
        ((HEAD, "a3-highgpu-8g,us-east4,88.49,50,6000\n"), "no price of local SSD in us-east4"),
    ],
)
def test_what_is_wrong_with_a_list_is_said(lines: tuple[str, ...], said: str) -> None:
    with pytest.raises(ConfigError) as error:
        tables(lines, DISKS, ORIGIN)
    assert said in str(error.value)


def test_the_command_says_what_is_wrong() -> None:
    command = [sys.executable, "-m", "journey.prices", "nowhere.csv", "x.csv"]
    done = subprocess.run([*command, "--source", "s", "--date", "d"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.startswith("error: ") and "nowhere.csv" in done.stderr


@pytest.mark.parametrize(
    ("type_", "topology", "chips", "vms"),
    [
        ("ct5lp-hightpu-1t", "1x1", 1, 1),
        ("ct5lp-hightpu-4t", "16x16", 4, 64),
        ("ct6e-standard-8t", "2x4", 8, 1),
        ("tpu7x-standard-4t", "8x8x16", 4, 256),
    ],
)
def test_a_topology_says_how_many_vms(type_: str, topology: str, chips: int, vms: int) -> None:
    spec = tpu(type_, None, None, topology)
    assert (spec.tpu_topology, spec.accelerator, spec.accelerator_count, spec.vms) == (topology, None, chips, vms)


@pytest.mark.parametrize(("count", "vms"), [(8, 1), (32, 4), (64, 8)])
def test_a_count_says_it_for_the_first_generations(count: int, vms: int) -> None:
    spec = tpu("cloud-tpu", "TPU_V3", count, None)
    assert (spec.accelerator, spec.accelerator_count, spec.vms) == ("TPU_V3", count, vms)


@pytest.mark.parametrize(
    ("accelerator", "count", "what"),
    [
        (None, None, "cloud-tpu needs an accelerator"),
        (None, 8, "an accelerator count without a type"),
        ("TPU_V2", None, "no count for TPU_V2"),
        ("TPU_V2", 16, "cloud-tpu can't have 16 × TPU_V2"),
    ],
)
def test_a_tpu_without_its_type_or_its_count_is_told_in_the_words_of_gpus(
    accelerator: str | None, count: int | None, what: str
) -> None:
    with pytest.raises(MachineError) as error:
        tpu("cloud-tpu", accelerator, count, None)
    assert error.value.what == what


@pytest.mark.parametrize(
    ("arguments", "field", "words"),
    [
        (("ct5lp-hightpu-1t", None, None, None), "topology", "one of 1x1"),
        (("ct5lp-hightpu-8t", None, None, "4x4"), "topology", "one of 2x4"),
        (("ct6e-standard-4t", "TPU_V3", 8, "2x2"), "accelerator", "tpu_topology alone"),
        (("cloud-tpu", None, None, None), "type", "one of TPU_V2, TPU_V3"),
        (("cloud-tpu", "TPU_V2", 16, None), "count", "8, or a multiple of 32"),
        (("cloud-tpu", "TPU_V2", 8, "2x2"), "topology", "TPU_V2, TPU_V3 and a count"),
    ],
)
def test_what_does_not_exist_is_told(
    arguments: tuple[str, str | None, int | None, str | None], field: str, words: str
) -> None:
    with pytest.raises(MachineError) as error:
        tpu(*arguments)
    assert error.value.field == field
    assert words in error.value.fix

"""The book is made by a command from lists of Compute Engine's prices, and is what that command makes. # Z8"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from slipway.errors import ConfigError
from slipway.machines import price_tables
from slipway.machines.price_tables import tables
from slipway.machines.table import machine_types, regions

BOOK = Path(price_tables.__file__).parent
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
    command = [sys.executable, "-m", "slipway.machines.price_tables", str(SAMPLES / "compute-prices.csv")]
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


def test_the_command_says_what_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text("machine,price\n")
    command = [
        sys.executable,
        "-m",
        "slipway.machines.price_tables",
        str(tmp_path / "bad.csv"),
        str(SAMPLES / "disk-prices.csv"),
    ]
    done = subprocess.run([*command, "--source", "s", "--date", "d"], capture_output=True, text=True, check=False)
    assert done.returncode == 2 and done.stderr.startswith("error: a file without the columns")
    missing = [*command[:3], "nowhere.csv", "x.csv", "--source", "s", "--date", "d"]
    done = subprocess.run(missing, capture_output=True, text=True, check=False)
    assert done.returncode == 2 and "nowhere.csv" in done.stderr

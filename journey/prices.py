"""The price book, made anew from Compute Engine's list prices.

`python -m journey.prices MACHINES DISKS --source WORDS --date 2026-07-30`, which uses no network.

Two CSV files, lines that begin with # left out: machines as `machine,region,on_demand,spot,local_ssd_gb`, USD an hour
with that much local SSD included, and disks as `disk,region,month`, USD for a GB and month. Vertex AI bills no fee on
local SSD, so it is taken out of the on-demand price here.
"""

from __future__ import annotations

import argparse
import csv
import sys
from collections.abc import Iterable, Mapping
from decimal import Decimal, InvalidOperation
from pathlib import Path

from slipway.base.errors import ConfigError
from slipway.base.files import write_atomically
from slipway.base.standard_output import exit_after
from slipway.model.machines import price_tables
from slipway.model.machines.price_tables import HOURS_OF_A_MONTH
from slipway.model.machines.table import machine_types, regions

BOOK = Path(price_tables.__file__).parent
_DISKS = {"hdd": "pd-standard", "ssd": "pd-ssd", "hyperdisk-balanced": "hyperdisk-balanced"}
_LOCAL = "local"
_DIGITS = Decimal("0.000001")

_Cells = dict[tuple[str, str], Decimal]
"""Prices by machine or disk, and region."""


def tables(machines: Iterable[str], disks: Iterable[str], origin: str) -> Mapping[str, str]:
    """Return the text of each table by its file's name, for the machines, disks and regions that Slipway knows.

    `origin` is in the head of each: the source of the prices, and their date.

    Raises ConfigError for a line without a valid price, and for local SSD without a price.
    """
    per_month: _Cells = {
        (row["disk"], row["region"]): _number(row, "month") for row in _rows(disks, {"disk", "region", "month"})
    }
    on_demand: _Cells = {}
    spot: _Cells = {}
    for row in _rows(machines, {"machine", "region", "on_demand", "spot", "local_ssd_gb"}):
        cell_key = row["machine"], row["region"]
        if row["spot"]:
            spot[cell_key] = _number(row, "spot")
        if row["on_demand"]:
            on_demand[cell_key] = (_number(row, "on_demand") - _local_ssd(row, per_month)).quantize(_DIGITS)
    named = {(_DISKS[disk], region): price for (disk, region), price in per_month.items() if disk in _DISKS}
    return {
        "on-demand.csv": _text(
            "Compute Engine, USD an hour, on demand, without local SSD (its GB x month / 730 taken out)",
            "machine",
            machine_types(),
            on_demand,
            origin,
        ),
        "spot.csv": _text(
            "Compute Engine, USD an hour, Spot, local SSD included", "machine", machine_types(), spot, origin
        ),
        "disks.csv": _text(
            "Compute Engine, USD for a GB and month; Vertex AI: 1.15 x month / 730 an hour",
            "disk",
            tuple(_DISKS.values()),
            named,
            origin,
        ),
    }


def _local_ssd(row: Mapping[str, str], per_month: _Cells) -> Decimal:
    if not row["local_ssd_gb"]:
        return Decimal(0)
    if (_LOCAL, row["region"]) not in per_month:
        raise ConfigError(
            f"no price of local SSD in {row['region']}",
            why=f"{row['machine']} includes {row['local_ssd_gb']} GB of it, on which no fee is billed",
            fix=f"add a line {_LOCAL},{row['region']},USD to the file of disks",
        )
    return _number(row, "local_ssd_gb") * per_month[_LOCAL, row["region"]] / HOURS_OF_A_MONTH


def _rows(lines: Iterable[str], columns: set[str]) -> Iterable[Mapping[str, str]]:
    reader = csv.DictReader(line for line in lines if not line.startswith("#"))
    if not columns <= set(reader.fieldnames or ()):
        raise ConfigError(
            "a file without the columns that are needed",
            why=f"it has {', '.join(reader.fieldnames or ('none',))}",
            fix=f"begin it with a line that names {', '.join(sorted(columns))}",
        )
    return reader


def _number(row: Mapping[str, str], column: str) -> Decimal:
    try:
        number = Decimal(row[column])
    except (InvalidOperation, TypeError):
        number = Decimal("NaN")
    if not number.is_finite() or number < 0:
        raise ConfigError(
            f"{column} is {row[column]!r} in the line {','.join(str(value) for value in row.values())}",
            why="a price is a number of USD, a size one of GB",
            fix="correct or remove the line",
        )
    return number


def _text(what: str, first: str, names: tuple[str, ...], cells: _Cells, origin: str) -> str:
    """Return a table: a row for each name with a price, a column for each region; an empty cell is an unknown price."""
    columns = [region for region in regions() if any((name, region) in cells for name in names)]
    lines = [f"# {what}.", f"# {origin}. Made by python -m journey.prices."]
    lines.append(",".join([first, *columns]))
    for name in names:
        prices = [_plain(cells[name, region]) if (name, region) in cells else "" for region in columns]
        if any(prices):
            lines.append(",".join([name, *prices]))
    return "\n".join(lines) + "\n"


def _plain(price: Decimal) -> str:
    text = f"{price:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def main(arguments: list[str] | None = None) -> int:
    """Run the command: files in, tables out. Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m journey.prices", description=__doc__)
    parser.add_argument("machines", type=Path, help="CSV: machine,region,on_demand,spot,local_ssd_gb")
    parser.add_argument("disks", type=Path, help="CSV: disk,region,month")
    parser.add_argument("--source", required=True, help="where they are from, in words")
    parser.add_argument("--date", required=True, help="the day the source was made, 2026-07-30")
    parser.add_argument("--into", type=Path, default=BOOK, help="folder of the tables (default: the book)")
    options = parser.parse_args(arguments)
    try:
        with options.machines.open(encoding="utf-8") as machines, options.disks.open(encoding="utf-8") as disks:
            texts = tables(machines, disks, f"{options.source}, {options.date}")
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return ConfigError.exit_code
    except ConfigError as error:
        print(error.render(), file=sys.stderr)
        return error.exit_code
    for name, text in texts.items():
        write_atomically(options.into / name, text)
        print(f"{options.into / name}  {len(text):,} bytes")
    return 0


if __name__ == "__main__":
    exit_after(main)

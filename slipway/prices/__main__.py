"""`python -m slipway.prices`: make the book anew from files of Compute Engine's list prices. No network is used."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from slipway.errors import ConfigError
from slipway.files import write_atomically
from slipway.prices.making import Origin, tables


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m slipway.prices", description=__doc__)
    parser.add_argument("machines", type=Path, help="CSV: machine,region,on_demand,spot,local_ssd_gb")
    parser.add_argument("disks", type=Path, help="CSV: disk,region,month")
    parser.add_argument("--source", required=True, help="where they are from, in words")
    parser.add_argument("--date", required=True, help="the day the source was made, 2026-07-30")
    parser.add_argument("--into", type=Path, default=Path(__file__).parent, help="folder of the tables (default: here)")
    given = parser.parse_args(arguments)
    try:
        with given.machines.open(encoding="utf-8") as machines, given.disks.open(encoding="utf-8") as disks:
            made = tables(machines, disks, Origin(given.source, given.date))
    except OSError as error:
        print(f"error: {error}", file=sys.stderr)
        return ConfigError.exit_code
    except ConfigError as error:
        print(error.render(), file=sys.stderr)
        return error.exit_code
    for name, text in made.items():
        write_atomically(given.into / name, text)
        print(f"{given.into / name}  {len(text):,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())

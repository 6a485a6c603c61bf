"""`python -m local.engine [yaml]`: prints the folder of the engine, or of its host for YAML, on stdout; progress and
errors on stderr."""

from __future__ import annotations

import os
import sys

from slipway.base.standard_output import exit_after

from . import yaml_host
from .engine import ensure
from .errors import EngineError
from .progress import Printer


def main() -> int:
    """Print the folder and return 0, an error and return 1, or return 130 when interrupted."""
    printer = Printer(sys.stderr)
    try:
        folder = yaml_host.ensure(printer, os.environ) if sys.argv[1:] == ["yaml"] else ensure(printer).bin
    except EngineError as error:
        printer.close()
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        printer.close()
        print("interrupted; nothing half done is left, the same command goes on from here", file=sys.stderr)
        return 130
    printer.close()
    print(folder)
    return 0


if __name__ == "__main__":
    exit_after(main)

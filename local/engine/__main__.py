"""`python -m local.engine`: prints the engine's folder on stdout, progress and errors on stderr."""

from __future__ import annotations

import sys

from slipway.base.standard_output import exit_after

from .engine import ensure
from .errors import EngineError
from .progress import Printer


def main() -> int:
    """Print the folder and return 0, an error and return 1, or return 130 when interrupted."""
    printer = Printer(sys.stderr)
    try:
        engine = ensure(printer)
    except EngineError as error:
        printer.close()
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        printer.close()
        print("interrupted; nothing half done is left, the same command goes on from here", file=sys.stderr)
        return 130
    printer.close()
    print(engine.bin)
    return 0


if __name__ == "__main__":
    exit_after(main)

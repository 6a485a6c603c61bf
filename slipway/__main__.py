"""The command `slipway`, and `python -m slipway` from a checkout that was not installed."""

import sys

try:
    from slipway.cli import run
except KeyboardInterrupt:
    print("interrupted; nothing was sent", file=sys.stderr)
    sys.exit(130)

if __name__ == "__main__":
    run()

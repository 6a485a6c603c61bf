"""The command `slipway`, and `python -m slipway` from a checkout that was not installed."""

import gc
import sys

# What a command imports lives to its end: to look through it for garbage at every seven hundredth object costs a
# twentieth of a submission.
gc.set_threshold(200_000)

try:
    from slipway.cli import run
except KeyboardInterrupt:
    print("interrupted; nothing was sent", file=sys.stderr)
    sys.exit(130)

if __name__ == "__main__":
    run()

"""The command `slipway`, and `python -m slipway` from a checkout that was not installed."""

import gc
import sys

# A command's imports live to its end: the garbage collector's default search at every seven hundredth object costs a
# twentieth of a submission.
gc.set_threshold(200_000)

try:
    from slipway.front.cli import run
except KeyboardInterrupt:
    print("interrupted; nothing was sent", file=sys.stderr)
    sys.exit(130)

if __name__ == "__main__":
    run()

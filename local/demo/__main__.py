"""`python -m local.demo [down]`: what `make demo` and `make demo-down` run."""

from __future__ import annotations

import argparse
import os
import sys

from vertex_local.environment import past_proxies

from slipway.base.errors import SlipwayError
from slipway.base.standard_output import exit_after

from .demo import down, play


def main() -> int:
    parser = argparse.ArgumentParser(prog=f"python -m {__package__}", description=__doc__)
    parser.add_argument("verb", nargs="?", choices=("play", "down"), default="play")
    parser.add_argument("--stack", default="local", help="which of stacks/ is played")
    os.environ.update(past_proxies(os.environ))
    try:
        options = parser.parse_args()
        down() if options.verb == "down" else play(options.stack)
    except SlipwayError as error:
        print(f"\n{error.render()}", file=sys.stderr)
        return error.exit_code
    except KeyboardInterrupt:
        print("\ninterrupted; run the same command again, it goes on from what is there", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    exit_after(main)

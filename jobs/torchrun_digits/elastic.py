"""`python -m torchrun_digits.elastic`: as many replicas as there are at the time, down to `--least`.

The replicas meet at the chief. Where one is lost the others go on from the last checkpoint without it, and take it in
when it comes back. Without the chief they wait until it is there again.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Mapping

from . import topology, train
from .launch import torchrun
from .topology import Topology

TRIES = 30
PAUSE_S = 2.0


def options(argv: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Return the options of elasticity, and the training's own arguments."""
    parser = argparse.ArgumentParser(prog="torchrun_digits.elastic", description=__doc__, add_help=False)
    parser.add_argument("--least", type=int, default=1, help="replicas without which it waits")
    parser.add_argument("--last-call", type=int, default=30, help="seconds to wait for more when there are so many")
    parser.add_argument("--lost-after", type=int, default=15, help="seconds without a sign after which one is lost")
    parser.add_argument("--losses", type=int, default=20, help="losses in a row that end the training")
    return parser.parse_known_args(argv)


def main(argv: list[str], environ: Mapping[str, str]) -> int:
    known, rest = options(argv)
    train.options(rest, environ)
    from torch.distributed import DistError
    from torch.distributed.elastic.rendezvous import RendezvousClosedError, RendezvousError

    me = topology.read(environ)
    train.say(f"node {me.rank} of {me.nodes}, {known.least} at least, at {me.host}, rendezvous at {me.endpoint}")
    for attempt in range(1, TRIES + 1):
        try:
            torchrun(me, rendezvous(me, known), rest)
            return 0
        except (RendezvousError, DistError) as error:
            # The chief's store is its own, and it is the chief that ends the job.
            if me.rank == 0 or attempt == TRIES:
                raise
            if isinstance(error, RendezvousClosedError):
                train.say(f"node {me.rank}: the others have ended, nothing left to do")
                return 0
            train.say(f"node {me.rank}: no chief at {me.endpoint} ({str(error).splitlines()[0]}); trying again")
            time.sleep(PAUSE_S)
    raise AssertionError("the last attempt returns or raises")


def rendezvous(me: Topology, known: argparse.Namespace) -> tuple[str, ...]:
    """Return torchrun's settings of the rendezvous. A sign of life goes out each second."""
    conf = {
        "is_host": int(me.rank == 0),
        "last_call_timeout": known.last_call,
        "keep_alive_interval": 1,
        "keep_alive_max_attempt": known.lost_after,
    }
    return (
        "--rdzv-backend=c10d",
        f"--rdzv-endpoint={me.endpoint}",
        "--rdzv-conf=" + ",".join(f"{name}={value}" for name, value in conf.items()),
        f"--nnodes={min(known.least, me.nodes)}:{me.nodes}",
        f"--max-restarts={known.losses}",
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))

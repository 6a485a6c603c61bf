"""`python -m torchrun_digits.task`: torchrun on this machine, which meets the job's others at the chief.

When a machine is lost, the others wait until the service has started it again; with `--least` they go on without it,
and take it in then. Either way all begin again from the last checkpoint. Without the chief the others always wait.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Mapping

from . import topology, train
from .network import interface_of
from .topology import Topology

LOSSES = 20  # in a row; more end the training
TRIES = 30
PAUSE_S = 2.0
DAY_S = 86_400  # The job's own timeout is over sooner.


def options(argv: list[str]) -> tuple[argparse.Namespace, list[str]]:
    """Return the options for the machines, and the training's own arguments."""
    parser = argparse.ArgumentParser(prog="torchrun_digits", description=__doc__, add_help=False)
    parser.add_argument("--least", type=int, default=0, help="go on with so many while others are lost; 0: wait")
    parser.add_argument("--patience", type=int, default=15, help="seconds until a silent machine counts as lost")
    return parser.parse_known_args(argv)


def main(argv: list[str], environ: Mapping[str, str]) -> int:
    """The exit code. Raises ChildFailedError when the training itself fails."""
    known, rest = options(argv)
    train.options(rest, environ)
    from torch.distributed import DistError
    from torch.distributed.elastic.rendezvous import RendezvousClosedError, RendezvousError

    me = topology.read(environ)
    train.say(f"node {me.rank} of {me.nodes} at {me.host}, rendezvous at {me.endpoint}")
    for attempt in range(1, TRIES + 1):
        try:
            torchrun(me, known, rest)
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


def torchrun(me: Topology, known: argparse.Namespace, argv: list[str]) -> None:
    """Run the training until its end; raises what torchrun raises, and SystemExit when this machine is told to end."""
    import torch
    from torch.distributed import run
    from torch.distributed.elastic.multiprocessing.api import SignalException

    interface = interface_of(me.host)
    if interface:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", interface)
    # Else the first node of rank 0 would carry the processes' store for good, and could not be lost.
    os.environ["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] = "1"
    meeting = {
        "is_host": int(me.rank == 0),
        "join_timeout": DAY_S,
        "last_call_timeout": known.patience,
        "keep_alive_interval": 1,
        "keep_alive_max_attempt": known.patience,
    }
    flags = (
        f"--nnodes={min(known.least or me.nodes, me.nodes)}:{me.nodes}",
        f"--nproc-per-node={torch.cuda.device_count() or 1}",
        f"--max-restarts={LOSSES}",
        f"--rdzv-id={os.environ.get('CLOUD_ML_JOB_ID', 'digits')}",
        f"--local-addr={me.host}",
        "--rdzv-backend=c10d",
        f"--rdzv-endpoint={me.endpoint}",
        "--rdzv-conf=" + ",".join(f"{name}={value}" for name, value in meeting.items()),
    )
    try:
        run.main([*flags, "-m", "torchrun_digits.train", *argv])
    except SignalException as told:
        raise SystemExit(128 + told.sigval) from None
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # torchrun's own would raise wherever we are


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))

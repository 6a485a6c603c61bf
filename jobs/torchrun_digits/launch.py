"""torchrun on this replica, told of the others."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence

from .network import interface_of
from .topology import Topology

TRAIN = "torchrun_digits.train"


def torchrun(me: Topology, rendezvous: Sequence[str], argv: Sequence[str]) -> None:
    """Run the training until its end; raises what torchrun raises, and SystemExit when this replica is told to end.

    One process for each replica: a CPU's cores are one process's threads, and the digits are few.
    """
    from torch.distributed import run
    from torch.distributed.elastic.multiprocessing.api import SignalException

    interface = interface_of(me.host)
    if interface:
        os.environ.setdefault("GLOO_SOCKET_IFNAME", interface)
    # Else the first node of rank 0 would carry the processes' store for good, and could not be lost.
    os.environ["TORCH_DISABLE_SHARE_RDZV_TCP_STORE"] = "1"
    job = os.environ.get("CLOUD_ML_JOB_ID", "digits")
    try:
        run.main(["--nproc-per-node=1", f"--rdzv-id={job}", f"--local-addr={me.host}", *rendezvous, "-m", TRAIN, *argv])
    except SignalException as told:
        raise SystemExit(128 + told.sigval) from None
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)  # torchrun's own would raise wherever we are

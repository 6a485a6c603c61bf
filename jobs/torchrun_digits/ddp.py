"""`python -m torchrun_digits.ddp`: as many replicas as the job has, all or none.

Where one is lost the job is to start again as a whole (`restartJobOnWorkerRestart`), and goes on from its checkpoint.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Mapping

from . import topology, train
from .launch import torchrun

WAITS_S = 900


def main(argv: list[str], environ: Mapping[str, str], waits_s: float = WAITS_S) -> int:
    """The exit code. Raises ChildFailedError when the training itself fails."""
    train.options(argv, environ)
    from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

    me = topology.read(environ)
    train.say(f"node {me.rank} of {me.nodes} at {me.host}, rendezvous at {me.endpoint}")
    static = ("--rdzv-backend=static", f"--nnodes={me.nodes}", f"--node-rank={me.rank}", "--max-restarts=0")
    at = (f"--master-addr={me.chief}", f"--master-port={me.port}")
    try:
        torchrun(me, (*static, *at), argv)
    except ChildFailedError as error:
        if any(failure.exitcode != train.LOST_TOUCH for failure in error.failures.values()):
            raise
        # An exit of our own would be an error of the job's, and end it before the service restarts it.
        train.say(f"node {me.rank}: another replica is lost; the service is to restart the job")
        time.sleep(waits_s)
        return train.LOST_TOUCH
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))

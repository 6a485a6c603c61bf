"""`torchrun … -m torchrun_digits.train`: one process of the training, and all of it when it is run without torchrun.

However many processes there are, a step sees the same digits and takes the same gradient: its batch depends on seed and
step alone, each process takes its part of it, and the sum of their losses is divided by the whole batch.
"""

from __future__ import annotations

import argparse
import json
import os
import posixpath
import sys
from collections.abc import Mapping

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from . import checkpoint
from .checkpoint import Progress
from .digits import Digits, judged, network
from .folder import Folder
from .notice import STOPPED, Notice

LOST_TOUCH = 75  # EX_TEMPFAIL of sysexits: nothing is wrong here, another replica is gone
_GLOO = "gloo/transport"


def options(argv: list[str], environ: Mapping[str, str]) -> argparse.Namespace:
    """`output` and `checkpoints` are local paths or gs:// addresses; Vertex AI sets AIP_CHECKPOINT_DIR."""
    parser = argparse.ArgumentParser(prog="torchrun_digits", description=__doc__)
    parser.add_argument("--steps", type=int, default=200, help="steps to train")
    parser.add_argument("--every", type=int, default=20, help="steps between two checkpoints")
    parser.add_argument("--batch", type=int, default=96, help="digits in a step, all replicas together")
    parser.add_argument("--rate", type=float, default=0.1, help="learning rate")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds a step takes one replica longer, n an nth")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same model")
    parser.add_argument("--output", default="output", help="folder or gs:// address for metrics.json and the model")
    known = parser.parse_args(argv)
    known.checkpoints = environ.get("AIP_CHECKPOINT_DIR") or posixpath.join(known.output, "checkpoints")
    return known


def main(argv: list[str], environ: Mapping[str, str]) -> int:
    known, notice = options(argv, environ), Notice()
    torch.set_num_threads(1)  # the digits are few
    device = device_of(environ)
    try:
        if "TORCHELASTIC_RUN_ID" in environ:
            dist.init_process_group("cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo")
        else:
            dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        code = train(known, notice, device)
    except RuntimeError as error:
        if not isinstance(error, dist.DistError) and _GLOO not in str(error):
            raise
        say(str(error).splitlines()[0])
        say(f"replica {environ.get('RANK', '0')}: lost touch with another one")
        # Not a return: taking leave of the group would wait for those who are gone.
        os._exit(LOST_TOUCH)
    dist.destroy_process_group()
    return code


def device_of(environ: Mapping[str, str]) -> torch.device:
    """The process's own GPU where the machine has any."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    device = torch.device("cuda", int(environ.get("LOCAL_RANK", "0")))
    torch.cuda.set_device(device)
    return device


def train(known: argparse.Namespace, notice: Notice, device: torch.device) -> int:
    """The exit code: 143, as of SIGTERM, where a replica was told to stop."""
    rank, world = dist.get_rank(), dist.get_world_size()
    checkpoints = Folder(known.checkpoints)
    digits, model = Digits(known.seed, device), network(known.seed).to(device)
    progress = Progress(model, torch.optim.SGD(model.parameters(), lr=known.rate, momentum=0.9))
    # One reads, so that all go on from the same step whatever is written meanwhile.
    read = [checkpoints.read(checkpoint.NAME) if rank == 0 else None]
    dist.broadcast_object_list(read, src=0, device=torch.device("cpu"))
    if read[0]:
        progress.restore(read[0])
    progress.starts.append((progress.step, world))
    if rank == 0:
        begun = f"goes on from the checkpoint of step {progress.step}" if read[0] else "starts at step 0"
        say(f"{begun}, replicas: {world}")
        checkpoints.write(checkpoint.NAME, progress.dump())

    parallel = DistributedDataParallel(model)
    while progress.step < known.steps and not anybody(notice.came):
        gradients(parallel, digits.shard(progress.step, known.batch, rank, world), known.batch)
        progress.optimizer.step()
        progress.step += 1
        notice.sleep(known.pause / world)
        if rank == 0 and progress.step % known.every == 0:
            checkpoints.write(checkpoint.NAME, progress.dump())
            say(f"step {progress.step}/{known.steps}, replicas: {world}, checkpoint written")

    stopped = progress.step < known.steps
    if rank == 0:
        checkpoints.write(checkpoint.NAME, progress.dump())
        if stopped:
            say(f"told to stop; checkpoint of step {progress.step} written")
        else:
            finish(progress, digits, Folder(known.output))
    dist.barrier()
    return STOPPED if stopped else 0


def anybody(here: bool) -> bool:
    """Tell whether it is so on any replica. All hear the same, and so stop after the same step."""
    there = torch.tensor(int(here))
    dist.all_reduce(there, dist.ReduceOp.MAX)
    return bool(there)


def gradients(parallel: nn.Module, shard: tuple[Tensor, Tensor], batch: int) -> None:
    """Leave those of the whole batch in the parameters, on every replica."""
    images, labels = shard
    parallel.zero_grad()
    loss = nn.functional.cross_entropy(parallel(images), labels, reduction="sum") / batch
    # They are averaged over the processes, which would divide them by their number once more.
    (loss * dist.get_world_size()).backward()


def finish(progress: Progress, digits: Digits, output: Folder) -> None:
    accuracy, loss = judged(progress.model, digits)
    starts = [{"step": at, "replicas": replicas} for at, replicas in progress.starts]
    end = {"step": progress.step, "replicas": dist.get_world_size(), "accuracy": accuracy, "loss": loss}
    output.write("model/model.pt", progress.weights())
    output.write("metrics.json", (json.dumps([*starts, end], indent=2) + "\n").encode())
    say(f"accuracy {accuracy:.4f} after {progress.step} steps, loss {loss:.4f}, replicas: {dist.get_world_size()}")


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))

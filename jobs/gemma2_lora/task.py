"""`python -m gemma2_lora.task`: fetch what is needed, train, bring out the adapter, and for a registry the model."""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from . import base, data, examples, hub, memory, precision, sonnets, tiny, whole_model
from .checkpoints import Checkpoints
from .folder import Folder
from .options import UPLOADS, options
from .place import Place
from .trouble import TroubleError

CONFIG, WEIGHTS = "adapter_config.json", "adapter_model.safetensors"


def main(argv: list[str], environ: Mapping[str, str]) -> int:
    known = options(argv, environ)
    precision.leave_out(known.precision)
    try:
        with tempfile.TemporaryDirectory(prefix="gemma2-lora-") as work:
            return run(known, argv, Place(Path(known.work or work)), environ)
    except TroubleError as error:
        print(error, file=sys.stderr, flush=True)
        return 1


def run(known: argparse.Namespace, argv: list[str], place: Place, environ: Mapping[str, str]) -> int:
    checkpoints = Checkpoints(Folder(known.checkpoints))
    attempt = checkpoints.attempt()
    say(f"a token for the Hugging Face hub is {'there' if environ.get(hub.TOKEN) else 'not given'}")
    place.events.mkdir(parents=True)
    precision.check(known.precision)
    found = data.read(known, place.work / "data", environ)
    done = max(checkpoints.steps(), default=0)
    if done:
        say(f"attempt {attempt}: goes on from the checkpoint of step {done}")
        checkpoints.fetch(done, place.trainer)
    else:
        say(f"attempt {attempt}: no checkpoint in {checkpoints.address}, starts at step 0")
    uploads = known.kind == UPLOADS
    if done < known.steps or uploads:
        place.base.symlink_to(weights(known, place, environ), target_is_directory=True)
    if done < known.steps:
        examples.prepare(known, place, found)
        code = train(known, argv, place, environ)
        if code:
            return code
    bring_out(known, place, attempt)
    if uploads:
        whole_model.bring_out(known, place)
    return 0


def weights(known: argparse.Namespace, place: Place, environ: Mapping[str, str]) -> Path:
    """The base model's folder on this machine."""
    if known.base:
        say(f"base model {known.base}")
        return base.obtain(known.base, place.download, environ).absolute()
    say("base model: a tiny Gemma 2 of random weights, which has learnt nothing")
    return tiny.make(place.download, sonnets.TEXT, known.seed).absolute()


def train(known: argparse.Namespace, argv: list[str], place: Place, environ: Mapping[str, str]) -> int:
    """Here when one process is enough, else in several that torchrun starts; its exit code."""
    import torch

    gpus = torch.cuda.device_count()
    processes = known.processes or max(1, gpus)
    if processes == 1:
        from .tuning import tune

        with memory.measured(known):
            tune(known, place)
        return 0
    more = {"OMP_NUM_THREADS": str(max(1, (os.cpu_count() or 1) // processes))}
    if not gpus:
        # Left alone, accelerate numbers the CPUs as if they were GPUs, and no checkpoint can be read back to "cpu:0".
        more["ACCELERATE_TORCH_DEVICE"] = "cpu"
    launch = (sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}")
    command = (*launch, "-m", "gemma2_lora.tuning", *argv, f"--work={place.work}")
    code = subprocess.run(command, env={**more, **environ}, check=False).returncode
    if code and place.trouble.exists():
        print(place.trouble.read_text("utf-8"), file=sys.stderr, flush=True)
    return code


def bring_out(known: argparse.Namespace, place: Place, attempts: int) -> None:
    """Adapter and metrics, from the checkpoint that the last step ended with."""
    step, checkpoint = place.checkpoint()
    output = Folder(known.output)
    config = json.loads((checkpoint / CONFIG).read_text("utf-8"))
    # There it is the folder of a machine that is gone: here what finds the base model again.
    config["base_model_name_or_path"] = known.base or known.model
    output.write(f"adapter/{WEIGHTS}", checkpoint / WEIGHTS)
    output.write(f"adapter/{CONFIG}", document(config))
    history = json.loads((checkpoint / "trainer_state.json").read_text("utf-8"))["log_history"]
    losses = [{"step": entry["step"], "loss": entry["loss"]} for entry in history if "loss" in entry]
    output.write("metrics.json", document([*losses, {"step": step, "attempts": attempts}]))
    say(f"loss {losses[0]['loss']:.4f} at first, {losses[-1]['loss']:.4f} after {step} steps in {attempts} attempt(s)")
    say(f"adapter written to {output.path('adapter')}")


def document(value: object) -> bytes:
    return (json.dumps(value, indent=2, sort_keys=True) + "\n").encode()


def say(words: str) -> None:
    print(words, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))

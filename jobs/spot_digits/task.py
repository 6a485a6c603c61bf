"""`python -m spot_digits.task`: train so many steps, in as many attempts as it takes."""

from __future__ import annotations

import argparse
import json
import os
import posixpath
import signal
import sys
import time
from collections.abc import Mapping
from types import FrameType

from .folder import Folder
from .training import Digits, fresh, restore

CHECKPOINT = "progress.joblib"
ENDED_BY_NOTICE = 128 + signal.SIGTERM


class Notice:
    """The notice by SIGTERM that the machine is about to go. Not every preemption is announced, so what counts is the
    last checkpoint. It is looked for between steps, as half a step would be in the model and not in its number."""

    def __init__(self) -> None:
        self.came = False
        signal.signal(signal.SIGTERM, self._take)

    def _take(self, _: int, __: FrameType | None) -> None:
        self.came = True

    def sleep(self, seconds: float) -> None:
        until = time.monotonic() + seconds
        while not self.came and (left := until - time.monotonic()) > 0:
            time.sleep(min(left, 0.1))


def options(argv: list[str], environ: Mapping[str, str]) -> argparse.Namespace:
    """`output` and `checkpoints` are local paths or gs:// addresses; Vertex AI sets AIP_CHECKPOINT_DIR."""
    parser = argparse.ArgumentParser(prog="spot_digits", description=__doc__)
    parser.add_argument("--steps", type=int, default=400, help="steps to train")
    parser.add_argument("--every", type=int, default=20, help="steps between two checkpoints")
    parser.add_argument("--batch", type=int, default=64, help="digits in a step")
    parser.add_argument("--pause", type=float, default=0.0, help="seconds a step takes longer, to have time to lose")
    parser.add_argument("--seed", type=int, default=0, help="the same seed gives the same model")
    parser.add_argument("--output", default="output", help="folder or gs:// address for metrics.json and the model")
    known = parser.parse_args(argv)
    known.checkpoints = environ.get("AIP_CHECKPOINT_DIR") or posixpath.join(known.output, "checkpoints")
    return known


def main(argv: list[str], environ: Mapping[str, str]) -> int:
    notice = Notice()
    known = options(argv, environ)
    checkpoints, output = Folder(known.checkpoints), Folder(known.output)
    kept = checkpoints.read(CHECKPOINT)
    progress = restore(kept) if kept else fresh(known.seed)
    progress.attempts += 1
    if kept:
        say(f"attempt {progress.attempts}: goes on from the checkpoint of step {progress.step}")
    else:
        say(f"attempt 1: no checkpoint in {checkpoints.address}, starts at step 0")
    checkpoints.write(CHECKPOINT, progress.dump())

    digits = Digits(known.seed)
    while progress.step < known.steps and not notice.came:
        digits.advance(progress, known.batch)
        notice.sleep(known.pause)
        if progress.step % known.every == 0:
            checkpoints.write(CHECKPOINT, progress.dump())
            say(f"step {progress.step}/{known.steps}, accuracy {digits.accuracy(progress):.4f}, checkpoint written")
    if progress.step < known.steps:
        checkpoints.write(CHECKPOINT, progress.dump())
        say(f"notice: the machine goes; checkpoint of step {progress.step} written")
        return ENDED_BY_NOTICE

    checkpoints.write(CHECKPOINT, progress.dump())
    seen = int(progress.model.t_) - 1
    metrics = {
        "accuracy": digits.accuracy(progress),
        "steps": progress.step,
        "samples": seen,
        "attempts": progress.attempts,
    }
    output.write("model/model.joblib", progress.dump())
    output.write("metrics.json", (json.dumps(metrics, indent=2, sort_keys=True) + "\n").encode())
    say(
        f"accuracy {metrics['accuracy']:.4f} after {progress.step} steps in {progress.attempts} attempt"
        f"{'' if progress.attempts == 1 else 's'}"
    )
    return 0


def say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))

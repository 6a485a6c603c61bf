"""A person's wait for the first word: `slipway --help`, and the local cloud's first answer."""

from __future__ import annotations

import sys
import time
from itertools import count
from pathlib import Path

from bench import measure
from bench.ground import Ground, Tell
from bench.result import Result, absolute

_SLIPWAY = str(Path(sys.executable).with_name("slipway"))


def help_text(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    environ = ground.cloud("none", {}).shell
    return [
        absolute(
            "help",
            measure.median(runs, lambda: measure.run([_SLIPWAY, "--help"], environ, ground.folder).seconds, tell),
            0.15,
        )
    ]


def local_cloud(ground: Ground, runs: int, tell: Tell) -> list[Result]:
    """Return the time from the start of `vertex-local up`, on an empty state, to the first answer about training."""
    numbers = count()

    def start() -> float:
        cloud = ground.cloud(f"start-{next(numbers)}", {})
        began = time.monotonic()
        cloud.start()
        cloud.call("GET", "/v1beta1/projects/local-project/locations/us-central1/persistentResources")
        seconds = time.monotonic() - began
        cloud.stop()
        return seconds

    return [absolute("local-cloud-start", measure.median(runs, start, tell), 1.0)]

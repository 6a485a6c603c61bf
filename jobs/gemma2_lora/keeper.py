"""Brings checkpoints and TensorBoard's files, as the Trainer writes them, to where they outlive the machine."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any

from torch import distributed
from transformers import TrainerCallback

from .checkpoints import Checkpoints
from .folder import Folder
from .trouble import TroubleError

_LOGS_EVERY_S = 15.0
"""An object of Cloud Storage takes one write a second; TensorBoard reads its folder twice a minute."""


class Keeper(TrainerCallback):  # type: ignore[misc]
    def __init__(self, checkpoints: Checkpoints, events: Path, logs: Folder) -> None:
        self._checkpoints, self._events, self._logs = checkpoints, events, logs
        self._sent = time.monotonic()

    def on_log(self, args: Any, state: Any, control: Any, logs: dict[str, float] | None = None, **_: Any) -> None:
        if logs and not math.isfinite(logs.get("loss", 0.0)):
            raise TroubleError(
                f"the loss of step {state.global_step} is {logs['loss']}",
                "weights are no numbers any more, most likely as the steps before were too large",
                "lower -p learning_rate, and submit anew",
            )
        if not state.is_world_process_zero:
            return
        if logs and "loss" in logs:
            told = f"loss {logs['loss']:.4f}, learning rate {logs.get('learning_rate', 0.0):.2e}"
            print(f"step {state.global_step}/{state.max_steps}, {told}", flush=True)
        if time.monotonic() - self._sent > _LOGS_EVERY_S:
            self._send()

    def on_save(self, args: Any, state: Any, control: Any, **_: Any) -> None:
        if distributed.is_initialized():
            distributed.barrier()  # Each process writes a file of its own into the checkpoint.
        if state.is_world_process_zero:
            step = state.global_step
            self._checkpoints.keep(step, Path(args.output_dir, f"checkpoint-{step}"))
            self._send()
            print(f"checkpoint of step {step} written", flush=True)

    def _send(self) -> None:
        for file in sorted(self._events.iterdir()):
            self._logs.write(file.name, file)
        self._sent = time.monotonic()

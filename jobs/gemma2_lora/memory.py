"""The GPU's memory: how much of it the training took, and in words that there is too little."""

from __future__ import annotations

import argparse
import contextlib
import os
from collections.abc import Iterator

from .trouble import TroubleError


@contextlib.contextmanager
def measured(known: argparse.Namespace) -> Iterator[None]:
    """Say what was taken at most, which tells how many more tokens a step may have. Raises TroubleError."""
    import torch

    try:
        yield
    except torch.cuda.OutOfMemoryError as error:
        told = " ".join(str(error).split()).split(". ")  # What was asked for and what the card has; then advice.
        raise TroubleError(
            f"the GPU's memory does not hold the model and steps of {known.batch} x {known.length} tokens",
            ". ".join(told[:3]).rstrip("."),
            "take fewer tokens a step with -p batch and -p length, or hold the base in fewer bits with "
            "-p precision=4bit, or take a larger GPU with -p accelerator",
        ) from error
    if torch.cuda.is_available() and os.environ.get("RANK", "0") == "0":
        taken, (_, whole) = torch.cuda.max_memory_allocated(), torch.cuda.mem_get_info()
        print(f"{taken / 1e9:.1f} of {whole / 1e9:.1f} GB of the GPU's memory were taken at most", flush=True)

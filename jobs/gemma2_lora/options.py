"""The options of a run: arguments, and the folders that Vertex AI names in the environment."""

from __future__ import annotations

import argparse
import posixpath
from collections.abc import Mapping

from .precision import BITS

_SIZES = ("2b", "9b", "27b")
MODELS = {f"{size}{tuned}": f"google/gemma-2-{size}{tuned}" for size in _SIZES for tuned in ("", "-it")} | {"tiny": ""}
"""By the model's name its repository on the Hugging Face hub: `-it` is tuned to instructions. `tiny` is made here, of
random weights."""

NO_CHAT = tuple(f"google/gemma-2-{size}" for size in _SIZES)
"""Bases that have no chat template."""

UPLOADS = "training-pipeline"  # The kind of job whose model goes to the registry.
TOKENS = 4096  # How many of a step keep a GPU busy.
RATE, TINY_RATE = 2e-4, 2e-2  # Random weights have nothing to spoil, and little time to learn.


def options(argv: list[str], environ: Mapping[str, str]) -> argparse.Namespace:
    """`output`, `checkpoints`, `logs` and `whole` are local paths or gs:// addresses."""
    parser = argparse.ArgumentParser(prog="gemma2_lora", description=__doc__)
    parser.add_argument("--model", choices=tuple(MODELS), default="tiny")
    parser.add_argument("--base", default="", help="weights: a gs:// or local folder, or a repository of the hub")
    parser.add_argument("--data", default="", help="a text or JSONL file, or a dataset of the hub; sonnets if left out")
    parser.add_argument("--split", default="train", help="of a dataset of the hub: what its files are called")
    parser.add_argument("--column", default="text", help="of records: the field to train on, where it is not messages")
    parser.add_argument("--precision", choices=tuple(BITS), default="16bit", help="of the base's weights")
    parser.add_argument("--steps", type=int, default=100, help="optimizer steps")
    parser.add_argument("--every", type=int, default=20, help="steps between two checkpoints")
    parser.add_argument("--batch", type=int, default=0, help=f"rows in a step, on each GPU; 0: {TOKENS} tokens")
    parser.add_argument("--length", type=int, default=256, help="tokens in a row, which short records share")
    parser.add_argument("--rank", type=int, default=16, help="rank of the adapters")
    parser.add_argument("--learning-rate", type=float, default=0.0, help="0: what suits the model")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--processes", type=int, default=0, help="0: one for each GPU of the machine, at least one")
    parser.add_argument("--output", default="output", help="folder or gs:// address for metrics.json and the adapter")
    parser.add_argument("--kind", default="", help=f"{UPLOADS}: write the whole model too, for the registry")
    parser.add_argument("--work", default="", help="folder of this machine for what is downloaded and built")
    known = parser.parse_args(argv)
    known.base = known.base or MODELS[known.model]
    known.batch = known.batch or (2 if known.model == "tiny" else max(1, TOKENS // known.length))
    known.learning_rate = known.learning_rate or (TINY_RATE if known.model == "tiny" else RATE)
    known.checkpoints = environ.get("AIP_CHECKPOINT_DIR") or posixpath.join(known.output, "checkpoints")
    known.whole = environ.get("AIP_MODEL_DIR") or posixpath.join(known.output, "model")
    known.logs = environ.get("AIP_TENSORBOARD_LOG_DIR") or posixpath.join(known.output, "logs")
    return known

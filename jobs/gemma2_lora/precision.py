"""In how many bits the frozen base is held: 16, or fewer by bitsandbytes, which makes room on a smaller GPU."""

from __future__ import annotations

import sys
from typing import Any

from .trouble import TroubleError

BITS = {"16bit": 16, "8bit": 8, "4bit": 4}


def check(precision: str) -> None:
    """Raises TroubleError where this machine can't: before anything is fetched."""
    if BITS[precision] == 16:
        return
    import torch

    if not torch.cuda.is_available():
        raise TroubleError(
            f"the base model can't be held in {BITS[precision]} bits on this machine",
            "it has no CUDA GPU, which transformers asks for with weights of bitsandbytes",
            "take a machine with a GPU (-p model=2b, not tiny), or -p precision=16bit",
        )


def leave_out(precision: str) -> None:
    """Keep transformers and peft, which are imported later, from what the image has for its own PyTorch, and from
    bitsandbytes for weights of 16 bits, which takes seconds. None among the modules says that there is none."""
    for name in ("torch_xla", "torchaudio", "torchvision", *(("bitsandbytes",) if BITS[precision] == 16 else ())):
        sys.modules.setdefault(name, None)  # type: ignore[arg-type]


def quantization(precision: str, compute: Any) -> Any:
    """Return how transformers loads the weights: None for as they are. `compute`: the dtype of the computation."""
    if BITS[precision] == 16:
        return None
    from transformers import BitsAndBytesConfig

    return BitsAndBytesConfig(
        load_in_8bit=BITS[precision] == 8,
        load_in_4bit=BITS[precision] == 4,
        bnb_4bit_quant_type="nf4",
        bnb_4bit_use_double_quant=True,
        bnb_4bit_compute_dtype=compute,
    )

"""The whole model, base and adapter as one, for a server that knows no adapters: what a training pipeline uploads."""

from __future__ import annotations

import argparse
import shutil

from .folder import Folder
from .place import Place

_WEIGHTS = ("*.safetensors", "*.safetensors.index.json", "config.json", "generation_config.json")
"""What the merged model has of its own; all else, such as the tokenizer, is the base's."""


def bring_out(known: argparse.Namespace, place: Place) -> None:
    """Write it as the hub has models, in 16 bits, from the checkpoint that the last step ended with. On the processor:
    a base that was held in fewer bits on the GPU is not the one that adapters are added to."""
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    found = place.checkpoint()
    assert found is not None, "the last step writes a checkpoint"
    base = AutoModelForCausalLM.from_pretrained(place.base, dtype=torch.bfloat16)
    merged = PeftModel.from_pretrained(base, str(found[1])).merge_and_unload()
    merged.save_pretrained(place.whole, safe_serialization=True)
    for file in place.base.iterdir():
        if file.is_file() and not any(file.match(own) for own in _WEIGHTS):
            shutil.copyfile(file, place.whole / file.name)
    target = Folder(known.whole)
    for file in sorted(place.whole.iterdir()):
        target.put(file.name, file)
    print(f"whole model written to {target.address}", flush=True)

"""The whole model, base and adapter as one, for a server that knows no adapters: what a training pipeline uploads."""

from __future__ import annotations

import argparse
import json
import shutil

from .folder import Folder
from .place import Place

_WEIGHTS = ("*.safetensors", "*.safetensors.index.json")
"""Files of the merged model's own; all else is the base's, which servers of any age can read."""


def bring_out(known: argparse.Namespace, place: Place) -> None:
    """Write it as the hub has models, in 16 bits, from the checkpoint that the last step ended with. On the processor:
    a base that was held in fewer bits on the GPU is not the one that adapters are added to."""
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM

    base = AutoModelForCausalLM.from_pretrained(place.base, dtype=torch.bfloat16)
    merged = PeftModel.from_pretrained(base, str(place.checkpoint()[1])).merge_and_unload()
    merged.save_pretrained(place.whole, safe_serialization=True)
    for file in place.base.iterdir():
        if file.is_file() and not any(file.match(own) for own in _WEIGHTS):
            shutil.copyfile(file, place.whole / file.name)
    config = json.loads((place.whole / "config.json").read_text("utf-8"))
    config |= dict.fromkeys(("torch_dtype", *({"dtype"} & config.keys())), "bfloat16")
    (place.whole / "config.json").write_text(json.dumps(config, indent=2) + "\n", "utf-8")
    target = Folder(known.whole)
    for file in sorted(place.whole.iterdir()):
        target.write(file.name, file)
    print(f"whole model written to {target.address}", flush=True)

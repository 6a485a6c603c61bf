"""A process of the training, one for each GPU: adapters on a frozen Gemma 2, which each process holds as a whole.

Each sees its own part of every step (data parallelism): only the adapters' gradients go from one GPU to the others."""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from .checkpoints import Checkpoints
from .examples import Row
from .folder import Folder
from .memory import measured
from .options import options
from .place import Place
from .precision import leave_out, quantization
from .trouble import TroubleError

LAYERS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")
"""Every linear layer of a Gemma 2 block gets an adapter."""
_POINTS = 500  # How many losses a run notes at most.


def tune(known: argparse.Namespace, place: Place) -> None:
    """Train from the checkpoint that was fetched, if any, to the last step, which ends with a checkpoint."""
    import torch
    from peft import LoraConfig, get_peft_model
    from torch.utils.tensorboard import SummaryWriter
    from transformers import AutoModelForCausalLM, PrinterCallback, Trainer, TrainingArguments, default_data_collator
    from transformers.integrations import TensorBoardCallback
    from transformers.utils.logging import disable_progress_bar

    from .keeper import Keeper
    from .layers import fitted, rebuilt

    disable_progress_bar()
    gpu = torch.cuda.is_available()
    dtype = torch.bfloat16 if gpu else torch.float32
    arguments = TrainingArguments(
        output_dir=str(place.trainer),
        max_steps=known.steps,
        save_steps=known.every,
        save_total_limit=1,
        logging_steps=max(1, known.steps // _POINTS),
        logging_nan_inf_filter=False,  # The keeper is to see them.
        per_device_train_batch_size=known.batch,
        learning_rate=known.learning_rate,
        lr_scheduler_type="cosine",
        warmup_steps=math.ceil(0.03 * known.steps),
        seed=known.seed,
        bf16=gpu,
        use_cpu=not gpu,
        optim="adamw_torch_fused" if gpu else "adamw_torch",
        ddp_find_unused_parameters=False,
        dataloader_drop_last=True,
        dataloader_pin_memory=gpu,
        remove_unused_columns=False,
        label_names=["labels"],
        disable_tqdm=True,
        report_to=[],
    )
    rows: list[Row] = json.loads(place.rows.read_text("utf-8"))
    # On a GPU the weights go straight to it, file by file, rounded to the 16 bits that they are used in.
    model = AutoModelForCausalLM.from_pretrained(
        place.base,
        torch_dtype=dtype,
        quantization_config=quantization(known.precision, dtype),
        device_map={"": arguments.local_process_index} if gpu else None,
        # Gemma 2 caps its attention's scores, which fused kernels leave out; compiled, this way is about as fast.
        attn_implementation="eager",
    )
    model.config.use_cache = False
    torch.manual_seed(known.seed)
    lora = LoraConfig(
        r=known.rank, lora_alpha=2 * known.rank, lora_dropout=0.05, target_modules=list(LAYERS), task_type="CAUSAL_LM"
    )
    model = get_peft_model(model, lora)
    model.enable_input_require_grads()  # The first layer is one like the others, and compiled with them.
    layers = rebuilt(model.get_base_model(), compiled=gpu and known.precision == "16bit")

    done, checkpoint = place.checkpoint()
    keeper = Keeper(Checkpoints(Folder(known.checkpoints)), place.events, Folder(known.logs))
    callbacks: list[Any] = [keeper]
    if arguments.process_index == 0:
        trained, whole = model.get_nb_trainable_parameters()
        told = f"{len(rows)} rows of {known.length} tokens, {known.batch} a step; {trained:,} of {whole:,} parameters"
        card = torch.cuda.get_device_name() if gpu else "CPU"
        print(f"{told} are trained, {arguments.world_size} process(es) on {card}", flush=True)
        # Without what a lost attempt logged after its last checkpoint.
        writer = SummaryWriter(str(place.events), purge_step=done + 1 if done else None)
        callbacks.insert(0, TensorBoardCallback(writer))
    enough = rows * math.ceil(known.batch * arguments.world_size / len(rows))
    trainer = Trainer(model=model, args=arguments, train_dataset=enough, callbacks=callbacks)
    trainer.remove_callback(PrinterCallback)
    if gpu:
        begin = default_data_collator(enough[: known.batch])
        first = {name: one.to(arguments.device) for name, one in begin.items()}
        twice = fitted(model, layers, first)
        torch.manual_seed(known.seed)
        if arguments.process_index == 0:
            print(f"{twice} of {len(layers)} layers are computed twice in a step, as the memory asks", flush=True)
    trainer.train(resume_from_checkpoint=str(checkpoint) if done else None)


def main(argv: list[str], environ: Mapping[str, str]) -> int:
    """Run one of the processes that torchrun starts on a machine."""
    known = options(argv, environ)
    place = Place(Path(known.work))
    leave_out(known.precision)
    import torch

    try:
        with measured(known):
            tune(known, place)
        torch.distributed.destroy_process_group()  # Else who ends first may take the others' connections away.
    except TroubleError as error:
        place.trouble.write_text(str(error), "utf-8")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))

"""LoRA fine-tuning of Gemma 2 on a text: transformers, peft, one process for each GPU of the machine."""

"""LoRA fine-tuning of Gemma 2 on a text or on chats: transformers, peft, one process for each GPU of the machine."""

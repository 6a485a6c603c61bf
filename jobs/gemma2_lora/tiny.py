"""A Gemma 2 of two small layers of random weights: made in a moment, to run every line of the training on a laptop."""

from __future__ import annotations

from pathlib import Path

_VOCABULARY = 512
_TURNS = (
    "{{ bos_token }}{% for message in messages %}"
    "{{ '<start_of_turn>' + ('user' if message.role == 'user' else 'model') + '\n' }}"
    "{{ message.content | trim + '<end_of_turn>\n' }}"
    "{% endfor %}{% if add_generation_prompt %}{{ '<start_of_turn>model\n' }}{% endif %}"
)
"""How Gemma 2 writes a conversation."""


def make(folder: Path, text: str, seed: int) -> Path:
    """A folder as the hub has it. The same text and seed, the same model."""
    from tokenizers import ByteLevelBPETokenizer
    from torch import manual_seed
    from transformers import Gemma2Config, Gemma2ForCausalLM, PreTrainedTokenizerFast

    pieces = ByteLevelBPETokenizer()
    # Numbered as Gemma 2 has them, which its configuration takes for granted.
    special = ["<pad>", "<eos>", "<bos>", "<unk>", "<start_of_turn>", "<end_of_turn>"]
    pieces.train_from_iterator([text], vocab_size=_VOCABULARY, special_tokens=special, show_progress=False)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=pieces._tokenizer,
        pad_token="<pad>",
        eos_token="<eos>",
        bos_token="<bos>",
        unk_token="<unk>",
        additional_special_tokens=special[4:],
    )
    tokenizer.chat_template = _TURNS
    tokenizer.save_pretrained(folder)
    manual_seed(seed)
    config = Gemma2Config(
        vocab_size=len(tokenizer),
        hidden_size=64,
        intermediate_size=128,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        head_dim=16,
        query_pre_attn_scalar=16,
        sliding_window=64,
        initializer_range=0.2,
    )
    Gemma2ForCausalLM(config).save_pretrained(folder)
    return folder

"""gemma2-lora's step: packed rows and a loss in pieces, as the model's own forward pass has them. # Z1"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.gemma2_lora.examples import UNLEARNT, Example, packed

from .conftest import TORCH_ON_GPUS, interpreter, said

LENGTHS = st.lists(st.integers(2, 12), min_size=1, max_size=30)


@given(LENGTHS)
def test_examples_fill_rows_of_one_length_each_whole_and_learnt_as_before(lengths: list[int]) -> None:
    examples = [Example([100 * n + k for k in range(size)], [7] * size) for n, size in enumerate(lengths)]
    rows = packed(examples, 12)
    assert {len(row["input_ids"]) for row in rows} == {len(row["labels"]) for row in rows} == {12}
    pieces = [
        Example(
            [token for token, place in zip(row["input_ids"], row["segments"], strict=True) if place == segment],
            [label for label, place in zip(row["labels"], row["segments"], strict=True) if place == segment],
        )
        for row in rows
        for segment in dict.fromkeys(row["segments"])
    ]
    learnt = [piece for piece in pieces if any(label != UNLEARNT for label in piece.labels)]
    assert sorted(piece.tokens for piece in learnt) == [one.tokens for one in examples]
    assert all(piece.labels == [UNLEARNT, *[7] * (len(piece.tokens) - 1)] for piece in learnt)
    assert sum(lengths) <= 12 * len(rows) < 2 * sum(lengths) + 12


SAME = """
import sys
import torch
from peft import LoraConfig, get_peft_model
from torch.nn.functional import cross_entropy
from transformers import Gemma2Config, Gemma2ForCausalLM, default_data_collator
from gemma2_lora.examples import Example, packed
from gemma2_lora.layers import rebuilt
from gemma2_lora.tuning import LAYERS


def model():
    torch.manual_seed(0)
    config = Gemma2Config(
        vocab_size=300, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=8, query_pre_attn_scalar=8, sliding_window=16, attn_implementation="eager",
    )
    adapters = LoraConfig(r=4, target_modules=list(LAYERS), init_lora_weights=False, task_type="CAUSAL_LM")
    return get_peft_model(Gemma2ForCausalLM(config), adapters).train()


def gradients(of):
    return torch.cat([one.grad.flatten() for one in of.parameters() if one.requires_grad])


draws = [torch.randint(6, 300, (size,)).tolist() for size in (10, 20, 30, 7, 33, 64, 5)]
apart = model()
losses = [apart(input_ids=torch.tensor([draw])).logits[0, :-1] for draw in draws]
loss = sum(cross_entropy(one, torch.tensor(draw[1:]), reduction="sum") for one, draw in zip(losses, draws))
loss = loss / sum(len(draw) - 1 for draw in draws)
loss.backward()
rows = packed([Example(draw, draw) for draw in draws], 64)
assert len(rows) == 3
inputs = default_data_collator(rows)
for again in (False, True):
    one = model()
    for layer in rebuilt(one.get_base_model(), compiled=sys.argv[1] == "compiled"):
        layer.again = again
    found = one(**inputs)["loss"]
    found.backward()
    off = (gradients(one) - gradients(apart)).norm() / gradients(apart).norm()
    assert abs(found - loss) < 1e-4 and off < 1e-4, (found, loss, off)
"""


@pytest.mark.long
@pytest.mark.journey
def test_packed_rows_have_the_loss_and_gradients_of_each_example_alone(tmp_path: Path) -> None:
    said(interpreter(tmp_path, TORCH_ON_GPUS, "gemma2-lora"), SAME, "as it is")


@pytest.mark.long
@pytest.mark.journey
def test_compiled_layers_have_the_same_loss_and_gradients(tmp_path: Path) -> None:
    said(interpreter(tmp_path, TORCH_ON_GPUS, "gemma2-lora"), SAME, "compiled")

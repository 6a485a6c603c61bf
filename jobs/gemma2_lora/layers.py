"""The layers of the model and its loss, made to keep a GPU busy: compiled, and computed twice only where its memory
asks for that."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

from .examples import UNLEARNT

_PIECE = 1024
"""Tokens whose logits are there at a time: those of Gemma's 256,000 words would fill the card before anything else."""
_SPARE = 0.06
"""Part of a GPU's memory that is left free: pieces that no tensor fits in, and what libraries take for themselves."""


class Layer:
    """The forward pass of a decoder layer. `again`: what the backward pass needs is computed again instead of kept."""

    def __init__(self, forward: Callable[..., Any]) -> None:
        self.forward, self.again = forward, False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.again:
            return checkpoint(self.forward, *args, use_reentrant=False, **kwargs)
        return self.forward(*args, **kwargs)


def rebuilt(causal: Any, compiled: bool) -> list[Layer]:
    """Give a Gemma2ForCausalLM, adapters within, a forward pass of packed rows that ends with their loss."""
    # Static shapes: each row has the same length, so a layer of each kind is compiled once.
    quick: Callable[..., Any] = (lambda one: torch.compile(one, dynamic=False)) if compiled else lambda one: one
    layers = [Layer(quick(layer.forward)) for layer in causal.model.layers]
    for module, layer in zip(causal.model.layers, layers, strict=True):
        module.forward = layer
    cap, window = causal.config.final_logit_softcapping, causal.config.sliding_window

    def summed(hidden: torch.Tensor, labels: torch.Tensor) -> torch.Tensor:
        logits = cap * torch.tanh(causal.lm_head(hidden) / cap)
        return functional.cross_entropy(logits.float(), labels, ignore_index=UNLEARNT, reduction="sum")

    loss_of = quick(summed)

    def forward(
        input_ids: torch.Tensor, labels: torch.Tensor, segments: torch.Tensor, num_items_in_batch: Any = None, **_: Any
    ) -> dict[str, torch.Tensor]:
        masks, places = seen(segments, window, causal.dtype)
        told = causal.model(input_ids=input_ids, attention_mask=masks, position_ids=places, use_cache=False)
        states, following = told.last_hidden_state.flatten(0, 1), functional.pad(labels, (0, 1), value=UNLEARNT)[:, 1:]
        pieces = zip(states.split(_PIECE), following.flatten().split(_PIECE), strict=True)
        total = sum(checkpoint(loss_of, *piece, use_reentrant=False) for piece in pieces)
        return {"loss": total / (num_items_in_batch or (labels != UNLEARNT).sum())}

    causal.forward = forward
    return layers


def seen(segments: torch.Tensor, window: int, dtype: torch.dtype) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    """Return what a token sees by the layer's kind, 0 or the least number: the tokens before it in its segment, all of
    them or the last `window`; and each token's place in its segment. `segments`: rows × tokens."""
    place = torch.arange(segments.shape[1], device=segments.device)
    back = place[:, None] - place
    full = (segments[:, None, :, None] == segments[:, None, None, :]) & (back >= 0)
    kinds = {"full_attention": full, "sliding_attention": full & (back < window)}
    least = torch.finfo(dtype).min
    masks = {kind: torch.zeros((), dtype=dtype, device=place.device).where(one, least) for kind, one in kinds.items()}
    begins = functional.pad(segments[:, 1:] != segments[:, :-1], (1, 0), value=True)
    return masks, place - torch.where(begins, place, 0).cummax(1).values


def fitted(model: Any, layers: Sequence[Layer], inputs: dict[str, torch.Tensor]) -> int:
    """Have as many layers keep what their backward pass needs as the GPU's memory holds, and return how many do not.

    Three steps that change nothing are tried: what all layers take when none keeps, and what one more takes when it
    does. Raises torch.cuda.OutOfMemoryError where not even the first fits."""

    def taken() -> int:
        with torch.autocast("cuda", torch.bfloat16):
            loss = model(**inputs)["loss"]
        held = int(torch.cuda.memory_allocated())
        loss.backward()
        model.zero_grad(set_to_none=True)
        return held

    _again(layers, len(layers))
    taken()  # Compiles, which takes memory of its own.
    torch.cuda.empty_cache()
    torch.cuda.reset_peak_memory_stats()
    least, most = taken(), torch.cuda.max_memory_allocated()
    _again(layers, len(layers) - 2)  # One layer of each kind.
    each = max(1, (taken() - least) // 2)
    torch.cuda.empty_cache()
    trained = sum(one.numel() * one.element_size() for one in model.parameters() if one.requires_grad)
    free, whole = torch.cuda.mem_get_info()
    room = free + torch.cuda.memory_reserved() - most - 3 * trained - int(_SPARE * whole)  # Gradients, two moments.
    again = max(0, len(layers) - max(0, int(room)) // each)
    _again(layers, again)
    torch.cuda.reset_peak_memory_stats()
    return again


def _again(layers: Sequence[Layer], number: int) -> None:
    for index, layer in enumerate(layers):
        layer.again = index >= len(layers) - number

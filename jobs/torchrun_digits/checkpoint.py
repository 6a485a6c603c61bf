"""The content of a checkpoint: enough to go on as if nothing had happened, with as many replicas as there are then."""

from __future__ import annotations

from dataclasses import dataclass, field
from io import BytesIO
from typing import Any

import torch
from torch import nn

NAME = "progress.pt"


@dataclass
class Progress:
    """The model and its optimizer after `step` steps; `starts` tells each (step, replicas) that training began with."""

    model: nn.Module
    optimizer: torch.optim.Optimizer
    step: int = 0
    starts: list[tuple[int, int]] = field(default_factory=list)

    def dump(self) -> bytes:
        return _bytes(
            {
                "model": self.model.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "step": self.step,
                "starts": self.starts,
            }
        )

    def restore(self, content: bytes) -> None:
        kept = torch.load(BytesIO(content), map_location="cpu", weights_only=True)
        self.model.load_state_dict(kept["model"])
        self.optimizer.load_state_dict(kept["optimizer"])
        self.step, self.starts = kept["step"], [(step, replicas) for step, replicas in kept["starts"]]

    def weights(self) -> bytes:
        """The model alone, on the CPU: it is read where there is no GPU."""
        return _bytes({name: value.cpu() for name, value in self.model.state_dict().items()})


def _bytes(content: Any) -> bytes:
    buffer = BytesIO()
    torch.save(content, buffer)
    return buffer.getvalue()

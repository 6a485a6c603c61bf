"""The handwritten digits, and the network that learns them, in double precision.

So small a network costs no more in it, and gradients that were added up in another order differ in the twelfth digit
and not in the fifth.
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn


def load() -> np.ndarray:
    """Rows of 64 grey values, 0 to 16, and their digit.

    scikit-learn has them; importing it would take longer than the training does, at every start of a process.
    """
    package = find_spec("sklearn")
    assert package and package.submodule_search_locations, "scikit-learn is in the image"
    return np.loadtxt(Path(package.submodule_search_locations[0], "datasets", "data", "digits.csv.gz"), delimiter=",")


class Digits:
    """The data that ships with scikit-learn, a quarter of it held out by the seed."""

    def __init__(self, seed: int, device: torch.device) -> None:
        table = torch.from_numpy(np.random.default_rng(seed).permutation(load())).to(device)
        x, y = table[:, :64] / 16.0, table[:, 64].long()
        held_out = len(table) // 4
        self.test, self.truth = x[:held_out], y[:held_out]
        self.train, self.labels = x[held_out:], y[held_out:]
        self._seed = seed

    def batch(self, step: int, size: int) -> Tensor:
        """The digits of a step, by their numbers: the same ones, in the same order, on every replica."""
        chosen = np.random.default_rng((self._seed, step)).choice(len(self.labels), size, replace=False)
        return torch.from_numpy(chosen)

    def shard(self, step: int, size: int, rank: int, world: int) -> tuple[Tensor, Tensor]:
        """The part of a step's batch that is this replica's: each digit is one replica's, and each has its turn."""
        mine = self.batch(step, size)[rank::world]
        return self.train[mine], self.labels[mine]


def network(seed: int) -> nn.Module:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 10)).double()


def judged(model: nn.Module, digits: Digits) -> tuple[float, float]:
    """Accuracy and mean loss on the held-out digits."""
    model.eval()
    with torch.no_grad():
        answers = model(digits.test)
        loss = nn.functional.cross_entropy(answers, digits.truth)
        accuracy = (answers.argmax(dim=1) == digits.truth).double().mean()
    model.train()
    return float(accuracy), float(loss)

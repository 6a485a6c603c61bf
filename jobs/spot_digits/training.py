"""A classifier of handwritten digits, trained step by step, in an order that depends on nothing but seed and step."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import Any

import joblib
import numpy as np
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split


@dataclass
class Progress:
    """The content of a checkpoint: the model, the steps it has seen, and how many attempts have worked on it."""

    model: Any
    step: int
    attempts: int

    def dump(self) -> bytes:
        buffer = BytesIO()
        joblib.dump({"model": self.model, "step": self.step, "attempts": self.attempts}, buffer)
        return buffer.getvalue()


def fresh(seed: int) -> Progress:
    return Progress(SGDClassifier(loss="log_loss", alpha=1e-4, random_state=seed), step=0, attempts=0)


def restore(content: bytes) -> Progress:
    kept = joblib.load(BytesIO(content))
    return Progress(kept["model"], kept["step"], kept["attempts"])


class Digits:
    """The data, split once by the seed."""

    def __init__(self, seed: int) -> None:
        data, target = load_digits(return_X_y=True)
        self._seed = seed
        self._train, self._test, self._labels, self._truth = train_test_split(
            data / 16.0, target, test_size=0.25, random_state=seed, stratify=target
        )

    def advance(self, progress: Progress, batch: int) -> None:
        """Take a step on the batch that belongs to it, whichever attempt comes to it."""
        chosen = np.random.default_rng((self._seed, progress.step)).choice(len(self._train), batch, replace=False)
        progress.model.partial_fit(self._train[chosen], self._labels[chosen], classes=np.arange(10))
        progress.step += 1

    def accuracy(self, progress: Progress) -> float:
        return float(progress.model.score(self._test, self._truth))

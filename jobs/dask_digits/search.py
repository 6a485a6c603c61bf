"""The candidates of the search and their score. These functions run on Dask workers and depend on arguments only."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import ParameterSampler, StratifiedKFold, train_test_split

SPACE = {
    "criterion": ["gini", "entropy"],
    "max_features": ["sqrt", "log2", 0.1, 0.2, 0.4],
    "max_depth": [None, 8, 12, 20],
    "min_samples_leaf": [1, 2, 4],
}
HELD_OUT = 0.25


@dataclass(frozen=True)
class Data:
    """Images as rows of 64 grey values, and their digits; a quarter is held out."""

    train: Any
    train_digits: Any
    test: Any
    test_digits: Any


@lru_cache(maxsize=1)
def data(seed: int) -> Data:
    """The digits that ship with scikit-learn, split the same way on every replica."""
    images, digits = load_digits(return_X_y=True)
    train, test, train_digits, test_digits = train_test_split(
        images, digits, test_size=HELD_OUT, random_state=seed, stratify=digits
    )
    return Data(train, train_digits, test, test_digits)


def candidates(count: int, seed: int) -> list[dict[str, Any]]:
    """`count` different settings, the same ones for the same seed."""
    return list(ParameterSampler(SPACE, n_iter=count, random_state=seed))


def forest(setting: dict[str, Any], trees: int, seed: int) -> RandomForestClassifier:
    return RandomForestClassifier(n_estimators=trees, random_state=seed, n_jobs=1, **setting)


def score(setting: dict[str, Any], trees: int, fold: int, folds: int, seed: int) -> float:
    """The share of digits recognised in one fold by a forest trained on the others."""
    known = data(seed)
    splits = StratifiedKFold(folds, shuffle=True, random_state=seed).split(known.train, known.train_digits)
    learn, check = list(splits)[fold]
    model = forest(setting, trees, seed).fit(known.train[learn], known.train_digits[learn])
    return float(model.score(known.train[check], known.train_digits[check]))


def fit(setting: dict[str, Any], trees: int, seed: int) -> tuple[RandomForestClassifier, float]:
    """A forest trained on all training digits, and its accuracy on those held out."""
    known = data(seed)
    model = forest(setting, trees, seed).fit(known.train, known.train_digits)
    return model, float(model.score(known.test, known.test_digits))

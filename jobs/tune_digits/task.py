"""`python -m tune_digits.task`: the service gives the values to try as arguments, and hears the accuracy."""

from __future__ import annotations

import argparse
import sys

from hypertune import HyperTune
from sklearn.base import ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import cross_val_score
from sklearn.svm import SVC

METRIC = "accuracy"


def options(argv: list[str]) -> argparse.Namespace:
    """`depth` is for the forest, `c` and `gamma` for the support vectors; what is the other's changes nothing."""
    parser = argparse.ArgumentParser(prog="tune_digits", description=__doc__)
    parser.add_argument("--model", choices=("forest", "svc"), default="forest")
    parser.add_argument("--depth", type=float, default=12, help="of a forest's trees; the service sends 8.0 for 8")
    parser.add_argument("--c", type=float, default=1.0, help="how much a wrong digit costs the support vectors")
    parser.add_argument("--gamma", type=float, default=0.001, help="how near two digits must be to look alike")
    parser.add_argument("--folds", type=int, default=3)
    parser.add_argument("--seed", type=int, default=0)
    return parser.parse_args(argv)


def candidate(known: argparse.Namespace) -> ClassifierMixin:
    if known.model == "svc":
        return SVC(C=known.c, gamma=known.gamma)
    return RandomForestClassifier(n_estimators=50, max_depth=int(known.depth), random_state=known.seed)


def main(argv: list[str]) -> int:
    known = options(argv)
    data, target = load_digits(return_X_y=True)
    report = HyperTune()
    total, scores = 0.0, cross_val_score(candidate(known), data, target, cv=known.folds)
    for fold, score in enumerate(scores, start=1):
        total += float(score)
        report.report_hyperparameter_tuning_metric(METRIC, total / fold, global_step=fold)
        print(f"fold {fold}/{known.folds}: accuracy so far {total / fold:.4f}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

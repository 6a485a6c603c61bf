"""A script as people have one: it learns handwritten digits. `python train.py --lr 0.1`"""

import argparse
import json
import os
from pathlib import Path

import joblib
from sklearn.datasets import load_digits
from sklearn.linear_model import SGDClassifier
from sklearn.model_selection import train_test_split

parser = argparse.ArgumentParser()
parser.add_argument("--lr", type=float, default=0.01, help="the step of the descent")
parser.add_argument("--epochs", type=int, default=5)
options = parser.parse_args()

# On a laptop there is no such variable, and the files are written here.
output = Path(os.environ.get("SLIPWAY_OUTPUT", "."))

digits, names = load_digits(return_X_y=True)
train, test, train_names, test_names = train_test_split(digits / 16, names, random_state=0)
model = SGDClassifier(learning_rate="constant", eta0=options.lr, random_state=0)
metrics = []
for epoch in range(1, options.epochs + 1):
    model.partial_fit(train, train_names, classes=range(10))
    accuracy = float(model.score(test, test_names))
    metrics.append({"step": epoch, "accuracy": accuracy, "lr": options.lr})
    print(f"epoch {epoch}/{options.epochs}, accuracy {accuracy:.4f}")

joblib.dump(model, output / "model.joblib")
# `slipway jobs list --metric accuracy` reads this file: numbers by name, or a list of them with their steps.
(output / "metrics.json").write_text(json.dumps(metrics))

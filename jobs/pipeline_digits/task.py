"""`python -m pipeline_digits.task`: writes model.joblib to AIP_MODEL_DIR, and metrics.json to the output folder."""

from __future__ import annotations

import argparse
import json
import os
import posixpath
import sys
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path

import joblib
from sklearn.datasets import load_digits
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import train_test_split


def main(argv: list[str], environ: Mapping[str, str]) -> int:
    parser = argparse.ArgumentParser(prog="pipeline_digits", description=__doc__)
    parser.add_argument("--trees", type=int, default=100, help="trees in the forest")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", default="output", help="folder or gs:// address for metrics.json")
    known = parser.parse_args(argv)
    data, target = load_digits(return_X_y=True)
    train, test, labels, truth = train_test_split(
        data, target, test_size=0.25, random_state=known.seed, stratify=target
    )
    model = RandomForestClassifier(n_estimators=known.trees, random_state=known.seed).fit(train, labels)
    accuracy = float(model.score(test, truth))
    print(f"accuracy {accuracy:.4f} on {len(truth)} held-out digits", flush=True)

    buffer = BytesIO()
    joblib.dump(model, buffer)
    folder = environ.get("AIP_MODEL_DIR") or posixpath.join(known.output, "model")
    for address, content in (
        (posixpath.join(folder, "model.joblib"), buffer.getvalue()),
        (posixpath.join(known.output, "metrics.json"), json.dumps({"accuracy": accuracy}).encode()),
    ):
        write(address, content)
        print(f"wrote {address}", flush=True)
    return 0


def write(address: str, content: bytes) -> None:
    if address.startswith("gs://"):
        import google.cloud.storage as storage

        storage.Blob.from_string(address, client=storage.Client()).upload_from_string(content)
        return
    Path(address).parent.mkdir(parents=True, exist_ok=True)
    Path(address).write_bytes(content)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:], os.environ))

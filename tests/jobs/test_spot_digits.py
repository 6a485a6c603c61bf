"""spot-digits: a notice that comes in the middle of a step. (Preemption as a whole: tests/templates.) # X5"""

import json
from pathlib import Path

import pytest

from .conftest import SKLEARN, interpreter, said

STEPS, BATCH = 6, 64
# Sends itself SIGTERM as soon as the model has seen the third batch, before its step is counted; then it starts again.
NOTICED = """
import os, signal, sys
from sklearn.linear_model import SGDClassifier
from spot_digits.task import main
learn, seen = SGDClassifier.partial_fit, []
def noticed(self, *data, **more):
    learn(self, *data, **more)
    seen.append(1)
    if len(seen) == 3:
        os.kill(os.getpid(), signal.SIGTERM)
SGDClassifier.partial_fit = noticed
assert main(sys.argv[1:], os.environ) == 143
assert main(sys.argv[1:], os.environ) == 0
"""


@pytest.mark.journey
def test_spot_digits_counts_the_step_in_which_a_notice_comes(tmp_path: Path) -> None:
    job = (f"--steps={STEPS}", "--every=100", f"--output={tmp_path / 'output'}")
    assert "checkpoint of step 3 written" in said(interpreter(tmp_path / "images", SKLEARN), NOTICED, *job)
    metrics = json.loads((tmp_path / "output" / "metrics.json").read_text())
    assert (metrics["steps"], metrics["samples"], metrics["attempts"]) == (STEPS, STEPS * BATCH, 2)

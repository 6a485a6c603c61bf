"""spot-digits: a notice that comes in the middle of a step. (Preemption as a whole: tests/templates.) # X5"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from .conftest import ROOT, environ

pytestmark = pytest.mark.journey

STEPS, BATCH = 6, 64
# Sends itself SIGTERM as soon as the model has seen the third batch, before its step is counted.
NOTICED = """
import os, signal, sys
from sklearn.linear_model import SGDClassifier
learn, seen = SGDClassifier.partial_fit, []
def noticed(self, *data, **more):
    learn(self, *data, **more)
    seen.append(1)
    if len(seen) == 3:
        os.kill(os.getpid(), signal.SIGTERM)
SGDClassifier.partial_fit = noticed
from spot_digits.task import main
sys.exit(main(sys.argv[1:], os.environ))
"""


def test_spot_digits_counts_the_step_in_which_a_notice_comes(python: Path, tmp_path: Path) -> None:
    settings = environ(PYTHONPATH=str(ROOT / "jobs"))
    job = (f"--steps={STEPS}", "--every=100", f"--output={tmp_path}")
    first = subprocess.run([python, "-c", NOTICED, *job], env=settings, capture_output=True, text=True)
    assert first.returncode == 143, first.stderr
    assert "checkpoint of step 3 written" in first.stdout
    subprocess.run([python, "-m", "spot_digits.task", *job], env=settings, check=True)
    metrics = json.loads((tmp_path / "metrics.json").read_text())
    assert (metrics["steps"], metrics["samples"], metrics["attempts"]) == (STEPS, STEPS * BATCH, 2)

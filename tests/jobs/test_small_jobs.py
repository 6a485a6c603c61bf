"""tune-digits and pipeline-digits, each alone as a process: what the service would find afterwards. # B5 # W5"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from .conftest import environ

pytestmark = pytest.mark.journey


def test_tune_digits_reports_the_metric_that_its_study_maximizes(python: Path, tmp_path: Path) -> None:
    from templates.tune_digits import TEMPLATE

    assert TEMPLATE.study is not None
    reported = tmp_path / "metrics"
    trial = [str(python), "-m", "tune_digits.task", "--model=svc", "--c=4.0", "--gamma=0.001", "--folds=2"]
    subprocess.run(trial, env=environ(CLOUD_ML_HP_METRIC_FILE=str(reported)), check=True, timeout=60)
    last = json.loads(reported.read_text().splitlines()[-1])
    assert TEMPLATE.study.metrics[0].id in last
    assert float(last["accuracy"]) > 0.9


def test_pipeline_digits_leaves_its_model_where_a_pipeline_looks_for_it(python: Path, tmp_path: Path) -> None:
    job = [str(python), "-m", "pipeline_digits.task", "--trees=20", f"--output={tmp_path}"]
    subprocess.run(job, env=environ(AIP_MODEL_DIR=f"{tmp_path}/model/"), check=True, timeout=60)
    assert (tmp_path / "model" / "model.joblib").stat().st_size > 0
    assert json.loads((tmp_path / "metrics.json").read_text())["accuracy"] > 0.9

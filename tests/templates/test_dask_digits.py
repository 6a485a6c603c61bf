"""dask-digits: more workers finish sooner, and a lost one does not end the job."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.jobs.conftest import SKLEARN, environ, interpreter

from .stack import Stack

pytestmark = pytest.mark.journey


@pytest.mark.long
def test_dask_digits_gives_each_of_more_workers_less_to_do(stack: Stack, tmp_path: Path) -> None:  # B5
    """On a machine for each, fits take the same time, and a search lasts as long as the worker with the most of them.

    Time itself would tell of this machine, whose cores all workers share.
    """
    search = {"trees": 40, "candidates": 6, "folds": 3}
    jobs = [stack.submit("dask-digits", workers=workers, **search) for workers in (1, 3)]
    one, three = (job.finished().metrics for job in jobs)
    assert jobs[1].unshown("logs") == []
    assert one["fits"] == {"worker-0": 18}
    assert set(three["fits"]) == {"worker-0", "worker-1", "worker-2"}
    assert sum(three["fits"].values()) == 18
    assert max(three["fits"].values()) <= 18 * 0.6

    flags = [f"--{name}={value}" for name, value in search.items()]
    python = interpreter(tmp_path / "images", SKLEARN, "dask-digits")
    subprocess.run([python, "-m", "dask_digits.task", *flags, f"--output={tmp_path}"], env=environ(), check=True)
    alone = json.loads((tmp_path / "metrics.json").read_text())
    for name in ("accuracy", "crossValidation", "best"):
        assert alone[name] == one[name] == three[name], "who does the work changes nothing in its result"


def test_dask_digits_goes_on_when_a_worker_is_lost(stack: Stack) -> None:  # X4
    job = stack.submit("dask-digits", workers=2, trees=60, candidates=10, folds=2)
    job.said("2 of 2 workers")
    job.kill("workerpool1-0")
    job.finished()
    lines = job.lines
    assert any("is lost, 1 left" in line for line in lines)
    assert sum(job.metrics["fits"].values()) == 20
    assert job.metrics["accuracy"] > 0.9
    assert "workers-1: worker 1: the scheduler is gone, nothing left to do" in lines


@pytest.mark.long
def test_dask_digits_takes_a_worker_back_and_its_workers_leave_a_dead_scheduler(stack: Stack) -> None:  # X4
    job = stack.submit("dask-digits", workers=2, trees=1000, candidates=10, folds=3)
    job.said("2 of 2 workers")
    job.kill("workerpool1-0")
    job.said("joined, 2 workers now")
    job.kill("workerpool0-0")
    job.said("worker 1: the scheduler is gone, nothing left to do")

"""dask-digits: more workers finish sooner, and a lost one does not end the job."""

from __future__ import annotations

import pytest

from .stack import Stack

pytestmark = pytest.mark.journey


@pytest.mark.long
def test_dask_digits_gives_each_of_more_workers_less_to_do(stack: Stack) -> None:  # B5
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
    for name in ("accuracy", "crossValidation", "best"):
        assert one[name] == three[name], "who does the work changes nothing in its result"


def test_dask_digits_goes_on_when_a_worker_is_lost(stack: Stack) -> None:  # X4
    job = stack.submit("dask-digits", workers=2, trees=100, candidates=10, folds=2)
    job.said("2 of 2 workers")
    job.kill("workerpool1-0")
    job.finished()
    assert any("is lost, 1 left" in line for line in job.lines)
    assert sum(job.metrics["fits"].values()) == 20
    assert job.metrics["accuracy"] > 0.9

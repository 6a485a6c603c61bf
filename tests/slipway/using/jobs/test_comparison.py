"""Jobs compared field by field: nothing is lost, and what is alike is told from what is not. # N19"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from slipway.google.jobs import VertexJob
from slipway.model.labels import CODE_COMMIT_LABEL, CODE_LABEL
from slipway.using.jobs.comparison import ComparedField, compare_jobs
from slipway.using.jobs.cost import job_cost
from slipway.using.jobs.description import JobDescription
from slipway.using.jobs.metrics import Metrics

from .test_results import NOW, job


def described(one: VertexJob) -> JobDescription:
    return JobDescription(one, job_cost(one, one.region, NOW), "cpu", "", "")


def fields(*jobs: JobDescription, metrics: dict[str, Metrics] | None = None) -> dict[tuple[str, str], ComparedField]:
    return {(one.group, one.name): one for one in compare_jobs(jobs, metrics or {}, {})}


def test_what_differs_is_told_from_what_is_alike() -> None:
    one, two = job(0, lr=0.1, hidden=64), job(1, "FAILED", lr=0.2, hidden=64, depth=3)
    longer = replace(two, end_time=NOW + timedelta(hours=1), error="no")
    found = fields(described(one), described(longer), metrics={one.name: Metrics({"loss": 0.5})})
    assert found["parameter", "lr"].values == (0.1, 0.2) and not found["parameter", "lr"].alike
    assert found["parameter", "hidden"].alike and found["parameter", "depth"].values == (None, 3)
    assert found["metric", "loss"].values == (0.5, None)
    assert found["outcome", "state"].values == ("succeeded", "failed") and found["outcome", "error"].values == (
        None,
        "no",
    )
    assert found["code", "template"].alike and found["outcome", "ran"].values == (1800, 7140)
    assert ("code", "team") not in found, "what none has is not told"


def test_one_and_true_are_not_alike() -> None:
    assert not ComparedField("parameter", "a", (1, True)).alike and ComparedField("parameter", "a", ("x", "x")).alike


def test_code_of_ones_own_is_told_with_its_commit() -> None:
    reviewed = job(0)
    own = replace(reviewed, labels={**reviewed.labels, CODE_LABEL: "0a", CODE_COMMIT_LABEL: "3f9c2e1"})
    pool = replace(reviewed.worker_pools[0], packages=("gs://w/code/0a/mlp-0a.tar.gz",))
    found = fields(described(reviewed), described(replace(own, worker_pools=(pool,))))
    assert found["code", "package"].values == (None, "mlp-0a.tar.gz @ 3f9c2e1")


PARAMETERS = st.dictionaries(st.sampled_from("abc"), st.integers(0, 2) | st.sampled_from(["x", "y"]))


@given(st.lists(PARAMETERS, min_size=2, max_size=4))
def test_no_parameter_is_lost(each: list[dict[str, Any]]) -> None:
    found = fields(*(described(job(number, **values)) for number, values in enumerate(each)))
    for name in "abc":
        values = tuple(one.get(name) for one in each)
        assert (found["parameter", name].values if any(name in one for one in each) else (None,) * len(each)) == values

"""A sweep of which runs were sent before: what was sent is not judged again, and neither a name nor the same runs are
taken for another sweep's, on any machine."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from . import test_sweep as _sweep
from .stack import SPOT_CPUS, Stack, held
from .test_fallback import packaged
from .test_sweep import every_job, points, replica
from .test_sweep_gone import elsewhere

_token = _sweep._token


def rows(stack: Stack, *codes: str) -> str:
    """A sweep's file with a run for each code."""
    (stack.folder / "rows.csv").write_text("\n".join(["code", *codes]) + "\n")
    return "rows.csv"


def close(stack: Stack, template: str = "hello", **values: Any) -> None:
    """Publishes that no offer of the template is available any more, or whatever the values say."""
    for offer in stack.catalog["templates"][template]["offers"]:
        offer.update(values or {"available": False, "why": "quota: short by 3"})
    stack.publish()


def test_only_the_runs_that_are_to_be_sent_are_judged(stack: Stack) -> None:  # P3, N7
    """Of two that were sent one was cancelled, and that one can go nowhere any more."""
    held(stack)
    words = ("submit", "crew", "--capacity", "pool", "--request-id", "nightly", "--sweep", "g.yaml")
    (stack.folder / "g.yaml").write_text("grid: {workers: [1, 2]}")
    stack.well(*words)
    one = next(job for job in every_job(stack) if job["labels"]["slipway-run"] == "1")
    stack.well("jobs", "cancel", one["displayName"])
    close(stack, "crew")
    done = stack.run(*words, "--retry-cancelled")
    assert done.code == 5 and "some of 2 runs can't" in done.err
    assert "run 0" not in done.err and len(every_job(stack)) == 2


CAPACITY, KIND = ("--capacity", "spot"), ("--as", "custom-job")


@pytest.mark.parametrize(
    ("then", "now", "fix"),
    [
        (CAPACITY, (), "--capacity spot"),
        (KIND, CAPACITY, "--as custom-job, without --capacity spot"),
    ],
)
def test_the_same_runs_asked_for_in_another_way_must_be_meant(  # N7
    stack: Stack, tmp_path: Path, then: tuple[str, ...], now: tuple[str, ...], fix: str
) -> None:
    """With a capacity type beside it the same command sent, and paid, all runs once more."""
    with stack.settings(quota=SPOT_CPUS):
        words = ("submit", "hello", "--sweep", points(stack, 2))
        sweep = stack.run(*words, *then, "--output", "json").json["sweep"]
        for _ in range(2):
            refused = stack.run(*words, *now)
            assert refused.code == 2 and f"sent before, as sweep {sweep}\n" in refused.err
            assert f"on with that one: {fix}\n" in refused.err
            assert "them all once more: --request-id" in refused.err and len(every_job(stack)) == 2
            elsewhere(stack, tmp_path / "elsewhere")
            points(stack, 2)
        assert stack.run(*words, *then).code == 0 and len(every_job(stack)) == 2
        assert stack.run(*words, *now, "--request-id", "new").code == 0 and len(every_job(stack)) == 4


def test_a_name_that_was_used_for_other_points_is_refused_on_any_machine(stack: Stack, tmp_path: Path) -> None:  # N7
    """Two new points were told as submitted before, and as succeeded: nobody ever ran them."""
    name = ("--request-id", "nightly", "--sweep")
    stack.well("submit", "hello", *name, rows(stack, "print(1)", "print(2)"))
    elsewhere(stack, tmp_path / "elsewhere")
    for template, codes, said in (
        ("hello", ("print(1)", "print(3)"), "run 1: code=print(2) then, code=print(3) now"),
        ("hello", ("print(1)",), "run 0: one of 2 then, of 1 now"),
        ("hello", ("print(1)", "print(2)", "print(3)"), "run 0: one of 2 then, of 3 now"),
        ("crew", ("print(1)", "print(2)"), "run 0: template=hello then, template=crew now"),
    ):
        refused = stack.run("submit", template, *name, rows(stack, *codes), "--wait")
        assert refused.code == 2 and "error: sweep nightly was begun" in refused.err
        assert said in refused.err and "name this one differently: --request-id" in refused.err
        assert len(every_job(stack)) == 2
    again = stack.well("submit", "hello", *name, rows(stack, "print(1)", "print(2)"), "--wait")
    assert "0 submitted now, 2 before," in again.out


def test_a_parameter_that_is_not_given_is_compared_where_its_default_is_the_same(  # N7
    stack: Stack, tmp_path: Path
) -> None:
    stack.deploy("3f9c2e1", dirty=False)
    (stack.folder / "g.yaml").write_text("list: [{code: print(1), workers: 2}]")
    words = ("submit", "crew", "--request-id", "nightly", "--sweep", "g.yaml")
    stack.well(*words)
    elsewhere(stack, tmp_path / "elsewhere")
    (stack.folder / "g.yaml").write_text("list: [{code: print(1)}]")
    refused = stack.run(*words)
    assert refused.code == 2 and "run 0: workers=2 then, workers=1" in refused.err
    stack.deploy("0a1b2c3", dirty=False)
    assert stack.run(*words).code == 0 and len(every_job(stack)) == 1, "a default may have changed with the template"


def test_a_job_that_no_list_shows_is_compared_as_well(small: Stack, tmp_path: Path) -> None:  # N7
    """Its claim leads to it."""
    held(small)
    packaged(small)
    name = ("--request-id", "nightly", "--capacity", "pool", "--sweep")
    small.well("submit", "hello", *name, rows(small, "print(1)"))
    (job,) = every_job(small)
    assert replica(small, job)
    elsewhere(small, tmp_path / "elsewhere")
    with small.faults({"kind": "lagging-list", "match": "customJobs", "seconds": 3600.0}):
        refused = small.run("submit", "hello", *name, rows(small, "print(2)"))
    assert refused.code == 2 and "run 0: code=print(1) then, code=print(2)" in refused.err
    assert len(every_job(small)) == 1

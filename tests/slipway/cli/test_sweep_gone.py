"""Runs of a sweep whose jobs somebody has deleted, on a real local cloud: none is lost, or told as a success."""

from __future__ import annotations

from pathlib import Path

from . import test_sweep as _sweep
from .stack import Stack, held
from .test_fallback import packaged
from .test_sweep import every_job, points, replica

_token = _sweep._token


def delete(stack: Stack, *runs: str, started: bool = True) -> None:
    """The jobs of these runs, by their labels: cancelled, and deleted once they have ended."""
    lost = [job for job in every_job(stack) if job["labels"]["slipway-run"] in runs]
    assert len(lost) == len(runs)
    for job in lost:
        assert not started or replica(stack, job)
        stack.cloud.rest("POST", f"/v1/{job['name']}:cancel", {})
    names = {job["name"] for job in lost}
    stack.until(lambda: sum("endTime" in job for job in every_job(stack) if job["name"] in names) == len(lost))
    for name in names:
        stack.cloud.rest("DELETE", f"/v1/{name}")


def test_runs_whose_jobs_were_deleted_are_not_told_as_succeeded(stack: Stack, tmp_path: Path) -> None:  # N7
    """From another machine a copy was sent for each, which ended well without having run; from the same one nobody
    missed them."""
    packaged(stack)
    held(stack)
    words = ("submit", "hello", "--sweep", points(stack, 4))
    assert stack.run(*words).code == 0
    delete(stack, "2", "3")
    for _ in range(2):
        again = stack.run(*words, "--output", "json")
        assert again.code == 4 and len(every_job(stack)) == 2
        assert (again.json["gone"], again.json["accepted"], again.json["before"]) == ([2, 3], [], 4)
        sweep = again.json["sweep"]
        assert again.err.splitlines()[-3:] == [
            f"error: 2 of 4 runs of sweep {sweep} ran before, and their jobs are gone",
            "  why: runs 2 and 3: started, as claims tell, and deleted since, so how that ended is unknown",
            "  fix: once more: slipway submit hello --sweep sweep.csv --retry-failed",
        ]
        stack.folder = tmp_path / "another machine"
        (stack.folder / ".git").mkdir(parents=True, exist_ok=True)
        points(stack, 4)
    retried = stack.run(*words, "--retry-failed", "--output", "json")
    assert retried.code == 0, retried.err
    assert [(one["run"], one["attempt"]) for one in retried.json["accepted"]] == [(2, 1), (3, 1)]
    assert len(every_job(stack)) == 4 and stack.run(*words, "--output", "json").json["gone"] == []


def test_who_waits_is_told_of_runs_that_are_gone_once_the_others_have_ended(stack: Stack) -> None:  # N7
    """Of a thousand runs one that was gone kept everybody from waiting for the others."""
    packaged(stack)
    held(stack)
    words = ("submit", "hello", "--sweep", points(stack, 3))
    assert stack.run(*words).code == 0
    delete(stack, "1")
    waiting = stack.run(*words, "--wait", "--timeout", "1s")
    assert waiting.code == 9 and "2 of 3 runs of sweep hello-" in waiting.err
    assert stack.run("jobs", "cancel", "--sweep", every_job(stack)[0]["labels"]["slipway-sweep"]).code == 0
    ended = stack.run(*words, "--wait", "--output", "json")
    assert ended.code == 4 and "error: 1 of 3 runs of sweep hello-" in ended.err, ended.err
    assert "why: run 1: started, as claims tell, and deleted since" in ended.err
    assert ended.json["gone"] == [1] and [one["run"] for one in ended.json["states"]] == [0, 2]

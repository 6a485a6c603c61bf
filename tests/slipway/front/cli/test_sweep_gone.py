"""Runs of a sweep whose jobs somebody has deleted, on a real local cloud: none is lost, or told as a success."""

import json
from pathlib import Path

import pytest

from . import test_sweep as _sweep
from .stack import Stack, held
from .test_fallback import FETCHING, packaged
from .test_kinds import TASK
from .test_sweep import every_job, points, replica

_token = _sweep._token


@pytest.fixture
def stack(small: Stack) -> Stack:
    return small


def elsewhere(stack: Stack, folder: Path) -> None:
    """Go to another machine, which has no journal."""
    (folder / ".git").mkdir(parents=True, exist_ok=True)
    stack.folder = folder


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
    missed them; and one that was gone kept everybody from waiting for the others."""
    held(stack)
    packaged(stack)
    words = ("submit", "hello", "--sweep", points(stack, 4))
    sweep = stack.well(*words, "--output", "json").json["sweep"]
    delete(stack, "2", "3")
    for _ in range(2):
        again = stack.run(*words, "--output", "json")
        assert again.code == 4 and len(every_job(stack)) == 2
        assert (again.json["gone"], again.json["accepted"], again.json["before"]) == ([2, 3], [], 4)
        assert again.err.splitlines()[-3:] == [
            f"error: 2 of 4 runs of sweep {sweep} were sent, and their jobs are gone",
            "  why: runs 2 and 3: deleted, so how that ended is unknown",
            "  fix: once more: slipway submit hello --sweep sweep.csv --retry-failed",
        ]
        elsewhere(stack, tmp_path / "another machine")
        points(stack, 4)
    waiting = stack.run(*words, "--wait", "--timeout", "1s")
    assert waiting.code == 9 and f"2 of 4 runs of sweep {sweep}" in waiting.err
    retried = stack.well(*words, "--retry-failed", "--output", "json")
    assert [(run["run"], run["attempt"]) for run in retried.json["accepted"]] == [(2, 1), (3, 1)]
    assert len(every_job(stack)) == 4 and stack.run(*words, "--output", "json").json["gone"] == []


def test_a_damaged_journal_is_named_and_claims_tell_what_was_sent(stack: Stack) -> None:  # N7
    """The same command failed for ever."""
    held(stack)
    packaged(stack)
    words = ("submit", "hello", "--sweep", points(stack, 4))
    stack.well(*words)
    (file,) = stack.folder.rglob("*.jsonl")
    delete(stack, "2", "3")
    lines = file.read_text().splitlines()
    for damage, line in (([*lines[:3], "\0\0", *lines[6:]], 4), (["", *lines], 1)):
        file.write_text("".join(f"{line}\n" for line in damage))
        again = stack.run(*words, "--output", "json")
        assert again.code == 4 and (again.json["gone"], again.json["accepted"]) == ([2, 3], [])
        assert "can't be read" in again.err and f"({file}, line {line}: " in again.err
        assert len(every_job(stack)) == 2


def test_a_run_whose_job_was_deleted_before_it_started_is_sent_again_under_the_same_id(stack: Stack) -> None:  # N7
    """It counted as submitted before: no command from that machine ever sent it, and waiting for it was a success."""
    held(stack)
    packaged(stack)
    words = ("submit", "hello", "--sweep", points(stack, 3))
    first = stack.well(*words, "--output", "json").json
    delete(stack, "1", started=False)
    stack.cancel_all()
    again = stack.run(*words, "--wait", "--timeout", "60s", "--output", "json")
    assert [(run["run"], run["attempt"]) for run in again.json["accepted"]] == [(1, 0)], again.err
    assert again.json["accepted"][0]["requestId"] == first["accepted"][1]["requestId"]
    assert sorted(job["labels"]["slipway-run"] for job in every_job(stack)) == ["0", "1", "2"]
    assert again.code == 4, "what gets machines fails here"


def test_an_image_whose_job_was_deleted_is_gone_as_nobody_can_tell_whether_it_ran(stack: Stack) -> None:  # N7
    held(stack)
    words = ("submit", "hello", "--sweep", points(stack, 2))
    stack.well(*words)
    delete(stack, "1", started=False)
    again = stack.run(*words, "--output", "json")
    assert again.code == 4 and again.json["gone"] == [1] and len(every_job(stack)) == 1
    retried = stack.well(*words, "--retry-failed", "--output", "json")
    assert [(run["run"], run["attempt"]) for run in retried.json["accepted"]] == [(1, 1)]


def test_who_waits_waits_for_what_was_sent_before_also_where_no_list_shows_it_yet(stack: Stack) -> None:  # N7
    """The same command at once with --wait ended at once, and well, as nothing was listed."""
    held(stack)
    words = ("submit", "hello", "--sweep", points(stack, 3))
    stack.well(*words)
    with stack.faults({"kind": "lagging-list", "match": "customJobs", "seconds": 600.0}):
        waiting = stack.run(*words, "--wait", "--timeout", "1s")
    assert waiting.code == 9 and "3 of 3 runs" in waiting.err, waiting.err
    assert len(every_job(stack)) == 3


def test_what_was_on_its_way_at_a_kill_or_sent_long_ago_and_is_gone_is_not_sent_again(stack: Stack) -> None:  # N7
    """A copy of each of the first found the claim taken and was told as a success; of the others, whose claims the
    workspace may have deleted, each was paid for a second time."""
    held(stack)
    packaged(stack)
    words = ("submit", "hello", "--sweep", points(stack, 4))
    stack.well(*words)
    delete(stack, "1")
    delete(stack, "2", started=False)
    (journal,) = stack.folder.rglob("*.jsonl")
    lines = [json.loads(line) for line in journal.read_text().splitlines()]
    killed = [line for line in lines if (line.get("i"), line.get("s")) != (1, "accepted")]
    for line in (line for line in killed if line.get("i") == 2 and "t" in line):
        line["t"] -= 31 * 24 * 3600.0
    journal.write_text("".join(f"{json.dumps(line)}\n" for line in killed))
    for _ in range(2):
        again = stack.run(*words, "--output", "json", SLIPWAY_LOOK_FOR="1s")
        assert (again.code, again.json["gone"], again.json["accepted"]) == (4, [1, 2], []), again.err
    retried = stack.run(*words, "--retry-failed", "--output", "json", SLIPWAY_LOOK_FOR="1s")
    assert [(run["run"], run["attempt"]) for run in retried.json["accepted"]] == [(1, 1), (2, 1)], retried.err


def test_a_pipeline_that_has_started_is_looked_for_before_it_is_told_as_gone(stack: Stack) -> None:  # N7
    """Its claim has the number of the job behind it, so a list alone leads to it, which did not show it yet: it was
    told as gone, with the command that sends it a second time."""
    packaged(stack)
    template = stack.catalog["templates"]["hello"]
    template["kinds"] = ["training-pipeline"]
    for offer in template["offers"]:
        offer["kind"] = "training-pipeline"
        spec = offer["request"].pop("jobSpec")
        offer["request"] |= {"trainingTaskDefinition": TASK, "trainingTaskInputs": spec}
    stack.publish()
    words = ("submit", "hello", "--sweep", points(stack, 2))
    with stack.faults(FETCHING):
        sent = stack.run(*words, "--output", "json").json["accepted"]
        name = next(run["job"] for run in sent if run["run"] == 1)

        def backing() -> str:
            body = stack.cloud.rest("GET", f"/v1/{name}")
            return str(body.get("trainingTaskMetadata", {}).get("backingCustomJob", ""))

        stack.until(lambda: bool(backing()))
        claim = f"claims/{next(run['requestId'] for run in sent if run['run'] == 1)}"
        stack.write(claim, backing().encode())
        (journal,) = stack.folder.rglob("*.jsonl")
        lines = journal.read_text().splitlines(keepends=True)
        journal.write_text("".join(line for line in lines if '"i":1' not in line or '"s":"sending"' in line))
        with stack.faults({"kind": "lagging-list", "match": "trainingPipelines", "seconds": 6.0}):
            again = stack.run(*words, "--output", "json", SLIPWAY_LOOK_FOR="12s")
    assert (again.code, again.json["gone"], again.json["accepted"]) == (0, [], []), again.err

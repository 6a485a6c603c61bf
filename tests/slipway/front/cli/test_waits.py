"""The range of earlier waits, from what the service lists of jobs that really ran."""

import re
from pathlib import Path

from .stack import SLEEP, Stack, held


def test_a_full_pool_is_told_with_how_long_it_took_before(small: Stack) -> None:  # Z3, N9
    """Needs a pool that was full: the first job starts on a free machine, which tells nothing of that."""
    hello = ("submit", "hello", "--capacity", "pool")
    first = held(small)
    for _ in range(3):
        few = small.run(*hello)
        assert "pool full" in few.out and "here:" not in few.out
    small.well("jobs", "cancel", first)
    small.all_end()
    held(small)
    text = small.run(*hello, "--output", "json").json["verdict"]["text"]
    assert text.startswith("pool full") and re.search(r" \(here: \d+(–\d+)? s, 3 times ", text)


def test_a_full_pool_is_told_with_when_there_is_usually_room(moved: Stack, tmp_path: Path) -> None:  # N16
    """Jobs that ran for half an hour by the cloud's clock tell when those that run now are usually done."""
    stack, go = moved, tmp_path / "go"
    hello = ("submit", "hello", "--capacity", "pool")
    patient = f"import os, time\nwhile not os.path.exists({str(go)!r}): time.sleep(0.05)"
    for _ in range(3):
        stack.well(*hello, "-p", f"code={patient}")
    stack.until(lambda: [job["state"] for job in stack.jobs()] == ["JOB_STATE_RUNNING"] * 3)
    stack.cloud.rest("POST", "/vertex-local/clock", {"advance": 1800})
    go.touch()
    stack.all_end()
    for _ in range(3):
        stack.well(*hello, "-p", f"code={SLEEP}")
    stack.until(lambda: [job["state"] for job in stack.jobs()[:3]] == ["JOB_STATE_RUNNING"] * 3)
    done = stack.run(*hello, "--output", "json")
    assert "; not before about" in done.json["verdict"]["text"], done.json["verdict"]["text"]
    assert "as such jobs usually run" in stack.run("jobs", "show", done.json["job"]["name"]).out

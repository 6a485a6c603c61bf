"""Two sweeps of one name with other points, sent at the same time: the claims decide, as of single submissions. # N7"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from . import test_sweep as _sweep
from .stack import Stack, held
from .test_fallback import packaged
from .test_sweep import every_job, points, replica

_token = _sweep._token
NAMED = ("submit", "hello", "--sweep", "sweep.csv", "--request-id", "probe")


@pytest.fixture
def stack(small: Stack) -> Stack:
    return small


@pytest.fixture
def both(stack: Stack, tmp_path: Path) -> Iterator[tuple[Stack, Stack]]:
    """The same stack from two machines, Ada's and Bob's, whose points are others. Both have sent, as no list showed the
    one's jobs to the other."""
    held(stack)
    packaged(stack)
    bobs = replace(stack, folder=tmp_path / "bobs")
    (bobs.folder / ".git").mkdir(parents=True)
    points(stack, 4)
    (bobs.folder / "sweep.csv").write_text("code\n" + "".join(f"print('other {index}')\n" for index in range(4)))
    sending = ExitStack()
    with sending, stack.faults({"kind": "hold", "match": r"^POST .*/customJobs\?"}):
        ada = sending.enter_context(stack.started(*NAMED))
        bob = sending.enter_context(bobs.started(*NAMED, SLIPWAY_USER="Bob"))
        stack.until(lambda: sending_lines(stack) == sending_lines(bobs) == 4)
        stack.cloud.rest("DELETE", "/vertex-local/faults")
        assert [process.wait() for process in (ada, bob)] == [0, 0]
    yield stack, bobs


def sending_lines(stack: Stack) -> int:
    journals = (stack.folder / ".slipway" / "sweeps").rglob("probe.jsonl")
    return sum(file.read_text().count('"s":"sending"') for file in journals)


def of(stack: Stack, user: str) -> dict[str, dict[str, Any]]:
    """The jobs that somebody has sent, by their runs."""
    labels = ((job, job["labels"]) for job in every_job(stack))
    return {one["slipway-run"]: job for job, one in labels if one["slipway-user"] == user}


def start(*jobs: dict[str, Any], stack: Stack) -> None:
    assert all(replica(stack, job) for job in jobs)


def test_the_one_whose_runs_have_the_claims_is_the_sweep(both: tuple[Stack, Stack]) -> None:
    """Both ended with 2, and were to be named differently: all runs would have run again."""
    stack, bobs = both
    start(*of(stack, "ada").values(), stack=stack)
    stack.well(*NAMED)
    refused = bobs.run(*NAMED, SLIPWAY_USER="Bob")
    assert refused.code == 2 and "4 of 4 runs of sweep probe do not run" in refused.err
    numbers = [of(stack, "ada")[run]["name"].rsplit("/", 1)[-1] for run in "0123"]
    assert f"ran jobs {', '.join(numbers[:3])} and {numbers[3]}, sent by ada" in refused.err
    assert "fix: name this one differently: --request-id NAME" in refused.err
    stack.cancel_all()
    assert stack.run(*NAMED, "--wait").code == 8, "cancelled, as all of its own were"
    waited = bobs.run(*NAMED, "--wait", "--output", "json", SLIPWAY_USER="Bob")
    assert waited.code == 2 and waited.json["taken"] == [0, 1, 2, 3] and waited.json["states"] == []
    assert len(every_job(stack)) == 8, "nothing more was sent"

    # Of a sweep that was stopped in between some runs are its own.
    journal = next((bobs.folder / ".slipway" / "sweeps").rglob("probe.jsonl"))
    whole = journal.read_text().splitlines(keepends=True)
    mine = [job["name"] for run, job in of(stack, "bob").items() if run in "23"]
    for name in mine:
        stack.cloud.cancel(name)
        stack.until(lambda name=name: "endTime" in stack.cloud.rest("GET", f"/v1/{name}"))  # type: ignore[misc]
        stack.cloud.rest("DELETE", f"/v1/{name}")
    journal.write_text("".join([line for line in whole if '"i":2' not in line and '"i":3' not in line]))
    refused = bobs.run(*NAMED, SLIPWAY_USER="Bob")
    assert refused.code == 2 and "and leave out what was sent of it: runs 0 and 1" in refused.err
    assert "run 2: code=print('run 2') then, code=print('other 2') now (job " in refused.err
    assert "sent by ada" in refused.err and len(every_job(stack)) == 6


def test_where_the_claims_are_mixed_each_is_told_which_ran(both: tuple[Stack, Stack]) -> None:
    stack, bobs = both
    start(*[of(stack, "ada")[run] for run in "013"], of(stack, "bob")["2"], stack=stack)
    first, second = stack.run(*NAMED), bobs.run(*NAMED, SLIPWAY_USER="Bob")
    assert (first.code, second.code) == (2, 2)
    assert "1 of 4 runs of sweep probe" in first.err and "in place of run 2 ran job " in first.err
    assert "sent by bob" in first.err and "of this one runs 0, 1 and 3 ran" in first.err
    assert "3 of 4 runs of sweep probe" in second.err and "of this one run 2 ran" in second.err
    for told in (first.err, second.err):
        assert "name this one differently: --request-id NAME\n       and leave out what ran of it: run" in told

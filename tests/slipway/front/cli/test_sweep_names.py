"""A sweep of which runs were sent before: what was sent is not judged again, and neither a name nor the same runs are
taken for another sweep's, on any machine."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
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


def test_the_same_runs_asked_for_in_another_way_must_be_meant(stack: Stack, tmp_path: Path) -> None:  # N7
    """With a capacity type beside it the same command sent, and paid, all runs once more."""
    with stack.settings(quota=SPOT_CPUS):
        words = ("submit", "hello", "--sweep", points(stack, 2))
        then, now = ("--as", "custom-job"), ("--capacity", "spot")
        sweep = stack.run(*words, *then, "--output", "json").json["sweep"]
        for _ in range(2):
            refused = stack.run(*words, *now)
            assert refused.code == 2 and f"sent before, as sweep {sweep}\n" in refused.err
            assert "on with that one: --as custom-job, without --capacity spot\n" in refused.err
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


# Two sweeps of one name with other points, sent at the same time: the claims decide, as of single submissions.


NAMED = ("submit", "hello", "--sweep", "sweep.csv", "--request-id", "probe")


@pytest.fixture
def both(small: Stack, tmp_path: Path) -> Iterator[tuple[Stack, Stack]]:
    """The same stack from two machines, Ada's and Bob's, whose points are others. Both have sent, as no list showed the
    one's jobs to the other."""
    held(small)
    packaged(small)
    bobs = replace(small, folder=tmp_path / "bobs")
    (bobs.folder / ".git").mkdir(parents=True)
    points(small, 4)
    (bobs.folder / "sweep.csv").write_text("code\n" + "".join(f"print('other {index}')\n" for index in range(4)))
    sending = ExitStack()
    with sending, small.faults({"kind": "hold", "match": r"^POST .*/customJobs\?"}):
        ada = sending.enter_context(small.started(*NAMED))
        bob = sending.enter_context(bobs.started(*NAMED, SLIPWAY_USER="Bob"))
        small.until(lambda: sending_lines(small) == sending_lines(bobs) == 4)
        small.cloud.rest("DELETE", "/vertex-local/faults")
        assert [process.wait() for process in (ada, bob)] == [0, 0]
    yield small, bobs


def sending_lines(stack: Stack) -> int:
    journals = (stack.folder / ".slipway" / "sweeps").rglob("probe.jsonl")
    return sum(file.read_text().count('"s":"sending"') for file in journals)


def of(stack: Stack, user: str) -> dict[str, dict[str, Any]]:
    """The jobs that somebody has sent, by their runs."""
    labels = ((job, job["labels"]) for job in every_job(stack))
    return {label["slipway-run"]: job for job, label in labels if label["slipway-user"] == user}


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

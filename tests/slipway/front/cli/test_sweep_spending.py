"""A sweep spends nothing that was not answered for: one choice for dry run and sending, and its bound. # N3 N7 W2"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from .stack import Stack, held
from .test_fallback import SPOT_CPUS, packaged
from .test_sweep import every_job, points

RUNS = 2
MOST = re.compile(r"at most \$([\d,.]+) for all 2 runs")
FULL = "pool cpu would wait: pool full: cpu/workers has 1 of 1 machine busy"


@pytest.fixture
def busy(small: Stack) -> Iterator[Stack]:
    """The pool is full, and there is quota for Spot."""
    with small.settings(quota=SPOT_CPUS):
        held(small)
        yield small


def sweep(stack: Stack, *flags: str) -> tuple[str, ...]:
    return ("submit", "hello", "--sweep", points(stack, RUNS), *flags)


def types(stack: Stack) -> set[str]:
    """The capacity types of the sweep's jobs."""
    return {job["labels"]["slipway-capacity-type"] for job in every_job(stack)}


def test_a_full_pool_is_waited_for_as_the_dry_run_has_said(busy: Stack) -> None:
    planned = busy.run(*sweep(busy), "--dry-run")
    assert planned.code == 0, planned.err
    assert {one["labels"]["slipway-capacity-type"] for one in planned.json["requests"]} == {"pool"}
    assert "2 runs, each on pool cpu/workers: n1-standard-4" in planned.err and "pool full: cpu/workers" in planned.err
    assert MOST.search(planned.err.partition("spot could run")[2]), "what it would cost not to wait"
    done = busy.run(*sweep(busy))
    assert done.code == 0, done.err
    assert types(busy) == {"pool"} and len(every_job(busy)) == RUNS
    assert ": --then spot" in done.out
    again = busy.run(*sweep(busy, "--then", "spot"), "--output", "json").json
    assert (again["before"], again["accepted"]) == (RUNS, []), "the same sweep: only where its runs go is answered anew"


@pytest.mark.parametrize(
    ("least", "said"), [(3, "at most $0 for all 2 runs, beyond"), (1, "where a pool grows for them")]
)
def test_only_a_pool_that_need_not_grow_costs_nothing_extra(stack: Stack, least: int, said: str) -> None:
    """It was said to be paid for anyway, while a single job of the same template was told what it adds."""
    stack.catalog["clusters"]["cpu"]["pools"]["workers"]["min"] = least
    stack.publish()
    planned = stack.run(*sweep(stack), "--dry-run")
    assert planned.code == 0 and said in planned.err
    assert (float(planned.json["forecast"]["usd"]["bound"]) == 0) is (least == 3)


@pytest.mark.parametrize(("typed", "taken"), [("y", "spot"), ("", "pool")])
def test_a_terminal_is_asked(busy: Stack, typed: str, taken: str) -> None:
    done = busy.asked(*sweep(busy), answer=typed)
    assert done.code == 0, done.err
    assert FULL in done.err and MOST.search(done.err) and "[y/N]" in done.err
    assert types(busy) == {taken}


def test_yes_counts_below_what_the_stack_lets_pass_unasked(busy: Stack) -> None:
    busy.catalog["confirmAbove"] = 0.01
    busy.publish()
    refused = busy.run(*sweep(busy, "--yes"))
    assert refused.code == 5 and every_job(busy) == []
    assert "asks above $0.01/h (slipway:workspace.confirmAbove)" in refused.err
    command = re.search(r"slipway (submit hello --then spot --sweep sweep.csv --yes)", refused.err)
    assert command, refused.err
    assert busy.run(*sweep(busy, "--yes"), "--dry-run").code == 5
    assert busy.run(*sweep(busy, "--then", "spot")).code == 5 and every_job(busy) == []
    busy.catalog["confirmAbove"] = 10
    busy.publish()
    assert busy.run(*sweep(busy, "--yes")).code == 0 and types(busy) == {"spot"}


def test_yes_is_no_answer_where_the_stack_sets_no_limit(busy: Stack) -> None:
    refused = busy.run(*sweep(busy, "--yes"))
    assert refused.code == 5 and every_job(busy) == [] and MOST.search(refused.err)
    assert "slipway submit hello --then spot --sweep sweep.csv --yes" in refused.err
    assert busy.run(*sweep(busy, "--then", "spot", "--yes")).code == 0 and types(busy) == {"spot"}


def test_runs_whose_answers_were_lost_are_counted_as_what_they_may_cost(busy: Stack) -> None:
    """They were sent to the pool, and may be sent again to what costs more: nothing was told or asked."""
    packaged(busy)
    with busy.faults({"kind": "hold", "match": r"^POST .*/customJobs\?"}), busy.started(*sweep(busy)) as sending:
        journal = busy.folder / ".slipway" / "sweeps"
        busy.until(lambda: any(file.read_text().count("sending") == RUNS for file in journal.rglob("*.jsonl")))
        sending.kill()
    busy.catalog["confirmAbove"] = 0.01
    busy.publish()
    words = sweep(busy, "--then", "spot")
    planned = busy.run(*words, "--dry-run")
    assert planned.code == 0 and MOST.search(planned.err)
    assert busy.run(*words).code == 5 and every_job(busy) == []
    assert busy.run(*words, "--yes", SLIPWAY_LOOK_FOR="1s").code == 0 and types(busy) == {"spot"}


def test_a_cluster_that_takes_no_jobs_now_is_not_left_unasked(busy: Stack) -> None:
    """It comes back, and so it can run them."""
    busy.catalog["clusters"]["cpu"]["id"] = "gone"
    busy.publish()
    refused = busy.run(*sweep(busy))
    assert refused.code == 4 and "cluster cpu is gone" in refused.err and every_job(busy) == []
    assert "--then spot" in refused.err and MOST.search(refused.err)
    assert busy.run(*sweep(busy, "--then", "spot")).code == 0 and types(busy) == {"spot"}


def test_a_type_that_the_template_lacks_is_a_mistake(standing: Stack) -> None:
    done = standing.run(*sweep(standing, "--then", "flex-start"))
    assert done.code == 2 and "no capacity type 'flex-start'" in done.err


def test_a_submission_that_leaves_a_full_pool_says_so_first(busy: Stack) -> None:
    for words in (("submit", "hello", "--dry-run"), ("submit", "hello")):
        done = busy.run(*words)
        first = (done.err if "--dry-run" in words else done.out).splitlines()[0]
        assert first.startswith("leaves pool cpu for spot, which costs $0.") and " extra: pool full: " in first


def test_the_dry_run_refuses_and_tells_what_the_sending_would(stack: Stack) -> None:
    """It planned all runs anew, whatever was sent before."""
    words = sweep(stack, "--request-id", "probe")
    assert stack.run(*words).code == 0
    again = stack.run(*words, "--dry-run")
    assert again.code == 0 and "2 runs, 2 of them submitted before" in again.err and again.json["requests"] == []
    (stack.folder / ".slipway" / "sweeps").rename(stack.folder / "elsewhere")
    points(stack, RUNS + 1)
    for changed in (words, (*words, "--dry-run")):
        refused = stack.run(*changed)
        assert refused.code == 2 and "probe was begun with other runs" in refused.err
    assert len(every_job(stack)) == RUNS

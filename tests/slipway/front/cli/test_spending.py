"""Nothing is spent that was not answered for: what costs more an hour than the stack lets pass unasked is confirmed.
# W2 # N3 # N7"""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest

from .stack import SPOT_CPUS, Stack, held
from .test_fallback import packaged
from .test_sweep import every_job, points

SPOT = ("submit", "hello", "--capacity", "spot")


@pytest.fixture
def dear(stack: Stack) -> Iterator[Stack]:
    """The stack asks above a cent an hour, and has quota for Spot."""
    stack.catalog["confirmAbove"] = 0.01
    stack.publish()
    with stack.settings(quota=SPOT_CPUS):
        yield stack


def test_without_a_terminal_nothing_is_sent_unless_the_flag_says_so(dear: Stack) -> None:
    refused = dear.run(*SPOT, "--request-id", "r1")
    assert refused.code == 5 and dear.jobs() == []
    assert "error: nothing was sent" in refused.err and "hello by spot" in refused.err
    assert "stack s" in refused.err and "asks above $0.01/h (slipway:workspace.confirmAbove)" in refused.err
    assert "fix: add --yes" in refused.err
    planned = dear.well(*SPOT, "--dry-run")
    assert "by spot: up to $0." in planned.err and "asks above $0.01/h" in planned.err
    dear.well(*SPOT, "--request-id", "r1", "--yes")
    assert len(dear.jobs()) == 1


def test_what_the_submission_may_move_on_to_is_confirmed_before_it_waits(dear: Stack) -> None:
    held(dear)
    moving = ("submit", "hello", "--wait-for", "pool=1s", "--then", "spot")
    assert dear.run(*moving).code == 5
    assert len(dear.jobs()) == 1, "the one that holds the pool"
    done = dear.well(*moving, "--yes")
    assert dear.jobs()[0]["labels"]["slipway-capacity-type"] == "spot"
    assert " --yes --request-id " in done.err, "the command that would resume it does not ask either"


def test_a_terminal_is_asked(dear: Stack) -> None:
    for typed in ("n", ""):
        done = dear.asked(*SPOT, answer=typed)
        assert "by spot: up to $0." in done.err and "Send it? [y/N]" in done.err
        assert done.code == 130 and dear.jobs() == [] and done.err.endswith("interrupted; nothing was sent\n")
    assert dear.asked(*SPOT, answer="y").code == 0 and len(dear.jobs()) == 1


# --- Of a sweep: one choice for dry run and sending, and its bound.


RUNS = 2
MOST = re.compile(r"at most \$([\d,.]+) for all 2 runs")
FULL = "pool cpu would wait: pool full: cpu/workers has 1 of 1 machine busy"


def sweep(stack: Stack, *flags: str) -> tuple[str, ...]:
    return ("submit", "hello", "--sweep", points(stack, RUNS), *flags)


def types(stack: Stack) -> set[str]:
    """The capacity types of the sweep's jobs."""
    return {job["labels"]["slipway-capacity-type"] for job in every_job(stack)}


def test_a_full_pool_is_waited_for_as_the_dry_run_has_said(full: Stack) -> None:
    planned = full.run(*sweep(full), "--dry-run")
    assert planned.code == 0, planned.err
    assert {one["labels"]["slipway-capacity-type"] for one in planned.json["requests"]} == {"pool"}
    assert "2 runs, each on pool cpu/workers: n1-standard-4" in planned.err and "pool full: cpu/workers" in planned.err
    assert MOST.search(planned.err.partition("spot could run")[2]), "what it would cost not to wait"
    done = full.run(*sweep(full))
    assert done.code == 0, done.err
    assert types(full) == {"pool"} and len(every_job(full)) == RUNS
    assert ": --then spot" in done.out
    again = full.run(*sweep(full, "--then", "spot"), "--output", "json").json
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
def test_a_terminal_is_asked_of_a_sweep(full: Stack, typed: str, taken: str) -> None:
    done = full.asked(*sweep(full), answer=typed)
    assert done.code == 0, done.err
    assert FULL in done.err and MOST.search(done.err) and "[y/N]" in done.err
    assert types(full) == {taken}


def test_yes_counts_below_what_the_stack_lets_pass_unasked(full: Stack) -> None:
    full.catalog["confirmAbove"] = 0.01
    full.publish()
    refused = full.run(*sweep(full, "--yes"))
    assert refused.code == 5 and every_job(full) == []
    assert "asks above $0.01/h (slipway:workspace.confirmAbove)" in refused.err
    command = re.search(r"slipway (submit hello --then spot --sweep sweep.csv --yes)", refused.err)
    assert command, refused.err
    assert full.run(*sweep(full, "--yes"), "--dry-run").code == 5
    assert full.run(*sweep(full, "--then", "spot")).code == 5 and every_job(full) == []
    full.catalog["confirmAbove"] = 10
    full.publish()
    assert full.run(*sweep(full, "--yes")).code == 0 and types(full) == {"spot"}


def test_yes_is_no_answer_where_the_stack_sets_no_limit(full: Stack) -> None:
    refused = full.run(*sweep(full, "--yes"))
    assert refused.code == 5 and every_job(full) == [] and MOST.search(refused.err)
    assert "slipway submit hello --then spot --sweep sweep.csv --yes" in refused.err
    assert full.run(*sweep(full, "--then", "spot", "--yes")).code == 0 and types(full) == {"spot"}


def test_runs_whose_answers_were_lost_are_counted_as_what_they_may_cost(full: Stack) -> None:
    """They were sent to the pool, and may be sent again to what costs more: nothing was told or asked."""
    packaged(full)
    with full.faults({"kind": "hold", "match": r"^POST .*/customJobs\?"}), full.started(*sweep(full)) as sending:
        journal = full.folder / ".slipway" / "sweeps"
        full.until(lambda: any(file.read_text().count("sending") == RUNS for file in journal.rglob("*.jsonl")))
        sending.kill()
    full.catalog["confirmAbove"] = 0.01
    full.publish()
    words = sweep(full, "--then", "spot")
    planned = full.run(*words, "--dry-run")
    assert planned.code == 0 and MOST.search(planned.err)
    assert full.run(*words).code == 5 and every_job(full) == []
    assert full.run(*words, "--yes", SLIPWAY_LOOK_FOR="1s").code == 0 and types(full) == {"spot"}


def test_a_cluster_that_takes_no_jobs_now_is_not_left_unasked(full: Stack) -> None:
    """It comes back, and so it can run them."""
    full.catalog["clusters"]["cpu"]["id"] = "gone"
    full.publish()
    refused = full.run(*sweep(full))
    assert refused.code == 4 and "cluster cpu is gone" in refused.err and every_job(full) == []
    assert "--then spot" in refused.err and MOST.search(refused.err)
    assert full.run(*sweep(full, "--then", "spot")).code == 0 and types(full) == {"spot"}


def test_a_type_that_the_template_lacks_is_a_mistake(standing: Stack) -> None:
    done = standing.run(*sweep(standing, "--then", "flex-start"))
    assert done.code == 2 and "no capacity type 'flex-start'" in done.err


def test_a_submission_that_leaves_a_full_pool_says_so_first(full: Stack) -> None:
    for words in (("submit", "hello", "--dry-run"), ("submit", "hello")):
        done = full.run(*words)
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

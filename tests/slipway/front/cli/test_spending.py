"""Nothing is spent that was not answered for: what costs more an hour than the stack lets pass unasked is confirmed.
# W2 # N3 # N7"""

import json
import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from slipway.base.errors import PolicyError
from slipway.using.context import Clock, Context
from slipway.using.submission.checks import Checks
from slipway.using.submission.prepared import prepare
from slipway.using.submission.submission_request import SubmissionRequest

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


def test_a_terminal_is_asked(dear: Stack) -> None:
    for typed in ("n", ""):
        done = dear.asked(*SPOT, answer=typed)
        assert "by spot: up to $0." in done.err and "Send it? [y/N]" in done.err
        assert done.code == 130 and dear.jobs() == [] and done.err.endswith("interrupted; nothing was sent\n")
    assert dear.asked(*SPOT, answer="y").code == 0 and len(dear.jobs()) == 1


def test_a_terminal_is_asked_before_a_full_pool_is_left_for_billed_machines(full: Stack) -> None:
    before = len(full.jobs())
    question = (
        r"leaves pool cpu for spot, which costs \$[\d.]+/h extra: pool full.*\nSend it there instead of waiting\?"
    )
    refused = full.asked("submit", "hello", answer="n")
    assert re.search(question, refused.err) and refused.code == 130 and len(full.jobs()) == before, refused.err
    assert full.asked("submit", "hello", answer="y").code == 0 and len(full.jobs()) == before + 1
    full.catalog["confirmAbove"] = 4.0
    full.publish()
    for words in (("submit", "hello"), ("submit", "hello", "--capacity", "spot")):
        assert "Send it" not in full.asked(*words, answer="n").err, "the stack has agreed, and a place was named"
    full.catalog["confirmAbove"] = 1.0
    full.publish()
    for flags in (("--yes",), ("--then", "spot"), ("--wait-for", "pool=1s", "--then", "spot")):
        done = full.asked("submit", "hello", *flags, answer="n")
        assert done.code == 0 and "Send it" not in done.err, done.err
    assert full.well("submit", "hello").code == 0, "nobody can be asked, and the price is within the limit"


def test_a_yes_is_none_to_what_a_deployment_made_dearer_meanwhile(full: Stack) -> None:
    full.catalog["confirmAbove"] = 0.01
    full.publish()
    before = len(full.jobs())
    with ThreadPoolExecutor(1) as threads:
        move = ("--wait-for", "pool=3s", "--then", "spot")
        asked = threads.submit(full.asked, "submit", "hello", *move, answer="y\nn", until="not confirmed")
        full.until(lambda: len(full.jobs()) > before)
        full.spec(place=1)["workerPoolSpecs"][0]["machineSpec"] = {"machineType": "n1-standard-8"}
        full.publish()
        done = asked.result()
    first, second = re.findall(r"by spot: up to \$([\d.]+)/h.* Send it\?", done.err)
    assert float(second) > float(first) and "stays on pool" in done.err, done.err
    assert len(full.jobs()) == before + 1, "it keeps its place in the queue"
    assert not any(job["labels"]["slipway-capacity-type"] == "spot" for job in full.jobs())


# --- Of a sweep: one choice for dry run and sending, and its bound.


RUNS = 2
MOST = re.compile(r"at most \$([\d,.]+) for all 2 runs")
FULL = "pool cpu would wait: pool full: cpu/workers has 1 of 1 machine busy"


def sweep(stack: Stack, *flags: str) -> tuple[str, ...]:
    return ("submit", "hello", "--sweep", points(stack, RUNS), *flags)


def types(stack: Stack) -> set[str]:
    """The capacity types of the sweep's jobs."""
    return {job["labels"]["slipway-capacity-type"] for job in every_job(stack)}


@pytest.mark.parametrize(("typed", "taken"), [("y", "spot"), ("", "pool")])
def test_a_terminal_is_asked_of_a_sweep(full: Stack, typed: str, taken: str) -> None:
    done = full.asked(*sweep(full), answer=typed)
    assert done.code == 0, done.err
    assert FULL in done.err and MOST.search(done.err) and "[y/N]" in done.err
    assert types(full) == {taken}


@pytest.mark.parametrize(("typed", "sent"), [("y\nn", 0), ("y\ny", 2), ("\nn", 2)])
def test_an_answer_for_some_runs_confirms_no_others(full: Stack, typed: str, sent: int) -> None:
    """Runs of a sweep: the first would wait for the pool, and may be sent to Spot; the other fits Spot alone."""
    full.offer()["when"] = {"code": ["print('run 0')"]}
    full.catalog["confirmAbove"] = 0.15
    full.publish()
    done = full.asked(*sweep(full), answer=typed)
    assert FULL in done.err and len(every_job(full)) == sent, done.err
    assert ("2 runs of hello at once: up to $0." in done.err) == typed.startswith("y")


def test_yes_counts_below_what_the_stack_lets_pass_unasked(full: Stack) -> None:
    usual = full.run(*sweep(full, "--yes"), "--dry-run")
    assert usual.code == 0 and MOST.search(usual.err), "$1 an hour, as the stack sets no limit"
    full.catalog["confirmAbove"] = 0.01
    full.publish()
    refused = full.run(*sweep(full, "--yes"))
    assert refused.code == 5 and every_job(full) == []
    assert "asks above $0.01/h (slipway:workspace.confirmAbove)" in refused.err
    assert "slipway submit hello --then spot --sweep sweep.csv --yes" in refused.err
    assert full.run(*sweep(full, "--yes"), "--dry-run").code == 5
    assert full.run(*sweep(full, "--then", "spot")).code == 5 and every_job(full) == []
    full.catalog["confirmAbove"] = 10
    full.publish()
    assert full.run(*sweep(full, "--yes")).code == 0 and types(full) == {"spot"}


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


# Against the stack's budget. # N19


@pytest.fixture
def limited(stack: Stack) -> Stack:
    stack.catalog["budget"] = {"stack": 1000, "teams": {}, "users": {}, "enforce": True}
    stack.publish()
    return stack


def spent(stack: Stack, amount: float, **more: Any) -> None:
    now = datetime.now(UTC)
    about = {"at": now.replace(microsecond=0).isoformat(), "month": f"{now:%Y-%m}"}
    ledger: dict[str, Any] = {**about, "spent": amount, **more}
    stack.put("history/budget.json", json.dumps(ledger).encode())


def kept(stack: Stack) -> dict[str, Any]:
    """The ledger as the bucket has it."""
    path = f"/storage/v1/b/c-{stack.name}/o/history%2Fbudget.json?alt=media"
    found: dict[str, Any] = json.loads(stack.cloud.call("GET", path).content)
    return found


def test_a_job_is_sent_warned_about_or_refused_by_what_is_spent(limited: Stack) -> None:
    done = limited.well("submit", "hello")
    assert "budget not checked" in done.err
    spent(limited, 100)
    done = limited.well("submit", "hello")
    assert "budget" not in done.err
    spent(limited, 900)
    done = limited.well("submit", "hello")
    assert "has spent $900 of $1,000 this month, 90 %" in done.err
    spent(limited, 1000)
    sent = len(limited.jobs())
    refused = limited.run("submit", "hello")
    assert refused.code == 5 and "nothing was sent" in refused.err and len(limited.jobs()) == sent
    sweep = limited.run("submit", "hello", "--sweep", points(limited, 2))
    assert sweep.code == 5 and len(limited.jobs()) == sent
    for words in ((), ("--sweep", points(limited, 2))):
        tried = limited.run("submit", "hello", *words, "--dry-run")
        assert tried.code == 5 and "has spent $1,000 of $1,000" in tried.err and tried.out, "as sending would end"


def test_the_hourly_run_keeps_the_ledger_that_submissions_read(limited: Stack) -> None:
    limited.catalog["budget"] = {"stack": 0.000001, "teams": {}, "users": {}, "enforce": True}
    limited.publish()
    limited.well("submit", "hello", "--capacity", "pool")
    limited.until(lambda: all("endTime" in job for job in limited.jobs()))
    done = limited.well("record", "--output", "json", role="owner")
    assert done.json["ledger"]["spent"] > 0 and "stack" in limited.run("record", role="owner").out
    refused = limited.run("submit", "hello")
    assert refused.code == 5 and "nothing was sent" in refused.err
    used = limited.run("usage", "--since", "1h", "--output", "json", role="owner").json
    assert " this month, " in limited.run("usage", "--since", "1h", role="owner").out.splitlines()[-1]
    assert used["budget"]["enforce"] and used["ledger"]["spent"] == pytest.approx(float(used["total"]["cost"]), rel=1)


@pytest.mark.parametrize("days", [-40, 40])
def test_a_wrong_clock_gets_nobody_round_it(limited: Stack, days: int) -> None:
    spent(limited, 1000)
    clock = Clock(now=lambda: datetime.now(UTC) + timedelta(days=days))
    context = Context(limited.address, limited.env("submitter"), limited.folder, clock)
    with ThreadPoolExecutor(1) as threads, pytest.raises(PolicyError):
        prepared = prepare(context.catalog, SubmissionRequest("hello"), "ada")
        Checks.begin(context, prepared, [{}], threads).check(prepared.candidates, print)


def test_what_was_within_the_budget_moves_on_though_it_is_spent_up_by_then(limited: Stack) -> None:  # N3
    """The job had given up its place in the queue, and nothing was sent in its stead."""
    held(limited)
    spent(limited, 100)
    move = ("--wait-for", "pool=3s", "--then", "spot", "--request-id", "r1")
    with limited.settings(quota={"custom_model_training_preemptible_cpus": 64}):
        with limited.started("submit", "hello", *move) as process:
            limited.until(lambda: len(limited.jobs()) == 2)
            spent(limited, 1000)
            _, said = process.communicate()
        assert process.returncode == 0, said
    assert limited.jobs()[0]["labels"]["slipway-capacity-type"] == "spot"
    assert limited.run("submit", "hello").code == 5


def test_what_could_not_be_read_lowers_no_ledger(limited: Stack) -> None:  # D2
    limited.well("submit", "hello", "--capacity", "pool", "--wait")
    spent(limited, 900)
    lower = limited.run("record", "--output", "json", role="deployer").json["ledger"]
    assert lower["spent"] < 900, "what is read is right"
    spent(limited, 900, teams={"vision": 95})
    with limited.faults({"kind": "unavailable", "match": r"^GET .*/customJobs$"}):
        done = limited.run("record", "--output", "json", role="deployer")
    assert done.json["ledger"]["spent"] == 900 and "the ledger stays as it was" in done.err
    assert (kept(limited)["spent"], kept(limited)["teams"]) == (900, {"vision": 95})


def test_a_damaged_sample_hides_neither_the_budget_nor_the_failure(limited: Stack) -> None:
    limited.put(f"history/samples/{datetime.now(UTC):%Y-%m-%d}.json", b"[]")
    done = limited.run("record", role="deployer")
    assert done.code == 4 and "can't be added to" in done.err and "not recorded" in done.out
    assert kept(limited)["spent"] >= 0

"""A submission against its stack's budget, on a real local cloud. # N19"""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from slipway.base.errors import PolicyError
from slipway.using.context import Clock, Context
from slipway.using.submission.budget_check import BudgetCheck

from .stack import Stack, held
from .test_sweep import points


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
    limited.until(lambda: all("endTime" in one for one in limited.jobs()))
    done = limited.well("record", "--output", "json", role="owner")
    assert done.json["ledger"]["spent"] > 0 and "stack" in limited.run("record", role="owner").out
    refused = limited.run("submit", "hello")
    assert refused.code == 5 and "nothing was sent" in refused.err
    used = limited.run("usage", "--since", "1h", "--output", "json", role="owner").json
    assert used["budget"]["enforce"] and used["ledger"]["spent"] == pytest.approx(float(used["total"]["cost"]), rel=1)
    assert "this month" in limited.run("usage", "--since", "1h", role="owner").out


@pytest.mark.parametrize("days", [-40, 40])
def test_a_wrong_clock_gets_nobody_round_it(limited: Stack, days: int) -> None:
    spent(limited, 1000)
    clock = Clock(now=lambda: datetime.now(UTC) + timedelta(days=days))
    context = Context(limited.address, limited.env("submitter"), limited.folder, clock)
    with ThreadPoolExecutor(1) as threads, pytest.raises(PolicyError):
        check = BudgetCheck.begin(context, threads)
        assert check
        check.check({}, print)


def test_what_was_within_the_budget_moves_on_though_it_is_spent_up_by_then(limited: Stack) -> None:  # N3
    """It had given up its place in the queue, and was refused with nothing sent in its stead."""
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

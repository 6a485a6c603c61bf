"""A season that has ended takes no more jobs, also before anybody deploys. # B6 # N3"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from slipway.season import Season, moment_in_words, moment_text

from .stack import Stack
from .test_schedule import deployed

ENDED = (datetime.now(UTC) - timedelta(days=30)).replace(microsecond=0)
WHY = f"cluster cpu is out of season since {moment_in_words(ENDED)}"


@pytest.fixture
def over(stack: Stack) -> Stack:
    deployed(stack, Season(None, ENDED))
    return stack


def test_a_job_is_not_sent_to_a_cluster_whose_season_has_ended(over: Stack) -> None:
    """It was accepted without a word, kept the cluster, and had it grow."""
    with over.settings(quota={"custom_model_training_preemptible_cpus": 100}):
        done = over.run("submit", "hello", "--dry-run")
    assert done.code == 0 and "persistentResourceId" not in done.out
    assert f"pool cpu not taken: {WHY}" in done.err
    done = over.run("submit", "hello", "--capacity", "pool")
    assert done.code == 5 and "hello can't run now on" in done.err and WHY in done.err
    assert "fix: have a later `until`" in done.err and "wait until" not in done.err
    assert over.jobs() == []


def test_nor_are_the_runs_of_a_sweep(over: Stack) -> None:
    (over.folder / "points.json").write_text(json.dumps([{"code": f"print({n})"} for n in range(2)]))
    done = over.run("submit", "hello", "--sweep", "points.json", "--capacity", "pool")
    assert done.code == 5 and WHY in done.err
    assert over.jobs() == []


def test_what_was_sent_before_is_found_again(stack: Stack) -> None:
    deployed(stack, Season())
    words = ("submit", "hello", "--request-id", "r1", "--capacity", "pool")
    assert stack.run(*words).code == 0
    stack.catalog["clusters"]["cpu"]["until"] = moment_text(ENDED)
    stack.publish()
    done = stack.run(*words)
    assert done.code == 0, done.err
    assert len(stack.jobs()) == 1


def test_templates_say_so(over: Stack) -> None:
    assert "(pool), spot" in over.run("templates").out
    assert WHY in " ".join(over.run("templates", "show", "hello").out.split())


def test_pools_say_that_a_date_has_come(over: Stack) -> None:
    """`season ends 2026-11-22 09:20 UTC, in 0 s: $1.17/h, $0.00 until then`, and `is out of season until 09:24 UTC` at
    09:25."""
    later = {**over.catalog["clusters"]["cpu"], "id": "later-1", "from": moment_text(ENDED), "why": "season"}
    del later["until"]
    over.catalog["dormant"] = {"later": later}
    over.publish()
    said = over.run("pools").err
    assert "season ends, due 30 days" in said
    assert "later comes with the next" in said
    (one,) = over.run("pools", "--output", "json").json["dormant"]
    assert one["words"].startswith("cluster later comes with the next")


def test_a_season_that_goes_on_takes_jobs(stack: Stack) -> None:
    deployed(stack, Season(None, datetime.now(UTC) + timedelta(hours=1)))
    done = stack.run("submit", "hello", "--dry-run")
    assert done.code == 0 and "persistentResourceId" in done.out

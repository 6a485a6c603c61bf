"""A season that has ended takes no more jobs, also before anybody deploys. # B6 # N3"""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta

import pytest

from slipway.model.season import Season, moment_in_words, moment_text

from .stack import Stack
from .test_schedule import deployed

ENDED = (datetime.now(UTC) - timedelta(days=30)).replace(microsecond=0)
WHY = f"cluster cpu is out of season since {moment_in_words(ENDED)}"


@pytest.fixture
def over(stack: Stack) -> Stack:
    deployed(stack, Season(None, ENDED))
    return stack


def test_neither_a_job_nor_a_sweep_is_sent_to_a_cluster_whose_season_has_ended(over: Stack) -> None:
    """It was accepted without a word, kept the cluster, and had it grow."""
    with over.settings(quota={"custom_model_training_preemptible_cpus": 100}):
        done = over.well("submit", "hello", "--dry-run")
    assert "persistentResourceId" not in done.out and f"pool cpu not taken: {WHY}" in done.err
    done = over.run("submit", "hello", "--capacity", "pool")
    assert done.code == 5 and "hello can't run now on" in done.err and WHY in done.err
    assert "fix: have a later `until`" in done.err and "wait until" not in done.err
    (over.folder / "points.json").write_text(json.dumps([{"code": f"print({n})"} for n in range(2)]))
    done = over.run("submit", "hello", "--sweep", "points.json", "--capacity", "pool")
    assert done.code == 5 and WHY in done.err and over.jobs() == []
    assert "(pool), spot" in over.run("templates").out
    assert WHY in " ".join(over.run("templates", "show", "hello").out.split())


def test_what_was_sent_before_is_found_again(stack: Stack) -> None:
    deployed(stack, Season(None, datetime.now(UTC) + timedelta(hours=1)))
    words = ("submit", "hello", "--request-id", "r1", "--capacity", "pool")
    stack.well(*words)
    stack.catalog["clusters"]["cpu"]["until"] = moment_text(ENDED)
    stack.publish()
    stack.well(*words)
    assert len(stack.jobs()) == 1


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

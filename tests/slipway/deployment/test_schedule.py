"""What deployments do by themselves, when, and what it costs until then. # B6"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

from syrupy.assertion import SnapshotAssertion

from slipway.catalog.document import PublishedCatalog
from slipway.cluster import ClusterSpec
from slipway.deployment.schedule import Due, schedule
from slipway.generations.action import Why
from slipway.generations.dormant import Dormancy
from slipway.live import Live
from slipway.prices import Price
from slipway.season import Season
from tests.slipway.generations.test_dormant import CPU, HASH, HOUR, ID, LIMITED, NOW, alive, in_season

from .world import REGION, cluster, job, live, planned, remembering

EACH = Price(Decimal("0.463786"))


def due(declared: ClusterSpec, seen: Live, now: datetime = NOW) -> list[Due]:
    decided = planned((declared,), seen, now)
    assert not decided.problems
    return list(schedule(decided, seen, REGION, now))


def test_nothing_is_due_of_a_cluster_without_dates() -> None:
    assert due(CPU, alive()) == []


def test_a_season_ends() -> None:
    (one,) = due(in_season(ends=10), alive())
    assert (one.name, one.id, one.what, one.at, one.now) == ("cpu", ID, "season-ends", NOW + 10 * HOUR, False)
    assert one.until(NOW) == one.per_hour * 10
    assert one.words(NOW).split(": ")[1] == "$0.46/h, $4.64 until then" and "in 10 h" in one.words(NOW)


def test_a_season_begins() -> None:
    (one,) = due(in_season(begins=12), live())
    assert (one.what, one.at, one.per_hour) == ("season-begins", NOW + 12 * HOUR, Price())
    assert one.words(NOW).startswith("season begins 2026-11-21, in")
    assert "$0.46/h idle, $1.86/h at most" in one.words(NOW)
    assert due(in_season(ends=-1), live()) == []


def test_an_idle_limit_comes_near(snapshot: SnapshotAssertion) -> None:
    (one,) = due(LIMITED, alive(ended=1))
    assert (one.what, one.at) == ("idle-limit", NOW + 3 * HOUR)
    assert one.words(NOW) == snapshot
    assert due(LIMITED, alive(job(ID), ended=1)) == []


def test_one_that_still_lives_when_its_season_begins_is_taken_back() -> None:
    """Nothing was said of it but when its season ends, and its jobs seemed to keep an old cluster."""
    declared = in_season(begins=-1, ends=9)
    whole = replace(remembering(Dormancy(declared, ID, "season")), retiring=(ID,))
    seen = alive(job(ID), catalog=PublishedCatalog({}, (ID,), whole=whole))
    back, ends = due(declared, seen)
    assert (back.what, back.now, back.id, ends.what) == ("take-back", True, ID, "season-ends")
    assert back.words(NOW).startswith("is taken back: ")
    assert [one.what for one in due(declared, alive(job(ID)))] == ["season-ends"], "it is offered as it is"


def test_a_date_that_has_come_is_in_the_past() -> None:
    """For who looks at what was published before: `in 0 s: $1.17/h, $0.00 until then` was said."""
    for what, told in (
        ("season-begins", "season begins, due 1 min ago: made with the next deployment"),
        ("season-ends", "season ends, due 1 min ago: $0.46/h, goes with the next deployment that finds no job on it"),
        (
            "idle-limit",
            "is given up, due 1 min ago: $0.46/h, goes with the next deployment that finds no job on it (idle)",
        ),
    ):
        why = "idle" if what == "idle-limit" else ""
        one = Due("cpu", ID, what, why, NOW - timedelta(seconds=62), per_hour=EACH)  # type: ignore[arg-type]
        assert one.words(NOW) == told


def test_what_the_next_deployment_does_comes_first() -> None:
    (one,) = due(LIMITED, alive(ended=9))
    assert (one.what, one.now, one.at) == ("delete", True, None) and "on 2026-11-20 07:00 UTC" in one.why
    assert one.per_hour.known and one.until(NOW) is None
    made, ends = due(in_season(ends=9), live())
    assert (made.what, made.now, ends.what) == ("create", True, "season-ends")
    failed = live(cluster(ID, HASH, "ERROR"))
    assert [(one.what, one.now) for one in due(CPU, failed)] == [("delete", True), ("create", True)]


def test_what_retires_waits_for_its_jobs() -> None:
    (one,) = due(in_season(ends=-1), alive(job(ID), job(ID, "eval")))
    assert (one.what, one.at, one.now) == ("retire", None, False)
    assert one.words(NOW).endswith("train and eval have ended")
    (unlisted,) = due(in_season(ends=-1), alive(catalog=PublishedCatalog()))
    assert "the deployment after the next" in unlisted.why
    (used,) = due(in_season(ends=-1), alive(used=1))
    assert used.why == Why.IN_USE.words
    late = in_season(ends=-200, retire_within=timedelta(days=7))
    assert due(late, alive(job(ID)))[0].overdue


def test_what_a_killed_deployment_was_making_does_not_retire() -> None:
    """Nobody knows whether the next deployment asks for it."""
    (one,) = due(in_season(ends=-1), live(cluster(ID, HASH, "PROVISIONING")))
    assert (one.what, one.at, one.now) == ("unfinished", None, False)
    assert one.words(NOW).startswith("is unfinished: still being made")
    (rebooting,) = due(in_season(ends=-1), live(cluster(ID, HASH, "REBOOTING")))
    assert rebooting.words(NOW).endswith("while it is REBOOTING")


def test_a_cluster_that_has_both_an_end_and_a_limit_has_two_lines_the_first_first() -> None:
    both = replace(CPU, season=Season(None, NOW + 4 * HOUR, 4 * HOUR))
    assert [one.what for one in due(both, alive(ended=1))] == ["idle-limit", "season-ends"]


def test_an_idle_limit_that_the_season_does_not_reach_is_none() -> None:
    for hours, told in ((2, ["season-ends"]), (3, ["season-ends"]), (4, ["idle-limit", "season-ends"])):
        both = replace(CPU, season=Season(None, NOW + hours * HOUR, 4 * HOUR))
        assert [one.what for one in due(both, alive(ended=1))] == told

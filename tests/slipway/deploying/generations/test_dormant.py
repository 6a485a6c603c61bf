"""Clusters that are not asked for now: the table of seasons and idle limits, row by row. # B6"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from slipway.deploying.deployment.plan import Plan
from slipway.deploying.generations.action import Why
from slipway.deploying.generations.dormant import Dormancy, ends_within
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.jobs import VertexJob
from slipway.google.live import Live, Unknown
from slipway.model.cluster import ClusterSpec
from slipway.model.season import Season
from tests.slipway.deploying.deployment.world import cluster, deleted, hash_of, id_of, job, live, spec
from tests.slipway.deploying.deployment.world import planned as plan_at
from tests.slipway.deploying.deployment.world import remembering as catalog_with

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
CPU = spec()
HASH, ID = hash_of(CPU), id_of(CPU)
LISTED = PublishedCatalog({"cpu": ID})
LIMITED = replace(CPU, season=Season(idle_limit=4 * HOUR))
UNREAD = Unknown("403 denied", "storage.objects.get", "roles/storage.objectViewer")


def planned(declared: ClusterSpec, seen: Live) -> Plan:
    return plan_at((declared,), seen, NOW)


def in_season(begins: float | None = None, ends: float | None = None, **fields: Any) -> ClusterSpec:
    """Hours from now."""
    first, last = (None if bound is None else NOW + bound * HOUR for bound in (begins, ends))
    return replace(CPU, season=Season(first, last), **fields)


def alive(
    *jobs: VertexJob,
    made: float = 100,
    ended: float | None = None,
    state: str = "RUNNING",
    used: int = 0,
    catalog: PublishedCatalog | Unknown | None = LISTED,
) -> Live:
    """The cluster, made so many hours ago, whose last job ended so many hours ago."""
    bound = replace(cluster(ID, HASH, state, used=used), create_time=NOW - made * HOUR)
    ends = {} if ended is None else {ID: NOW - ended * HOUR}
    return replace(live(bound, jobs=jobs, catalog=catalog), last_ends=ends)


def remembering(declared: ClusterSpec, since: datetime = NOW) -> PublishedCatalog:
    """The catalog of a deployment that gave the cluster up."""
    return PublishedCatalog({}, whole=catalog_with(Dormancy(declared, id_of(declared), "idle", since)))


@pytest.mark.parametrize(
    ("declared", "since"),
    [
        (in_season(begins=1), None),
        (in_season(begins=1, ends=2), None),
        (in_season(ends=0), NOW),
        (in_season(begins=-9, ends=-1), NOW - HOUR),
    ],
)
def test_out_of_season_it_is_not_declared(declared: ClusterSpec, since: datetime | None) -> None:
    expected = Dormancy(declared, ID, "season", since)
    nothing = planned(declared, live())
    assert (nothing.current, nothing.dormant, deleted(nothing), nothing.retiring) == ((), (expected,), (), ())
    idle = planned(declared, alive())
    assert (idle.current, idle.dormant, deleted(idle), idle.retiring) == ((), (expected,), (ID,), ())


def test_the_end_of_a_season_never_kills_a_job() -> None:  # N1
    over = in_season(ends=-1)
    busy = planned(over, alive(job(ID)))
    assert [(item.id, item.why) for item in busy.retiring] == [(ID, Why.JOBS)] and deleted(busy) == ()
    unlisted = planned(over, alive(used=1))
    assert [item.why for item in unlisted.retiring] == [Why.IN_USE] and deleted(unlisted) == ()
    assert planned(over, alive(catalog=PublishedCatalog())).retiring[0].why == Why.UNPUBLISHED
    in_state = replace(alive(catalog=PublishedCatalog()), in_state=frozenset({ID}))
    assert deleted(planned(over, in_state)) == (ID,), "of a deployment that was killed after it had published"
    assert planned(over, alive(catalog=UNREAD)).problems


@pytest.mark.parametrize(
    "declared", [in_season(), in_season(begins=0), in_season(begins=-1, ends=1), in_season(ends=1)]
)
def test_in_season_it_is_made_or_taken_back(declared: ClusterSpec) -> None:
    assert [item.import_ for item in planned(declared, live()).current] == [False]
    retiring = alive(job(ID), catalog=PublishedCatalog({}, retiring=(ID,)))
    assert [(item.id, item.import_) for item in planned(declared, retiring).current] == [(ID, True)]


def test_without_reading_what_lives_the_clock_still_decides() -> None:
    unread = Unknown("SLIPWAY_LIVE=skip", "none", "none")
    skipped = Live(unread, unread, unread, unread, skipped=True)
    assert planned(in_season(begins=1), skipped).current == ()
    assert planned(in_season(ends=1), skipped).current != () and planned(LIMITED, skipped).current != ()


IDLE = {
    "just": (alive(ended=4), NOW),
    "long": (alive(ended=9), NOW - 5 * HOUR),
    "never a job": (alive(made=5), NOW - HOUR),
    "not yet": (alive(made=100, ended=3.9), None),
    "new": (alive(made=3), None),
    "new after an old one's job": (alive(made=3, ended=9), None),
    "busy": (alive(job(ID), ended=9), None),
    "queued": (alive(job(ID, state="JOB_STATE_QUEUED"), ended=9), None),
    "busy elsewhere": (alive(job("another"), ended=9), NOW - 5 * HOUR),
    "in use by an unlisted job": (alive(used=1, ended=9), None),
    "rebooting": (alive(state="REBOOTING", ended=9), None),
    "unread": (replace(alive(ended=9), last_ends=UNREAD), None),
}


@pytest.mark.parametrize(("seen", "since"), IDLE.values(), ids=IDLE)
def test_it_is_given_up_when_it_idles_for_so_long(seen: Live, since: datetime | None) -> None:
    decided = planned(LIMITED, seen)
    if since is None:
        assert [item.id for item in decided.current] == [ID] and decided.dormant == () and deleted(decided) == ()
    else:
        assert decided.dormant == (Dormancy(LIMITED, ID, "idle", since),)
        assert (decided.current, deleted(decided)) == ((), (ID,))


def test_idling_counts_from_the_season_on() -> None:
    limited = replace(CPU, season=Season(NOW - HOUR, None, 4 * HOUR))
    assert planned(limited, alive(made=100, ended=50)).current


def test_who_can_not_tell_since_when_it_idles_says_so() -> None:
    (note,) = planned(LIMITED, replace(alive(), last_ends=UNREAD)).notes
    assert "since when cpu idles" in note and "storage.objects.get" in note
    assert planned(CPU, replace(alive(), last_ends=UNREAD)).notes == ()


def test_one_that_was_given_up_stays_so() -> None:
    earlier = NOW - 7 * HOUR
    catalog = remembering(LIMITED, earlier)
    expected = Dormancy(LIMITED, ID, "idle", earlier)
    assert planned(LIMITED, live(catalog=catalog)).dormant == (expected,)
    # A job came after all: it is not killed, and the cluster takes no others.
    busy = planned(LIMITED, alive(job(ID), catalog=replace(catalog, retiring=(ID,))))
    assert busy.dormant == (expected,) and busy.retiring[0].why == Why.JOBS


ANEW = {
    "generation": spec(generation=2),
    "another cluster": spec(high=9),
    "no limit": CPU,
    "another limit": replace(CPU, season=Season(idle_limit=5 * HOUR)),
    "dates": replace(CPU, season=Season(None, NOW + HOUR, 4 * HOUR)),
}


@pytest.mark.parametrize("asked", ANEW.values(), ids=ANEW)
def test_whatever_its_entry_says_anew_brings_it_back(asked: ClusterSpec) -> None:
    asked = asked if asked.season.idle_limit or asked is CPU else replace(asked, season=LIMITED.season)
    decided = planned(asked, live(catalog=remembering(LIMITED)))
    assert [item.import_ for item in decided.current] == [False] and decided.dormant == ()


def test_the_next_season_brings_it_back_and_its_end_ends_it() -> None:
    given_up = replace(CPU, season=Season(None, NOW - HOUR, 4 * HOUR))
    assert planned(given_up, live(catalog=remembering(given_up))).dormant[0].why == "season"
    following = replace(CPU, season=Season(NOW, NOW + 9 * HOUR, 4 * HOUR))
    assert planned(following, live(catalog=remembering(given_up))).current


def test_a_catalog_that_is_lost_has_forgotten_and_one_that_is_unread_stops_it() -> None:
    for lost in (None, PublishedCatalog(damage="not JSON"), PublishedCatalog({})):
        assert planned(LIMITED, live(catalog=lost)).current
    (problem,) = planned(LIMITED, live(catalog=UNREAD)).problems
    assert "whether cpu was given up" in problem and "storage.objects.get" in problem
    assert not planned(CPU, live(catalog=UNREAD)).problems
    assert not planned(LIMITED, alive(ended=1, catalog=UNREAD)).problems


def test_one_that_stays_too_long_after_its_season_is_late() -> None:
    week = timedelta(days=7)
    late = planned(in_season(ends=-200, retire_within=week), alive(job(ID)))
    assert late.retiring[0].overdue
    assert not planned(in_season(ends=-100, retire_within=week), alive(job(ID))).retiring[0].overdue
    assert not planned(in_season(begins=1, retire_within=week), alive(job(ID))).retiring[0].overdue


def test_ended_jobs_are_looked_at_where_a_limit_needs_them() -> None:
    assert ends_within((CPU, in_season(1))) is None
    assert ends_within((CPU, LIMITED)) == 4 * HOUR + timedelta(days=30)

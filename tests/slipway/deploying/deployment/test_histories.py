"""Any history of edits, seasons and failures against the plan, and cases that were hard."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.authoring.stack.stack import Stack
from slipway.base.clock import right_time, wrong_clock
from slipway.deploying.deployment.live_plan import read_and_plan
from slipway.deploying.deployment.plan import Plan
from slipway.deploying.generations.action import Why
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.connection import Connection
from slipway.google.live import Live
from slipway.google.live_reader import LiveScope
from slipway.model.cluster import Alternative, ClusterSpec
from slipway.model.season import Season
from tests.builders.stacks import workspace_entry

from .world import PROJECT, REGION, STACK, World, alive, cluster, creates, deleted, hash_of, job, live, planned, spec

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def test_a_rename_makes_another_cluster_and_the_old_one_keeps_its_jobs() -> None:  # N1
    old, renamed = alive(spec("cpu")), spec("workers")
    published = PublishedCatalog({"cpu": old.id})
    busy = planned((renamed,), live(old, jobs=(job(old.id),), catalog=published))
    assert [cluster.spec.name for cluster in busy.current if not cluster.import_] == ["workers"]
    assert [(cluster.id, cluster.why) for cluster in busy.retiring] == [(old.id, Why.JOBS)] and not deleted(busy)
    assert deleted(planned((renamed,), live(old, catalog=published))) == (old.id,)
    back = planned((spec("cpu"),), live(old, alive(renamed), jobs=(job(old.id),), catalog=published))
    assert back.current[0].id == old.id and back.current[0].import_


def test_a_name_that_looks_like_another_clusters_id_is_never_taken_for_it() -> None:  # N1
    """`cpu-1a2b3c4`, all of whose own hash may be digits: then its id is one of `cpu` by its form alone."""
    cpu = spec("cpu")
    base = alive(cpu).id
    alike = cluster(f"{base}-1234567", "1234567", name=base)
    for seen in ((alike,), (alike, alive(cpu)), (alike, alive(cpu, n=2))):
        decided = planned((cpu,), live(*seen, catalog=PublishedCatalog({"cpu": base, base: alike.id})))
        assert decided.current[0].id != alike.id and not decided.problems
        assert deleted(decided) == (alike.id,)


@pytest.mark.parametrize("label", ["slipway-stack", "slipway-name", "slipway-hash"])
def test_labels_that_somebody_edited_stop_it_while_the_cluster_is_offered_or_retires(label: str) -> None:  # N1
    """Nothing is made beside it, and it is not deleted: the catalog says that it was ours."""
    one, other = spec("cpu"), spec("cpu", high=6)
    edited = replace(alive(one), labels={**alive(one).labels, label: "mine"})
    for published in (PublishedCatalog({"cpu": edited.id}), PublishedCatalog({}, (edited.id,))):
        for asked in ((one,), (other,), ()):
            decided = planned(asked, live(edited, catalog=published))
            assert edited.id in decided.problems[0] and decided.problems[0].endswith("delete it by hand")
            assert decided.current == () and deleted(decided) == () and decided.retiring == ()


def decide(monkeypatch: pytest.MonkeyPatch, declared: ClusterSpec, now: datetime, seen: Live) -> tuple[Plan, list[str]]:
    """Return what a program plans whose clock says `now`, and what it warns of."""
    settings = workspace_entry((), "acme-catalog", "acme-work", "trainer")
    stack, warned = Stack(STACK, PROJECT, REGION, settings, clusters=(declared,)), [""][:0]

    def read(_: Connection, wanted: LiveScope, **__: object) -> tuple[Live, list[str]]:
        return seen, []

    monkeypatch.setattr("slipway.deploying.deployment.live_plan.read", read)
    environ = {"GOOGLE_OAUTH_ACCESS_TOKEN": "t"}
    _, decided = read_and_plan(stack, environ, False, now, print, warned.append)
    return decided, warned


@pytest.mark.parametrize("off", [-400 * DAY, -5 * HOUR, 5 * HOUR, 400 * DAY], ids=str)
def test_a_clock_that_is_wrong_ends_no_season_and_gives_nothing_up(
    off: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:  # B6
    """A cluster stays that is in season by the cloud's own time, or has not idled for so long."""
    season = Season(NOW - HOUR, NOW + HOUR, 3 * HOUR)
    cluster = replace(spec(), season=season, retire_within=7 * DAY)
    there = alive(cluster, create_time=NOW - 2 * HOUR)
    seen = replace(live(there, catalog=PublishedCatalog({"cpu": there.id})), time=NOW)
    decided, warned = decide(monkeypatch, cluster, NOW + off, seen)
    assert decided.current[0].id == there.id and decided.current[0].import_
    assert not deleted(decided) and not decided.dormant
    assert "the cloud's (2026-11-21 09:00 UTC)" in warned[0] and "fix: set the clock" in warned[0]
    assert ("ahead of" in warned[0]) == (off > timedelta())
    over = replace(cluster, season=Season(NOW - 2 * HOUR, NOW - HOUR))
    ended, _ = decide(monkeypatch, over, NOW + off, seen)
    assert ended.dormant and deleted(ended) == (there.id,), "nor does it keep what is over"


def test_a_clock_that_is_right_or_of_which_nobody_can_tell_counts() -> None:
    for cloud in (None, NOW, NOW + timedelta(minutes=4), NOW - timedelta(minutes=4)):
        assert right_time(NOW, cloud) == NOW and wrong_clock(NOW, cloud) is None
    assert right_time(NOW, NOW + HOUR) == NOW + HOUR
    assert "1 h behind the cloud's" in str(wrong_clock(NOW, NOW + HOUR))


BEGAN = datetime(2026, 11, 20, tzinfo=UTC)
HOURS = st.none() | st.integers(0, 12).map(lambda hours: BEGAN + hours * HOUR)
SEASONS = st.builds(Season, HOURS, HOURS, st.none() | st.integers(1, 4).map(lambda hours: hours * HOUR))
ALTERNATIVES = st.lists(
    st.tuples(st.integers(5, 6), st.sampled_from(["", "", "europe-west4"])), max_size=2, unique=True
).map(lambda others: tuple(Alternative(spec(high=high).pools, region) for high, region in others))
Declarations = st.SearchStrategy[tuple[ClusterSpec, ...]]


def declarations(modes: tuple[str, ...], **fields: st.SearchStrategy[Any]) -> Declarations:
    """Up to two clusters; `fields` are more of theirs."""
    plain = st.builds(spec, st.sampled_from(["cpu", "gpu"]), st.integers(2, 4), generation=st.integers(1, 2))
    changed = st.fixed_dictionaries({"replacement": st.sampled_from(modes), **fields})
    cluster = st.builds(lambda item, changes: replace(item, **changes), plain, changed)
    return st.lists(cluster, max_size=2, unique_by=lambda item: item.name).map(tuple)


def steps_of(declared: Declarations, **more: st.SearchStrategy[Any]) -> st.SearchStrategy[list[tuple[str, Any]]]:
    """Steps of a history by name; `more`: beside those of every history."""
    usual = {
        "up": declared,
        "killed": st.tuples(declared, st.integers(0, 4)),
        "submit": st.integers(0, 5),
        "end": st.none(),
        "lose_catalog": st.none(),
    }
    each = (st.tuples(st.just(what), how) for what, how in {**usual, **more}.items())
    return st.lists(st.one_of(*each), max_size=10)


DECLARED = declarations(("rollover", "in-place"))
STEPS = steps_of(DECLARED, failed=DECLARED, delete_by_hand=st.integers(0, 5), lose_state=st.none())
DATED = declarations(("rollover",), season=SEASONS)
DATED_STEPS = steps_of(DATED, wait=st.integers(0, 4))
ANY_MODE = declarations(("protect", "protect", "rollover", "in-place"), alternatives=ALTERNATIVES)
ANY_STEPS = steps_of(ANY_MODE, short=st.tuples(ANY_MODE, st.integers(1, 3)))


def play(world: World, step: tuple[str, Any]) -> None:
    what, how = step
    ids = sorted(world.clusters)
    if what == "up":
        world.up(how)
    elif what == "killed":
        declared, after = how
        world.up(declared, killed_after=after)
    elif what == "short":
        declared, options = how
        world.up(declared, short=options)
    elif what == "failed":
        world.up(how, failing=True)
    elif what == "submit" and ids:
        id_ = ids[how % len(ids)]
        if world.clusters[id_].state == "RUNNING":
            world.jobs.append(job(id_, f"job-{len(world.jobs)}"))
    elif what == "end":
        world.end_jobs()
    elif what == "delete_by_hand" and ids:
        id_ = ids[how % len(ids)]
        del world.clusters[id_]
        world.jobs = [cluster for cluster in world.jobs if cluster.persistent_resource_id != id_]
    elif what == "wait" and world.now is not None:
        world.now += how * HOUR
    elif what == "lose_state":
        world.state.clear()
    elif what == "lose_catalog":
        world.catalog = None


def nobody_is_killed(world: World, steps: list[tuple[str, Any]], declared: tuple[ClusterSpec, ...]) -> None:
    """Green at each step (the model refuses a 409 and an import of nothing), and a plan never lets a busy one go."""
    for step in [*steps, ("up", declared)]:
        play(world, step)
        busy = {job.persistent_resource_id for job in world.jobs if not job.ended}
        assert not busy & set(deleted(world.plan(declared)))
    assert world.deleted_with_jobs == []


@given(STEPS, DECLARED)
def test_no_history_deletes_a_cluster_with_jobs_or_needs_a_taken_id(steps, declared) -> None:  # type: ignore[no-untyped-def] # N1
    nobody_is_killed(World(), steps, declared)


@given(DATED_STEPS, DATED)
def test_no_date_and_no_limit_deletes_a_cluster_with_jobs(steps, declared) -> None:  # type: ignore[no-untyped-def] # N1, B6
    nobody_is_killed(World(now=BEGAN), steps, declared)


@given(STEPS, DECLARED)
def test_idle_ups_come_to_rest_with_exactly_what_is_asked_for(steps, declared) -> None:  # type: ignore[no-untyped-def] # N1, B1
    world = World()
    for step in steps:
        play(world, step)
    world.end_jobs()
    for _ in range(3):
        world.up(declared)
    assert {item.labels["slipway-hash"] for item in world.clusters.values() if item.state == "RUNNING"} == {
        hash_of(item) for item in declared
    }
    assert len(world.clusters) == len(declared)
    before = dict(world.clusters)
    decided = world.up(declared)
    assert not creates(decided) and not deleted(decided) and not decided.retiring  # idempotent
    assert world.clusters == before


@given(DATED_STEPS, DATED)
def test_ups_with_dates_come_to_rest_and_what_was_given_up_stays_away(steps, declared) -> None:  # type: ignore[no-untyped-def] # B6
    world = World(now=BEGAN)
    for step in steps:
        play(world, step)
    world.end_jobs()
    for _ in range(3):
        rests = world.up(declared).dormant
    assert {cluster.labels["slipway-name"] for cluster in world.clusters.values()} == {
        resource.name for resource in declared
    } - {cluster.spec.name for cluster in rests}
    again = world.up(declared)
    assert not creates(again) and not deleted(again) and not again.retiring and again.dormant == rests
    play(world, ("wait", 3))
    given_up = {cluster.spec.name for cluster in rests if cluster.why == "idle"}
    assert not given_up & {cluster.spec.name for cluster in world.up(declared).current}


@given(ANY_MODE, ANY_STEPS, ANY_MODE)
def test_no_history_ends_what_is_protected_and_each_alternative_is_a_generation(first, steps, declared) -> None:  # type: ignore[no-untyped-def] # N1, N2, B3
    """Whether edits are killed, meet a stock-out or find the catalog lost. What is let edit comes to rest."""
    world = World()
    for step in [("up", first), *steps, ("up", declared), ("end", None), ("short", (declared, 1))]:
        kept = world.kept
        play(world, step)
        assert kept <= set(world.clusters), "nothing but its own deployment drops the protection"
    assert world.deleted_with_jobs == []
    decided = [world.up(declared) for _ in range(3)][-1]
    if not decided.refusals:
        assert not creates(decided) and len(world.clusters) == len(declared)
        comes_to_rest_as_one_of_its_options(world, declared)


def comes_to_rest_as_one_of_its_options(world: World, declared: tuple[ClusterSpec, ...]) -> None:
    """It stays what it is, and is made as its alternative where nothing else can be had."""
    options = {resource.name: [hash_of(each) for each in resource.options] for resource in declared}
    labels = [cluster.labels for cluster in world.clusters.values()]
    assert {each["slipway-name"] for each in labels} == set(options)
    assert all(each["slipway-hash"] in options[each["slipway-name"]] for each in labels)
    for item in declared:
        if item.alternatives:
            alone = World()
            alone.up((item,), short=len(item.alternatives))
            before = set(alone.clusters)
            assert len(before) == 1
            alone.up((item,))
            assert set(alone.clusters) == before, "one that runs stays, whatever comes before it"


def test_one_that_is_replaced_in_place_is_never_there_beside_its_successor() -> None:  # N1
    """Whether the deployment comes to its end or is killed: before the deletion, after it, while the other is made."""
    for killed_after in (0, 1, 2, 3, 99):
        world, asked = World(), replace(spec(high=6), replacement="in-place")
        world.up((spec(high=4),))
        (first,) = world.clusters
        world.jobs.append(job(first))
        assert world.up((asked,)).refusals and set(world.clusters) == {first}
        assert world.catalog is not None and world.catalog.lists(first)
        world.end_jobs()
        world.up((asked,), killed_after=killed_after)
        assert len(world.clusters) <= 1 and set(world.catalog.clusters.values()) <= set(world.clusters)
        world.up((asked,))
        assert len(world.clusters) == 1 and first not in world.clusters
        assert set(world.catalog.clusters.values()) == set(world.clusters)

"""What people and clocks do to a stack: renames, names like ids, labels edited by hand, a clock that is hours off."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from slipway.catalog.document import PublishedCatalog
from slipway.clock import right_time, wrong_clock
from slipway.cloud.clusters import PersistentResource
from slipway.cloud.connection import Connection
from slipway.cluster import ClusterSpec
from slipway.deployment.live_plan import read_and_plan
from slipway.deployment.live_reader import LiveScope
from slipway.deployment.plan import Plan
from slipway.fingerprint import cluster_id, fingerprint_of
from slipway.generations.action import Why
from slipway.live import Live
from slipway.season import Season
from slipway.stack.stack import Stack, WorkspaceSettings

from .world import PROJECT, REGION, STACK, cluster, deleted, job, live, planned, spec

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)


def alive(of: ClusterSpec, *, n: int = 1, **fields: object) -> PersistentResource:
    digest = fingerprint_of(STACK, PROJECT, REGION, of)
    return replace(cluster(cluster_id(of.name, digest, n), digest, name=of.name), **fields)  # type: ignore[arg-type]


def test_a_rename_makes_another_cluster_and_the_old_one_keeps_its_jobs() -> None:  # N1
    old, renamed = alive(spec("cpu")), spec("workers")
    published = PublishedCatalog({"cpu": old.id})
    busy = planned((renamed,), live(old, jobs=(job(old.id),), catalog=published))
    assert [one.spec.name for one in busy.current if not one.import_] == ["workers"]
    assert [(one.id, one.why) for one in busy.retiring] == [(old.id, Why.JOBS)] and not deleted(busy)
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


def test_two_stacks_never_have_one_cluster() -> None:  # D6 N1
    """The stack is in the hash, so the same entry has another id; one of the same id is somebody else's."""
    one = spec("cpu")
    assert fingerprint_of("dev", PROJECT, REGION, one) != fingerprint_of(STACK, PROJECT, REGION, one)
    theirs = replace(alive(one), labels={**alive(one).labels, "slipway-stack": "dev"})
    decided = planned((one,), live(theirs))
    assert f"cluster {theirs.id} has an id" in decided.problems[0]
    assert decided.current == () and deleted(decided) == ()


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


def decide(monkeypatch: pytest.MonkeyPatch, one: ClusterSpec, now: datetime, seen: Live) -> tuple[Plan, list[str]]:
    """What a program plans whose clock says `now`, and what it warns of."""
    settings = WorkspaceSettings((), "acme-catalog", "acme-work", "trainer")
    stack, warned = Stack(STACK, PROJECT, REGION, settings, clusters=(one,)), [""][:0]

    def read(_: Connection, wanted: LiveScope, **__: object) -> tuple[Live, list[str]]:
        return seen, []

    monkeypatch.setattr("slipway.deployment.live_plan.read", read)
    environ = {"GOOGLE_OAUTH_ACCESS_TOKEN": "t"}
    _, decided = read_and_plan(stack, environ, False, now, print, warned.append)
    return decided, warned


@pytest.mark.parametrize("off", [-400 * DAY, -5 * HOUR, 5 * HOUR, 400 * DAY], ids=str)
def test_a_clock_that_is_wrong_ends_no_season_and_gives_nothing_up(
    off: timedelta, monkeypatch: pytest.MonkeyPatch
) -> None:  # B6
    """What the cloud's own time says is in season, or has not idled for so long, stays."""
    season = Season(NOW - HOUR, NOW + HOUR, 3 * HOUR)
    one = replace(spec(), season=season, retire_within=7 * DAY)
    there = alive(one, create_time=NOW - 2 * HOUR)
    seen = replace(live(there, catalog=PublishedCatalog({"cpu": there.id})), time=NOW)
    decided, warned = decide(monkeypatch, one, NOW + off, seen)
    assert decided.current[0].id == there.id and decided.current[0].import_
    assert not deleted(decided) and not decided.dormant
    assert "the cloud's (2026-11-21 09:00 UTC)" in warned[0] and "fix: set the clock" in warned[0]
    assert ("ahead of" in warned[0]) == (off > timedelta())
    over = replace(one, season=Season(NOW - 2 * HOUR, NOW - HOUR))
    ended, _ = decide(monkeypatch, over, NOW + off, seen)
    assert ended.dormant and deleted(ended) == (there.id,), "nor does it keep what is over"


def test_a_clock_that_is_right_or_of_which_nobody_can_tell_counts() -> None:
    for cloud in (None, NOW, NOW + timedelta(minutes=4), NOW - timedelta(minutes=4)):
        assert right_time(NOW, cloud) == NOW and wrong_clock(NOW, cloud) is None
    assert right_time(NOW, NOW + HOUR) == NOW + HOUR
    assert "1 h behind the cloud's" in str(wrong_clock(NOW, NOW + HOUR))

"""What nobody needs any more goes before others are made, which may not be had for days. # N1 # N2 # B6 # D2"""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from slipway.catalog.document import PublishedCatalog
from slipway.catalog.withdrawal import over
from slipway.cloud.clusters import PersistentResource
from slipway.cluster import ClusterSpec
from slipway.deployment.deployment import build_packages, plan_deployment, prove_stack
from slipway.deployment.plan import Plan, plan
from slipway.errors import PolicyError
from slipway.generations.action import DELETE, What
from slipway.generations.published_clusters import published_dormant
from slipway.labels import Revision
from slipway.live import Live, QuotaLimit
from slipway.review.preview_text import preview_text
from slipway.season import Season
from slipway.state import State
from tests.slipway.stack.files import read, with_config

from .test_alternatives import ROOT
from .world import REGION, World, ahead, catalog_with, cluster, deleted, hash_of, id_of, job, live, planned, spec

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
A1, A2, A3 = (spec("a", high) for high in (2, 3, 4))
ENDED = Season(ends=NOW - timedelta(hours=1))
X, C = spec("x"), spec("c")
OVER = replace(X, season=ENDED)


def there(one: ClusterSpec, state: str = "RUNNING") -> PersistentResource:
    return replace(cluster(id_of(one), hash_of(one), state, one.name), create_time=NOW)


def ids(decided: Plan) -> set[str]:
    return {one.id for one in ahead(decided)}


def published(*clusters: ClusterSpec, retiring: tuple[ClusterSpec, ...] = ()) -> PublishedCatalog:
    return catalog_with(*clusters, retiring=tuple(map(id_of, retiring)))


def test_what_retired_idle_and_what_is_out_of_season_need_not_wait_for_what_is_made() -> None:
    seen = live(there(A1), there(A2), there(X), catalog=published(A2, X, retiring=(A1,)))
    decided = planned((A2, OVER, C), seen, NOW)
    assert ids(decided) == {id_of(A1), id_of(X)} == set(deleted(decided))
    assert decided.first == ids(decided) and seen.without(ids(decided)).clusters == (there(A2),)
    # What is going already, since an earlier deployment was killed, is waited for.
    going = planned((A2, OVER, C), live(there(A1, "STOPPING"), there(A2), catalog=published(A2, retiring=(A1,))), NOW)
    assert ids(going) == {id_of(A1)}


def test_an_older_generation_goes_while_the_last_one_has_jobs_until_its_successor_is_made() -> None:
    seen = live(there(A1), there(A2), jobs=(job(id_of(A2)),), catalog=published(A2, retiring=(A1,)))
    decided = planned((A3,), seen, NOW)
    assert ids(decided) == {id_of(A1)} and [one.id for one in decided.retiring] == [id_of(A2)]


def test_one_given_up_goes_too() -> None:
    limited = replace(X, season=Season(idle_limit=timedelta(hours=1)))
    idle = replace(there(X), create_time=NOW - timedelta(hours=2))
    decided = planned((limited, C), live(idle, catalog=published(limited)), NOW)
    assert ids(decided) == {id_of(X)} and decided.dormant[0].why == "idle"


LISTED = PublishedCatalog({"x": id_of(X)})


@pytest.mark.parametrize(
    ("declared", "seen"),
    [
        ((A2, OVER), live(there(A1), there(A2), there(X), catalog=published(A2, X, retiring=(A1,)))),
        ((A2,), live(there(A1), catalog=published(A1))),
        ((replace(A1, name="renamed"),), live(there(A1), catalog=published(A1))),
        ((A2, C), live(there(A1), there(A2), catalog=published(A1))),
        ((A2,), live(there(A1), catalog=published(A2, retiring=(A1,)))),
        ((A2,), live(there(A1), there(A2, "ERROR"), catalog=published(A2, retiring=(A1,)))),
        ((A2, C), live(there(A1, "ERROR"), there(A2), catalog=published(A2, retiring=(A1,)))),
        ((OVER, C), live(there(X), catalog=LISTED)),
        ((OVER, C), live(there(X, "STOPPING"), catalog=PublishedCatalog(damage="gone bad"))),
        ((OVER, C), live(there(X, "STOPPING"))),
    ],
    ids=[
        "nothing is made",
        "its successor is made",
        "it is made under another name",
        "its successor is not offered yet",
        "its successor is gone",
        "its successor failed",
        "it failed and holds nothing",
        "another version offers it",
        "a damaged catalog",
        "no catalog",
    ],
)
def test_what_may_still_be_needed_goes_after_all_is_made(declared: tuple[ClusterSpec, ...], seen: Live) -> None:
    decided = planned(declared, seen, NOW)
    assert deleted(decided) and not ahead(decided) and not decided.problems


def test_while_a_stock_out_lasts_nothing_idle_is_left_and_nothing_ended_is_offered() -> None:
    world = World(now=NOW - timedelta(hours=2))
    season = Season(ends=NOW)
    x, busy = replace(X, season=season), replace(spec("y"), season=season)
    world.up((A1, x, busy))
    world.jobs = [job(id_of(A1)), replace(job(id_of(busy)), name="long")]
    world.up((A2, x, busy))
    world.jobs = world.jobs[1:]
    world.now = NOW
    world.up((A2, x, busy, C), short=1)
    assert set(world.clusters) == {id_of(A2), id_of(busy)} and world.catalog
    assert set(world.catalog.clusters) == {"a"}, "no more jobs keep what is out of season"
    world.end_jobs()
    world.up((A2, x, busy, C), short=1)
    assert set(world.clusters) == {id_of(A2)}
    world.up((A2, x, busy, C))
    assert set(world.clusters) == {id_of(A2), id_of(C)} and world.deleted_with_jobs == []
    assert world.catalog.retiring == ()


def test_a_catalog_says_why_and_keeps_it_as_retiring() -> None:
    catalog = published(A2, X, retiring=(A1,)).whole
    assert catalog is not None
    dormant = {one.spec.name: published_dormant(one, REGION) for one in planned((OVER,), live(), NOW).dormant}
    after = over(catalog, dormant)
    assert set(after.clusters) == {"a"} and after.retiring == (id_of(A1), id_of(X))
    assert "since 2026-11-21 08:00 UTC" in after.dormant["x"].words
    assert over(after, dormant) == after, "a deployment that was killed does it again"
    adopted = replace(catalog, clusters={"x": replace(catalog.clusters["x"], adopted=True)})
    assert over(adopted, dormant) == adopted, "somebody else made it"


def test_two_seasons_take_turns_on_quota_for_one() -> None:  # D2
    pool = "pools: { all: { machine: n1-standard-8, replicas: 1 } }"
    stack = read(
        with_config(
            f"""
            slipway:templates: []
            slipway:persistentResources:
              term-a: {{ {pool}, until: 2026-11-21 }}
              term-b: {{ {pool}, from: 2026-11-21 }}
            """
        )
    )
    proven = prove_stack(stack, ROOT / "templates")
    limits = {one: QuotaLimit(one, stack.region, 8 if one.endswith("_cpus") else 10_000) for one in proven.metrics}

    def at(now: datetime, seen: Live) -> Plan:
        return plan(stack.clusters, seen, stack=stack.name, project=stack.project, region=stack.region, now=now)

    def deployed(decided: Plan, seen: Live) -> str:
        revision, packages = Revision("3f9c2e1", dirty=False), build_packages(proven, ROOT)
        found = plan_deployment(proven, packages, revision, seen, decided, preview=False, now=NOW)
        found.refuse()
        return "\n".join(preview_text(found, State(), NOW, preview=False))

    (first,) = at(NOW - timedelta(days=1), live()).current
    machine = first.spec.pools[0].machine
    alive = replace(cluster(first.id, first.fingerprint, name="term-a", stack=stack.name), create_time=NOW)
    alive = replace(alive, pools=(replace(alive.pools[0], id="all", machine=machine),))
    whole = catalog_with(first.spec).whole
    catalog = PublishedCatalog({"term-a": first.id}, whole=whole)
    seen = replace(live(alive, catalog=catalog), limits=limits)
    decided = at(NOW, seen)
    words = deployed(decided, seen)
    assert re.search("term-a.* is deleted.*before term-b-", words)
    with pytest.raises(PolicyError, match="quota does not suffice"):
        late = (replace(one, what=What.DELETE_LAST) if one.what in DELETE else one for one in decided.actions)
        deployed(replace(decided, actions=tuple(late)), seen)

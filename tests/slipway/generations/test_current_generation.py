"""Which alternative of a cluster is asked for, from what lives: one that runs stays, else the first. # N2"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from slipway.catalog.document import PublishedCatalog
from slipway.cloud.clusters import ResourcePool
from slipway.cluster import PROTECT, Alternative, ClusterSpec, PoolSpec
from slipway.deployment.plan import as_made
from slipway.fingerprint import cluster_id, fingerprint_of
from slipway.generations.action import Why
from slipway.generations.dormant import Dormancy
from slipway.generations.published_clusters import published
from slipway.machines.spec import MachineSpec
from slipway.season import Season
from tests.slipway.deployment.world import (
    PROJECT,
    REGION,
    STACK,
    World,
    cluster,
    deleted,
    job,
    live,
    planned,
    remembering,
    spec,
    waiting,
)

OTHER = PoolSpec("workers", MachineSpec("n1-highmem-8"), 1, 4, autoscaled=True, replicas=1)
LAST = PoolSpec("workers", MachineSpec("n1-standard-4"), 1, 4, autoscaled=True, replicas=1)
PLAIN = spec()
OPEN = replace(PLAIN, alternatives=(Alternative((OTHER,)), Alternative((LAST,))))
HASHES = [fingerprint_of(STACK, PROJECT, REGION, one) for one in OPEN.options]
FIRST, SECOND, THIRD = (cluster_id("cpu", digest) for digest in HASHES)
AS_SECOND = replace(
    cluster(SECOND, HASHES[1]), pools=(ResourcePool("workers", OTHER.machine, 1, 0, 1, 4),)
)  # as it lives


def ids(*declared: ClusterSpec, **seen: object) -> list[str]:
    return [one.id for one in planned(declared, live(**seen)).current]  # type: ignore[arg-type]


def test_the_keys_themselves_make_no_other_cluster() -> None:
    assert fingerprint_of(STACK, PROJECT, REGION, PLAIN) == HASHES[0]
    timed = replace(OPEN, create_within=timedelta(hours=2))
    assert fingerprint_of(STACK, PROJECT, REGION, timed) == HASHES[0]
    assert len({*HASHES}) == 3


def test_where_none_lives_the_first_is_made_and_the_others_may_be() -> None:
    (one,) = planned((OPEN,), live()).current
    assert (one.id, one.import_, [other.id for other in one.alternatives]) == (FIRST, False, [SECOND, THIRD])
    spent = planned((OPEN,), live(cluster(SECOND, HASHES[1], "ERROR"))).current[0]
    assert [other.id for other in spent.alternatives] == [f"{SECOND}-2", THIRD]


def test_an_alternative_that_runs_stays_whatever_comes_before_it() -> None:
    decided = planned((OPEN,), live(AS_SECOND, catalog=PublishedCatalog({"cpu": SECOND})))
    (one,) = decided.current
    assert (one.id, one.import_, one.spec.alternative, one.alternatives) == (SECOND, True, 1, ())
    assert deleted(decided) == () and decided.retiring == ()


def test_of_two_that_run_the_published_one_stays_and_the_other_goes() -> None:
    for stays, goes in ((SECOND, FIRST), (FIRST, SECOND)):
        catalog = PublishedCatalog({"cpu": stays}, retiring=(goes,))
        decided = planned((OPEN,), live(cluster(FIRST, HASHES[0]), AS_SECOND, catalog=catalog))
        assert [one.id for one in decided.current] == [stays] and deleted(decided) == (goes,)


def test_going_back_is_an_edit_and_keeps_the_alternative_until_the_first_runs() -> None:
    catalog = PublishedCatalog({"cpu": SECOND})
    back = replace(OPEN, alternatives=(Alternative((LAST,)),))
    decided = planned((back,), live(AS_SECOND, catalog=catalog))
    assert [(one.id, one.import_) for one in decided.current] == [(FIRST, False)]
    making = planned((back,), live(AS_SECOND, cluster(FIRST, HASHES[0], "PROVISIONING"), catalog=catalog))
    assert [one.why for one in making.retiring] == [Why.SUCCESSOR] and deleted(making) == ()
    busy = planned((back,), live(AS_SECOND, cluster(FIRST, HASHES[0]), jobs=(job(SECOND),), catalog=catalog))
    assert [one.why for one in busy.retiring] == [Why.JOBS]


def test_one_that_is_being_made_since_a_killed_up_is_waited_for() -> None:
    making = replace(AS_SECOND, state="PROVISIONING")
    decided = planned((OPEN,), live(making))
    assert waiting(decided) == (making,) and [one.id for one in decided.current] == [SECOND]


def test_somebody_elses_cluster_under_an_alternatives_id_is_never_touched() -> None:
    (problem,) = planned((OPEN,), live(replace(AS_SECOND, labels={}))).problems
    assert f"cluster {SECOND} has an id" in problem


def test_a_cluster_whose_machines_are_not_those_of_its_id_is_told_and_left_alone() -> None:
    odd = replace(AS_SECOND, name=FIRST, labels=cluster(FIRST, HASHES[0]).labels)
    decided = planned((PLAIN,), live(odd))
    (problem,) = decided.problems
    assert FIRST in problem and "n1-highmem-8 as pools.workers.machine" in problem
    assert "asks for n1-standard-8" in problem and "raise `generation` of cpu" in problem
    renamed = replace(odd, pools=(replace(odd.pools[0], id="others"),))
    assert "n1-highmem-8 as pools.others" in planned((PLAIN,), live(renamed)).problems[0]
    assert decided.current == () and deleted(decided) == ()


def test_an_alternative_that_was_given_up_is_not_made_again_as_the_first() -> None:
    now = datetime(2026, 11, 20, tzinfo=UTC)
    idle = replace(OPEN, season=Season(idle_limit=timedelta(hours=3)))
    known = Dormancy(idle, SECOND, "idle", now)
    seen = live(catalog=PublishedCatalog(whole=remembering(known)))
    decided = planned((idle,), seen, now)
    assert decided.current == () and [one.id for one in decided.dormant] == [SECOND]
    # The deployment that gives it up publishes the same of it as those after that.
    there = replace(AS_SECOND, create_time=now - timedelta(hours=4))
    gives_up = planned((idle,), live(there), now)
    assert gives_up.current == () and [one.spec for one in gives_up.dormant] == [idle]


def test_what_was_made_is_what_is_declared() -> None:
    decided = planned((OPEN, spec("gpu")), live())
    after = as_made(decided, {FIRST: THIRD, decided.current[1].id: decided.current[1].id})
    one, other = after.current
    assert (one.id, one.import_, one.state, one.spec.alternative) == (THIRD, True, "RUNNING", 2)
    assert other == decided.current[1]


def test_a_rollover_that_meets_a_stock_out_leaves_the_old_one_current() -> None:
    """`up` fails, twice; then there are machines. The catalog lists the old one all the while, with its job."""
    world, edited = World(), spec(high=6)
    old = world.up((PLAIN,)).current[0].id
    world.jobs.append(job(old))
    for _ in range(2):
        world.up((edited,), failing=True)
        assert world.catalog is not None and world.catalog.clusters == {"cpu": old}
        assert world.clusters[old].state == "RUNNING"
    made = world.up((edited,))
    assert (
        world.catalog is not None
        and world.catalog.clusters == {"cpu": made.current[0].id}
        and [one.id for one in made.retiring] == [old]
    )
    world.end_jobs()
    world.up((edited,))
    assert old not in world.clusters and world.deleted_with_jobs == []


def test_a_protected_cluster_that_is_an_alternative_is_not_changed_by_being_one() -> None:
    kept = replace(OPEN, replacement=PROTECT)
    made = planned((kept,), live()).current[0].alternatives[0]
    whole = replace(remembering(), clusters={"cpu": published(made, REGION)})
    catalog = PublishedCatalog({"cpu": SECOND}, whole=whole)
    assert planned((kept,), live(AS_SECOND, catalog=catalog)).refusals == ()
    gone = planned((kept,), live(catalog=catalog))
    assert gone.refusals == () and [one.id for one in gone.current] == [FIRST]
    back = replace(kept, alternatives=(Alternative((LAST,)),))
    (refusal,) = planned((back,), live(AS_SECOND, catalog=catalog)).refusals
    assert "`pools.workers.machine`" in refusal.why
    assert planned((kept,), live(AS_SECOND)).refusals == (), "nor where the catalog is lost"

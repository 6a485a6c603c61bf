"""Choosing the generation of a cluster, from what lives, and one in the catalog, read back. # B6 # N2 # N5"""

from dataclasses import fields, replace
from datetime import UTC, datetime, timedelta

import pytest

from slipway.base import codec
from slipway.deploying.deployment.plan import as_made
from slipway.deploying.generations.action import Why
from slipway.deploying.generations.dormant import Dormancy
from slipway.deploying.generations.published_clusters import published, published_dormant
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.clusters import ResourcePool
from slipway.model.catalog import clusters
from slipway.model.cluster import PROTECT, Alternative, ClusterSpec, CurrentCluster, DnsPeering, PoolSpec, PscInterface
from slipway.model.fingerprint import fingerprint_of
from slipway.model.machines.spec import Disk, MachineSpec
from slipway.model.season import Season
from tests.slipway.deploying.deployment.world import (
    REGION,
    cluster,
    deleted,
    hash_of,
    id_of,
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
HASHES = [*map(hash_of, OPEN.options)]
FIRST, SECOND, THIRD = map(id_of, OPEN.options)
AS_SECOND = replace(
    cluster(SECOND, HASHES[1]), pools=(ResourcePool("workers", OTHER.machine, 1, 0, 1, 4),)
)  # as it lives


def ids(*declared: ClusterSpec, **seen: object) -> list[str]:
    return [cluster.id for cluster in planned(declared, live(**seen)).current]  # type: ignore[arg-type]


def test_where_none_lives_the_first_is_made_and_the_others_may_be() -> None:
    (resource,) = planned((OPEN,), live()).current
    assert (resource.id, resource.import_, [other.id for other in resource.alternatives]) == (
        FIRST,
        False,
        [SECOND, THIRD],
    )
    spent = planned((OPEN,), live(cluster(SECOND, HASHES[1], "ERROR"))).current[0]
    assert [other.id for other in spent.alternatives] == [f"{SECOND}-2", THIRD]


def test_an_alternative_that_runs_stays_whatever_comes_before_it() -> None:
    decided = planned((OPEN,), live(AS_SECOND, catalog=PublishedCatalog({"cpu": SECOND})))
    (cluster,) = decided.current
    assert (cluster.id, cluster.import_, cluster.spec.alternative, cluster.alternatives) == (SECOND, True, 1, ())
    assert deleted(decided) == () and decided.retiring == ()


def test_of_two_that_run_the_published_one_stays_and_the_other_goes() -> None:
    for stays, goes in ((SECOND, FIRST), (FIRST, SECOND)):
        catalog = PublishedCatalog({"cpu": stays}, retiring=(goes,))
        decided = planned((OPEN,), live(cluster(FIRST, HASHES[0]), AS_SECOND, catalog=catalog))
        assert [resource.id for resource in decided.current] == [stays] and deleted(decided) == (goes,)


def test_going_back_is_an_edit_and_keeps_the_alternative_until_the_first_runs() -> None:
    catalog = PublishedCatalog({"cpu": SECOND})
    back = replace(OPEN, alternatives=(Alternative((LAST,)),))
    decided = planned((back,), live(AS_SECOND, catalog=catalog))
    assert [(resource.id, resource.import_) for resource in decided.current] == [(FIRST, False)]
    making = planned((back,), live(AS_SECOND, cluster(FIRST, HASHES[0], "PROVISIONING"), catalog=catalog))
    assert [resource.why for resource in making.retiring] == [Why.SUCCESSOR] and deleted(making) == ()
    busy = planned((back,), live(AS_SECOND, cluster(FIRST, HASHES[0]), jobs=(job(SECOND),), catalog=catalog))
    assert [resource.why for resource in busy.retiring] == [Why.JOBS]


def test_one_that_is_being_made_since_a_killed_up_is_waited_for() -> None:
    making = replace(AS_SECOND, state="PROVISIONING")
    decided = planned((OPEN,), live(making))
    assert waiting(decided) == (making,) and [cluster.id for cluster in decided.current] == [SECOND]


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
    assert decided.current == () and [cluster.id for cluster in decided.dormant] == [SECOND]
    # The deployment that gives it up publishes the same of it as those after that.
    there = replace(AS_SECOND, create_time=now - timedelta(hours=4))
    gives_up = planned((idle,), live(there), now)
    assert gives_up.current == () and [cluster.spec for cluster in gives_up.dormant] == [idle]


def test_what_was_made_is_what_is_declared() -> None:
    decided = planned((OPEN, spec("gpu")), live())
    after = as_made(decided, {FIRST: THIRD, decided.current[1].id: decided.current[1].id})
    one, other = after.current
    assert (one.id, one.import_, one.state, one.spec.alternative) == (THIRD, True, "RUNNING", 2)
    assert other == decided.current[1]


def test_a_protected_cluster_that_is_an_alternative_is_not_changed_by_being_one() -> None:
    kept = replace(OPEN, replacement=PROTECT)
    made = planned((kept,), live()).current[0].alternatives[0]
    whole = replace(remembering(), clusters={"cpu": published(made, REGION)})
    catalog = PublishedCatalog({"cpu": SECOND}, whole=whole)
    assert planned((kept,), live(AS_SECOND, catalog=catalog)).refusals == ()
    gone = planned((kept,), live(catalog=catalog))
    assert gone.refusals == () and [cluster.id for cluster in gone.current] == [FIRST]
    back = replace(kept, alternatives=(Alternative((LAST,)),))
    (refusal,) = planned((back,), live(AS_SECOND, catalog=catalog)).refusals
    assert "`pools.workers.machine`" in refusal.why
    assert planned((kept,), live(AS_SECOND)).refusals == (), "nor where the catalog is lost"


GPUS = PoolSpec("gpus", MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8, Disk("pd-ssd", 500)), 1, 4, True, 1)
FIXED = PoolSpec("fixed", MachineSpec("n1-standard-4"), 2, 2, False, 2)
FULL = ClusterSpec(
    "team",
    (GPUS, FIXED),
    display_name="Team",
    network="projects/1/global/networks/n",
    reserved_ip_ranges=("a", "b"),
    kms_key="projects/p/locations/us-central1/keyRings/r/cryptoKeys/k",
    psc=PscInterface("training", (DnsPeering("corp.example.", "net", "shared"),)),
    custom_service_account=False,
    labels={"team": "ml"},
    replacement="protect",
    generation=3,
    retire_within=timedelta(days=7),
    season=Season(datetime(2027, 1, 10, tzinfo=UTC), datetime(2027, 3, 1, 8, 30, tzinfo=UTC), timedelta(hours=4)),
)


@pytest.mark.parametrize("one", [FULL, ClusterSpec("plain", (FIXED,))])
def test_it_is_read_back_whole_and_dormant_too(one: ClusterSpec) -> None:
    body = codec.write(published(CurrentCluster(one, "x-1111111", "1111111", import_=True), REGION))
    again = codec.read(clusters.Cluster, body, one.name)
    dormant = Dormancy(one, "team-1", "idle", datetime(2027, 2, 1, tzinfo=UTC))
    rests = codec.read(clusters.DormantCluster, codec.write(published_dormant(dormant, REGION)), one.name)
    assert (rests.why, rests.since, rests.id, rests.words) == (dormant.why, dormant.since, "team-1", dormant.words)
    assert fingerprint_of("prod", "acme", REGION, again) == fingerprint_of("prod", "acme", REGION, one)
    for field in fields(one):
        if field.name != "pools":  # The catalog's own have a price as well.
            given = getattr(one, field.name)
            assert getattr(again, field.name) == getattr(rests, field.name) == given, field.name


def test_an_alternative_keeps_its_region_and_its_prices_are_of_there() -> None:  # N2
    open_ = ClusterSpec("open", (FIXED,), alternatives=(Alternative((FIXED,), "europe-west4"), Alternative((GPUS,))))
    at_home, there = (
        published(CurrentCluster(option, "x-1111111", "1111111", import_=True), REGION) for option in open_.options[:2]
    )
    for option, made in ((open_, at_home), (open_.options[1], there)):
        again = codec.read(clusters.Cluster, codec.write(made), "open")
        assert (again.region, again.alternative) == (option.region, option.alternative)
        assert fingerprint_of("prod", "acme", REGION, again) == fingerprint_of("prod", "acme", REGION, option)
    assert there.pools[0].price_per_hour != at_home.pools[0].price_per_hour
    assert there.pools[0].price_per_hour == at_home.alternatives[0].pools[0].price_per_hour

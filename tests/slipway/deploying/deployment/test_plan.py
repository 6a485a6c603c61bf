"""The table of generations, row by row."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from slipway.deploying.deployment.plan import former_regions, regions_of_old
from slipway.deploying.generations.action import Action, Why
from slipway.google.catalog import document
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.clusters import PersistentResource
from slipway.google.live import Live, Unknown
from slipway.model.catalog.forms import Removed
from slipway.model.catalog.model import Catalog
from slipway.model.cluster import ClusterSpec, CurrentCluster
from slipway.model.kinds import PIPELINE, TUNING_JOB
from slipway.model.state import State, StateResource

from .world import (
    PROJECT,
    REGION,
    STACK,
    alive,
    catalog_with,
    cleared,
    cluster,
    creates,
    deleted,
    hash_of,
    id_of,
    job,
    live,
    planned,
    spec,
)

A, B = spec(high=4), spec(high=6)
HASH_A, HASH_B = hash_of(A), hash_of(B)
ID_A, ID_B = id_of(A), id_of(B)
IN_CATALOG = PublishedCatalog({"cpu": ID_A})


def test_a_copy_that_somebody_made_elsewhere_by_hand_is_not_the_cluster_at_home() -> None:  # N1 # N2
    """Of the same request, id and labels included, where there were no machines at home."""

    def at(region: str, state: str) -> PersistentResource:
        name = f"projects/{PROJECT}/locations/{region}/persistentResources/{ID_A}"
        return replace(cluster(ID_A, HASH_A, state), name=name)

    copy = at("europe-west4", "ERROR")
    for seen in ((at(REGION, "RUNNING"), copy), (copy, at(REGION, "RUNNING"))):
        decided = planned((A,), live(*seen))
        assert decided.current == (CurrentCluster(A, ID_A, HASH_A, import_=True, state="RUNNING"),)
        assert not (decided.problems or deleted(decided) or cleared(decided))

    # Alone it is no reason to take one over at home that is not there.
    (made,) = planned((A,), live(at("europe-west4", "RUNNING"))).current
    assert (made.id, made.import_) == (f"{ID_A}-2", False)


def test_where_one_is_that_the_engine_can_not_delete_the_next_deployment_looks_again() -> None:  # N1 # N2
    """The state was lost, and the entry taken out: no region but its own would be looked at from then on."""
    name = f"projects/{PROJECT}/locations/europe-west4/persistentResources/{ID_A}"
    seen = live(replace(cluster(ID_A, HASH_A), name=name), catalog=IN_CATALOG)
    decided, has = planned((), seen), StateResource(ID_A, ID_A, PROJECT, "europe-west4")
    assert deleted(decided) == (ID_A,)
    assert list(regions_of_old(decided, State())) == ["europe-west4"]
    assert list(regions_of_old(decided, State(clusters=(has,)))) == []
    later = planned((), replace(seen, catalog=None))
    assert [elsewhere.id for elsewhere in later.retiring] == [ID_A]
    assert list(regions_of_old(later, State())) == ["europe-west4"]


def test_a_region_that_is_not_asked_for_any_more_is_where_jobs_were() -> None:  # N2
    """It may have one still: of a cluster that a job came to while its deletion was waited for."""
    whole = Catalog(STACK, PROJECT, REGION, "", False, "w", "t", {}, (), {}, other_regions=("europe-west4",))
    whole = replace(whole, former_regions=("us-east5",))
    seen = live(catalog=replace(IN_CATALOG, whole=whole))
    assert former_regions(seen, (REGION,)) == ("europe-west4", "us-east5")
    assert former_regions(seen, (REGION, "us-east5")) == ("europe-west4",)
    assert former_regions(live(), (REGION,)) == ()


@pytest.mark.parametrize("state", ["ERROR", "STOPPING"])
def test_asked_for_but_failed_or_stopping_spends_the_id(state: str) -> None:  # N1, N2
    decided = planned((A,), live(cluster(ID_A, HASH_A, state)))
    assert decided.current == (CurrentCluster(A, f"{ID_A}-2", HASH_A, import_=False),)


@pytest.mark.parametrize(
    "one",
    [
        job(ID_A),
        job(ID_A, state="JOB_STATE_QUEUED"),
        job(ID_A, state="JOB_STATE_CANCELLING"),
        job(ID_A, kind=TUNING_JOB),
        job(ID_A, state="PIPELINE_STATE_PENDING", kind=PIPELINE),
        job(ID_A, state="JOB_STATE_NOBODY_KNOWS"),
    ],
    ids=lambda item: f"{item.kind.words}-{item.state}",
)
@pytest.mark.parametrize("state", ["RUNNING", "ERROR", "STOPPING", "UPDATING"])
def test_not_asked_for_with_any_job_that_has_not_ended_retires(one, state: str) -> None:  # type: ignore[no-untyped-def] # N1, B3
    old = cluster(ID_A, HASH_A, state)
    for declared in ((B,), ()):
        decided = planned(declared, live(old, jobs=(one,), catalog=IN_CATALOG))
        assert [(item.living, item.jobs, item.why) for item in decided.retiring] == [(old, (one,), Why.JOBS)]
        assert deleted(decided) == ()


def test_a_job_on_a_cluster_of_the_same_id_elsewhere_keeps_none_at_home() -> None:  # N1
    """The doctor called the cluster idle and told people to deploy, and the deployment kept it for that job."""
    places = {region: f"projects/{PROJECT}/locations/{region}" for region in (REGION, "europe-west4")}
    old = replace(cluster(ID_A, HASH_A), name=f"{places[REGION]}/persistentResources/{ID_A}")
    elsewhere = replace(job(ID_A), name=f"{places['europe-west4']}/customJobs/1")
    assert deleted(planned((), live(old, jobs=(elsewhere,), catalog=IN_CATALOG))) == (ID_A,)


@pytest.mark.parametrize("state", ["RUNNING", "ERROR", "UPDATING"])
def test_not_asked_for_with_machines_in_use_retires_whatever_the_lists_say(state: str) -> None:  # N1
    """A list may lag by minutes; the cluster itself knows."""
    old = cluster(ID_A, HASH_A, state, used=1)
    for declared, catalog in product(((B,), ()), (IN_CATALOG, PublishedCatalog({"cpu": ID_B}, retiring=(ID_A,)))):
        decided = planned(declared, live(old, jobs=(), catalog=catalog))
        assert [(item.living, item.jobs, item.why) for item in decided.retiring] == [(old, (), Why.IN_USE)]
        assert deleted(decided) == ()


def test_a_failed_one_in_no_catalog_is_cleared_before_its_successor_is_made() -> None:  # N2: it holds nothing
    failed = cluster(ID_A, HASH_A, "ERROR")
    for declared in ((A,), (B,)):
        decided = planned(declared, live(failed))
        assert (cleared(decided), decided.retiring, deleted(decided)) == ((failed,), (), ())
        assert creates(decided) == declared
    assert deleted(planned((A,), live(failed, catalog=PublishedCatalog({}, (ID_A,))))) == (ID_A,)


def test_a_list_that_fails_is_never_an_empty_list() -> None:  # P5
    unknown = Unknown("403 denied", "persistentResources.list", "roles/aiplatform.viewer", "deployer@acme")
    seen = Live(clusters=unknown, jobs=unknown, limits={}, catalog=None)
    decided = planned((A,), seen)
    assert len(decided.problems) == 2 and decided.current == ()
    for word in ("persistentResources.list", "deployer@acme", "roles/aiplatform.viewer", "403 denied"):
        assert word in decided.problems[0]


def test_an_unreadable_catalog_matters_only_where_it_decides() -> None:
    unknown = Unknown("403 denied", "storage.objects.get", "roles/storage.objectViewer")
    decided = planned((A,), live(cluster(ID_A, HASH_A), catalog=unknown))
    assert not decided.problems
    assert decided.notes == (f"the published catalog can't be read, so all is told as if it were new: {unknown}",)
    problems = planned((B,), live(cluster(ID_A, HASH_A), catalog=unknown)).problems
    assert "storage.objects.get" in problems[0] and ID_A in problems[0]


def test_a_damaged_catalog_stops_nothing_and_costs_no_cluster() -> None:  # N1
    damaged = PublishedCatalog(damage="gs://acme-catalog/catalog.json: it is not JSON")
    decided = planned((B,), live(cluster(ID_A, HASH_A), catalog=damaged))
    assert not decided.problems and deleted(decided) == ()
    assert [(item.id, item.why) for item in decided.retiring] == [(ID_A, Why.DAMAGED)]
    words = "the published catalog is damaged; a deployment publishes it anew"
    assert decided.notes == (f"{words} (gs://acme-catalog/catalog.json: it is not JSON)",)
    published = PublishedCatalog({"cpu": ID_B}, retiring=(ID_A,))
    after = planned((B,), live(cluster(ID_A, HASH_A), cluster(ID_B, HASH_B), catalog=published))
    assert deleted(after) == (ID_A,) and not after.notes


def test_an_id_never_grows_beyond_what_the_api_takes() -> None:
    longest, longer = (spec("a" * length) for length in (53, 54))
    assert not planned((longest,), live(alive(longest, "ERROR"))).problems
    assert "63" in planned((longer,), live(alive(longer, "ERROR"))).problems[0]


def test_one_whose_entry_is_gone_is_late_by_the_limit_that_this_had() -> None:  # B6
    """The catalog remembers it from the deployment on that removes it; what had none is never late."""
    now, week = datetime(2026, 11, 20, tzinfo=UTC), timedelta(days=7)
    catalog = catalog_with(replace(A, retire_within=week))
    assert catalog.whole is not None

    def at(when: datetime, known: PublishedCatalog | None, *declared: ClusterSpec) -> Action:
        seen = live(cluster(ID_A, HASH_A), jobs=(job(ID_A),), catalog=known)
        (action,) = planned(declared, seen, when).retiring
        return action

    first = at(now, catalog)
    assert first.removed == Removed(week, now) and not first.overdue
    after = replace(catalog.whole, clusters={}, retiring=(ID_A,), removed={ID_A: first.removed})
    published = document.published(document.write(after).encode(), "x")
    assert not at(now + timedelta(days=6), published).overdue
    late = at(now + timedelta(days=8), published)
    assert late.overdue and late.removed == first.removed
    assert at(now, published, B).removed is None, "it is asked for again, by another"
    assert at(now, catalog_with(A)).removed is None and at(now, None).removed is None

"""Replacement of a cluster where it is not by rollover, and how long that waits."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from slipway.base.errors import ConfigError, PolicyError
from slipway.deploying.deployment.live_plan import refuse
from slipway.deploying.deployment.plan import Plan
from slipway.deploying.deployment.removal import GracePeriod
from slipway.deploying.generations.action import Why
from slipway.deploying.generations.generations import not_withdrawable
from slipway.deploying.generations.protection import undeletable
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.live import Unknown
from slipway.model.cluster import ClusterSpec
from slipway.model.origin import Origin
from slipway.model.season import Season
from slipway.model.state import State

from .world import STACK, catalog_with, cluster, deleted, hash_of, id_of, job, live, planned, replaced, spec

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
UNREAD = Unknown("denied", "storage.objects.get", "roles/storage.objectViewer")


OLD, NEW = spec(high=4), replace(spec(high=6), replacement="in-place")
ALIVE = cluster(id_of(OLD), hash_of(OLD))


@pytest.mark.parametrize("state", ["RUNNING", "UPDATING", "STOPPING"])
@pytest.mark.parametrize(
    "catalog", [catalog_with(OLD), None, PublishedCatalog(damage="gone bad"), catalog_with(retiring=(id_of(OLD),))]
)
def test_an_idle_one_is_deleted_before_its_successor_is_made(state: str, catalog: PublishedCatalog | None) -> None:
    """Whether it is offered or a deployment that was killed has withdrawn it, made it, or begun to delete it. # N1"""
    old = replace(ALIVE, state=state)
    decided = planned((NEW,), live(old, catalog=catalog))
    assert replaced(decided) == (old,) and deleted(decided) == (old.id,) and decided.retiring == ()
    assert not decided.current[0].import_ and not decided.refusals and not decided.problems


@pytest.mark.parametrize(
    ("old", "jobs", "why"),
    [
        (ALIVE, (job(ALIVE.id, "tune"),), "tune has not ended"),
        (ALIVE, (job(ALIVE.id, "tune", "JOB_STATE_QUEUED"), job(ALIVE.id, "lora")), "tune and lora have not ended"),
        (cluster(ALIVE.id, hash_of(OLD), used=1), (), Why.IN_USE.words),
        (replace(ALIVE, state="PROVISIONING"), (), Why.BUSY_STATE.words),
    ],
)
def test_one_in_use_is_not_replaced_and_up_says_so_while_preview_goes_on(old, jobs, why) -> None:  # type: ignore[no-untyped-def] # N1
    decided = planned((NEW,), live(old, jobs=jobs, catalog=catalog_with(OLD)))
    assert replaced(decided) == () and deleted(decided) == ()
    assert [item.living for item in decided.retiring] == [old]
    refuse(decided.refusals, preview=True)
    with pytest.raises(PolicyError) as refused:
        refuse(decided.refusals, preview=False)
    assert f"{old.id} is not replaced in place" in refused.value.what
    assert why in refused.value.why
    assert "stacks/Pulumi.prod.yaml, slipway:persistentResources.cpu.replacement" in refused.value.why
    assert "`replacement: rollover`" in str(refused.value.fix)
    assert ("try again when slipway pools shows it running" in str(refused.value.fix)) is not bool(jobs)
    for unfinished in jobs:  # Who typed the one command that was named met the same refusal for the other job.
        for verb in ("wait", "cancel"):
            assert f"slipway jobs {verb} {unfinished.typed}" in str(refused.value.fix)


def test_one_that_retired_before_may_have_its_jobs_and_goes_when_it_is_idle() -> None:  # N1
    """It is of an earlier rollover: its machines are not those to replace."""
    oldest = spec(high=2)
    retires, catalog = cluster(id_of(oldest), hash_of(oldest)), catalog_with(OLD, retiring=(id_of(oldest),))
    busy = planned((NEW,), live(retires, ALIVE, jobs=(job(retires.id),), catalog=catalog))
    assert replaced(busy) == (ALIVE,) and [item.living for item in busy.retiring] == [retires] and not busy.refusals
    idle = planned((NEW,), live(retires, ALIVE, catalog=catalog))
    assert {action.id for action in replaced(idle)} == {retires.id, ALIVE.id}


def test_a_change_of_mode_makes_no_other_cluster() -> None:  # N1
    for before, after in (("rollover", "in-place"), ("in-place", "protect"), ("protect", "rollover")):
        was, asked = replace(OLD, replacement=before), replace(OLD, replacement=after)
        decided = planned((asked,), live(ALIVE, jobs=(job(ALIVE.id),), catalog=catalog_with(was)))
        assert decided.current[0].id == ALIVE.id and decided.current[0].import_
        assert not decided.refusals and not replaced(decided) and not decided.retiring


def test_a_catalog_that_others_read_and_this_version_does_not_forbids_it() -> None:  # N1
    (problem,) = planned((NEW,), live(ALIVE, catalog=PublishedCatalog({"cpu": ALIVE.id}))).problems
    assert ALIVE.id in problem and "another version published the catalog" in problem
    assert not list(not_withdrawable((ALIVE.id,), None)) and not list(not_withdrawable((), PublishedCatalog()))
    assert "can't read the published catalog" in planned((NEW,), live(ALIVE, catalog=UNREAD)).problems[0]


PROTECTED = replace(OLD, replacement="protect")
EDITS = {
    "`pools.workers.replicas.max`": replace(PROTECTED, pools=spec(high=6).pools),
    "`generation`": replace(OLD, generation=2, replacement="rollover"),
    "`labels.team`": replace(OLD, labels={"team": "a"}, replacement="in-place"),
    "the dates or the `idleLimit`": replace(OLD, season=Season(idle_limit=timedelta(days=1))),
}


@pytest.mark.parametrize("key", EDITS)
def test_no_edit_reaches_a_protected_cluster_not_even_with_its_protection_dropped(key: str) -> None:  # N1 # B3
    for jobs, preview in (((), True), ((job(ALIVE.id),), False)):
        decided = planned((EDITS[key],), live(ALIVE, jobs=jobs, catalog=catalog_with(PROTECTED)))
        with pytest.raises(PolicyError) as refused:
            refuse(decided.refusals, preview=preview)
        assert "cluster cpu is protected" in refused.value.what and "in two deployments" in str(refused.value.fix)
        assert "stacks/Pulumi.prod.yaml, slipway:persistentResources.cpu: " in refused.value.why
        assert key in refused.value.why and ALIVE.id in refused.value.why


def test_a_protected_cluster_is_not_removed_or_renamed() -> None:  # B3
    for declared in ((), (replace(PROTECTED, name="other", display_name=""),)):
        decided = planned(declared, live(ALIVE, catalog=catalog_with(PROTECTED)))
        (refusal,) = decided.refusals
        assert refusal.for_good and "which is gone" in refusal.why
    two = catalog_with(PROTECTED, replace(spec("gpu"), replacement="protect"))
    with pytest.raises(PolicyError, match="2 things may not be changed"):
        refuse(planned((), live(ALIVE, catalog=two)).refusals, preview=True)


def test_a_protected_cluster_that_is_not_edited_is_kept_and_made_again() -> None:  # B1
    """Dropping protection, another `retireWithin` or a failure are no edits of it."""
    for asked in (PROTECTED, OLD, replace(PROTECTED, retire_within=timedelta(days=3))):
        for alive in ((ALIVE,), (), (replace(ALIVE, state="ERROR"),), (cluster(f"{ALIVE.id}-2", hash_of(OLD)),)):
            assert not planned((asked,), live(*alive, catalog=catalog_with(PROTECTED))).refusals


def test_without_a_catalog_the_file_s_own_word_protects_what_lives() -> None:
    edited = replace(PROTECTED, generation=2)
    for catalog in (None, PublishedCatalog(damage="gone bad")):
        assert planned((edited,), live(ALIVE, catalog=catalog)).refusals
        assert not planned((PROTECTED,), live(ALIVE, catalog=catalog)).refusals
        assert not planned((edited,), live(catalog=catalog)).refusals
    assert not planned((edited,), live(ALIVE, catalog=catalog_with(OLD))).refusals, "protected from then on"


def test_a_stack_with_a_protected_cluster_is_not_taken_down() -> None:  # B3
    """By the word of its file, or of what it deployed last: then dropping it is a deployment of its own."""
    for file, catalog in (((PROTECTED,), None), ((OLD,), catalog_with(PROTECTED)), ((), catalog_with(PROTECTED))):
        refusal = undeletable(file, catalog, Origin(STACK))
        assert refusal is not None and "cluster cpu is protected" in refusal.what
        assert "stacks/Pulumi.prod.yaml, slipway:persistentResources.cpu: " in refusal.why
        assert "`replacement: rollover`" in refusal.fix
    for read in (catalog_with(OLD), UNREAD, None):
        assert undeletable((OLD,), read, Origin(STACK)) is None, "what can't be read stands in nobody's way"


STATE = State(protected={ALIVE.id: "cpu"})


def from_state(*declared: ClusterSpec, catalog: PublishedCatalog | None = None) -> Plan:
    return planned(declared, live(ALIVE, catalog=catalog), known=STATE)


def test_without_a_catalog_the_state_remembers_what_is_protected() -> None:  # B3
    """Whatever the file says now: an entry that is gone or renamed, an edit that drops the protection as well."""
    dropped = replace(spec(high=6), replacement="rollover")
    for declared in ((), (replace(PROTECTED, name="other", display_name=""),), (dropped,)):
        for catalog in (None, PublishedCatalog(damage="gone bad")):
            (refusal,) = from_state(*declared, catalog=catalog).refusals
            assert refusal.for_good and ALIVE.id in refusal.why
    assert not from_state(OLD).refusals and not from_state(PROTECTED).refusals
    assert not from_state(catalog=catalog_with(OLD)).refusals, "where there is one, it was written last"
    kept = undeletable((), None, Origin(STACK), STATE.protected)
    assert kept is not None and "cluster cpu is protected" in kept.what
    assert undeletable((), catalog_with(OLD), Origin(STACK), STATE.protected) is None


class Clock:
    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


OFFERED = PublishedCatalog({"cpu": "cpu-old", "gpu": "gpu-old"}, (), timedelta(hours=1))
LEFT_OUT = PublishedCatalog({"cpu": "cpu-new"}, ("cpu-old",), timedelta(hours=1))


@pytest.mark.parametrize("catalog", [OFFERED, PublishedCatalog({"cpu": "cpu-new"}, ("cpu-old",), None), None, UNREAD])
def test_it_counts_from_the_first_question_when_nothing_tells_of_more(
    catalog: PublishedCatalog | Unknown | None,
) -> None:
    """The new catalog is published by then, or, in a destruction, deleted."""
    clock = Clock()
    grace = GracePeriod(120, clock)
    grace.began_with(catalog)
    clock.now += 600  # clusters are made, the catalog is published
    assert grace.left("cpu-old") == 120
    clock.now += 30
    assert grace.left("cpu-old") == grace.left("gpu-old") == 90, "clusters wait at the same time"
    clock.now += 100
    assert grace.left("cpu-old") == 0


@pytest.mark.parametrize(("age", "left"), [(3600, 0), (120, 0), (50, 70), (0, 120), (-300, 120)])
def test_a_deployment_that_comes_later_waits_for_nothing(age: float, left: float) -> None:
    """The age is the storage's own: an object may seem to come from the future, and then nothing is known of it."""
    clock = Clock()
    grace = GracePeriod(120, clock)
    grace.began_with(PublishedCatalog(LEFT_OUT.clusters, LEFT_OUT.retiring, timedelta(seconds=age)))
    assert grace.left("cpu-old") == left
    clock.now += 60
    assert grace.left("cpu-old") == max(0, left - 60), "the time of the deployment itself counts too"


def test_an_account_and_buckets_are_offered_as_clusters_are() -> None:
    clock = Clock()
    grace = GracePeriod(120, clock)
    grace.began_with(
        PublishedCatalog({}, (), timedelta(hours=1), needs=frozenset({"acme-work", "t@acme.iam"})), "acme-2"
    )
    assert grace.left("t@acme.iam") == grace.left("acme-work") == 120
    assert grace.left("u@acme.iam") == 0
    assert grace.replaced("acme-catalog") and not grace.replaced("acme-2")
    assert not GracePeriod(120, clock).replaced("acme-catalog"), "in a destruction nothing is published elsewhere"


def test_it_is_two_minutes_unless_set_otherwise() -> None:
    for text, expected in (("", 120), ("5m", 300), ("0", 0)):
        assert GracePeriod.of({"SLIPWAY_GRACE": text}).left("cpu-old") == pytest.approx(expected, abs=1)
    with pytest.raises(ConfigError) as error:
        GracePeriod.of({"SLIPWAY_GRACE": "soon"})
    assert error.value.what == "SLIPWAY_GRACE: invalid duration 'soon'" and "SLIPWAY_GRACE=2m" in error.value.fix

"""A season that there is no quota for waits, and holds up nothing else of its stack. # B6 # D2 # Z2"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

import pytest

from slipway.authoring.stack.stack import Stack
from slipway.base.errors import PolicyError
from slipway.deploying.deployment.deployment import (
    Deployment,
    ProvenStack,
    build_packages,
    plan_deployment,
    prove_stack,
)
from slipway.deploying.deployment.plan import Plan, Waits
from slipway.deploying.deployment.schedule import wait_for_quota
from slipway.google.catalog import document
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob
from slipway.google.live import Increase, Live, QuotaLimit
from slipway.google.quotas import QuotaPreference
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.withdrawal import withdrawn
from slipway.model.cluster import CurrentCluster
from slipway.model.labels import Revision
from tests.slipway.authoring.stack.files import read, with_config

from .world import ROOT, ahead, cluster, deleted, job, live, planned_for

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
HOUR, DAY = timedelta(hours=1), timedelta(days=1)
CPUS, QUOTA = "custom_model_training_cpus", "CustomModelTrainingCPUsPerProjectPerRegion"
POOL = "pools: { all: { machine: n1-standard-8, replicas: 1 } }"
TURN = (f"first: {{ {POOL}, until: 2026-11-21 }}", f"second: {{ {POOL}, from: 2026-11-21 }}")


def proven(*entries: str, quota: str = "mode: enforce", templates: str = "") -> ProvenStack:
    lines = "\n".join(f"              {entry}" for entry in entries)
    config = f"""
            slipway:templates: [{templates}]
            slipway:quota: {{ contactEmail: ml@acme.example, {quota} }}
            slipway:persistentResources:
{lines}
            """
    return prove_stack(read(with_config(config)), ROOT / "templates")


@dataclass
class Story:
    """Deployments of a stack, hour by hour, of machines with 8 CPUs each, and a limit."""

    proven: ProvenStack
    limit: int = 8
    now: datetime = NOW - DAY
    clusters: dict[str, PersistentResource] = field(default_factory=dict)
    jobs: list[VertexJob] = field(default_factory=list)
    catalog: PublishedCatalog | None = None
    preferences: Mapping[str, QuotaPreference] = field(default_factory=dict)

    @property
    def stack(self) -> Stack:
        return self.proven.stack

    def seen(self) -> Live:
        found = dict.fromkeys(self.proven.metrics, 10000) | {CPUS: self.limit}
        limits = {
            metric: QuotaLimit(metric, self.stack.region, value, Increase.POSSIBLE) for metric, value in found.items()
        }
        limits[CPUS] = replace(limits[CPUS], quota_id=QUOTA)
        there = live(*self.clusters.values(), jobs=tuple(self.jobs), catalog=self.catalog)
        return replace(there, limits=limits, preferences=self.preferences)

    def decided(self, *, preview: bool = False) -> Deployment:
        seen, stack = self.seen(), self.stack

        def planned(waits: Waits) -> Plan:
            return planned_for(stack, seen, self.now, waits=waits)

        chosen = wait_for_quota(planned({}), seen, stack, planned)
        revision = Revision("3f9c2e1", dirty=False)
        proven, packages = build_packages(self.proven, ROOT)
        return plan_deployment(proven, packages, revision, seen, chosen, preview=preview, now=self.now)

    def up(self) -> Deployment:
        done = self.decided()
        done.refuse()
        for id_ in deleted(done.plan):
            del self.clusters[id_]
        for made in done.plan.current:
            self.clusters[made.id] = _there(made, self.stack.name, self.now)
        # As it is read by the next one.
        self.catalog = document.published(document.write(done.catalog), "catalog.json")
        return done

    @property
    def names(self) -> set[str]:
        return {cluster.labels["slipway-name"] for cluster in self.clusters.values()}

    @property
    def whole(self) -> Catalog:
        assert self.catalog and self.catalog.whole
        return self.catalog.whole


def _there(one: CurrentCluster, stack: str, now: datetime) -> PersistentResource:
    made = cluster(one.id, one.fingerprint, name=one.spec.name, stack=stack)
    pools = tuple(replace(made.pools[0], id=pool.name, machine=pool.machine) for pool in one.spec.pools)
    return replace(made, create_time=now, pools=pools)


def begun(
    *entries: str, quota: str = "mode: enforce", others: Iterable[PersistentResource] = (), limit: int = 8
) -> Story:
    """Deployed the day before its season begins."""
    story = Story(proven(*entries, quota=quota), limit)
    story.up()
    story.clusters |= {other.id: other for other in others}
    story.now = NOW
    return story


def test_a_job_on_the_one_that_ends_leaves_the_other_waiting_until_it_has_ended() -> None:
    """The first is withdrawn at once: else people would go on submitting to it, and it were never idle."""
    story = begun(*TURN)
    (first,) = story.clusters
    story.jobs = [job(first, "tune")]
    waits = story.up()
    assert story.names == {"first"} and not story.whole.clusters and story.whole.retiring == (first,)
    assert story.whole.dormant["second"].lacks == (CPUS,)
    (warned,) = (warning for warning in waits.warnings if "second" in warning)
    assert warned.startswith("cluster second is not made") and "custom_model_training_cpus" in warned
    assert "short by 8 (limit 8;" in warned and f"drawn by {first} 8)" in warned
    words = (
        "cluster second waits for quota since its season began on 2026-11-21: too little of custom_model_training_cpus"
    )
    assert story.whole.dormant["second"].words == words
    again = story.catalog
    story.now += HOUR
    story.up()
    assert story.catalog == again, "nothing is published anew while it waits"
    story.jobs, story.now = [], story.now + HOUR
    turn = story.up()
    assert story.names == {"second"} and set(story.whole.clusters) == {"second"} and not turn.warnings
    assert [action.id for action in ahead(turn.plan)] == [first]


def test_what_an_edit_brings_is_refused_as_before() -> None:
    late = Story(proven(TURN[1]), limit=0, now=NOW)
    with pytest.raises(PolicyError, match="quota does not suffice"):
        late.up()
    edited = begun(TURN[1], limit=0)
    edited.proven = proven(f"second: {{ {POOL}, from: 2026-11-21, generation: 2 }}")
    with pytest.raises(PolicyError, match="quota does not suffice"):
        edited.up()
    added = begun(TURN[1], limit=0)
    added.proven = proven(TURN[1], f"new: {{ {POOL} }}")
    with pytest.raises(PolicyError, match="creating new needs"):
        added.up()
    assert [cluster.spec.name for cluster in added.decided(preview=True).plan.dormant] == ["second"]


@pytest.mark.parametrize("catalog", [None, PublishedCatalog(damage="gone bad")])
def test_where_nobody_can_tell_what_was_deployed_it_is_refused(catalog: PublishedCatalog | None) -> None:
    story = begun(TURN[1], limit=0)
    story.catalog = catalog
    with pytest.raises(PolicyError, match="quota does not suffice"):
        story.up()


def test_a_check_that_only_warns_makes_it() -> None:
    story = begun(TURN[1], quota="mode: warn", limit=0)
    story.up()
    assert story.names == {"second"}


def requests(done: Deployment) -> dict[str, int]:
    return {request.metric: request.value for request in done.report.requests}


def test_quota_is_asked_for_when_the_season_is_declared_and_its_day_waits_for_no_answer() -> None:
    """An `up` with other edits is not to wait for Google, or to fail for it. # Z2"""
    declared = Story(proven(TURN[1], quota="mode: request"), limit=0)
    assert requests(declared.up()) == {CPUS: 8}
    facts = declared.decided().facts.quota
    assert facts.requests == {CPUS: 8} and not facts.lines, "and holds up nothing until then"

    declared.now = NOW
    pending = QuotaPreference("x", QUOTA, "us-central1", 8, reconciling=True)
    for answer in (pending, replace(pending, reconciling=False, granted=4)):
        declared.preferences = {QUOTA: answer}
        small = "small: { pools: { all: { machine: n2-standard-8, replicas: 1 } } }"
        declared.proven = proven(TURN[1], small, quota="mode: request")
        day = declared.up()
        assert declared.names == {"small"} and not day.report.awaited and requests(day)[CPUS] == 8
        assert declared.whole.dormant["second"].lacks == (CPUS,)
    declared.limit = 8
    declared.up()
    assert declared.names == {"small", "second"}


def test_strict_counts_the_maximum() -> None:
    pool = "pools: { all: { machine: n1-standard-8, replicas: { min: 1, max: 2 } } }"
    story = begun(f"second: {{ {pool}, from: 2026-11-21 }}", quota="mode: enforce, strict: true")
    (warned,) = story.up().warnings
    assert "short by 8 (limit 8)" in warned


def test_one_that_an_earlier_deployment_made_is_there_whatever_the_catalog_says() -> None:
    """It was killed before it could publish that."""
    story = begun(TURN[1])
    made = planned_for(story.stack, story.seen(), NOW).current[0]
    story.clusters[made.id], story.limit = _there(made, story.stack.name, NOW), 0
    story.up()
    assert set(story.whole.clusters) == {"second"} and story.names == {"second"}


def test_an_edit_goes_before_a_season_that_finds_no_quota_beside_it() -> None:
    """It was reviewed, and somebody waits for it; that the season waits is said, and each deployment looks again."""
    quota = "mode: request"
    story = begun(TURN[1], quota=quota)
    story.proven = proven(TURN[1], f"new: {{ {POOL} }}", quota=quota)
    done = story.up()
    assert story.names == {"new"} and story.whole.dormant["second"].lacks == (CPUS,)
    assert any("second is not made yet" in warning for warning in done.warnings)
    story.proven = proven(TURN[1], quota=quota)
    story.up()
    story.up()
    assert story.names == {"second"}, "once that is gone"


@pytest.mark.parametrize("how", ["deleted", "failed", "alternative"])
def test_what_is_only_made_again_is_no_edit(how: str) -> None:
    instead = "alternatives: [{ pools: { all: { machine: n2-standard-8, replicas: 1 } } }]"
    lab = f"lab: {{ {POOL}, {instead} }}"
    story = begun(lab, TURN[1])
    ((id_, made),) = story.clusters.items()
    if how == "failed":
        story.clusters[id_] = replace(made, state="ERROR")
    else:
        story.clusters.clear()
    if how == "alternative":
        other = story.decided().plan.current[0].alternatives[0].id
        whole = replace(story.whole, clusters={"lab": replace(story.whole.clusters["lab"].options[1], id=other)})
        story.catalog = document.published(document.write(whole), "catalog.json")
    done = story.decided()
    assert not done.report.errors and [cluster.spec.name for cluster in done.plan.current] == ["lab"]
    assert [cluster.spec.name for cluster in done.plan.dormant] == ["second"]


@pytest.mark.parametrize("generation", [1, 2])
@pytest.mark.parametrize("half_way", [False, True])
def test_what_is_replaced_in_place_is_made_again_while_a_season_waits(half_way: bool, generation: int) -> None:
    """Half way: a deployment deleted it, and had no machines for the next."""
    in_place = f"{POOL}, replacement: in-place"
    story = begun(f"lab: {{ {in_place} }}", TURN[1])
    (id_,) = story.clusters
    if half_way:
        story.clusters.clear()
        story.catalog = document.published(document.write(withdrawn(story.whole, [id_], NOW)), "catalog.json")
    story.proven = proven(f"lab: {{ {in_place}, generation: {generation} }}", TURN[1])
    done = story.up()
    assert story.names == {"lab"} and done.plan.current[0].id.startswith("lab-")
    assert set(story.whole.dormant) == {"second"} and "is short by 8" in done.warnings[0]


def test_one_that_fits_does_not_wait_behind_one_that_never_fits() -> None:
    big = "pools: { all: { machine: n1-standard-8, replicas: 2 } }"
    seasons = (f"big: {{ {big}, from: 2026-11-21 }}", TURN[1])
    story = begun(*seasons)
    done = story.up()
    assert story.names == {"second"} and set(story.whole.dormant) == {"big"}
    assert "short by 8 (limit 8)" in done.warnings[0], "what it lacks by itself"
    hopeless = begun(*seasons, limit=4)
    warned = hopeless.up().warnings
    assert not hopeless.names
    assert [warning.split("short by ")[1].split(" ")[0] for warning in warned] == ["12", "4"]
    edited = begun(*seasons)
    edited.proven = proven(*seasons, f"new: {{ {POOL} }}")
    edited.up()
    assert edited.names == {"new"} and set(edited.whole.dormant) == {"big", "second"}

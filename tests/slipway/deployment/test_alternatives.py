"""What preview says of alternatives, and what is published of the one that was made. # N2 # P2"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from slipway.deployment.deployment import Deployment, build_packages, plan_deployment, prove_stack
from slipway.deployment.plan import Plan, as_made, plan
from slipway.deployment.summary import made_otherwise
from slipway.generations.published_clusters import declared
from slipway.labels import Revision
from slipway.live import Live, QuotaLimit
from tests.slipway.stack.files import read, with_config

ROOT = Path(__file__).with_name("project")
NOW = datetime(2026, 11, 1, tzinfo=UTC)
STACK = read(
    with_config(
        """
        slipway:templates: [crew]
        slipway:persistentResources:
          cpu:
            pools:
              head: { machine: n1-standard-4, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 1 }
              workers: { machine: n1-standard-8, disk: { type: pd-ssd, sizeGb: 100 }, replicas: { min: 1, max: 4 } }
            alternatives:
              - pools: { workers: { machine: n1-standard-16, replicas: { min: 1, max: 2 } } }
        """
    )
)
PROVEN = prove_stack(STACK, ROOT / "templates")
SHORT = "custom_model_training_cpus"
LIMITS = {one: QuotaLimit(one, STACK.region, 15 if one == SHORT else 10_000) for one in PROVEN.metrics}
LIVE = Live(clusters=(), jobs=(), limits=LIMITS, catalog=None)


def decided() -> Plan:
    return plan(STACK.clusters, LIVE, stack=STACK.name, project=STACK.project, region=STACK.region, now=NOW)


def deployed(of: Plan) -> Deployment:
    packages = build_packages(PROVEN, ROOT)
    return plan_deployment(PROVEN, packages, Revision("3f9c2e1", dirty=False), LIVE, of, preview=True, now=NOW)


def test_preview_says_what_may_come_at_what_price_for_whom_and_whether_quota_suffices() -> None:
    found = deployed(decided())
    (lacking, unfit) = [one for one in found.warnings if "alternative 1" in one]
    assert "alternative 1 is not for" in unfit and "crew: workers needs" in unfit
    assert "alternative 1 would be refused" in lacking and "custom_model_training_cpus" in lacking
    assert found.report.errors == ()
    published = found.catalog.clusters["cpu"]
    assert published.alternatives is not None and published.alternative is None
    assert [one.machine.type for one in published.alternatives[0].values()] == ["n1-standard-4", "n1-standard-16"]
    assert declared(published).alternatives and declared(published).options[1].pools[1].max == 2


def test_what_was_made_is_published_and_what_does_not_fit_it_is_no_error() -> None:
    before = decided()
    first, other = before.current[0].id, before.current[0].alternatives[0].id
    after = as_made(before, {first: other})
    found = deployed(after)
    found.refuse()
    cluster = found.catalog.clusters["cpu"]
    assert (cluster.id, cluster.alternative, cluster.alternatives) == (other, 1, None)
    assert cluster.pools["workers"].machine.type == "n1-standard-16"
    offer = next(one for one in found.catalog.templates["crew"].offers if one.capacity_type == "pool")
    assert (offer.available, offer.cluster, offer.dormant) == (False, "", "cpu")
    assert "only as asked for first" in offer.why
    (line,) = made_otherwise(before, after, PROVEN.templates.values(), STACK.region)
    assert f"{other} as its alternative 1, $" in line
    assert "not offered on it: crew" in line
    assert tuple(made_otherwise(before, before, (), STACK.region)) == ()


def test_of_the_catalog_alone_the_same_cluster_follows() -> None:
    """`slipway schedule` plans by it."""
    before = decided()
    for made in (before, as_made(before, {before.current[0].id: before.current[0].alternatives[0].id})):
        one = made.current[0]
        again = plan(
            (declared(deployed(made).catalog.clusters["cpu"]),),
            replace(LIVE, clusters=()),
            stack=STACK.name,
            project=STACK.project,
            region=STACK.region,
            now=NOW,
        )
        assert again.current[0].id == one.id

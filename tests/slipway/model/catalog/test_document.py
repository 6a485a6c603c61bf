"""What is published is what the CLI reads. # D4 # N8"""

from dataclasses import replace
from decimal import Decimal

import pytest

from slipway.authoring.stack.stack import Stack, WorkspaceSettings
from slipway.authoring.template.proof import StackResources, prove
from slipway.base.codec import write as write_json
from slipway.deploying.deployment.actions import of_current
from slipway.deploying.deployment.plan import Plan
from slipway.deploying.deployment.publication import catalog_of, draws, template_entry
from slipway.deploying.generations.action import Action, What
from slipway.google.catalog.document import read, write
from slipway.google.quota.report import OfferVerdict
from slipway.model.catalog.model import Template
from slipway.model.cluster import CurrentCluster
from slipway.model.prices import Price
from slipway.template import Parameter
from tests.builders.templates import job_template as template
from tests.slipway.authoring.template.conftest import CONTEXT, cluster

CPU = cluster()
STACK = Stack(
    "dev", "acme-dev", "us-central1", WorkspaceSettings((), "acme-dev-catalog", "acme-dev-work", "trainer"), (CPU,)
)
CURRENT = CurrentCluster(CPU, "cpu-1a2b3c4", "1a2b3c4", import_=False)
PLAN = Plan((of_current(CURRENT), Action("cpu", "cpu-0000000", What.RETIRE)))
VERDICTS = {"pool": OfferVerdict(True), "spot": OfferVerdict(False, "quota: short by 19", lacks_quota=True)}


def published() -> str:
    asked = template()
    entry = template_entry(
        asked, prove(asked, StackResources((CPU,))), VERDICTS, CONTEXT, {asked.packages[0]: "packages/p.tar.gz"}
    )
    return write(catalog_of(replace(CONTEXT, commit="3f9c2e1", dirty=True), STACK, PLAN, {asked.name: entry}))


def test_the_cli_reads_what_is_published() -> None:
    catalog = read(published(), "gs://acme-dev-catalog/catalog.json")
    assert (catalog.stack, catalog.commit, catalog.dirty, catalog.retiring) == (
        "dev",
        "3f9c2e1",
        True,
        ("cpu-0000000",),
    )
    assert catalog.work_bucket == "acme-dev-work"
    workers = catalog.clusters["cpu"].pools[-1]
    assert (catalog.clusters["cpu"].id, workers.machine.type, workers.min, workers.max) == (
        "cpu-1a2b3c4",
        "n1-standard-8",
        1,
        4,
    )
    assert workers.price_per_hour == Price(Decimal("0.4638"))
    found = catalog.templates["dask-digits"]
    assert found.roles == ("scheduler", "workers")
    assert [(item.name, item.type, item.default, item.required) for item in found.parameters] == [
        ("workers", "int", 2, False),
        ("trees", "int", 200, False),
    ]
    pool, spot = found.offers
    assert (pool.lacks_quota, spot.lacks_quota) == (False, True)
    assert (pool.capacity_type, pool.cluster, pool.pools, pool.available) == ("pool", "cpu", ("head", "workers"), True)
    assert pool.price_per_hour == Price(Decimal("1.1728"))  # one n1-standard-4, two n1-standard-8, with their disks
    assert pool.request["jobSpec"]["persistentResourceId"] == "cpu-1a2b3c4"
    assert (spot.available, spot.why, spot.cluster) == (False, "quota: short by 19", "")
    assert spot.price_per_hour.complete and spot.price_per_hour.known < pool.price_per_hour.known


def test_what_was_published_is_not_held_to_the_official_type_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """As long as its parameters have the same values: these stand in the request when it is held to it."""
    known = read(published(), "gs://acme-dev-catalog/catalog.json").templates["dask-digits"]
    held: list[object] = []
    monkeypatch.setattr("slipway.authoring.template.compile.check", lambda *_, **__: held.append(1))

    def publish(known: Template) -> int:
        held.clear()
        asked = template()
        packages = {asked.packages[0]: "packages/p.tar.gz"}
        template_entry(asked, prove(asked, StackResources((CPU,))), VERDICTS, CONTEXT, packages, known=known)
        return len(held)

    assert publish(known) == 0
    assert publish(replace(known, parameters=known.parameters[:1])) == 2
    assert publish(replace(known, offers=known.offers[:1])) == 1


def test_a_parameter_without_default_is_required() -> None:
    asked = template(parameters=(Parameter("workers", int, min=1, max=2), Parameter("trees", int)))
    entry = template_entry(
        asked, prove(asked, StackResources((CPU,))), VERDICTS, CONTEXT, {asked.packages[0]: "packages/p.tar.gz"}
    )
    assert all("default" not in parameter for parameter in write_json(entry)["parameters"])


def test_offers_beside_the_pool_draw_what_the_worker_pools_are() -> None:  # D2
    asked = template()
    on_pool, spot = draws(asked, prove(asked, StackResources((CPU, cluster(name="big")))))
    assert (on_pool.label, on_pool.machines) == ("pool", ())
    assert (spot.label, spot.preemptible) == ("spot", True)
    assert [(group.machine.type, group.count) for group in spot.machines] == [
        ("n1-standard-4", 1),
        ("n1-standard-8", 2),
    ]

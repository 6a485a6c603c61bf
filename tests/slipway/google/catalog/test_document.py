"""A catalog as it is published and read: in whole by the CLI, in two keys by any deployment. # D4 # N1 # N8"""

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.authoring.stack.stack import Stack
from slipway.authoring.template.proof import StackResources, prove
from slipway.base.errors import ConfigError
from slipway.base.installation import updating
from slipway.deploying.deployment.actions import of_current
from slipway.deploying.deployment.plan import Plan
from slipway.deploying.deployment.publication import catalog_of, draws, template_entry
from slipway.deploying.generations.action import Action, What
from slipway.google.catalog import document
from slipway.google.catalog.document import PublishedCatalog, read, write
from slipway.google.catalog.document import published as published_part
from slipway.google.catalog.lookup import find_template
from slipway.google.quota.report import OfferVerdict
from slipway.model.catalog.template import Template
from slipway.model.cluster import CurrentCluster
from slipway.model.prices import UNKNOWN, Price
from tests.builders.documents import with_value
from tests.builders.stacks import workspace_entry
from tests.builders.templates import job_template as template
from tests.slipway.authoring.template.conftest import CONTEXT, cluster

CPU = cluster()
STACK = Stack(
    "dev", "acme-dev", "us-central1", workspace_entry((), "acme-dev-catalog", "acme-dev-work", "trainer"), (CPU,)
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
    assert catalog.work_bucket == "acme-dev-work" and catalog.cluster_named("cpu-0000000") is None
    assert catalog.cluster_named("cpu-1a2b3c4") is catalog.clusters["cpu"]
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
        packages = {asked.uploaded[0]: "packages/p.tar.gz"}
        template_entry(asked, prove(asked, StackResources((CPU,))), VERDICTS, CONTEXT, packages, known=known)
        return len(held)

    assert publish(known) == 0
    assert publish(replace(known, parameters=known.parameters[:1])) == 2
    assert publish(replace(known, offers=known.offers[:1])) == 1


def test_offers_beside_the_pool_draw_what_the_worker_pools_are() -> None:  # D2
    asked = template()
    on_pool, spot = draws(asked, prove(asked, StackResources((CPU, cluster(name="big")))))
    assert (on_pool.label, on_pool.machines) == ("pool", ())
    assert (spot.label, spot.preemptible) == ("spot", True)
    assert [(group.machine.type, group.count) for group in spot.machines] == [
        ("n1-standard-4", 1),
        ("n1-standard-8", 2),
    ]


SOURCE = "gs://c/catalog.json"


@pytest.fixture
def body() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(published())
    return found


def test_what_a_version_did_not_write_is_required_unknown_or_not_whole(body: dict[str, Any]) -> None:
    del body["templates"]["dask-digits"]["parameters"][0]["default"]
    body["clusters"]["cpu"]["pools"]["workers"]["pricePerHour"] = None
    body["clusters"]["cpu"]["pools"]["head"]["priceComplete"] = False
    catalog = read(json.dumps(body), SOURCE)
    assert catalog.templates["dask-digits"].parameters[0].required
    prices = {pool.name: pool.price_per_hour for pool in catalog.clusters["cpu"].pools}
    assert prices == {"workers": UNKNOWN, "head": Price(Decimal("0.2453"), complete=False)}


def test_a_price_of_which_a_bound_is_known_is_unknown_to_a_version_that_knows_no_bounds(body: dict[str, Any]) -> None:
    catalog = read(json.dumps(body), SOURCE)
    template = catalog.templates["dask-digits"]
    bound = Price(Decimal("4.2500"), at_most=True)
    offers = tuple(replace(offer, price_per_hour=bound) for offer in template.offers)
    text = write(replace(catalog, templates={"dask-digits": replace(template, offers=offers)}))
    written = json.loads(text)["templates"]["dask-digits"]["offers"][0]
    assert (written["pricePerHour"], written["priceComplete"], written["priceAtMost"]) == (None, False, "4.2500")
    assert read(text, SOURCE).templates["dask-digits"].offers[0].price_per_hour == bound
    with pytest.raises(ConfigError, match="can't be read") as error:
        find_template(read(text.replace('"4.2500"', '"much"'), SOURCE), "dask-digits")
    assert "priceAtMost" in error.value.why


def test_a_template_is_read_once_when_it_is_first_asked_for(
    body: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    (name,) = body["templates"]
    body["templates"]["other"] = body["templates"][name]
    asked: list[str] = []
    read_one = document._template

    def counted(name: str, *rest: Any) -> Template:
        asked.append(name)
        return read_one(name, *rest)

    monkeypatch.setattr(document, "_template", counted)
    catalog = read(json.dumps(body), "gs://c")
    assert asked == [] and [*catalog.templates] == [name, "other"] and "third" not in catalog.templates
    assert find_template(catalog, "other") is find_template(catalog, "other") and asked == ["other"]
    assert replace(catalog, templates=dict(catalog.templates)) == catalog


def test_a_newer_schema_says_to_update(body: dict[str, Any]) -> None:
    with pytest.raises(ConfigError) as error:
        read(json.dumps({**body, "schema": 3}), SOURCE)
    assert "newer" in error.value.what and SOURCE in error.value.what
    assert error.value.fix == updating()
    assert error.value.exit_code == 2


@pytest.mark.parametrize("content", ["", "{", "[]", "null", '{"schema": "2"}', '{"schema": 1}', "{}"])
def test_what_is_no_catalog_is_named_with_its_address(content: str) -> None:
    with pytest.raises(ConfigError, match="can't be read") as error:
        read(content, SOURCE)
    assert SOURCE in error.value.what and error.value.why


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("region",), "evil.example/"),
        (("region",), "us-central1\n"),
        (("project",), "../../elsewhere"),
        (("project",), "p?alt=x"),
        (("stack",), "../../../tmp"),
        (("stack",), "/tmp/elsewhere"),
        (("storage", "work"), "bucket/../other"),
        (("clusters", "cpu", "id"), "x/../y"),
        (("clusters", "cpu", "region"), "evil.example/x"),
        (("otherRegions",), ["evil.example/x"]),
        (("otherRegions",), ["us-east4"] * 10_000),
        (("formerRegions",), ["evil.example/x"]),
        (("quotas", "custom_model_training_cpus"), "../../elsewhere"),
    ],
)
def test_what_becomes_a_host_a_path_or_a_file_can_be_nothing_else(
    body: dict[str, Any], path: tuple[Any, ...], value: str | list[str]
) -> None:
    """A catalog may come from anybody's bucket: a region with a slash would send the person's token elsewhere."""
    with pytest.raises(ConfigError) as error:
        read(json.dumps(with_value(body, path, value)), SOURCE)
    assert path[-1] in error.value.why


@pytest.mark.usefixtures("no_garbage")
def test_a_catalog_nested_beyond_reading_is_no_catalog() -> None:
    with pytest.raises(ConfigError, match="can't be read"):
        read("[" * 100_000 + "]" * 100_000, SOURCE)


def test_an_offer_to_a_cluster_that_is_not_there_is_named(body: dict[str, Any]) -> None:
    body["templates"]["dask-digits"]["offers"][0]["cluster"] = "gpu"
    with pytest.raises(ConfigError) as error:
        find_template(read(json.dumps(body), SOURCE), "dask-digits")
    assert "offers[0].cluster is 'gpu'" in error.value.why


OFFERED = {"clusters": {"cpu": {"id": "cpu-1a2b3c4"}}, "retiring": ["cpu-0000000"]}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize("schema", [{}, {"schema": 0}, {"schema": 1}, {"schema": 99}, {"schema": "2027-01"}])
def test_every_schema_is_read_as_far_as_a_deployment_needs_it(schema: dict[str, Any]) -> None:
    written = json.dumps({**schema, **OFFERED, "templates": {"of": ["a", "later"]}, "storage": None})
    assert published_part(written, SOURCE) == PublishedCatalog({"cpu": "cpu-1a2b3c4"}, ("cpu-0000000",))


def test_jobs_may_be_sent_that_need_any_of_its_buckets_and_accounts() -> None:  # N1 N2
    storage = {"catalog": "c", "work": "w", "workElsewhere": {"us-east4": "w-us-east4"}}
    part = published_part(json.dumps({**OFFERED, "storage": storage, "trainer": "t", "trainers": {"ml": "m"}}), SOURCE)
    assert part.needs == {"c", "w", "w-us-east4", "t", "m"}


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "not valid JSON"),
        (json.dumps(OFFERED).encode()[:-9], "not valid JSON"),
        (b"\xff\xfe\x00", "not valid JSON"),
        (b"[" * 50_000, "not valid JSON"),
        (b"[]", "not a JSON object"),
        (b"{}", "clusters is not an object of clusters with their ids"),
        (b'{"clusters": ["cpu"]}', "clusters is not an object of clusters with their ids"),
        (b'{"clusters": {"cpu": {"id": 7}}}', "clusters is not an object of clusters with their ids"),
        (b'{"clusters": {}}', "retiring is not a list of ids"),
        (b'{"clusters": {}, "retiring": [7]}', "retiring is not a list of ids"),
    ],
)
@pytest.mark.usefixtures("no_garbage")
def test_a_damaged_one_says_where_and_what_and_lists_nothing(content: bytes, words: str) -> None:
    part = published_part(content, SOURCE)
    assert part.damage.startswith(f"{SOURCE}: {words}")
    assert not part.clusters and not part.retiring


@pytest.mark.parametrize("value", ["1e999", "-1e999", "NaN", "Infinity", '"\\ud800"'])
def test_what_no_json_holds_is_damage_wherever_it_stands(value: str) -> None:
    disk = f'{{"diskSpec": {{"bootDiskSizeGb": {value}}}}}'
    offer = f'{{"capacityType": "spot", "available": true, "request": {{"jobSpec": {{"workerPoolSpecs": [{disk}]}}}}}}'
    content = json.dumps(OFFERED)[:-1] + f', "schema": 2, "templates": {{"x": {{"offers": [{offer}]}}}}}}'
    part = published_part(content.encode(), SOURCE)
    assert part.damage.startswith(f"{SOURCE}: not valid JSON") and not part.clusters and part.whole is None


@given(ANYTHING, ANYTHING)
def test_it_is_either_read_or_damaged(clusters: Any, retiring: Any) -> None:
    part = published_part(json.dumps({"clusters": clusters, "retiring": retiring}), SOURCE)
    assert part.damage or (list(part.clusters), list(part.retiring)) == (list(clusters), retiring)

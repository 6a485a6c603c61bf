"""Reading a catalog: the values of a good one, and where a bad one is wrong."""

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest

from slipway.base.errors import ConfigError
from slipway.base.installation import updating
from slipway.google.catalog.document import read, write
from slipway.google.catalog.lookup import find_template
from slipway.model.prices import UNKNOWN, Price
from tests.builders.documents import with_value

from .conftest import POOL

SOURCE = "gs://c/catalog.json"


def test_a_catalog_is_read_into_values(body: dict[str, Any]) -> None:
    catalog = read(json.dumps(body), SOURCE)
    assert (catalog.stack, catalog.project, catalog.region) == ("local", "local-project", "us-central1")
    assert catalog.clusters["cpu"].pools[-1].price_per_hour == Price(Decimal("0.4370"))
    template = catalog.templates["digits"]
    assert template.parameters[0].default == 200 and not template.parameters[0].required
    assert template.offers[0].request["displayName"] == "${slipway.job}"
    named = catalog.cluster_named("cpu-1a2b3c4")
    assert named is not None and named.name == "cpu"
    assert catalog.cluster_named("cpu-0000000") is None


def test_what_a_version_did_not_write_is_required_unknown_or_not_whole(body: dict[str, Any]) -> None:
    del body["templates"]["digits"]["parameters"][0]["default"]
    body["clusters"]["cpu"]["pools"]["workers"]["pricePerHour"] = None
    body["clusters"]["cpu"]["pools"]["others"] = {**POOL, "priceComplete": False}
    catalog = read(json.dumps(body), SOURCE)
    assert catalog.templates["digits"].parameters[0].required
    prices = {pool.name: pool.price_per_hour for pool in catalog.clusters["cpu"].pools}
    assert prices == {"workers": UNKNOWN, "others": Price(Decimal("0.4370"), complete=False)}


def test_a_price_of_which_a_bound_is_known_is_unknown_to_a_version_that_knows_no_bounds(body: dict[str, Any]) -> None:
    catalog = read(json.dumps(body), SOURCE)
    template = catalog.templates["digits"]
    bound = Price(Decimal("4.2500"), at_most=True)
    offers = tuple(replace(one, price_per_hour=bound) for one in template.offers)
    text = write(replace(catalog, templates={"digits": replace(template, offers=offers)}))
    written = json.loads(text)["templates"]["digits"]["offers"][0]
    assert (written["pricePerHour"], written["priceComplete"], written["priceAtMost"]) == (None, False, "4.2500")
    assert read(text, SOURCE).templates["digits"].offers[0].price_per_hour == bound
    with pytest.raises(ConfigError, match="can't be read") as error:
        find_template(read(text.replace('"4.2500"', '"much"'), SOURCE), "digits")
    assert "priceAtMost" in error.value.why


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
    body["templates"]["digits"]["offers"][0]["cluster"] = "gpu"
    with pytest.raises(ConfigError) as error:
        find_template(read(json.dumps(body), SOURCE), "digits")
    assert "offers[0].cluster is 'gpu'" in error.value.why

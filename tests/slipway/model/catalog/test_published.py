"""A deployment reads two keys of any catalog, forever, and never fails on what it finds there. # N1"""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.google.catalog.document import PublishedCatalog, published

ADDRESS = "gs://acme-catalog/catalog.json"
OFFERED = {"clusters": {"cpu": {"id": "cpu-1a2b3c4"}}, "retiring": ["cpu-0000000"]}
ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@pytest.mark.parametrize("schema", [{}, {"schema": 0}, {"schema": 1}, {"schema": 99}, {"schema": "2027-01"}])
def test_every_schema_is_read_as_far_as_a_deployment_needs_it(schema: dict[str, Any]) -> None:
    written = json.dumps({**schema, **OFFERED, "templates": {"of": ["a", "later"]}, "storage": None})
    assert published(written, ADDRESS) == PublishedCatalog({"cpu": "cpu-1a2b3c4"}, ("cpu-0000000",))


def test_jobs_may_be_sent_that_need_any_of_its_buckets_and_accounts() -> None:  # N1 N2
    storage = {"catalog": "c", "work": "w", "workElsewhere": {"us-east4": "w-us-east4"}}
    found = published(json.dumps({**OFFERED, "storage": storage, "trainer": "t", "trainers": {"ml": "m"}}), ADDRESS)
    assert found.needs == {"c", "w", "w-us-east4", "t", "m"}


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
    found = published(content, ADDRESS)
    assert found.damage.startswith(f"{ADDRESS}: {words}")
    assert not found.clusters and not found.retiring


@pytest.mark.parametrize("value", ["1e999", "-1e999", "NaN", "Infinity", '"\\ud800"'])
def test_what_no_json_holds_is_damage_wherever_it_stands(value: str) -> None:
    disk = f'{{"diskSpec": {{"bootDiskSizeGb": {value}}}}}'
    offer = f'{{"capacityType": "spot", "available": true, "request": {{"jobSpec": {{"workerPoolSpecs": [{disk}]}}}}}}'
    content = json.dumps(OFFERED)[:-1] + f', "schema": 2, "templates": {{"x": {{"offers": [{offer}]}}}}}}'
    found = published(content.encode(), ADDRESS)
    assert found.damage.startswith(f"{ADDRESS}: not valid JSON") and not found.clusters and found.whole is None


@given(ANYTHING, ANYTHING)
def test_it_is_either_read_or_damaged(clusters: Any, retiring: Any) -> None:
    found = published(json.dumps({"clusters": clusters, "retiring": retiring}), ADDRESS)
    assert found.damage or (list(found.clusters), list(found.retiring)) == (list(clusters), retiring)

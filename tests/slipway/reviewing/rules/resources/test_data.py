"""Buckets, accounts, the catalog, and what is put back that somebody changed by hand. # N5 # N10"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slipway.deploying.engine.preview import EngineStep, Preview, Resource
from slipway.google.catalog.document import PublishedCatalog
from slipway.model.catalog.withdrawal import mark_under_way
from slipway.model.findings.finding import Grade
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.resources.buckets import buckets
from slipway.reviewing.rules.resources.data import data
from tests.slipway.reviewing.builders import change, facts, step

BUCKET, WORKSPACE = "gcp:storage/bucket:Bucket", "slipway:components:Workspace"


def of_buckets(*steps: EngineStep) -> list[Consequence]:
    return list(buckets(change(facts(), facts(), steps=steps)))


def test_an_adopted_bucket_is_not_compared_with_nothing() -> None:
    state = {"name": "acme-catalog", "versioning": {"enabled": True}, "hierarchicalNamespace": {"enabled": False}}
    forced = {"name": "acme-catalog", "versioning": {"enabled": True}, "forceDestroy": True}
    steps = [
        step("import", BUCKET, "catalog", new=forced, parent=WORKSPACE),
        step("update", BUCKET, "catalog", old=state, new=forced, parent=WORKSPACE, diffs=["forceDestroy"]),
    ]
    assert [one.kind for one in of_buckets(steps[0])] == ["bucket-created"]
    assert {one.kind: one.grade for one in of_buckets(*steps)} == {
        "bucket-created": Grade.NOTE,
        "force-destroy": Grade.NOTE,
    }


ACCOUNT, OBJECT = "gcp:serviceaccount/account:Account", "gcp:storage/bucketObject:BucketObject"
DATASET, MEMBER = "gcp:bigquery/dataset:Dataset", "gcp:projects/iAMMember:IAMMember"
CATALOG = "slipway:components:Catalog"


def refreshed(
    type_: str,
    old: Mapping[str, Any],
    now: Mapping[str, Any] | None,
    new: Mapping[str, Any],
    parent: str = "",
    outputs: tuple[Mapping[str, Any], Mapping[str, Any]] = ({}, {}),
) -> list[Consequence]:
    """A resource as it was deployed, as it is, and as it is declared."""
    urn = f"urn:pulumi:prod::slipway::{type_}::x"
    states = Resource(old, outputs[0]), None if now is None else Resource(now, outputs[1])
    standing = EngineStep("refresh", urn, type_, "x", parent, *states)
    planned = EngineStep("create" if now is None else "update", urn, type_, "x", parent, states[1], Resource(new))
    return list(data(change(facts(), facts(), preview=Preview((planned,), {urn: standing}))))


def test_an_edit_of_the_program_and_what_it_adopts_are_no_drift() -> None:
    old, now = {"a": 1, "b": 1}, {"a": 2, "b": 1}
    assert refreshed(DATASET, old, now, {"a": 2, "b": 2}) == []
    assert refreshed(DATASET, old, old, {"a": 3, "b": 1}) == []
    (one,) = refreshed(DATASET, old, now, {"a": 1, "b": 2})
    assert one.so == "`a` `1` → `2`"


def test_a_field_that_is_named_as_what_moves_by_itself_is_told_where_the_program_sets_it() -> None:
    (one,) = refreshed(DATASET, {"expirationTime": 1}, {"expirationTime": 2}, {"expirationTime": 1})
    assert (one.kind, "expirationTime" in one.sentence) == ("drift", True)


def test_what_moves_by_itself_is_no_drift() -> None:
    same = {"location": "US"}
    assert refreshed(DATASET, same, same, same, outputs=({"etag": "a"}, {"etag": "b"})) == []
    assert refreshed("gcp:vertex/aiPersistentResource:AiPersistentResource", same, None, same) == []
    assert refreshed(OBJECT, same, None, same, WORKSPACE) == []


def test_a_catalog_that_somebody_overwrote_is_published_anew() -> None:
    state = {"bucket": "b", "name": "catalog.json", "content": "[secret]"}
    (one,) = refreshed(OBJECT, state, state, state, CATALOG, ({"md5hash": "a"}, {"md5hash": "b"}))
    assert (one.kind, "overwrote" in one.sentence) == ("drift", True)
    assert refreshed(OBJECT, state, state, state, CATALOG, ({"md5hash": "a"}, {"md5hash": "a"})) == []


def test_a_catalog_that_an_unfinished_deployment_wrote_is_nobodys_doing() -> None:  # N1
    state = {"bucket": "b", "name": "catalog.json", "content": "[secret]"}
    urn = f"urn:pulumi:prod::slipway::{OBJECT}::x"
    old, now = (Resource(state, {"md5hash": one}) for one in "ab")
    preview = Preview(
        (EngineStep("update", urn, OBJECT, "x", CATALOG, now, Resource(state)),),
        {urn: EngineStep("refresh", urn, OBJECT, "x", CATALOG, old, now)},
    )
    seen = change(facts(), facts(), preview=preview)
    assert [one.kind for one in data(seen)] == ["drift"]
    noted = PublishedCatalog(whole=mark_under_way(facts().catalog, "3f9c2e1"))
    assert not list(data(replace(seen, live=replace(seen.live, catalog=noted))))

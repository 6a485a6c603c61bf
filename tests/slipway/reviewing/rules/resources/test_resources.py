"""Resources of types that nobody here knows, the catalog, and what is put back that somebody changed by hand.
# N5 # N10 # D7 # P5"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from slipway.deploying.engine.preview import SECRET, EngineStep, Preview, Resource
from slipway.google.catalog.document import PublishedCatalog
from slipway.model.catalog.withdrawal import mark_under_way
from slipway.model.findings.finding import Grade
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.resources.data import data
from slipway.reviewing.rules.resources.exposure import exposure
from slipway.reviewing.rules.resources.people import people
from slipway.reviewing.rules.resources.resources import resources
from tests.slipway.reviewing.builders import PROJECT, change, facts, step
from tests.slipway.reviewing.recordings import recorded

DATASET, OBJECT = "gcp:bigquery/dataset:Dataset", "gcp:storage/bucketObject:BucketObject"
CLUSTER = "gcp:vertex/aiPersistentResource:AiPersistentResource"
CATALOG, WORKSPACE = "slipway:components:Catalog", "slipway:components:Workspace"


def found(*steps: EngineStep) -> list[Consequence]:
    return list(resources(change(None, None, steps=steps)))


def test_what_only_the_cloud_computes_is_for_knowing_and_what_moves_by_itself_silent() -> None:
    same = {"name": "x"}
    assert found(step("update", DATASET, "x", old=same, new=same, diffs=["etag", "lastModifiedTime"])) == []
    (computed,) = found(step("update", DATASET, "x", old=same, new=same, diffs=["defaultKms"]))
    assert computed.grade is Grade.NOTE


def test_a_package_that_nobody_keeps_is_told() -> None:
    (gone,) = found(step("delete", OBJECT, "lora-0", old={}, parent="slipway:components:JobTemplate"))
    assert (gone.kind, gone.grade) == ("resource-deleted", Grade.BLOCKING)


@pytest.mark.parametrize("name", ["edit", "buckets", "by_hand", "moved", "protect"])
def test_recorded_changes_of_slipways_own_resources_are_told_elsewhere(name: str) -> None:
    told = recorded(name)
    assert [*resources(told), *exposure(told)] == []
    assert [person.kind for person in people(told)] == (["access-added"] if name == "edit" else [])


def test_a_policy_that_nobody_can_read_is_said_to_be_one() -> None:
    hidden = step("create", "gcp:projects/iAMPolicy:IAMPolicy", "all", new={"project": PROJECT, "policyData": SECRET})
    assert "access-added" in {consequence.kind for consequence in exposure(change(facts(), facts(), steps=[hidden]))}


def refreshed(type_: str, old: Resource, now: Resource | None, new: Mapping[str, Any], parent: str = "") -> Preview:
    """Return the preview of a resource as it was deployed, as it is, and as it is declared."""
    urn = f"urn:pulumi:prod::slipway::{type_}::x"
    planned = EngineStep("create" if now is None else "update", urn, type_, "x", parent, now, Resource(new))
    return Preview((planned,), {urn: EngineStep("refresh", urn, type_, "x", parent, old, now)})


def drift(of: Preview) -> list[Consequence]:
    return list(data(change(facts(), facts(), preview=of)))


def test_an_edit_of_the_program_and_what_it_adopts_are_no_drift() -> None:
    old, now = Resource({"a": 1, "b": 1}), Resource({"a": 2, "b": 1})
    assert drift(refreshed(DATASET, old, now, {"a": 2, "b": 2})) == []
    assert drift(refreshed(DATASET, old, old, {"a": 3, "b": 1})) == []
    (resource,) = drift(refreshed(DATASET, old, now, {"a": 1, "b": 2}))
    assert resource.so == "`a` `1` → `2`"


def test_what_moves_by_itself_is_no_drift_unless_the_program_sets_it() -> None:
    same = {"location": "US"}
    assert drift(refreshed(DATASET, Resource(same, {"etag": "a"}), Resource(same, {"etag": "b"}), same)) == []
    assert drift(refreshed(CLUSTER, Resource(same), None, same)) == []
    assert drift(refreshed(OBJECT, Resource(same), None, same, WORKSPACE)) == []
    first, moved = (Resource({"expirationTime": at}) for at in (1, 2))
    (finding,) = drift(refreshed(DATASET, first, moved, first.inputs))
    assert finding.kind == "drift" and "expirationTime" in finding.sentence


def test_a_catalog_that_somebody_overwrote_is_drift_unless_an_unfinished_deployment_did() -> None:  # N1
    state = {"bucket": "b", "name": "catalog.json", "content": "[secret]"}
    old, now = (Resource(state, {"md5hash": digest}) for digest in "ab")
    assert drift(refreshed(OBJECT, old, old, state, CATALOG)) == []
    seen = change(facts(), facts(), preview=refreshed(OBJECT, old, now, state, CATALOG))
    assert ["overwrote" in consequence.sentence for consequence in data(seen)] == [True]
    noted = PublishedCatalog(whole=mark_under_way(facts().catalog, "3f9c2e1"))
    assert not list(data(replace(seen, live=replace(seen.live, catalog=noted))))

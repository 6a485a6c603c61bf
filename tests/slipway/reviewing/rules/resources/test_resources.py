"""Resources of types that nobody here knows, the catalog, and what is put back that somebody changed by hand.
# N5 # N10 # D7 # P5"""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from slipway.deploying.engine.preview import SECRET, EngineStep, Preview, Resource
from slipway.google.catalog.document import PublishedCatalog
from slipway.model.catalog.withdrawal import mark_under_way
from slipway.model.findings.finding import Grade
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.resources.data import data
from slipway.reviewing.rules.resources.exposure import exposure
from slipway.reviewing.rules.resources.resources import resources
from tests.slipway.reviewing.builders import PROJECT, change, facts, step

DATASET, OBJECT = "gcp:bigquery/dataset:Dataset", "gcp:storage/bucketObject:BucketObject"
CATALOG, WORKSPACE = "slipway:index:Catalog", "slipway:index:Workspace"


def found(*steps: EngineStep) -> list[Consequence]:
    return list(resources(change(None, None, steps=steps)))


def test_what_only_the_cloud_computes_is_for_knowing_and_what_moves_by_itself_silent() -> None:
    same = {"name": "x"}
    assert found(step("update", DATASET, "x", old=same, new=same, diffs=["etag", "lastModifiedTime"])) == []
    (computed,) = found(step("update", DATASET, "x", old=same, new=same, diffs=["defaultKms"]))
    assert computed.grade is Grade.NOTE


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


def test_a_catalog_that_somebody_overwrote_is_drift_unless_an_unfinished_deployment_did() -> None:  # N1
    state = {"bucket": "b", "name": "catalog.json", "content": "[secret]"}
    old, now = (Resource(state, {"md5hash": digest}) for digest in "ab")
    assert drift(refreshed(OBJECT, old, old, state, CATALOG)) == []
    seen = change(facts(), facts(), preview=refreshed(OBJECT, old, now, state, CATALOG))
    assert ["overwrote" in consequence.sentence for consequence in data(seen)] == [True]
    noted = PublishedCatalog(whole=mark_under_way(facts().catalog, "3f9c2e1"))
    assert not list(data(replace(seen, live=replace(seen.live, catalog=noted))))

"""All else that is deployed goes before what is being made, and says which deployment it is of. # N1 # N2"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from slipway.authoring.packages.source_package import SourcePackage
from slipway.deploying.deployment.interim_catalog import InterimCatalog, Offers
from slipway.deploying.engine.drift import NextDeployment, drift
from slipway.google.catalog import document
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.withdrawal import UNCOMMITTED, mark_under_way
from slipway.model.findings.finding import Subject
from slipway.model.labels import Revision
from slipway.operating.doctor.drift import by_hand
from tests.slipway.deploying.deployment.test_replacement import ALIVE, NEW, OLD
from tests.slipway.deploying.deployment.world import catalog_with, id_of, spec

from .test_in_place import CATALOG, PUBLISHED, REVISION, Bucket, offers

BOTH, SUCCESSOR = catalog_with(OLD, spec("gpu")).whole, catalog_with(NEW).whole
PACKAGE = SourcePackage("nap-0123456789ab.tar.gz", "0123456789ab", b"package")
DRIFT = drift(Subject("catalog", "gs://b/catalog.json"), "content", "somebody overwrote it", NextDeployment.PUT_BACK)


def published(bucket: Bucket) -> Catalog:
    return document.read(bucket.content or b"", "x")


def interim(offers: Offers, bucket: Bucket) -> InterimCatalog:
    return InterimCatalog(offers, bucket, bucket.warned.append)


def test_it_is_marked_so_that_the_next_deployment_goes_on_and_nobody_takes_it_for_a_change_by_hand() -> None:
    bucket = Bucket(None)
    interim(offers(interim=BOTH), bucket).publish()
    assert BOTH and bucket.content == document.write(mark_under_way(BOTH, "3f9c2e1")).encode()
    for nobodys in (replace(REVISION, dirty=True), Revision("unknown", dirty=False)):
        interim(offers(interim=BOTH, revision=nobodys), bucket).publish()
        assert published(bucket).under_way == UNCOMMITTED and list(by_hand([DRIFT], published(bucket))) == []


def test_what_it_names_is_there_before_it() -> None:
    bucket = Bucket(None)
    packed = replace(offers(interim=replace(BOTH, catalog_bucket="moved") if BOTH else None), packages=(PACKAGE,))
    catalog = interim(packed, bucket)
    catalog.publish()
    catalog.publish({"gpu": "gpu"})
    assert bucket.created == ["gs://moved/packages/nap-0123456789ab.tar.gz"], "once, where it says"


@pytest.mark.parametrize("before", [CATALOG, mark_under_way(CATALOG, "3f9c2e1") if CATALOG else None])
def test_where_there_is_nothing_else_to_publish_nothing_is_written(before: Catalog | None) -> None:
    bucket = Bucket(None)
    interim(offers(before=before, interim=CATALOG), bucket).publish()
    assert bucket.content is None and bucket.created == []


def test_what_is_replaced_in_place_stays_out_of_it_until_its_successor_runs() -> None:
    bucket = Bucket(None)

    def there(made: Mapping[str, str]) -> Catalog:
        assert SUCCESSOR and BOTH
        return SUCCESSOR if "cpu" in made else BOTH

    catalog = interim(replace(offers(), interim=there), bucket)
    catalog.withdraw([ALIVE.id])
    assert bucket.offered == {"gpu"} and published(bucket).dormant["cpu"].why == "in-place"
    catalog.publish({"gpu": "gpu"})
    assert bucket.offered == {"gpu"}
    catalog.publish({"cpu": id_of(NEW)})
    assert published(bucket).clusters["cpu"].id == id_of(NEW)


def test_one_that_can_not_be_written_back_is_said() -> None:
    bucket = Bucket(None)
    catalog = interim(offers(), bucket)
    catalog.withdraw([ALIVE.id])
    bucket.refuses = True
    catalog.offer_again([ALIVE.id])
    assert f"not offer {ALIVE.id} until" in bucket.warned[0]


def test_where_the_engine_finds_its_catalog_as_it_was_it_is_put_back() -> None:
    """Else nobody would: the engine writes what changes. So it is where a cluster is made again under its id."""
    assert CATALOG
    bucket = Bucket(None)
    again = replace(offers(interim=replace(CATALOG, clusters={})), final=lambda _: CATALOG)
    catalog = interim(again, bucket)
    catalog.publish()
    assert bucket.offered == set()
    catalog.end()
    assert bucket.content == PUBLISHED

    changed = interim(replace(again, final=lambda _: replace(CATALOG, commit="other")), bucket)
    changed.publish()
    changed.end()
    assert published(bucket).under_way == "3f9c2e1", "that one the engine writes"

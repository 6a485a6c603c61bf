"""A cluster is taken out of the catalog, waited for and deleted; what else is deployed goes first. # N1 # N2 # B6"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from slipway.authoring.packages.source_package import SourcePackage
from slipway.base.errors import PolicyError, ResourceError, SlipwayError, WaitTimeout
from slipway.deploying.creation.creation_context import CreationContext
from slipway.deploying.creation.parallel_creation import remove_ahead
from slipway.deploying.deployment.interim_catalog import DeploymentCatalogs, InterimCatalog
from slipway.deploying.deployment.removal import GracePeriod
from slipway.deploying.engine.drift import NextDeployment, drift
from slipway.google.catalog import document
from slipway.google.clusters import PersistentResource
from slipway.google.endpoints import Endpoints
from slipway.google.failures import Answer, Call, CloudError, failure
from slipway.google.jobs import VertexJob
from slipway.google.live import InUse, Unknown
from slipway.google.session import Session
from slipway.google.storage import Location, Storage
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.withdrawal import UNCOMMITTED, mark_under_way
from slipway.model.findings.finding import Subject
from slipway.model.labels import Revision
from slipway.operating.doctor.drift import by_hand
from tests.slipway.deploying.deployment.test_replacement import ALIVE, NEW, OLD
from tests.slipway.deploying.deployment.world import STACK, catalog_with, id_of, spec

from .vertex import Script, Step, Waits, cluster, gone, refused, unanswered

NOW = datetime(2026, 11, 21, 9, 0, tzinfo=UTC)
CATALOG = catalog_with(OLD).whole
assert CATALOG is not None
PUBLISHED = document.write(CATALOG).encode()
REVISION = Revision("3f9c2e1", dirty=False)


def catalogs(
    *, before: Catalog | None = CATALOG, interim: Catalog | None = None, revision: Revision = REVISION
) -> DeploymentCatalogs:
    """Of a deployment that changes nothing else, unless told."""
    meanwhile = interim or before or CATALOG
    assert meanwhile is not None
    return DeploymentCatalogs(before, lambda _: meanwhile, lambda _: meanwhile, "b", (), revision, NOW)


JOB = VertexJob("j/1", "tune", "JOB_STATE_QUEUED", {}, persistent_resource_id=ALIVE.id)
RUNS, STOPS = cluster("RUNNING", id_=ALIVE.id), cluster("STOPPING", id_=ALIVE.id)


class Bucket(Storage):
    """One object, or none."""

    def __init__(self, content: bytes | None) -> None:
        super().__init__(Session.__new__(Session), Endpoints())
        self.content, self.refuses = content, False
        self.busy = 0
        self.created, self.warned = [""][:0], [""][:0]

    def create(self, at: Location, content: bytes, media: str = "", *, again: bool = False) -> bool:
        self._may_be_busy()
        self.created.append(str(at))
        return True

    def _may_be_busy(self) -> None:
        if self.busy:
            self.busy -= 1
            raise failure(Call("write", "storage.objects.create"), Answer(503, "", "overloaded"))

    def write(self, at: Location, content: bytes, media: str) -> None:
        self._may_be_busy()
        if self.refuses:
            raise failure(Call("write", "storage.objects.create"), Answer(403, "", "denied"))
        self.content = content

    @property
    def offered(self) -> set[str]:
        return set(document.read(self.content or b"", "x").clusters)


class Deleting(Script):
    """`ends` raises when a deletion is asked for, where it is an error; each of several raises once."""

    def __init__(self, looks: list[Step], ends: Exception | list[Exception] | None) -> None:
        super().__init__([], looks)
        self.refusals = ends

    def delete_persistent_resource(self, cluster: str) -> None:
        super().delete_persistent_resource(cluster)
        if isinstance(self.refusals, Exception):
            raise self.refusals
        if self.refusals:
            raise self.refusals.pop(0)


class Story:
    def __init__(
        self,
        looks: list[Step],
        *,
        uses: list[InUse | Unknown] | None = None,
        grace: float = 25.0,
        deletion: Exception | list[Exception] | None = None,
    ) -> None:
        self.vertex, self.waits, self.bucket = Deleting(looks, deletion), Waits(), Bucket(PUBLISHED)
        self.said, self.warned, self.offered = [""][:0], [""][:0], [{""}][:0]
        self.uses, self.grace = uses or [InUse()], GracePeriod(grace, self.waits.now)

    def use(self, _: str) -> InUse | Unknown:
        self.offered.append(self.bucket.offered)
        return self.uses.pop(0) if len(self.uses) > 1 else self.uses[0]

    def run(self, clusters: tuple[PersistentResource, ...] = (ALIVE,)) -> Story:
        cloud = CreationContext(
            STACK, self.vertex, self.use, self.said.append, self.warned.append, self.waits.now, self.waits.pause
        )
        catalog = InterimCatalog(catalogs(), self.bucket, self.warned.append)
        cloud.removal(clusters, grace=self.grace, catalog=catalog).run()
        return self

    def fails(self, kind: type[SlipwayError]) -> Any:
        with pytest.raises(kind) as caught:
            self.run()
        return caught.value


def test_it_leaves_the_catalog_is_waited_for_and_goes() -> None:
    story = Story([RUNS, STOPS, STOPS, gone()]).run()
    assert story.vertex.sent == [f"DELETE {ALIVE.id}"]
    assert story.bucket.offered == set(), "until its successor runs"
    assert document.read(story.bucket.content or b"", "x").under_way == "3f9c2e1", "whoever has that may go on"
    assert story.offered == [{"cpu"}, set(), set(), set(), set()], "asked before, at each look, and at last"
    assert story.waits.slept[:3] == [10, 10, 5]
    assert f"{ALIVE.id} is deleted in 25 s" in story.said[0]
    assert story.said[-1] == f"cluster {ALIVE.id} is deleted"


def test_it_uses_up_no_time_of_what_the_catalog_offers_until_the_successors_run() -> None:  # N1
    story = Story([RUNS, STOPS, gone()]).run()
    story.waits.pause(600)  # the successors are made
    assert story.grace.left("gpu-old") == 25, "the catalog without it has just been published"
    assert story.grace.left(ALIVE.id) == 0, "it is gone"
    kept = Story([RUNS], uses=[InUse(), InUse(), InUse((JOB,))])
    kept.fails(PolicyError)
    assert kept.grace.left(ALIVE.id) == 25, "it is offered again"


@pytest.mark.parametrize(
    "uses", [[InUse((JOB,))], [InUse(), InUse(), InUse((JOB,))], [InUse(), InUse(busy_without_job=(ALIVE.id,))]]
)
def test_a_job_that_shows_up_saves_it_and_the_catalog_offers_it_as_before(uses: list[InUse | Unknown]) -> None:
    story = Story([RUNS], uses=uses)
    error = story.fails(PolicyError)
    assert f"cluster {ALIVE.id} is not deleted" in error.what
    assert story.vertex.sent == [] and story.bucket.content == PUBLISHED


@pytest.mark.parametrize(
    ("deletion", "offered"), [(refused(403, "denied"), {"cpu"}), (unanswered(), set())], ids=["refused", "unanswered"]
)
def test_one_that_may_be_going_is_not_offered_again(deletion: Exception, offered: set[str]) -> None:
    story = Story([RUNS], deletion=deletion, grace=0)
    story.fails(SlipwayError)
    assert story.bucket.offered == offered


def test_one_that_goes_already_is_waited_for() -> None:
    story = Story([STOPS, STOPS, gone()], grace=0).run()
    assert story.vertex.sent == []
    assert Story([gone()], grace=0).run().vertex.sent == []
    error = Story([STOPS], grace=0).fails(WaitTimeout)
    assert "within 2 h" in error.what and "deploy again" in str(error.fix)


def test_a_refusal_for_its_state_is_tried_again_and_one_that_lives_on_is_named() -> None:
    story = Story([RUNS, RUNS, gone()], deletion=refused(409, "not now"), grace=0).run()
    assert story.vertex.sent == [f"DELETE {ALIVE.id}"] * 2
    failed = Story([cluster("ERROR", id_=ALIVE.id)], grace=0)
    error = failed.fails(ResourceError)
    assert f"{ALIVE.id} (cluster state ERROR) could not be deleted" in error.what and "deploy again" in error.fix
    assert len(failed.vertex.sent) == 5


def test_a_busy_service_is_asked_again_and_it_is_told_what_and_why() -> None:
    """A job may come meanwhile: each time it is asked whether one did."""
    story = Story([RUNS, STOPS, gone()], deletion=[refused(503, "overloaded"), unanswered()], grace=0).run()
    assert story.vertex.sent == [f"DELETE {ALIVE.id}"] * 3
    assert story.said[1:3] == [
        f"cluster {ALIVE.id} is not deleted yet: overloaded; asking again, for up to 10 min",
        f"cluster {ALIVE.id} is not deleted yet: the connection was closed; asking again, for up to 10 min",
    ]
    assert len(story.offered) == 4, "before, and at each try"
    busy = Story([RUNS], uses=[InUse(), InUse(), InUse((JOB,))], deletion=refused(503), grace=0)
    busy.fails(PolicyError)
    assert busy.vertex.sent == [f"DELETE {ALIVE.id}"]


def test_a_service_that_stays_busy_is_told_once_a_minute_and_given_up_after_ten() -> None:
    story = Story([RUNS], deletion=refused(503, "overloaded"), grace=0)
    assert "overloaded" in str(story.fails(SlipwayError))
    assert 600 <= story.waits.now() < 620
    assert 10 <= len([line for line in story.said if "asking again" in line]) <= 13


class Going(Story):
    def run(self, clusters: tuple[PersistentResource, ...] = (ALIVE,)) -> Story:
        cloud = CreationContext(
            STACK, self.vertex, self.use, self.said.append, self.warned.append, self.waits.now, self.waits.pause
        )
        remove_ahead(clusters, cloud, self.grace)
        return self


def test_one_out_of_season_is_waited_for_and_goes() -> None:
    """The interim catalog has left it out."""
    story = Going([RUNS, STOPS, gone()]).run()
    assert story.vertex.sent == [f"DELETE {ALIVE.id}"] and story.waits.slept[:3] == [10, 10, 5]
    assert story.bucket.content == PUBLISHED and story.grace.left(ALIVE.id) == 0
    assert f"deleting cluster {ALIVE.id}" in story.said[1]


def test_one_that_retired_before_goes_at_once() -> None:
    story = Going([RUNS, gone()])
    story.grace.began_with(document.PublishedCatalog({}, (ALIVE.id,), age=timedelta(minutes=9)))
    story.run()
    assert story.vertex.sent == [f"DELETE {ALIVE.id}"] and sum(story.waits.slept) < 1


def test_one_that_takes_too_long_to_go_holds_nothing_up() -> None:
    story = Going([STOPS], grace=0).run()
    assert "within 30 min" in story.warned[0]
    assert len(story.warned) == 1


def test_one_whose_deletion_is_refused_for_a_minute_holds_nothing_up_either() -> None:
    story = Going([RUNS], deletion=refused(503, "overloaded"), grace=0).run()
    (warning,) = story.warned
    assert warning.endswith("overloaded; what is to be made is asked for all the same")
    assert story.waits.now() < 80


BOTH, SUCCESSOR = catalog_with(OLD, spec("gpu")).whole, catalog_with(NEW).whole
PACKAGE = SourcePackage("nap-0123456789ab.tar.gz", "0123456789ab", b"package")
DRIFT = drift(Subject("catalog", "gs://b/catalog.json"), "content", "somebody overwrote it", NextDeployment.PUT_BACK)


def published(bucket: Bucket) -> Catalog:
    return document.read(bucket.content or b"", "x")


def interim(catalogs: DeploymentCatalogs, bucket: Bucket) -> InterimCatalog:
    return InterimCatalog(catalogs, bucket, bucket.warned.append)


def test_it_is_marked_so_that_the_next_deployment_goes_on_and_nobody_takes_it_for_a_change_by_hand() -> None:
    bucket = Bucket(None)
    interim(catalogs(interim=BOTH), bucket).publish()
    assert BOTH and bucket.content == document.write(mark_under_way(BOTH, "3f9c2e1")).encode()
    for nobodys in (replace(REVISION, dirty=True), Revision("unknown", dirty=False)):
        interim(catalogs(interim=BOTH, revision=nobodys), bucket).publish()
        assert published(bucket).under_way == UNCOMMITTED and list(by_hand([DRIFT], published(bucket))) == []


def test_what_it_names_is_there_before_it() -> None:
    bucket = Bucket(None)
    packed = replace(catalogs(interim=replace(BOTH, catalog_bucket="moved") if BOTH else None), packages=(PACKAGE,))
    catalog = interim(packed, bucket)
    catalog.publish()
    catalog.publish({"gpu": "gpu"})
    assert bucket.created == ["gs://moved/packages/nap-0123456789ab.tar.gz"], "once, where it says"


def test_a_busy_bucket_is_written_again_as_long_as_the_provider_would() -> None:
    """Packages as well as the catalog."""
    packed = replace(catalogs(interim=replace(BOTH, catalog_bucket="b") if BOTH else None), packages=(PACKAGE,))
    bucket, waits = Bucket(None), Waits()
    bucket.busy = 3
    InterimCatalog(packed, bucket, bucket.warned.append, waits.pause, waits.now).publish()
    assert bucket.created == ["gs://b/packages/nap-0123456789ab.tar.gz"] and bucket.content
    assert bucket.warned[0] == (
        "gs://b/packages/nap-0123456789ab.tar.gz is not written yet: overloaded; trying again, for 4 min"
    )
    bucket.busy = 1000
    with pytest.raises(CloudError, match="could not write"):
        InterimCatalog(packed, bucket, bucket.warned.append, waits.pause, waits.now).publish()
    assert 240 <= waits.now() < 270


@pytest.mark.parametrize("before", [CATALOG, mark_under_way(CATALOG, "3f9c2e1") if CATALOG else None])
def test_where_there_is_nothing_else_to_publish_nothing_is_written(before: Catalog | None) -> None:
    bucket = Bucket(None)
    interim(catalogs(before=before, interim=CATALOG), bucket).publish()
    assert bucket.content is None and bucket.created == []


def test_what_is_replaced_in_place_stays_out_of_it_until_its_successor_runs() -> None:
    bucket = Bucket(None)

    def there(made: Mapping[str, str]) -> Catalog:
        assert SUCCESSOR and BOTH
        return SUCCESSOR if "cpu" in made else BOTH

    catalog = interim(replace(catalogs(), interim=there), bucket)
    catalog.withdraw([ALIVE.id])
    assert bucket.offered == {"gpu"} and published(bucket).dormant["cpu"].why == "in-place"
    catalog.publish({"gpu": "gpu"})
    assert bucket.offered == {"gpu"}
    catalog.publish({"cpu": id_of(NEW)})
    assert published(bucket).clusters["cpu"].id == id_of(NEW)


def test_one_that_can_not_be_written_back_is_said() -> None:
    bucket = Bucket(None)
    catalog = interim(catalogs(), bucket)
    catalog.withdraw([ALIVE.id])
    bucket.refuses = True
    catalog.offer_again([ALIVE.id])
    assert f"not offer {ALIVE.id} until" in bucket.warned[0]


def test_where_the_engine_finds_its_catalog_as_it_was_it_is_put_back() -> None:
    """Else nobody would: the engine writes what changes. So it is where a cluster is made again under its id."""
    assert CATALOG
    bucket = Bucket(None)
    again = replace(catalogs(interim=replace(CATALOG, clusters={})), final=lambda _: CATALOG)
    catalog = interim(again, bucket)
    catalog.publish()
    assert bucket.offered == set()
    catalog.end()
    assert bucket.content == PUBLISHED

    changed = interim(replace(again, final=lambda _: replace(CATALOG, commit="other")), bucket)
    changed.publish()
    changed.end()
    assert published(bucket).under_way == "3f9c2e1", "that one the engine writes"

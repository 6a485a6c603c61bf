"""What nobody needs goes before others are made, and does not hold them up for long. # N1 # N2 # B6"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from threading import Event

import pytest

from slipway.catalog import document
from slipway.catalog.clusters import DormantCluster
from slipway.catalog.withdrawal import UNCOMMITTED
from slipway.cloud.clusters import PersistentResource
from slipway.creation.ahead import Ahead
from slipway.creation.creation_context import CreationContext
from slipway.creation.in_place import Published
from slipway.doctor.drift import Drift, Then, by_hand
from slipway.errors import PolicyError
from slipway.generations.dormant import DormantCluster as Dormant
from slipway.generations.published_clusters import published_dormant
from slipway.live import Use
from tests.slipway.deployment.test_replacement import ALIVE, OLD
from tests.slipway.deployment.world import REGION, catalog_with, id_of, spec

from .test_in_place import AT, JOB, NOW, RUNS, STOPS, Story
from .vertex import gone

RESTS = {"cpu": published_dormant(Dormant(OLD, id_of(OLD), "season", NOW), REGION)}
RETIRED = document.write(catalog_with(spec(high=9), retiring=(ALIVE.id,)).whole).encode()  # type: ignore[arg-type]
OTHERS = document.write(catalog_with(spec("gpu")).whole).encode()  # type: ignore[arg-type]
CATALOG = Drift("catalog gs://b/catalog.json", "content", "somebody overwrote it", Then.PUT_BACK)


class Going(Story):
    dormant: Mapping[str, DormantCluster] = RESTS
    commit = "3f9c2e1"

    def run(self, clusters: tuple[PersistentResource, ...] = (ALIVE,)) -> Story:
        cloud = CreationContext(
            self.vertex, self.use, self.said.append, self.warned.append, self.waits.now, Event(), self.waits.pause
        )
        Ahead(clusters, Published(AT, self.grace, NOW, self.commit), self.bucket, cloud, self.dormant).run()
        return self


def test_one_out_of_season_leaves_the_catalog_with_its_reason_is_waited_for_and_goes() -> None:
    story = Going([RUNS, STOPS, gone()]).run()
    catalog = document.read(story.bucket.content or b"", "x")
    assert story.vertex.sent == [f"DELETE {ALIVE.id}"] and story.waits.slept[:3] == [10, 10, 5]
    assert not catalog.clusters and catalog.retiring == (ALIVE.id,)
    assert [one.words for one in catalog.dormant.values()] == [one.words for one in RESTS.values()]
    assert catalog.under_way == "3f9c2e1" and story.grace.left(ALIVE.id) == 0
    assert story.said[0] == f"the catalog does not offer {ALIVE.id} any more"
    assert "it is not asked for any more, and nothing is made before it is gone" in story.said[-1]


def test_one_that_retired_before_goes_at_once_and_the_catalog_stays() -> None:
    story = Going([RUNS, gone()], content=RETIRED)
    story.dormant = {}
    story.grace.began_with(document.PublishedCatalog({}, (ALIVE.id,), age=timedelta(minutes=9)))
    story.run()
    assert story.vertex.sent == [f"DELETE {ALIVE.id}"] and story.waits.slept == []
    assert story.bucket.content == RETIRED


def test_one_with_jobs_that_is_dormant_stays_and_is_not_offered_any_more() -> None:
    story = Going([RUNS]).run(())
    assert story.bucket.offered == set() and story.vertex.asked == []
    assert Going([RUNS], content=OTHERS).run(()).bucket.content == OTHERS


def test_the_catalog_tells_of_a_deployment_of_no_commit_too() -> None:
    """Else it would be taken for one that somebody wrote over by hand, which stops the scheduled deployment."""
    story = Going([RUNS])
    story.commit = ""
    story.run(())
    published = document.read(story.bucket.content or b"", "x")
    assert published.under_way == UNCOMMITTED and list(by_hand([CATALOG], published)) == []


@pytest.mark.parametrize("uses", [[Use((JOB,))], [Use(), Use(unlisted=(ALIVE.id,))]])
def test_a_job_that_shows_up_saves_it(uses: list[Use]) -> None:
    story = Going([RUNS], uses=[*uses])
    before = story.bucket.content
    error = story.fails(PolicyError)
    assert error.fix == "pulumi up again: it keeps the cluster until nothing runs on it"
    assert "nothing was changed" in error.why and story.bucket.content == before and story.vertex.sent == []


def test_one_that_takes_too_long_to_go_holds_nothing_up() -> None:
    story = Going([STOPS], grace=0).run()
    assert "still there 30 min after it was deleted" in story.warned[0]
    assert "what is to be made is asked for all the same" in story.warned[0]

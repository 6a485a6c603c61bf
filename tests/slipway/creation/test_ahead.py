"""What nobody needs goes before others are made, and does not hold them up for long. # N1 # N2 # B6"""

from __future__ import annotations

from datetime import timedelta

import pytest

from slipway.catalog import document
from slipway.cloud.clusters import PersistentResource
from slipway.creation.creation_context import CreationContext
from slipway.creation.parallel_creation import remove_ahead
from slipway.errors import PolicyError
from slipway.live import Use
from tests.slipway.deployment.test_replacement import ALIVE
from tests.slipway.deployment.world import STACK

from .test_in_place import JOB, PUBLISHED, RUNS, STOPS, Story
from .vertex import gone


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


@pytest.mark.parametrize("uses", [[Use((JOB,))], [Use(), Use(unlisted=(ALIVE.id,))]])
def test_a_job_that_shows_up_saves_it(uses: list[Use]) -> None:
    story = Going([RUNS], uses=[*uses])
    error = story.fails(PolicyError)
    assert error.fix.startswith("pulumi up again")
    assert story.bucket.content == PUBLISHED and story.vertex.sent == []


def test_one_that_takes_too_long_to_go_holds_nothing_up() -> None:
    story = Going([STOPS], grace=0).run()
    assert "within 30 min" in story.warned[0]
    assert len(story.warned) == 1

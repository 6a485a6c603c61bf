"""Changes that come by time alone: the scheduled deployment goes on with them, and stops for all that nobody deployed.
# N1 # N2 # N5 # B6 # Z2"""

from dataclasses import replace
from datetime import timedelta

import pytest

from slipway.google.catalog.document import PublishedCatalog
from slipway.model.catalog.clusters import Cluster, DormantCluster
from slipway.model.catalog.withdrawal import mark_under_way
from slipway.model.season import Season
from slipway.reviewing.change.change import Change
from slipway.reviewing.gate import unannounced, worse
from slipway.reviewing.reviewer import review
from tests.slipway.reviewing.builders import H100, NOW, change, cluster, facts, job, kept, living, pool, step

OLD = cluster("h100", pool("workers", H100, 1, 4), id="h100-3e29a36")
NEW = cluster("h100", pool("workers", H100, 1, 6), id="h100-4b2277a")


def stopped_by(changed: Change) -> list[str]:
    """Return the kinds of findings that stop the scheduled deployment."""
    return [obstacle.kind for obstacle in unannounced([review(changed)])]


@pytest.mark.parametrize(
    ("deployed", "under_way", "now", "why"),
    [
        (("3f9c2e1", False), None, ("3f9c2e1", False), ""),
        (("3f9c2e1", False), "81c0ff3", ("81c0ff3", False), ""),
        (("3f9c2e1", False), None, ("81c0ff3", False), "This is 81c0ff3, but 3f9c2e1 is deployed"),
        (("3f9c2e1", False), "81c0ff3", ("3f9c2e1", False), "This is 3f9c2e1, but 81c0ff3 is deployed"),
        (("3f9c2e1", True), None, ("3f9c2e1", True), "This is 3f9c2e1 with local changes, which is not in the repo"),
        (("unknown", False), None, ("unknown", False), "This is unknown, which is not in the repository"),
        (("3f9c2e1", False), "", ("3f9c2e1", False), "A deployment of uncommitted changes was interrupted"),
    ],
)
def test_only_the_commit_that_is_deployed_or_was_begun_is_deployed_by_itself(
    deployed: tuple[str, bool], under_way: str | None, now: tuple[str, bool], why: str
) -> None:  # B6
    """Of main's, the stack's reviewers may have rejected some."""
    plain = facts(NEW)
    before, after = (
        replace(plain, catalog=replace(plain.catalog, commit=commit, dirty=dirty)) for commit, dirty in (deployed, now)
    )
    published = before.catalog if under_way is None else mark_under_way(before.catalog, under_way)
    same = change(before, after, clusters=[living(NEW)]).comparison
    live = replace(same.world.live, catalog=PublishedCatalog(whole=published))
    same = replace(same, world=replace(same.world, live=live))
    assert [why in obstacle.sentence for obstacle in unannounced([review(Change(same))])] == [True] * bool(why)


def test_an_edit_that_nobody_deployed_stops_it() -> None:
    edited = change(facts(OLD), facts(NEW), clusters=[living(OLD)])
    manual = step("update", "gcp:storage/bucket:Bucket", "mine", old={"labels": {"a": "b"}}, new={"labels": {}})
    assert review(edited).findings and stopped_by(edited)
    assert stopped_by(change(facts(NEW), facts(NEW), clusters=[living(NEW)], steps=[manual]))
    assert stopped_by(change(facts(NEW), facts(NEW), clusters=[living(NEW)], steps=[])) == []


def test_a_cluster_that_was_kept_for_jobs_goes_when_they_have_ended() -> None:
    drained = change(facts(NEW, kept(OLD, job(on=OLD))), facts(NEW), clusters=[living(NEW), living(OLD)])
    assert stopped_by(drained) == [] and not list(worse([review(drained)], []))
    deployed = change(facts(NEW, OLD), facts(NEW), clusters=[living(NEW), living(OLD)])
    assert stopped_by(deployed), "and one that an edit takes out does not"


FIRST = replace(cluster("first", pool("workers", H100, 1, 4)), season=Season(ends=NOW))
SECOND = replace(cluster("second", pool("workers", H100, 1, 4)), season=Season(begins=NOW))


def resting(*some: Cluster) -> dict[str, DormantCluster]:
    return {entry.name: DormantCluster(**vars(entry)) for entry in some}


def turn(first: Cluster = FIRST, second: Cluster = SECOND, *, known: bool = True) -> Change:
    """`second` comes on the day that `first` goes. `known`: it was declared when the stack was deployed last."""
    before = facts(FIRST, dormant=resting(SECOND) if known else {})
    return change(before, facts(second, dormant=resting(first)), clusters=[living(FIRST)])


def test_seasons_that_take_turns_stop_nothing() -> None:  # B6
    assert review(turn()).findings and stopped_by(turn()) == []
    assert stopped_by(turn(second=replace(SECOND, id=f"{SECOND.id}-2"))) == [], "an id is spent by one that failed"


@pytest.mark.parametrize(
    "edited",
    [
        turn(first=replace(FIRST, season=Season(ends=NOW - timedelta(days=1)))),
        turn(second=replace(SECOND, season=Season(begins=NOW - timedelta(days=1)))),
        turn(second=replace(SECOND, id="second-4b2277a", pools=(pool("workers", H100, 1, 8),))),
        turn(known=False),
    ],
    ids=["the end of the one", "the beginning of the other", "what the other is made of", "that there is another one"],
)
def test_seasons_that_somebody_edited_stop_it(edited: Change) -> None:
    assert stopped_by(edited)

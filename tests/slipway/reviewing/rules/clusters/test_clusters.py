"""The fate of clusters, and of the jobs on them, where the corpus has no such world. # N1 # N5 # B3"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slipway.google.catalog.document import PublishedCatalog
from slipway.google.jobs import VertexJob
from slipway.google.live import Live
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.withdrawal import withdrawn
from slipway.model.cluster import Adoption
from slipway.model.findings.finding import Grade
from slipway.reviewing.change.change import Change
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.clusters.engine import deletions, unsaid_clusters
from slipway.reviewing.rules.clusters.fates import clusters
from slipway.reviewing.rules.clusters.others import adoption, retiring
from tests.slipway.reviewing.builders import (
    H100,
    NOW,
    UNREAD,
    asked_for,
    change,
    cluster,
    facts,
    job,
    kept,
    living,
    pool,
    step,
)

NOTE, WARNING, BLOCKING = Grade
OLD = cluster("h100", pool("workers", H100, 1, 4), id="h100-3e29a36")
NEW = cluster("h100", pool("workers", H100, 1, 6), id="h100-4b2277a")
TUNE = job("tune-27b-x1", on=OLD)
BEHIND = job("custom-behind", on=OLD)
GENERATION, FINISH, CREATED = "cluster-new-generation", "jobs-finish-on-old", "cluster-created"
VERTEX = "gcp:vertex/aiPersistentResource:AiPersistentResource"
GOES = step("delete", VERTEX, OLD.id, old={"name": OLD.id})


def fates(change: Change) -> dict[str, Consequence]:
    """Return by kind what becomes of clusters, without their machines and money."""
    every = [*clusters(change), *retiring(change), *deletions(change)]
    listed = [one for one in every if one.kind.startswith(("cluster-", "jobs-"))]
    assert len({one.key for one in listed}) == len(listed), "the same is said twice"
    return {one.kind: one for one in listed}


def rolls(*jobs: VertexJob, also: tuple[Cluster, ...] = ()) -> Change:
    """A second cluster for another maximum, while jobs run on the first."""
    there = [living(OLD, used=1), *map(living, also)]
    return change(facts(OLD), facts(NEW, kept(OLD, *jobs)), clusters=there, jobs=jobs)


ONCE = withdrawn(facts(OLD).catalog, {OLD.id}, NOW)
WITHDRAWN = Live((), (), {}, PublishedCatalog(whole=ONCE))
CUT_SHORT = "a deployment that did not come to its end deleted it; with nothing running"
FAILED = [living(cluster()), living(OLD, state="ERROR")]
ELSEWHERE = replace(facts(replace(OLD, id="h100-1111111")).catalog, region="europe-west4")


@pytest.mark.parametrize(
    ("change", "grades", "words"),
    [
        (rolls(TUNE, also=(NEW,)), {GENERATION: WARNING, FINISH: NOTE}, "takes the new jobs: both are paid until"),
        (
            change(facts(OLD), replace(facts(OLD), catalog=ELSEWHERE)),
            {GENERATION: WARNING},
            "`gcp:region` `us-central1` → `europe-west4`: a living cluster can't change; the old one is deleted if",
        ),
        (replace(change(facts(OLD), facts(NEW), clusters=[]), live=WITHDRAWN), {GENERATION: WARNING}, CUT_SHORT),
        (replace(change(facts(OLD), facts(OLD), clusters=[]), live=WITHDRAWN), {CREATED: NOTE}, CUT_SHORT),
        (change(facts(OLD), facts(OLD, kept(NEW)), clusters=[living(OLD), living(NEW)]), {"cluster-retires": NOTE}, ""),
        (change(facts(OLD, cluster()), facts(cluster()), clusters=FAILED), {"cluster-cleared": NOTE}, ""),
        (change(facts(OLD), facts(OLD), clusters=UNREAD, jobs=UNREAD), {}, ""),
    ],
)  # N1 N14
def test_what_becomes_of_a_cluster(change: Change, grades: dict[str, Grade], words: str) -> None:
    found = fates(change)
    assert {kind: one.grade for kind, one in found.items()} == grades
    assert not words or any(words in one.sentence for one in found.values())


def test_a_job_and_the_one_behind_it_are_one() -> None:
    finish = fates(rolls(BEHIND, job("pipeline", on=OLD, backing=BEHIND.name)))[FINISH]
    assert len(finish.details) == 1


def test_an_entry_that_follows_its_owner_says_what_is_told_otherwise() -> None:  # N13
    theirs = replace(cluster("theirs", id="team-a"), adopted=Adoption("team-a"))
    now = replace(theirs, pools=(replace(theirs.pools[0], max=9),), labels={"team": "b"})
    (one,) = adoption(change(facts(theirs), facts(now), clusters=(living(now),)))
    assert (one.grade, [*map(str, one.edits)]) == (NOTE, ["`pools.workers.replicas.max` 4 → 9"])
    assert not list(adoption(change(facts(theirs), facts(theirs), clusters=(living(theirs),))))


def test_an_old_generation_that_stays_is_told_elsewhere() -> None:
    steps = [step("import", VERTEX, OLD.id, new=asked_for(OLD))]
    assert list(unsaid_clusters(change(facts(OLD), facts(NEW, kept(OLD)), steps=steps))) == []


@pytest.mark.parametrize("steps", [[GOES], None])
def test_an_old_generation_that_is_idle_goes_as_announced(steps: Any) -> None:
    there = [living(OLD), living(NEW)]
    found = fates(change(facts(NEW, kept(OLD)), facts(NEW), clusters=there, steps=steps))
    assert [(kind, one.grade) for kind, one in found.items()] == [("cluster-deleted", NOTE)]


def test_machines_in_use_count_as_a_job_whatever_lists_say() -> None:
    found = fates(change(facts(OLD), facts(NEW), clusters=[living(OLD, used=2)], steps=[GOES]))["jobs-cancelled"]
    assert "that no list shows yet" in found.sentence and not any("running" in line for line in found.details)


def test_a_cluster_that_the_engine_takes_away_under_its_jobs_ends_them_and_nothing_finishes_there() -> None:  # N1
    there: dict[str, Any] = {"clusters": [living(OLD, used=1)], "jobs": [TUNE], "steps": [GOES]}
    found = fates(change(facts(OLD), facts(kept(OLD, TUNE)), **there))
    assert found.keys() == {CREATED, "jobs-cancelled", "cluster-deleted"}
    assert found["jobs-cancelled"].cost > 100

"""The fate of clusters, and of the jobs on them. # N1 # N5 # B3"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from slipway.deploying.engine.preview import EngineStep
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.jobs import VertexJob
from slipway.google.live import Live
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.withdrawal import withdrawn
from slipway.model.cluster import Adoption
from slipway.model.findings.finding import Finding, Grade
from slipway.reviewing.change.change import Change
from slipway.reviewing.rules.clusters.clusters import clusters
from slipway.reviewing.rules.clusters.engine import deletions, unsaid_clusters
from slipway.reviewing.rules.clusters.options import adoption, modes
from slipway.reviewing.rules.clusters.removals import removals
from tests.slipway.reviewing.builders import (
    H100,
    NOW,
    UNREAD,
    asked_for,
    by_kind,
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
SMALL, STAYS = cluster(), cluster("stays")
TUNE, EVAL = job("tune-27b-x1", on=OLD), job("eval-9d", on=OLD, user="ci", minutes=8, state="QUEUED")
BEHIND = job("custom-behind", on=OLD)
GENERATION, FINISH = "cluster-new-generation", "jobs-finish-on-old"
CANT_CHANGE = "as a living cluster can't change"
BOTH = "both are paid, $101.14/h more, until"


def said(change: Change) -> dict[str, Finding]:
    return by_kind([*clusters(change), *removals(change), *modes(change), *deletions(change)])


def rolls(*jobs: VertexJob, new: Cluster = NEW, also: tuple[Cluster, ...] = ()) -> Change:
    """A second cluster for another maximum, while jobs run on the first."""
    there = [living(OLD, used=1), *map(living, also)]
    return change(facts(OLD), facts(new, *([kept(OLD, *jobs)] if jobs else [])), clusters=there, jobs=jobs)


def published(catalog: Catalog) -> Live:
    return Live((), (), {}, PublishedCatalog(whole=catalog))


WITHDRAWN = published(withdrawn(facts(OLD).catalog, {OLD.id}, NOW))
FAILED = [living(SMALL), living(OLD, state="ERROR")]
ELSEWHERE = replace(facts(replace(OLD, id="h100-1111111")).catalog, region="europe-west4")


@pytest.mark.parametrize(
    ("change", "grades", "words"),
    [
        (rolls(TUNE, EVAL), {GENERATION: WARNING, FINISH: NOTE}, f"{BOTH} 2 jobs have ended"),
        (
            rolls(TUNE, also=(NEW,)),
            {GENERATION: WARNING, FINISH: NOTE},
            f"is there already, and takes the new jobs, {CANT_CHANGE}; both are paid, until",
        ),
        (
            rolls(BEHIND, job("pipeline", on=OLD, backing=BEHIND.name)),
            {GENERATION: WARNING, FINISH: NOTE},
            "1 job finishes on the old cluster, which takes no new ones",
        ),
        (
            change(facts(OLD), replace(facts(OLD), catalog=ELSEWHERE)),
            {GENERATION: WARNING},
            f"`gcp:region` `us-central1` → `europe-west4`, {CANT_CHANGE}; the old one is deleted if nothing runs on it",
        ),
        (
            replace(change(facts(OLD), facts(NEW), clusters=[]), live=WITHDRAWN),
            {GENERATION: WARNING},
            "`h100` is made again: a deployment that did not come to its end deleted it; with nothing running",
        ),
        (
            replace(change(facts(OLD), facts(OLD), clusters=[]), live=WITHDRAWN),
            {"cluster-created": NOTE},
            "`h100` is made again: a deployment that did not come to its end deleted it; with nothing running",
        ),
        (change(facts(OLD), facts(OLD, kept(NEW)), clusters=[living(OLD), living(NEW)]), {"cluster-retires": NOTE}, ""),
        (change(facts(OLD, SMALL), facts(SMALL), clusters=FAILED), {"cluster-cleared": NOTE}, ""),
        (change(facts(OLD), facts(OLD), clusters=UNREAD, jobs=UNREAD), {}, ""),
    ],
)  # N1 N14
def test_what_becomes_of_a_cluster(change: Change, grades: dict[str, Grade], words: str) -> None:
    found = said(change)
    assert {kind: one.grade for kind, one in found.items()} == grades
    assert not words or any(words in one.sentence for one in found.values())


THEIRS = replace(cluster("theirs", id="team-a"), adopted=Adoption("team-a"))


def test_an_entry_that_follows_its_owner_says_what_is_told_otherwise() -> None:  # N13
    larger = replace(THEIRS.pools[0], max=9)
    now = replace(THEIRS, pools=(larger,), labels={"team": "b"})
    (one,) = adoption(change(facts(THEIRS), facts(now), clusters=(living(now),)))
    assert one.grade is NOTE and "`pools.workers.replicas.max` 4 → 9" in one.sentence
    assert "labels" not in one.sentence
    assert not list(adoption(change(facts(THEIRS), facts(THEIRS), clusters=(living(THEIRS),))))


VERTEX = "gcp:vertex/aiPersistentResource:AiPersistentResource"
GOES = step("delete", VERTEX, OLD.id, old={"name": OLD.id})


def test_an_old_generation_that_stays_is_told_elsewhere() -> None:
    steps = [step("import", VERTEX, OLD.id, new=asked_for(OLD))]
    assert list(unsaid_clusters(change(facts(OLD), facts(NEW, kept(OLD)), steps=steps))) == []


@pytest.mark.parametrize("steps", [[GOES], None])
def test_an_old_generation_that_is_idle_goes_as_announced(steps: list[EngineStep] | None) -> None:
    there = [living(OLD), living(NEW)]
    found = said(change(facts(NEW, kept(OLD)), facts(NEW), clusters=there, steps=steps))
    assert [(kind, one.grade) for kind, one in found.items()] == [("cluster-deleted", NOTE)]


def test_machines_in_use_count_as_a_job_whatever_lists_say() -> None:
    found = said(change(facts(OLD), facts(NEW), clusters=[living(OLD, used=2)], steps=[GOES]))["jobs-cancelled"]
    assert found.details == (f"its id is `{OLD.id}`",) and "that no list shows yet" in found.sentence


def test_a_cluster_that_the_engine_takes_away_under_its_jobs_ends_them_and_nothing_finishes_there() -> None:  # N1
    there: dict[str, Any] = {"clusters": [living(OLD, used=1)], "jobs": [TUNE], "steps": [GOES]}
    found = said(change(facts(OLD), facts(kept(OLD, TUNE)), **there))
    assert found.keys() == {"cluster-created", "jobs-cancelled", "cluster-deleted"}
    assert found["jobs-cancelled"].cost > 100

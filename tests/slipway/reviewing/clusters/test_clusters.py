"""What becomes of clusters, and of the jobs on them. # N1 # N5 # B3"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from slipway.google.catalog.document import PublishedCatalog
from slipway.google.jobs import VertexJob
from slipway.google.live import Live
from slipway.model.catalog.clusters import Cluster, DormantCluster
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.withdrawal import withdrawn
from slipway.model.cluster import Adoption, PscInterface
from slipway.model.findings.finding import Finding, Grade
from slipway.model.prices import UNKNOWN
from slipway.reviewing.change import Change
from slipway.reviewing.clusters.clusters import clusters
from slipway.reviewing.clusters.engine import deletions
from slipway.reviewing.clusters.options import adoption, modes
from slipway.reviewing.clusters.removals import removals
from tests.slipway.reviewing.builders import (
    CPU,
    H100,
    NOW,
    UNREAD,
    by_kind,
    change,
    cluster,
    facts,
    job,
    kept,
    living,
    pool,
)

NOTE, WARNING, BLOCKING = Grade
OLD = cluster("h100", pool("workers", H100, 1, 4), id="h100-3e29a36")
NEW = cluster("h100", pool("workers", H100, 1, 6), id="h100-4b2277a")
SMALL, STAYS = cluster(), cluster("stays")
TUNE, EVAL = job("tune-27b-x1", on=OLD), job("eval-9d", on=OLD, user="ci", minutes=8, state="QUEUED")
BEHIND = job("custom-behind", on=OLD)
GENERATION, FINISH = "cluster-new-generation", "jobs-finish-on-old"
CANT_CHANGE, LARGER = "as a living cluster can't change", "`pools.workers.replicas.max` 4 → 6"
BOTH = "both are paid, $101.14/h more, until"
NEVER_AGAIN = "its {} `a3-highgpu-8g` may not come again"


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
        (
            rolls(TUNE),
            {GENERATION: WARNING, FINISH: NOTE},
            f"A second `h100` must be made for {LARGER}, {CANT_CHANGE}; {BOTH} `tune-27b-x1` (user-a) has ended",
        ),
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
        (change(facts(OLD), facts(OLD), clusters=[], steps=[]), {}, ""),
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
        (change(facts(OLD), facts(NEW), clusters=UNREAD, jobs=UNREAD), {GENERATION: WARNING}, ""),
        (change(facts(OLD), facts(OLD), clusters=UNREAD, jobs=UNREAD), {}, ""),
        (change(facts(OLD), None, clusters=UNREAD), {}, ""),
    ],
)  # N1 N14
def test_what_becomes_of_a_cluster(change: Change, grades: dict[str, Grade], words: str) -> None:
    found = said(change)
    assert {kind: one.grade for kind, one in found.items()} == grades
    assert not words or any(words in one.sentence for one in found.values())


def test_jobs_are_named_with_owner_state_and_age_the_oldest_first_and_all_of_them() -> None:
    found = said(rolls(EVAL, TUNE))
    assert found[GENERATION].field == "slipway:persistentResources.h100.pools.workers.replicas.max"
    assert found[FINISH].details == ("`tune-27b-x1` (user-a, running 3 h 12 min)", "`eval-9d` (ci, queued 8 min)")
    assert len(said(rolls(*(job(f"sweep-{n}", on=OLD) for n in range(40))))[FINISH].details) == 40


@pytest.mark.parametrize(
    ("fields", "edit", "key"),
    [
        ({"network": "projects/1/global/networks/a"}, "`network` none → `projects/1/global/networks/a`", "network"),
        ({"labels": {"team": "ml"}}, "`labels.team` none → `ml`", "labels.team"),
        ({"generation": 2}, "`generation` 1 → 2", "generation"),
        ({"kms_key": "k"}, "`encryption.kmsKey` none → `k`", "encryption.kmsKey"),
        ({"psc": PscInterface("n")}, "`pscInterface.networkAttachment` none → `n`", "pscInterface.networkAttachment"),
        ({"reserved_ip_ranges": ("a", "b")}, "`reservedIpRanges` none → `a, b`", "reservedIpRanges"),
        ({"custom_service_account": False}, "`serviceAccount.custom` `true` → `false`", "serviceAccount.custom"),
        ({"display_name": "CPU"}, "`displayName` `cpu` → `CPU`", "displayName"),
    ],
)
def test_every_field_that_can_not_change_in_place_is_named(fields: dict[str, Any], edit: str, key: str) -> None:
    found = said(change(facts(SMALL), facts(cluster(**fields)), clusters=[living(SMALL)]))[GENERATION]
    assert found.sentence.startswith(f"A second `cpu` must be made for {edit}, {CANT_CHANGE}; ")
    assert (found.grade, found.field) == (WARNING, f"slipway:persistentResources.cpu.{key}")


LARGE_DISK = replace(CPU, disk=replace(CPU.disk, size_gb=200))
T4 = replace(CPU, accelerator="NVIDIA_TESLA_T4", accelerator_count=1)


@pytest.mark.parametrize(
    ("old", "new", "edit"),
    [
        (pool(), pool(machine=H100), "`pools.workers.machine` `n1-standard-8` → `a3-highgpu-8g`"),
        (pool(low=1), pool(low=2), "`pools.workers.replicas.min` 1 → 2"),
        (pool(low=2, high=None), pool(low=3, high=None), "`pools.workers.replicas` 2 → 3"),
        (pool(low=2, high=None), pool(low=2, high=4), "`pools.workers.replicas` 2 → `2–4`"),
        (pool(), pool("others"), "`pools` `workers` → `others`"),
        (pool(), pool("others", H100), "`pools.others` none → `1–4 a3-highgpu-8g`"),
        (pool(machine=T4), pool(), "`pools.workers.accelerator` `1 NVIDIA_TESLA_T4` → none"),
        (pool(), pool(machine=LARGE_DISK), "`pools.workers.disk.sizeGb` 100 → 200"),
    ],
)
def test_every_field_of_a_pool_is_named(old: Any, new: Any, edit: str) -> None:
    was, becomes = cluster("cpu", old), cluster("cpu", new)
    found = said(change(facts(was), facts(becomes), clusters=[living(was)]))[GENERATION]
    assert any(edit in text for text in (*found.details, found.sentence))


def test_what_becomes_of_an_old_one_is_decided_here_and_the_program_asked_only_where_nobody_looked() -> None:  # N5
    same = change(facts(OLD), facts(NEW, kept(OLD, why="in-use")), clusters=[living(OLD), living(NEW)])
    assert "is idle and is deleted" in said(same)[GENERATION].sentence
    unread = said(replace(same, live=replace(same.live, skipped=True)))[GENERATION].sentence
    assert "until a later deployment" in unread


def test_a_first_deployment_is_for_knowing() -> None:
    found = said(change(None, facts(OLD)))
    assert found.keys() == {"cluster-created"}
    assert found["cluster-created"].grade == NOTE
    assert found["cluster-created"].details == (f"its id is `{OLD.id}`", "`pools.workers`: 1–4 a3-highgpu-8g")
    unknown = cluster("b200", pool("workers", H100, 1, 2, price=UNKNOWN))
    assert "costs nothing" not in said(change(facts(), facts(unknown), clusters=[]))["cluster-created"].sentence


@pytest.mark.parametrize(
    ("gone", "jobs", "kind", "grade"),
    [
        (OLD, (), "cluster-deleted", BLOCKING),
        (OLD, (TUNE,), "cluster-retires", BLOCKING),
        (SMALL, (), "cluster-deleted", WARNING),
        (SMALL, (job(on=SMALL),), "cluster-retires", WARNING),
    ],
)
def test_a_cluster_that_is_not_asked_for_any_more(gone: Any, jobs: Any, kind: str, grade: Grade) -> None:  # B3
    after = facts(STAYS, *([kept(gone, *jobs)] if jobs else []))
    found = said(change(facts(STAYS, gone), after, clusters=[living(STAYS), living(gone)], jobs=jobs))
    assert found[kind].grade == grade
    assert found.keys() == {kind, *([FINISH] if jobs else [])}


def test_how_a_dormant_one_is_replaced_is_told_as_well() -> None:
    rests, kept_ = (DormantCluster(**vars(replace(OLD, replacement=mode))) for mode in ("rollover", "protect"))
    (one,) = modes(change(facts(dormant={"h100": rests}), facts(dormant={"h100": kept_})))
    assert (one.kind, one.grade) == ("cluster-protection", NOTE)


def test_what_is_kept_as_before_is_said_once_and_overdue_when_it_becomes_so() -> None:
    dated = replace(NEW, retire_within=timedelta(hours=1))
    before, late = facts(dated, kept(OLD, TUNE)), facts(dated, kept(OLD, TUNE, overdue=True))
    there: dict[str, Any] = {"clusters": [living(OLD, used=1), living(NEW)], "jobs": [TUNE]}
    for same in (facts(NEW, kept(OLD, TUNE)), late):
        assert said(change(same, same, **there)) == {}
    told = said(change(before, late, **there))["cluster-overdue"].sentence
    assert told == "`h100-3e29a36`, an older `h100`, should be gone by now: `tune-27b-x1` still on it"


@pytest.mark.parametrize("before", [(), (replace(OLD, kms_key=""),)])
def test_nobody_looked_whether_a_new_key_may_be_used(before: tuple[Any, ...]) -> None:
    """Vertex AI's service agent needs a role on it, else the cluster can't be made."""
    keyed = replace(NEW, kms_key="projects/p/locations/us-central1/keyRings/r/cryptoKeys/disks")
    one = said(change(facts(*before), facts(keyed), clusters=map(living, before)))["key-unchecked"]
    assert (one.subject, one.grade) == ("cluster h100", WARNING)
    assert one.field == "slipway:persistentResources.h100.encryption.kmsKey"
    again = replace(keyed, id="h100-5c3388b", generation=2)
    assert "key-unchecked" not in said(change(facts(keyed), facts(again), clusters=[living(keyed)]))


THEIRS = replace(cluster("theirs", id="team-a"), adopted=Adoption("team-a"))


def test_nothing_becomes_of_a_cluster_that_somebody_else_made() -> None:  # N13
    there = (living(THEIRS), living(SMALL))
    left = change(facts(THEIRS, SMALL), facts(SMALL), clusters=there, jobs=(job("train-1", on=THEIRS),))
    (one,) = adoption(left)
    assert (one.kind, one.grade) == ("cluster-left", WARNING)
    kept_on = "`team-a` is not offered as `theirs` any more, and is kept, as it was adopted, and so is the job on it"
    assert one.sentence == kept_on and "train-1" in one.details[0]
    assert said(left) == {}
    (one,) = adoption(change(facts(THEIRS), facts(), clusters=()))
    assert one.sentence.endswith("and is gone already")


def test_an_entry_that_follows_its_owner_says_what_is_told_otherwise() -> None:  # N13
    larger = replace(THEIRS.pools[0], max=9)
    now = replace(THEIRS, pools=(larger,), labels={"team": "b"})
    (one,) = adoption(change(facts(THEIRS), facts(now), clusters=(living(now),)))
    assert one.grade is NOTE and "`pools.workers.replicas.max` 4 → 9" in one.sentence
    assert "labels" not in one.sentence
    assert not list(adoption(change(facts(THEIRS), facts(THEIRS), clusters=(living(THEIRS),))))

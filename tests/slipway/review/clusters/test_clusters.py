"""What becomes of clusters, and of the jobs on them. # N1 # N5 # B3"""

from dataclasses import replace
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.catalog.clusters import DormantCluster
from slipway.catalog.document import PublishedCatalog
from slipway.catalog.model import Catalog
from slipway.catalog.withdrawal import withdrawn
from slipway.findings.finding import Finding, Grade
from slipway.live import Live
from slipway.prices import UNKNOWN, Price
from slipway.review.change import Change
from slipway.review.clusters.clusters import clusters
from slipway.review.clusters.engine import deletions
from slipway.review.clusters.options import modes
from slipway.review.clusters.removals import removals
from slipway.review.money import money
from slipway.review.preview import Preview
from tests.slipway.review.builders import (
    CPU,
    H100,
    NOW,
    UNREAD,
    change,
    cluster,
    facts,
    job,
    kept,
    living,
    pool,
    step,
    template,
)

VERTEX = "gcp:vertex/aiPersistentResource:AiPersistentResource"
OLD = cluster("h100", pool("workers", H100, 1, 4), id="h100-3e29a36")
NEW = cluster("h100", pool("workers", H100, 1, 6), id="h100-4b2277a")
TUNE, EVAL = job("tune-27b-x1", on=OLD), job("eval-9d", on=OLD, user="ci", minutes=8, state="QUEUED")


def said(change: Change) -> dict[str, Finding]:
    found = [*clusters(change), *removals(change), *modes(change), *deletions(change)]
    assert len({(one.kind, one.subject) for one in found}) == len(found), "the same is said twice"
    return {one.kind: one for one in found}


def test_a_new_generation_says_which_field_made_it_and_when_the_old_one_goes(snapshot: SnapshotAssertion) -> None:  # N1
    found = said(
        change(facts(OLD), facts(NEW, kept(OLD, TUNE)), clusters=[living(OLD, used=1)], jobs=[TUNE]),
    )
    assert found.keys() == {"cluster-new-generation", "jobs-finish-on-old"}
    rolled = found["cluster-new-generation"]
    assert rolled.sentence == snapshot
    assert (rolled.subject, rolled.grade) == ("cluster h100", Grade.WARNING)
    assert rolled.field == "slipway:persistentResources.h100.pools.workers.replicas.max"
    assert found["jobs-finish-on-old"].details == snapshot


def test_jobs_are_named_with_owner_state_and_age_the_oldest_first(snapshot: SnapshotAssertion) -> None:
    jobs = [EVAL, TUNE]
    found = said(change(facts(OLD), facts(NEW, kept(OLD, *jobs)), clusters=[living(OLD)], jobs=jobs))
    assert found["jobs-finish-on-old"].details == snapshot
    assert found["cluster-new-generation"].sentence == snapshot


def test_many_jobs_are_counted_in_the_sentence_and_named_below(snapshot: SnapshotAssertion) -> None:
    jobs = [job(f"sweep-{n}", on=OLD) for n in range(40)]
    found = said(change(facts(OLD), facts(NEW, kept(OLD, *jobs)), clusters=[living(OLD)], jobs=jobs))
    assert found["cluster-new-generation"].sentence == snapshot
    assert len(found["jobs-finish-on-old"].details) == 40


def test_a_pipeline_and_the_job_that_it_runs_as_are_one(snapshot: SnapshotAssertion) -> None:
    custom = job("custom-behind", on=OLD)
    pipeline = job("pipeline", on=OLD, backing=custom.name)
    jobs = [custom, pipeline]
    found = said(change(facts(OLD), facts(NEW, kept(OLD, *jobs)), clusters=[living(OLD)], jobs=jobs))
    assert found["jobs-finish-on-old"].sentence == snapshot


@pytest.mark.parametrize(
    ("fields", "edit", "key"),
    [
        ({"network": "projects/1/global/networks/a"}, "`network` none → `projects/1/global/networks/a`", "network"),
        ({"labels": {"team": "ml"}}, "`labels.team` none → `ml`", "labels.team"),
        ({"generation": 2}, "`generation` 1 → 2", "generation"),
        ({"kms_key": "k"}, "`encryption.kmsKey` none → `k`", "encryption.kmsKey"),
        ({"network_attachment": "n"}, "`pscInterface.networkAttachment` none → `n`", "pscInterface.networkAttachment"),
        ({"reserved_ip_ranges": ("a", "b")}, "`reservedIpRanges` none → `a, b`", "reservedIpRanges"),
        ({"custom_service_account": False}, "`serviceAccount.custom` `true` → `false`", "serviceAccount.custom"),
        ({"display_name": "CPU"}, "`displayName` `cpu` → `CPU`", "displayName"),
    ],
)
def test_every_field_that_can_not_change_in_place_is_named(fields: dict[str, Any], edit: str, key: str) -> None:
    old, new = cluster(), cluster(**fields)
    found = said(change(facts(old), facts(new), clusters=[living(old)]))["cluster-new-generation"]
    assert found.sentence.startswith(f"A second `cpu` must be made for {edit}, as a living cluster can't change; ")
    assert (found.grade, found.field) == (Grade.WARNING, f"slipway:persistentResources.cpu.{key}")


@pytest.mark.parametrize(
    ("old", "new", "edit"),
    [
        (pool(), pool(machine=H100), "`pools.workers.machine` `n1-standard-8` → `a3-highgpu-8g`"),
        (pool(low=1), pool(low=2), "`pools.workers.replicas.min` 1 → 2"),
        (pool(low=2, high=None), pool(low=3, high=None), "`pools.workers.replicas` 2 → 3"),
        (pool(low=2, high=None), pool(low=2, high=4), "`pools.workers.replicas` 2 → `2–4`"),
        (pool(), pool("others"), "`pools` `workers` → `others`"),
        (pool(), pool("others", H100), "`pools.others` none → `1–4 a3-highgpu-8g`"),
        (
            pool(machine=replace(CPU, accelerator="NVIDIA_TESLA_T4", accelerator_count=1)),
            pool(),
            "`pools.workers.accelerator` `1 NVIDIA_TESLA_T4` → none",
        ),
        (
            pool(),
            pool(machine=replace(CPU, disk=replace(CPU.disk, size_gb=200))),
            "`pools.workers.disk.sizeGb` 100 → 200",
        ),
    ],
)
def test_every_field_of_a_pool_is_named(old: Any, new: Any, edit: str) -> None:
    was, becomes = cluster("cpu", old), cluster("cpu", new)
    found = said(change(facts(was), facts(becomes), clusters=[living(was)]))["cluster-new-generation"]
    assert edit in (*found.details, *found.sentence.split("; ")) or edit in found.sentence


def test_another_region_is_named_as_the_cause_and_nothing_is_said_of_what_nobody_read(
    snapshot: SnapshotAssertion,
) -> None:
    moved = replace(facts(replace(OLD, id="h100-1111111")).catalog, region="europe-west4")
    found = said(change(facts(OLD), replace(facts(OLD), catalog=moved)))
    assert found["cluster-new-generation"].sentence == snapshot
    assert found["cluster-new-generation"].field == "gcp:region"


def test_a_catalog_of_an_earlier_version_blames_no_field_that_it_did_not_tell() -> None:
    old = replace(OLD, display_name="", labels={}, id="h100-0000000")
    new = cluster("h100", pool("workers", H100, 1, 6), labels={"team": "ml"})
    found = said(change(facts(old), facts(new), clusters=[living(old)]))["cluster-new-generation"]
    assert "`labels" not in "".join(found.details)
    assert "labels" not in found.sentence
    assert said(change(facts(old), facts(replace(new, id=old.id)), clusters=[living(old)])) == {}


def test_one_that_was_made_by_a_deployment_that_failed_is_there_already(
    snapshot: SnapshotAssertion,
) -> None:  # N14: before is what is published
    both = [living(OLD), living(NEW)]
    found = said(change(facts(OLD), facts(NEW, kept(OLD, TUNE)), clusters=both, jobs=[TUNE]))
    assert found["cluster-new-generation"].sentence == snapshot


def test_reverting_is_free(snapshot: SnapshotAssertion) -> None:  # N1
    before = facts(NEW, kept(OLD, TUNE))
    found = said(
        change(before, facts(OLD, kept(NEW, why="in-use")), clusters=[living(OLD), living(NEW, used=1)], jobs=[TUNE])
    )
    assert found.keys() == {"cluster-returns"}
    assert found["cluster-returns"].sentence == snapshot
    assert found["cluster-returns"].grade == Grade.NOTE


def test_what_becomes_of_an_old_one_is_decided_here_and_the_program_asked_only_where_nobody_looked() -> None:  # N5
    same = change(facts(OLD), facts(NEW, kept(OLD, why="in-use")), clusters=[living(OLD), living(NEW)])
    assert "is idle and is deleted" in said(same)["cluster-new-generation"].sentence
    unread = said(replace(same, live=replace(same.live, skipped=True)))["cluster-new-generation"].sentence
    assert "until a later deployment" in unread


def test_a_failed_one_is_made_again_and_no_field_is_blamed(snapshot: SnapshotAssertion) -> None:
    again = replace(OLD, id=f"{OLD.id}-2")
    found = said(change(facts(OLD), facts(again), clusters=[living(OLD, state="ERROR")]))
    assert found["cluster-created"].sentence == snapshot


def test_one_that_somebody_deleted_by_hand_is_made_again(snapshot: SnapshotAssertion) -> None:
    found = said(change(facts(OLD), facts(OLD), clusters=[]))
    assert found["cluster-created"].sentence == snapshot
    assert said(change(facts(OLD), facts(OLD), clusters=[], steps=[])) == {}, "the engine knows better"


def test_a_first_deployment_is_for_knowing() -> None:
    found = said(change(None, facts(OLD)))
    assert found.keys() == {"cluster-created"}
    assert found["cluster-created"].grade == Grade.NOTE
    assert found["cluster-created"].details == (f"its id is `{OLD.id}`", "`pools.workers`: 1–4 a3-highgpu-8g")


@pytest.mark.parametrize(
    ("gone", "jobs", "kind", "grade"),
    [
        (OLD, (), "cluster-deleted", Grade.BLOCKING),
        (OLD, (TUNE,), "cluster-retires", Grade.BLOCKING),
        (cluster(), (), "cluster-deleted", Grade.WARNING),
        (cluster(), (job(on=cluster()),), "cluster-retires", Grade.WARNING),
    ],
)
def test_a_cluster_that_is_not_asked_for_any_more(gone: Any, jobs: Any, kind: str, grade: Grade) -> None:  # B3
    stays = cluster("stays")
    after = facts(stays, *([kept(gone, *jobs)] if jobs else []))
    found = said(change(facts(stays, gone), after, clusters=[living(stays), living(gone)], jobs=jobs))
    assert found[kind].grade == grade
    assert found.keys() == {kind, *(["jobs-finish-on-old"] if jobs else [])}


def test_what_is_given_back_may_not_come_again(snapshot: SnapshotAssertion) -> None:  # B3
    stays = cluster("stays")
    found = said(change(facts(stays, OLD), facts(stays), clusters=[living(stays), living(OLD, replicas=3)]))
    assert found["cluster-deleted"].sentence == snapshot


def test_one_that_failed_holds_nothing() -> None:
    stays = cluster("stays")
    found = said(change(facts(stays, OLD), facts(stays), clusters=[living(stays), living(OLD, state="ERROR")]))
    assert found.keys() == {"cluster-cleared"}
    assert found["cluster-cleared"].grade == Grade.NOTE


def test_how_it_is_replaced_and_when_to_warn_change_in_place(snapshot: SnapshotAssertion) -> None:
    later = replace(OLD, retire_within=7 * 86400.0)
    found = said(change(facts(OLD), facts(later), clusters=[living(OLD)]))["cluster-protection"]
    assert found.sentence == snapshot
    assert found.grade == Grade.NOTE
    other = said(change(facts(replace(OLD, replacement="protect")), facts(OLD), clusters=[living(OLD)]))
    assert other["cluster-protection"].grade == Grade.WARNING
    patient = replace(OLD, create_within=7200.0)
    found = said(change(facts(OLD), facts(patient), clusters=[living(OLD)]))["cluster-protection"]  # N2
    assert found.sentence == snapshot
    assert (found.grade, found.field) == (Grade.NOTE, "slipway:persistentResources.h100.createWithin")
    found = said(change(facts(patient), facts(OLD), clusters=[living(OLD)]))["cluster-protection"]
    assert found.sentence == snapshot


def test_how_a_dormant_one_is_replaced_is_told_as_well() -> None:
    rests, kept_ = (DormantCluster(**vars(replace(OLD, replacement=mode))) for mode in ("rollover", "protect"))
    (one,) = modes(change(facts(dormant={"h100": rests}), facts(dormant={"h100": kept_})))
    assert (one.kind, one.grade) == ("cluster-protection", Grade.NOTE)


def test_what_a_deployment_deleted_that_did_not_finish_is_not_laid_to_somebody(
    snapshot: SnapshotAssertion,
) -> None:  # N1
    """Of one that is replaced in place: gone on with, or reverted."""
    withdrawn_ = published(withdrawn(facts(OLD).catalog, {OLD.id}, NOW))
    told = said(replace(change(facts(OLD), facts(NEW), clusters=[]), live=withdrawn_))["cluster-new-generation"]
    assert told.sentence == snapshot
    back = said(replace(change(facts(OLD), facts(OLD), clusters=[]), live=withdrawn_))["cluster-created"]
    assert back.sentence == snapshot


def published(catalog: Catalog) -> Live:
    return Live((), (), {}, PublishedCatalog(whole=catalog))


def test_one_that_is_replaced_in_place_is_away_until_its_successor_runs(snapshot: SnapshotAssertion) -> None:  # N1
    asked = replace(NEW, replacement="in-place")
    found = said(change(facts(OLD), facts(asked), clusters=[living(OLD)]))
    assert "cluster-new-generation" not in found and "generations-overlap" not in found
    told = found["cluster-in-place"]
    assert told.grade == Grade.BLOCKING
    assert told.sentence == snapshot
    assert "`replacement` `rollover` → `in-place`" in found["cluster-protection"].details
    other = replace(asked, alternatives=({"workers": pool("workers", CPU, 1, 4)},))
    may_become = said(change(facts(OLD), facts(other), clusters=[living(OLD)]))["cluster-in-place"]
    assert may_become.sentence == snapshot
    assert "nothing that runs changes" not in found["cluster-protection"].details

    busy = said(change(facts(OLD), facts(asked, kept(OLD, TUNE)), clusters=[living(OLD, used=1)], jobs=[TUNE]))
    assert busy["cluster-in-place"].sentence == snapshot
    assert "jobs-finish-on-old" not in busy and busy["cluster-in-place"].grade == Grade.BLOCKING


def test_what_is_kept_as_before_is_said_once_and_overdue_when_it_becomes_so(snapshot: SnapshotAssertion) -> None:
    before = facts(NEW, kept(OLD, TUNE))
    alive = [living(OLD, used=1), living(NEW)]
    assert said(change(before, before, clusters=alive, jobs=[TUNE])) == {}
    dated = replace(NEW, retire_within=3600.0)
    late = facts(dated, kept(OLD, TUNE, overdue=True))
    found = said(change(facts(dated, kept(OLD, TUNE)), late, clusters=alive, jobs=[TUNE]))
    assert found["cluster-overdue"].sentence == snapshot
    assert said(change(late, late, clusters=alive, jobs=[TUNE])) == {}


def test_an_old_generation_that_is_idle_goes_as_announced() -> None:
    old = step("delete", VERTEX, OLD.id, old={"name": OLD.id})
    for steps in ([old], None):
        found = said(change(facts(NEW, kept(OLD)), facts(NEW), clusters=[living(OLD), living(NEW)], steps=steps))
        assert found.keys() == {"cluster-deleted"}
        assert found["cluster-deleted"].grade == Grade.NOTE


def test_what_a_deployment_left_that_did_not_finish_is_taken_over() -> None:
    found = said(change(facts(OLD), facts(OLD, kept(NEW)), clusters=[living(OLD), living(NEW)]))
    assert found.keys() == {"cluster-retires"}
    assert found["cluster-retires"].grade == Grade.NOTE


@pytest.mark.parametrize("op", ["delete", "replace", "create-replacement", "delete-replaced"])
def test_a_cluster_that_the_engine_takes_away_under_its_jobs_is_graded_as_that(
    snapshot: SnapshotAssertion, op: str
) -> None:  # N1
    away = step(op, VERTEX, OLD.id, old={"name": OLD.id}, replaces=["resourcePools[0].diskSpec"])
    same = facts(OLD)
    found = said(change(same, same, clusters=[living(OLD, used=1)], jobs=[TUNE], steps=[away]))
    assert found["jobs-cancelled"].grade == Grade.BLOCKING
    assert found["jobs-cancelled"].subject == "cluster h100"
    assert found["jobs-cancelled"].cost > 100
    assert found["jobs-cancelled"].sentence == snapshot
    assert "because of `resourcePools[0].diskSpec`" in found["jobs-cancelled"].sentence
    assert found["cluster-deleted"].grade == Grade.BLOCKING


def test_nothing_says_that_jobs_finish_on_what_the_engine_deletes(snapshot: SnapshotAssertion) -> None:
    away = step("delete", VERTEX, OLD.id, old={"name": OLD.id})
    alive = [living(OLD, used=1)]
    found = said(change(facts(OLD), facts(NEW, kept(OLD, TUNE)), clusters=alive, jobs=[TUNE], steps=[away]))
    assert found.keys() == {"cluster-new-generation", "jobs-cancelled", "cluster-deleted"}
    assert found["cluster-new-generation"].sentence == snapshot


def test_what_the_engine_deletes_is_not_paid_until_its_jobs_have_ended(snapshot: SnapshotAssertion) -> None:
    away, alive = step("delete", VERTEX, OLD.id, old={"name": OLD.id}), [living(OLD, used=1)]
    beside = change(facts(OLD), facts(NEW, kept(OLD, TUNE)), clusters=alive, jobs=[TUNE], steps=[away])
    anew = said(beside)["cluster-new-generation"]
    assert anew.sentence == snapshot and not anew.cost
    assert money(beside).overlap == Price()
    removed = change(facts(OLD), facts(kept(OLD, TUNE)), clusters=alive, jobs=[TUNE], steps=[away])
    assert said(removed).keys() == {"cluster-created", "jobs-cancelled", "cluster-deleted"}


def test_machines_in_use_count_as_a_job_whatever_lists_say() -> None:
    away = step("delete", VERTEX, OLD.id, old={"name": OLD.id})
    found = said(change(facts(OLD), facts(NEW), clusters=[living(OLD, used=2)], steps=[away]))
    assert found["jobs-cancelled"].details == (f"its id is `{OLD.id}`",)
    assert "that no list shows yet" in found["jobs-cancelled"].sentence


def test_an_idle_one_replaced_behind_the_plan_s_back_is_a_deletion(snapshot: SnapshotAssertion) -> None:
    away = step("delete-replaced", VERTEX, OLD.id, old={"name": OLD.id}, replaces=["labels"])
    found = said(change(facts(OLD), facts(OLD), clusters=[living(OLD)], steps=[away]))
    assert found.keys() == {"cluster-deleted"}
    assert found["cluster-deleted"].sentence == snapshot


def test_one_that_stays_in_the_cloud_loses_nothing() -> None:
    away = step("delete", VERTEX, OLD.id, old={"name": OLD.id}, retained=True)
    assert "jobs-cancelled" not in said(
        change(facts(OLD), facts(NEW), clusters=[living(OLD)], jobs=[TUNE], steps=[away])
    )


def test_deletions_that_the_engine_has_not_computed_follow_from_the_facts() -> None:
    cut = Preview(why="incomplete: deletions not computed")
    found = said(change(facts(OLD), facts(NEW), clusters=[living(OLD)], jobs=[TUNE], preview=cut))
    assert "jobs-cancelled" in found


def test_nothing_is_invented_of_what_could_not_be_read() -> None:
    found = said(change(facts(OLD), facts(NEW), clusters=UNREAD, jobs=UNREAD))
    assert found.keys() == {"cluster-new-generation"}
    assert said(change(facts(OLD), facts(OLD), clusters=UNREAD, jobs=UNREAD)) == {}
    assert said(change(facts(OLD), None, clusters=UNREAD)) == {}


@pytest.mark.parametrize("before", [(), (replace(OLD, kms_key=""),)])
def test_nobody_looked_whether_a_new_key_may_be_used(before: tuple[Any, ...]) -> None:
    """Vertex AI's service agent needs a role on it, else the cluster can't be made."""
    keyed = replace(NEW, kms_key="projects/p/locations/us-central1/keyRings/r/cryptoKeys/disks")
    alive = [living(one) for one in before]
    one = said(change(facts(*before), facts(keyed), clusters=alive))["key-unchecked"]
    assert (one.subject, one.grade) == ("cluster h100", Grade.WARNING)
    assert one.field == "slipway:persistentResources.h100.encryption.kmsKey"
    again = replace(keyed, id="h100-5c3388b", generation=2)
    assert "key-unchecked" not in said(change(facts(keyed), facts(again), clusters=[living(keyed)]))


def test_a_cluster_without_a_known_price_is_not_said_to_cost_nothing() -> None:
    unknown = cluster("b200", pool("workers", H100, 1, 2, price=UNKNOWN))
    assert "costs nothing" not in said(change(facts(), facts(unknown), clusters=[]))["cluster-created"].sentence


def test_another_template_says_nothing_of_clusters() -> None:
    assert said(change(facts(OLD), facts(OLD, template()), clusters=[living(OLD)])) == {}

"""What a cluster may become elsewhere, and what is there as that: told with the region, and no move. # N2"""

from __future__ import annotations

from dataclasses import fields, replace

from syrupy.assertion import SnapshotAssertion

from slipway.catalog.clusters import Cluster, DormantCluster
from slipway.cloud.clusters import PersistentResource
from slipway.findings.finding import Finding, Grade
from slipway.findings.grades import is_announced
from slipway.prices import hourly
from slipway.review.clusters.capacity import capacity
from slipway.review.clusters.clusters import clusters
from slipway.review.clusters.engine import deletions, unsaid_clusters
from slipway.review.clusters.options import alternatives, standing_alternatives
from slipway.review.preview import Preview
from slipway.review.reading import _elsewhere
from tests.slipway.review.builders import (
    CPU,
    H100,
    asked_for,
    catalog,
    change,
    cluster,
    facts,
    job,
    kept,
    living,
    pool,
    step,
)

AWAY = "us-east4"
TYPE = "gcp:vertex/aiPersistentResource:AiPersistentResource"
FIRST = cluster("gpu", pool("workers", H100, 1, 4), id="gpu-0000001")
FAR_POOL = pool("workers", H100, 1, 4, price=hourly(H100, AWAY))
LISTED = replace(FIRST, alternatives=({"workers": FAR_POOL},), alternative_regions=(AWAY,))
FAR = replace(cluster("gpu", FAR_POOL, id="gpu-0000002"), region=AWAY, alternative=1)


def away(one: Cluster, *, used: int = 0) -> PersistentResource:
    name = f"projects/1/locations/{AWAY}/persistentResources/{one.id}"
    return replace(living(one, used=used), name=name)


def said(before: Cluster | None, after: Cluster) -> list[Finding]:
    living_now = [living(before)] if before else []
    return list(alternatives(change(facts(before) if before else None, facts(after), clusters=living_now)))


def test_to_move_a_cluster_while_a_job_runs_is_no_waste_and_to_name_a_pool_otherwise_is() -> None:
    on_it = job(on=FAR)
    home = facts(FIRST, kept(FAR, on_it))
    (moved, _) = clusters(change(facts(FAR), home, clusters=[away(FAR, used=1)], jobs=[on_it]))
    assert (moved.kind, moved.grade) == ("cluster-new-generation", Grade.WARNING)
    assert "costs nothing" not in moved.sentence and "both are paid" in moved.sentence
    renamed = cluster("gpu", pool("others", H100, 1, 4), id="gpu-0000003")
    on_it = job(on=FIRST)
    alike = facts(renamed, kept(FIRST, on_it))
    (wasted, _) = clusters(change(facts(FIRST), alike, clusters=[living(FIRST, used=1)], jobs=[on_it]))
    assert (wasted.kind, wasted.grade) == ("cluster-new-generation", Grade.BLOCKING)


def test_what_may_come_from_another_region_says_where_and_that_data_stays(snapshot: SnapshotAssertion) -> None:
    (one,) = said(None, LISTED)
    assert one.sentence == snapshot
    assert (one.grade, one.field) == (Grade.WARNING, "slipway:persistentResources.gpu.alternatives")
    small = {"workers": pool("workers", CPU, 1, 4, price=hourly(CPU, AWAY))}
    (one,) = said(None, replace(LISTED, alternatives=(small, {"workers": FAR_POOL}), alternative_regions=("", AWAY)))
    assert any("alternative 1: workers 1–4 n1-standard-8" in each for each in one.details)
    assert one.sentence == snapshot


def test_what_was_announced_is_for_knowing_and_starts_by_itself(snapshot: SnapshotAssertion) -> None:  # N14
    """A season that begins, and a cluster that failed: nobody edited the list."""
    asleep = DormantCluster(**{each.name: getattr(LISTED, each.name) for each in fields(LISTED)})
    before = facts()
    before = replace(before, catalog=replace(before.catalog, dormant={"gpu": asleep}))
    (one,) = alternatives(change(before, facts(LISTED), clusters=[]))
    assert one.sentence == snapshot
    dearer = replace(LISTED, alternatives=({"workers": replace(FAR_POOL, price_per_hour=hourly(CPU, AWAY))},))
    again = change(facts(LISTED), facts(replace(dearer, id="gpu-0000001-2")), clusters=[living(LISTED, state="ERROR")])
    for told in (one, *alternatives(again)):
        assert (told.kind, told.grade) == ("cluster-may-still-become", Grade.NOTE)
        assert is_announced(told)
    (edited,) = alternatives(change(before, facts(replace(LISTED, alternative_regions=("us-west1",))), clusters=[]))
    assert (edited.kind, edited.grade) == ("cluster-may-become", Grade.WARNING)


def test_one_that_is_lost_elsewhere_is_made_again_at_home_and_no_edit_is_blamed(snapshot: SnapshotAssertion) -> None:
    for there in ([], [replace(away(FAR), state="ERROR")]):
        found = {one.kind: one for one in clusters(change(facts(FAR), facts(FIRST), clusters=there))}
        assert found["cluster-new-generation"].sentence == snapshot


def test_another_region_of_an_alternative_is_told_and_nothing_that_runs_changes(snapshot: SnapshotAssertion) -> None:
    (one,) = said(LISTED, replace(LISTED, alternative_regions=("us-west1",)))
    assert one.sentence == snapshot
    assert one.sentence.endswith("; nothing that runs changes") and one.grade is Grade.NOTE
    assert said(LISTED, LISTED) == []
    (one,) = said(LISTED, replace(LISTED, alternatives=None, alternative_regions=None))
    assert one.sentence == snapshot


def test_one_that_is_there_elsewhere_is_said_with_where_its_data_is(snapshot: SnapshotAssertion) -> None:
    (line,) = standing_alternatives(change(facts(FAR), facts(FAR)))
    assert line == snapshot


def test_going_back_is_a_new_generation_and_no_move_of_the_stack(snapshot: SnapshotAssertion) -> None:
    train = job("train-1", on=FAR, machine=H100)
    there = [away(FAR, used=1)]
    told = change(facts(FAR), facts(FIRST, kept(FAR, train)), clusters=there, jobs=[train])
    found = {one.kind: one for one in (*clusters(told), *capacity(told), *deletions(told))}
    new = found["cluster-new-generation"]
    assert new.sentence == snapshot
    assert new.field == "slipway:persistentResources.gpu.alternatives"
    assert found["generations-overlap"].sentence == snapshot
    assert found.keys() == {
        "cluster-new-generation",
        "jobs-finish-on-old",
        "capacity-found-anew",
        "image-cache-empty",
        "generations-overlap",
    }


def test_a_deleted_one_is_told_with_the_price_of_its_own_region() -> None:
    def cost(there: PersistentResource) -> float:
        steps = [step("delete", TYPE, FAR.id, old={"name": FAR.id}, id=FAR.id)]
        told = change(facts(FAR), facts(FAR), clusters=[there], jobs=[job(on=FAR)], steps=steps)
        return next(one.cost for one in deletions(told) if one.kind == "jobs-cancelled")

    assert cost(away(FAR, used=1)) > cost(living(FAR, used=1))


def test_a_location_elsewhere_is_what_the_program_says_of_an_alternative_and_of_nothing_else(
    snapshot: SnapshotAssertion,
) -> None:
    made = asked_for(FAR)

    def unsaid(one: Cluster) -> list[str]:
        steps = [step("create", TYPE, one.id, new=made)]
        return [each.sentence for each in unsaid_clusters(change(facts(one), facts(one), steps=steps))]

    assert unsaid(FAR) == []
    (words,) = unsaid(replace(FAR, region=None))
    assert words == snapshot


def test_it_is_looked_for_where_it_was_or_may_come_to_be() -> None:
    engine = {"urn": step("same", TYPE, "old", old={"location": "us-west1"}), "odd": step("same", TYPE, "x", old={})}
    before, after = facts(FAR, other_regions=(AWAY,)), facts(LISTED, other_regions=("us-east5", AWAY))
    assert _elsewhere(Preview(standing=engine), before, after) == (AWAY, "us-east5", "us-west1")
    told = {"u": step("same", TYPE, "y", old={"location": "evil.example/"})}
    assert _elsewhere(Preview(standing=told), facts(FIRST), None) == ()
    assert catalog(FAR).region_of("gpu") == AWAY

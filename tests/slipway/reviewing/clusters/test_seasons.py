"""Seasons of clusters, and what they may become elsewhere: what a change does, what is due. # B6 # N2"""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import datetime, timedelta

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.deploying.engine.preview import Preview
from slipway.google.clusters import PersistentResource
from slipway.model.capacity import SPOT
from slipway.model.catalog.clusters import Cluster, DormantCluster, PricedAlternative
from slipway.model.catalog.model import Template
from slipway.model.findings.finding import Finding, Grade
from slipway.model.findings.grades import is_announced
from slipway.model.prices import hourly
from slipway.model.season import Reason, Season, moment
from slipway.reviewing.change import Change
from slipway.reviewing.clusters.clusters import clusters
from slipway.reviewing.clusters.engine import deletions, unsaid_clusters
from slipway.reviewing.clusters.options import alternatives, standing_alternatives
from slipway.reviewing.gate import unannounced, unapproved
from slipway.reviewing.reading import _elsewhere
from slipway.reviewing.rendering.comment import comment
from slipway.reviewing.rendering.headline import plain_text
from slipway.reviewing.review import review, write
from tests.slipway.reviewing.builders import (
    CPU,
    H100,
    NOW,
    asked_for,
    catalog,
    change,
    cluster,
    facts,
    job,
    kept,
    limits,
    living,
    offer,
    pool,
    step,
    template,
)

NOTE, WARNING, BLOCKING = Grade
DAY = timedelta(days=1)
ENDS = NOW.replace(hour=0) + 29 * DAY
PLAIN = cluster("h100", pool("workers", H100, 1, 4), id="h100-3e29a36")


def dated(begins: datetime | None = None, ends: datetime | None = None, hours: float | None = None) -> Cluster:
    return replace(PLAIN, season=Season(begins, ends, None if hours is None else timedelta(hours=hours)))


def asleep(of: Cluster, why: Reason = "season", since: datetime | None = None) -> dict[str, DormantCluster]:
    values = {field.name: getattr(of, field.name) for field in fields(of)}
    return {of.name: DormantCluster(**values, why=why, since=since)}


def told(change: Change) -> dict[str, Finding]:
    return {one.kind: one for one in review(change).consequences}


LEAVES = "takes no new jobs from {} on, and is deleted when its own have ended"
UNUSED = "is deleted once it has had no job for {}"


@pytest.mark.parametrize(
    ("old", "new", "edit", "follows", "grade"),
    [
        (PLAIN, dated(ends=ENDS), "`until` none → `2026-12-20`", LEAVES.format("2026-12-20"), WARNING),
        (dated(ends=ENDS), dated(ends=ENDS - DAY), "`2026-12-20` → `2026-12-19`", LEAVES.format("2026-12-19"), WARNING),
        (dated(ends=ENDS), dated(ends=ENDS + DAY), "`2026-12-20` → `2026-12-21`", LEAVES.format("2026-12-21"), NOTE),
        (dated(ends=ENDS), PLAIN, "`until` `2026-12-20` → none", "has no end any more", NOTE),
        (PLAIN, dated(hours=4), "`idleLimit` none → `4 h`", UNUSED.format("4 h"), WARNING),
        (dated(hours=4), dated(hours=9), "`idleLimit` `4 h` → `9 h`", UNUSED.format("9 h"), NOTE),
        (dated(hours=9), dated(hours=4), "`idleLimit` `9 h` → `4 h`", UNUSED.format("4 h"), WARNING),
    ],
)
def test_a_change_of_dates_is_told_with_what_follows(
    old: Cluster, new: Cluster, edit: str, follows: str, grade: Grade
) -> None:
    found = told(change(facts(old), facts(new), clusters=[living(PLAIN)]))
    assert found.keys() == {"season-changed"}
    one = found["season-changed"]
    assert (one.sentence, one.grade, one.subject) == (f"`h100` {follows}", grade, "cluster h100")
    (of,) = (detail for detail in one.details if edit in detail)
    assert one.field == f"slipway:persistentResources.h100.{of.split('`')[1]}"


def test_dates_that_stay_are_silent() -> None:
    same = dated(ends=ENDS, hours=4)
    assert told(change(facts(same), facts(same), clusters=[living(PLAIN)])) == {}
    rests = asleep(dated(begins=ENDS))
    assert told(change(facts(clusters={}, dormant=rests), facts(clusters={}, dormant=rests))) == {}


def test_what_the_deployed_stack_file_announced_is_a_change_and_nothing_worse(snapshot: SnapshotAssertion) -> None:
    over, idle = dated(ends=NOW - DAY), dated(hours=4)
    for was, rests in ((over, asleep(over, since=NOW - DAY)), (idle, asleep(idle, "idle", NOW))):
        found = told(change(facts(was), facts(clusters={}, dormant=rests), clusters=[living(PLAIN)]))
        assert found["cluster-deleted"].sentence == snapshot
        assert found["cluster-deleted"].grade is NOTE and "season-changed" not in found


def test_a_job_on_it_finishes_first(snapshot: SnapshotAssertion) -> None:  # N1
    over, tune = dated(ends=NOW - DAY), job("tune", on=PLAIN)
    after = facts(kept(PLAIN, tune), clusters={}, dormant=asleep(over, since=NOW - DAY))
    found = told(change(facts(over), after, clusters=[living(PLAIN, used=1)], jobs=[tune]))
    assert found["cluster-retires"].grade is NOTE
    assert found["cluster-retires"].sentence == snapshot
    assert "jobs-cancelled" not in found


def test_a_season_that_begins_makes_the_cluster(snapshot: SnapshotAssertion) -> None:
    begun = dated(begins=NOW)
    found = told(change(facts(clusters={}, dormant=asleep(begun)), facts(begun), clusters=[]))
    assert found["cluster-created"].sentence == snapshot
    again = told(change(facts(clusters={}, dormant=asleep(dated(hours=4), "idle", NOW)), facts(PLAIN), clusters=[]))
    assert again["cluster-created"].clause.endswith(", which was given up")
    assert "`idleLimit` `4 h` → none" in again["season-changed"].sentence


def test_what_is_declared_for_later_is_told_and_so_is_its_removal_and_its_edit(snapshot: SnapshotAssertion) -> None:
    rests = asleep(dated(begins=ENDS))
    found = told(change(facts(), facts(cluster(), clusters={"cpu": cluster()}, dormant=rests)))
    assert found["season-changed"].sentence == snapshot
    gone = told(change(facts(dormant=rests), facts()))["season-changed"]
    assert gone.sentence == snapshot
    larger = asleep(replace(dated(begins=ENDS), pools=(pool("workers", H100, 1, 8),), id="h100-4b2277a"))
    edited = told(change(facts(dormant=rests), facts(dormant=larger)))["season-changed"]
    assert "`pools.workers.replicas.max` 4 → 8" in edited.sentence and edited.grade is NOTE


def test_a_template_that_rests_with_its_cluster_is_a_warning(snapshot: SnapshotAssertion) -> None:
    why = "cluster h100 is out of season since 2026-11-20"
    before = template("lora", offer(cluster="h100", machine=H100))
    off = offer(cluster="h100", machine=H100, available=False, why=why)
    after = replace(before, offers=(replace(off, cluster="", pools=(), dormant="h100"),))
    over = dated(ends=NOW - DAY)
    found = told(
        change(
            facts(over, before),
            facts(after, clusters={}, dormant=asleep(over, since=moment("2026-11-20"))),
            clusters=[living(PLAIN)],
        )
    )
    assert found["no-offer-left"].grade is WARNING and found["no-offer-left"].clause.endswith("for now")
    assert found["offer-unavailable"].sentence == snapshot
    assert max(one.grade for one in found.values()) is WARNING


def test_what_is_due_is_no_consequence_and_said_beside_them(snapshot: SnapshotAssertion) -> None:
    both = dated(ends=ENDS, hours=4)
    ended = job("eval", on=PLAIN, state="SUCCEEDED", end_time=NOW - timedelta(hours=1))
    rests = asleep(replace(cluster("big"), season=Season(begins=ENDS)))
    state = facts(both, dormant=rests)
    enough = limits({"custom_model_training_cpus": 64, "custom_model_training_pd_ssd": -1})
    found = review(change(state, state, clusters=[living(PLAIN)], recent=(ended,), limits=enough))
    assert found.silent
    season, idle, rests_until = found.standing
    assert season == snapshot
    assert idle == snapshot
    assert rests_until == snapshot


def test_what_is_due_of_a_cluster_that_the_change_adds_or_dates_is_told_with_it(
    snapshot: SnapshotAssertion,
) -> None:  # N5
    """It is this change's doing, so it is not beside what is not; what it costs until then is told too."""
    costs = "season ends 2026-12-20, in 29 days: $101.14/h, $69,484.03 until then"
    follows = "takes no new jobs from 2026-12-20 on, and is deleted when its own have ended"
    given_up, cpu = "is deleted once it has had no job for 4 h", cluster()
    added = review(change(facts(cpu), facts(cpu, dated(ends=ENDS, hours=4)), clusters=[living(cpu)]))
    one = next(one for one in added.consequences if one.kind == "season-changed")
    assert one.sentence == f"`h100` {follows} and {given_up}"
    assert (one.details, one.grade) == ((costs,), NOTE)
    assert one.field == "slipway:persistentResources.h100.until"
    said = plain_text(added)
    assert added.standing == () and f"      {costs}" in said and "not this change's" not in said
    markdown = comment([added])
    assert given_up in markdown
    assert markdown == snapshot
    assert "remark" not in markdown
    assert write(added)["standing"] == []

    edited = review(change(facts(dated(hours=4)), facts(dated(ends=ENDS, hours=4)), clusters=[living(PLAIN)]))
    (one,) = edited.consequences
    assert one.sentence == f"`h100` {follows}" and costs in one.details
    assert edited.standing == ()

    rests = asleep(dated(begins=ENDS, hours=4))
    declared = review(change(facts(cpu), facts(cpu, dormant=rests), clusters=[living(cpu)]))
    one = next(one for one in declared.consequences if one.kind == "season-changed")
    assert one.sentence == snapshot
    assert declared.standing == ()


def test_a_deployment_by_itself_ends_and_begins_what_was_announced() -> None:
    """With all that follows: money, and templates that fit nothing else or take something dearer meanwhile."""
    why = "cluster h100 is out of season"
    only = template("lora", offer(cluster="h100", machine=H100))
    other = template("tune", offer(cluster="h100", machine=H100), offer(SPOT, machine=H100))

    def resting(one: Template) -> Template:
        first = replace(one.offers[0], available=False, why=why, cluster="", pools=(), dormant="h100")
        return replace(one, offers=(first, *one.offers[1:]))

    season = dated(begins=NOW - 9 * DAY, ends=NOW)
    there = facts(season, only, other)
    rests = facts(resting(only), resting(other), clusters={}, dormant=asleep(season, since=NOW))
    ends = review(change(there, rests, clusters=[living(PLAIN)]))
    assert [one.sentence for one in unannounced([ends])] == []
    begins = review(change(rests, there, clusters=[]))
    assert [one.sentence for one in unannounced([begins])] == []
    later = dated(begins=NOW - 9 * DAY, ends=NOW + DAY)
    (edited,) = unannounced([review(change(there, facts(later, only, other), clusters=[living(PLAIN)]))])
    assert edited.kind == "season-changed"


def test_a_season_to_come_that_lacks_quota_is_told_once_and_stops_nothing(snapshot: SnapshotAssertion) -> None:  # D2
    rests = facts(clusters={}, dormant=asleep(replace(cluster("big"), season=Season(begins=ENDS))))
    lacks = limits({"custom_model_training_cpus": 4, "custom_model_training_pd_ssd": -1})
    declared = change(facts(clusters={}), rests, limits=lacks)
    one = told(declared)["season-awaits-quota"]
    assert (one.subject, one.grade, one.field) == ("cluster big", WARNING, "slipway:persistentResources.big.from")
    assert one.clause == snapshot
    assert list(unapproved([review(declared)])) == []
    stands = review(change(rests, rests, limits=lacks))
    assert stands.silent
    assert stands.standing[0] == snapshot
    less = {one: replace(lacks["custom_model_training_cpus"], metric=one) for one in lacks}
    assert list(unannounced([review(change(rests, rests, limits=less))])) == []


AWAY = "us-east4"
TYPE = "gcp:vertex/aiPersistentResource:AiPersistentResource"
FIRST = cluster("gpu", pool("workers", H100, 1, 4), id="gpu-0000001")
FAR_POOL = pool("workers", H100, 1, 4, price=hourly(H100, AWAY))
LISTED = replace(FIRST, alternatives=(PricedAlternative((FAR_POOL,), AWAY),))
FAR = replace(cluster("gpu", FAR_POOL, id="gpu-0000002"), region=AWAY, alternative=1)


def away(one: Cluster, *, used: int = 0) -> PersistentResource:
    name = f"projects/1/locations/{AWAY}/persistentResources/{one.id}"
    return replace(living(one, used=used), name=name)


def said(before: Cluster | None, after: Cluster) -> list[Finding]:
    living_now = [living(before)] if before else []
    return list(alternatives(change(facts(before) if before else None, facts(after), clusters=living_now)))


def test_what_may_come_from_another_region_says_where_and_that_data_stays(snapshot: SnapshotAssertion) -> None:
    (one,) = said(None, LISTED)
    assert one.sentence == snapshot
    assert (one.grade, one.field) == (Grade.WARNING, "slipway:persistentResources.gpu.alternatives")
    small = PricedAlternative((pool("workers", CPU, 1, 4, price=hourly(CPU, AWAY)),))
    (one,) = said(None, replace(LISTED, alternatives=(small, PricedAlternative((FAR_POOL,), AWAY))))
    assert any("alternative 1: workers 1–4 n1-standard-8" in each for each in one.details)
    assert one.sentence == snapshot


def test_what_was_announced_is_for_knowing_and_starts_by_itself(snapshot: SnapshotAssertion) -> None:  # N14
    """A season that begins, and a cluster that failed: nobody edited the list."""
    asleep = DormantCluster(**{each.name: getattr(LISTED, each.name) for each in fields(LISTED)})
    before = facts()
    before = replace(before, catalog=replace(before.catalog, dormant={"gpu": asleep}))
    (one,) = alternatives(change(before, facts(LISTED), clusters=[]))
    assert one.sentence == snapshot
    dearer = replace(
        LISTED, alternatives=(PricedAlternative((replace(FAR_POOL, price_per_hour=hourly(CPU, AWAY)),), AWAY),)
    )
    again = change(facts(LISTED), facts(replace(dearer, id="gpu-0000001-2")), clusters=[living(LISTED, state="ERROR")])
    for told in (one, *alternatives(again)):
        assert (told.kind, told.grade) == ("cluster-may-still-become", Grade.NOTE)
        assert is_announced(told)
    (edited,) = alternatives(
        change(before, facts(replace(LISTED, alternatives=(PricedAlternative((FAR_POOL,), "us-west1"),))), clusters=[])
    )
    assert (edited.kind, edited.grade) == ("cluster-may-become", Grade.WARNING)


def test_one_that_is_lost_elsewhere_is_made_again_at_home_and_no_edit_is_blamed(snapshot: SnapshotAssertion) -> None:
    for there in ([], [replace(away(FAR), state="ERROR")]):
        found = {one.kind: one for one in clusters(change(facts(FAR), facts(FIRST), clusters=there))}
        assert found["cluster-new-generation"].sentence == snapshot


def test_one_that_is_there_elsewhere_is_said_with_where_its_data_is(snapshot: SnapshotAssertion) -> None:
    (line,) = standing_alternatives(change(facts(FAR), facts(FAR)))
    assert line == snapshot


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
    (words,) = unsaid(replace(FAR, region=""))
    assert words == snapshot


def test_it_is_looked_for_where_it_was_or_may_come_to_be() -> None:
    engine = {"urn": step("same", TYPE, "old", old={"location": "us-west1"}), "odd": step("same", TYPE, "x", old={})}
    before, after = facts(FAR, other_regions=(AWAY,)), facts(LISTED, other_regions=("us-east5", AWAY))
    assert _elsewhere(Preview(standing=engine), before, after) == (AWAY, "us-east5", "us-west1")
    told = {"u": step("same", TYPE, "y", old={"location": "evil.example/"})}
    assert _elsewhere(Preview(standing=told), facts(FIRST), None) == ()
    assert catalog(FAR).region_of("gpu") == AWAY

"""Seasons of clusters, and what they may become elsewhere: what a change does, what is due. # B6 # N2"""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import datetime, timedelta
from typing import Any

from syrupy.assertion import SnapshotAssertion

from slipway.deploying.engine.preview import Preview
from slipway.model.catalog.clusters import Cluster, DormantCluster, PricedAlternative
from slipway.model.findings.finding import Grade
from slipway.model.findings.grades import is_announced
from slipway.model.prices import hourly
from slipway.model.season import Reason, Season
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.reading import _elsewhere
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.review import review, write
from slipway.reviewing.rules.clusters.engine import unsaid_clusters
from slipway.reviewing.rules.clusters.options import alternatives, standing_alternatives
from slipway.reviewing.told.comment import comment
from slipway.reviewing.told.headline import plain_text
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
    limits,
    living,
    pool,
    step,
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


def told(change: Change) -> dict[str, Consequence]:
    return {one.kind: one for one in review(change).consequences}


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
    """A consequence of the change itself stands apart from others; its cost until then is told too."""
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


AWAY = "us-east4"
TYPE = "gcp:vertex/aiPersistentResource:AiPersistentResource"
FIRST = cluster("gpu", pool("workers", H100, 1, 4), id="gpu-0000001")
FAR_POOL = pool("workers", H100, 1, 4, price=hourly(H100, AWAY))
LISTED = replace(FIRST, alternatives=(PricedAlternative((FAR_POOL,), AWAY),))
FAR = replace(cluster("gpu", FAR_POOL, id="gpu-0000002"), region=AWAY, alternative=1)


def said(before: Cluster | None, after: Cluster) -> list[Any]:
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
        assert is_announced(told.kind, told.grade)
    (edited,) = alternatives(
        change(before, facts(replace(LISTED, alternatives=(PricedAlternative((FAR_POOL,), "us-west1"),))), clusters=[])
    )
    assert (edited.kind, edited.grade) == ("cluster-may-become", Grade.WARNING)


def test_one_that_is_there_elsewhere_is_said_with_where_its_data_is(snapshot: SnapshotAssertion) -> None:
    (line,) = standing_alternatives(change(facts(FAR), facts(FAR)))
    assert line == snapshot


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

"""When clusters are wanted: what a change of it does, what was announced, and what is due. # B6"""

from __future__ import annotations

from dataclasses import fields, replace
from datetime import datetime, timedelta

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.capacity import SPOT
from slipway.catalog.clusters import Cluster, DormantCluster
from slipway.catalog.model import Template
from slipway.findings.finding import Finding, Grade
from slipway.review.change import Change
from slipway.review.gate import unannounced, unapproved
from slipway.review.rendering.comment import comment
from slipway.review.rendering.headline import plain_text
from slipway.review.review import review, write
from slipway.season import Reason, Season, moment
from tests.slipway.review.builders import (
    H100,
    NOW,
    change,
    cluster,
    facts,
    job,
    kept,
    limits,
    living,
    offer,
    pool,
    template,
)

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


@pytest.mark.parametrize(
    ("old", "new", "edit", "follows", "grade"),
    [
        (
            PLAIN,
            dated(ends=ENDS),
            "`until` none → `2026-12-20`",
            "takes no new jobs from 2026-12-20 on, and is deleted when its own have ended",
            Grade.WARNING,
        ),
        (
            dated(ends=ENDS),
            dated(ends=ENDS - DAY),
            "`until` `2026-12-20` → `2026-12-19`",
            "takes no new jobs from 2026-12-19 on, and is deleted when its own have ended",
            Grade.WARNING,
        ),
        (
            dated(ends=ENDS),
            dated(ends=ENDS + DAY),
            "`until` `2026-12-20` → `2026-12-21`",
            "takes no new jobs from 2026-12-21 on, and is deleted when its own have ended",
            Grade.NOTE,
        ),
        (dated(ends=ENDS), PLAIN, "`until` `2026-12-20` → none", "has no end any more", Grade.NOTE),
        (
            PLAIN,
            dated(hours=4),
            "`idleLimit` none → `4 h`",
            "is deleted once it has had no job for 4 h",
            Grade.WARNING,
        ),
        (
            dated(hours=4),
            dated(hours=9),
            "`idleLimit` `4 h` → `9 h`",
            "is deleted once it has had no job for 9 h",
            Grade.NOTE,
        ),
        (
            dated(hours=9),
            dated(hours=4),
            "`idleLimit` `9 h` → `4 h`",
            "is deleted once it has had no job for 4 h",
            Grade.WARNING,
        ),
    ],
)
def test_a_change_of_dates_is_told_with_what_follows(
    old: Cluster, new: Cluster, edit: str, follows: str, grade: Grade
) -> None:
    found = told(change(facts(old), facts(new), clusters=[living(PLAIN)]))
    assert found.keys() == {"season-changed"}
    one = found["season-changed"]
    assert (one.sentence, one.grade, one.subject) == (f"`h100` {follows}", grade, "cluster h100")
    assert edit in one.details
    key = edit.split("`")[1]
    assert one.field == f"slipway:persistentResources.h100.{key}"


def test_dates_that_stay_are_silent() -> None:
    same = dated(ends=ENDS, hours=4)
    assert told(change(facts(same), facts(same), clusters=[living(PLAIN)])) == {}
    rests = asleep(dated(begins=ENDS))
    assert told(change(facts(clusters={}, dormant=rests), facts(clusters={}, dormant=rests))) == {}


def test_an_end_that_the_change_itself_brings_is_graded_as_the_destruction_that_it_is(
    snapshot: SnapshotAssertion,
) -> None:  # N1
    over = dated(ends=NOW - DAY)
    found = told(
        change(facts(PLAIN), facts(clusters={}, dormant=asleep(over, since=NOW - DAY)), clusters=[living(PLAIN)])
    )
    gone = found["cluster-deleted"]
    assert gone.sentence == snapshot
    assert gone.grade is Grade.BLOCKING and found["season-changed"].grade is Grade.BLOCKING


def test_what_the_deployed_stack_file_announced_is_a_change_and_nothing_worse(snapshot: SnapshotAssertion) -> None:
    over, idle = dated(ends=NOW - DAY), dated(hours=4)
    for was, rests in ((over, asleep(over, since=NOW - DAY)), (idle, asleep(idle, "idle", NOW))):
        found = told(change(facts(was), facts(clusters={}, dormant=rests), clusters=[living(PLAIN)]))
        assert found["cluster-deleted"].sentence == snapshot
        assert found["cluster-deleted"].grade is Grade.NOTE and "season-changed" not in found


def test_a_job_on_it_finishes_first(snapshot: SnapshotAssertion) -> None:  # N1
    over, tune = dated(ends=NOW - DAY), job("tune", on=PLAIN)
    after = facts(kept(PLAIN, tune), clusters={}, dormant=asleep(over, since=NOW - DAY))
    found = told(change(facts(over), after, clusters=[living(PLAIN, used=1)], jobs=[tune]))
    assert found["cluster-retires"].grade is Grade.NOTE
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
    larger = asleep(replace(dated(begins=ENDS), pools={"workers": pool("workers", H100, 1, 8)}, id="h100-4b2277a"))
    edited = told(change(facts(dormant=rests), facts(dormant=larger)))["season-changed"]
    assert "`pools.workers.replicas.max` 4 → 8" in edited.sentence and edited.grade is Grade.NOTE


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
    assert found["no-offer-left"].grade is Grade.WARNING and found["no-offer-left"].clause.endswith("for now")
    assert found["offer-unavailable"].sentence == snapshot
    assert max(one.grade for one in found.values()) is Grade.WARNING


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
    assert (one.details, one.grade) == ((costs,), Grade.NOTE)
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
    assert (one.subject, one.grade, one.field) == (
        "cluster big",
        Grade.WARNING,
        "slipway:persistentResources.big.from",
    )
    assert one.clause == snapshot
    assert list(unapproved([review(declared)])) == []
    stands = review(change(rests, rests, limits=lacks))
    assert stands.silent
    assert stands.standing[0] == snapshot
    less = {one: replace(lacks["custom_model_training_cpus"], metric=one) for one in lacks}
    assert list(unannounced([review(change(rests, rests, limits=less))])) == []

"""Seasons of clusters, and what they may become elsewhere: what is due, what was announced. # B6 # N2"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from slipway.deploying.engine.preview import Preview
from slipway.model.catalog.clusters import Cluster, DormantCluster, PricedAlternative
from slipway.model.facts import Facts
from slipway.model.findings.finding import Grade
from slipway.model.findings.grades import is_announced
from slipway.model.prices import hourly
from slipway.model.season import Season
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.reading import _elsewhere
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.review import review
from slipway.reviewing.rules.clusters.engine import unsaid_clusters
from slipway.reviewing.rules.clusters.fates import clusters
from slipway.reviewing.rules.clusters.machines import standing_alternatives
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
ENDS = NOW.replace(hour=0) + timedelta(days=29)
PLAIN, SMALL = cluster("h100", pool("workers", H100, 1, 4), id="h100-3e29a36"), cluster()
BOTH = replace(PLAIN, season=Season(ends=ENDS, idle_limit=timedelta(hours=4)))
IDLES = replace(BOTH, season=replace(BOTH.season, ends=None))
COMES = replace(BOTH, season=Season(begins=ENDS, idle_limit=timedelta(hours=4)))
DUE = "season ends 2026-12-20, in 29 days: $101.14/h, $69,484.03 until then"
FOLLOWS = "takes no new jobs from 2026-12-20 on, and is deleted when its own have ended"
GIVEN_UP = "is deleted once it has had no job for 4 h"


def asleep(of: Cluster) -> dict[str, DormantCluster]:
    return {of.name: DormantCluster(**vars(of))}


def test_what_is_due_is_no_consequence_and_said_beside_them() -> None:
    ended = job("eval", on=PLAIN, state="SUCCEEDED", end_time=NOW - timedelta(hours=1))
    state = facts(BOTH, dormant=asleep(replace(cluster("big"), season=Season(begins=ENDS))))
    enough = limits({"custom_model_training_cpus": 64, "custom_model_training_pd_ssd": -1})
    found = review(change(state, state, clusters=[living(PLAIN)], recent=(ended,), limits=enough))
    assert found.silent
    season, idle, rests = found.standing
    assert season == f"`h100`: {DUE}"
    assert idle.startswith("`h100`: is given up 2026-11-21 12:00 UTC, in 3 h: $101.14/h, $303.42 until then")
    assert rests == "cluster big is out of season until 2026-12-20; ready"


@pytest.mark.parametrize(
    ("before", "after", "does", "details"),
    [
        (facts(SMALL), facts(SMALL, BOTH), FOLLOWS, (GIVEN_UP, DUE)),
        (facts(SMALL, IDLES), facts(SMALL, BOTH), FOLLOWS, (DUE,)),
        (facts(SMALL), facts(SMALL, dormant=asleep(COMES)), "is made 2026-12-20", (GIVEN_UP,)),
    ],
)
def test_what_is_due_of_a_cluster_that_the_change_adds_or_dates_is_told_with_it(
    before: Facts, after: Facts, does: str, details: tuple[str, ...]
) -> None:  # N5
    deployed = [living(SMALL), *([living(PLAIN)] if "h100" in before.catalog.clusters else [])]
    found = review(change(before, after, clusters=deployed))
    (dated,) = (one for one in found.consequences if one.kind == "season-changed")
    assert dated.does == does and set(details) <= {*dated.details}
    assert found.standing == ()


AWAY = "us-east4"
TYPE = "gcp:vertex/aiPersistentResource:AiPersistentResource"
FIRST = cluster("gpu", pool("workers", H100, 1, 4), id="gpu-0000001")
FAR_POOL = pool("workers", H100, 1, 4, price=hourly(H100, AWAY))
LISTED = replace(FIRST, alternatives=(PricedAlternative((FAR_POOL,), AWAY),))
FAR = replace(cluster("gpu", FAR_POOL, id="gpu-0000002"), region=AWAY, alternative=1)


def alternatives(change: Change) -> list[Consequence]:
    return [one for one in clusters(change) if one.kind.startswith("cluster-may-")]


def test_what_may_come_from_another_region_says_where_and_that_data_stays() -> None:
    small = PricedAlternative((pool("workers", CPU, 1, 4, price=hourly(CPU, AWAY)),))
    listed = replace(LISTED, alternatives=(small, PricedAlternative((FAR_POOL,), AWAY)))
    (one,) = alternatives(change(None, facts(listed), clusters=[]))
    assert (one.grade, one.field) == (WARNING, "slipway:persistentResources.gpu.alternatives")
    nearer, far = one.details
    assert "alternative 1: workers 1–4 n1-standard-8" in nearer and "results stay there" in far
    assert one.sentence == "`gpu` is made of others where its machines can't be had: up to +$0.01/h"


def test_what_was_announced_is_for_knowing_and_starts_by_itself() -> None:  # N14
    """A season that begins, and a cluster that failed: nobody edited the list."""
    before = facts(dormant=asleep(LISTED))
    begins = change(before, facts(LISTED), clusters=[])
    again = change(facts(LISTED), facts(replace(LISTED, id="gpu-0000001-2")), clusters=[living(LISTED, state="ERROR")])
    for told in (*alternatives(begins), *alternatives(again)):
        assert told.kind == "cluster-may-still-become" and is_announced(told.kind, told.grade)
    edited = replace(LISTED, alternatives=(PricedAlternative((FAR_POOL,), "us-west1"),))
    (told,) = alternatives(change(before, facts(edited), clusters=[]))
    assert (told.kind, told.grade) == ("cluster-may-become", WARNING)


def test_one_that_is_there_elsewhere_is_said_with_where_its_data_is() -> None:
    (line,) = standing_alternatives(change(facts(FAR), facts(FAR)))
    assert line.startswith("`gpu` is there as its alternative 1 in us-east4, whose jobs' results stay there, and what")
    assert line.endswith("take that out of `alternatives` to have it made as asked for first, beside this one")


def test_a_location_elsewhere_is_what_the_program_says_of_an_alternative_and_of_nothing_else() -> None:
    made = asked_for(FAR)

    def unsaid(one: Cluster) -> list[str]:
        steps = [step("create", TYPE, one.id, new=made)]
        told = unsaid_clusters(change(facts(one), facts(one), steps=steps))
        return [str(edit) for each in told for edit in each.edits]

    assert unsaid(FAR) == []
    assert unsaid(replace(FAR, region="")) == ["`location` `us-central1` → `us-east4`"]


def test_it_is_looked_for_where_it_was_or_may_come_to_be() -> None:
    engine = {"urn": step("same", TYPE, "old", old={"location": "us-west1"}), "odd": step("same", TYPE, "x", old={})}
    before, after = facts(FAR, other_regions=(AWAY,)), facts(LISTED, other_regions=("us-east5", AWAY))
    assert _elsewhere(Preview(standing=engine), before, after) == (AWAY, "us-east5", "us-west1")
    told = {"u": step("same", TYPE, "y", old={"location": "evil.example/"})}
    assert _elsewhere(Preview(standing=told), facts(FIRST), None) == ()
    assert catalog(FAR).region_of("gpu") == AWAY

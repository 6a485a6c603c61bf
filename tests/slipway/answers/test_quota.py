"""Whether quota is sufficient now, at maximum, and on the dates of coming clusters."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from slipway.answers import quota as question
from slipway.answers.answer import differences
from slipway.answers.comparison import Comparison, Side
from slipway.google.live import Increase
from slipway.model.catalog.clusters import Cluster, DormantCluster
from slipway.model.cluster import IN_PLACE
from slipway.model.facts import Facts, QuotaLine
from slipway.model.findings.finding import Finding, Grade
from slipway.model.season import Season
from tests.slipway.reviewing.builders import (
    H100,
    NOW,
    UNREAD,
    by_kind,
    change,
    cluster,
    facts,
    kept,
    limits,
    living,
    pool,
    quota,
)

GPUS = "custom_model_training_nvidia_h100_gpus"
ENOUGH = {"custom_model_training_a3_cpus": 10_000, "custom_model_training_pd_ssd": 100_000}
OLD = cluster("h100", pool("workers", H100, 1, 4))
NEW = cluster("h100", pool("workers", H100, 1, 6))
NOTE, WARNING, BLOCKING = Grade


def compared(before: Facts | None, after: Facts, gpus: int = 32, **world: Any) -> Comparison:
    world.setdefault("clusters", [living(OLD)])
    world.setdefault("limits", limits({GPUS: gpus, **ENOUGH}))
    return change(before, after, **world).comparison


def listed(comparison: Comparison) -> list[Finding]:
    sides = [tuple(question.answers(comparison, side)) for side in Side]
    return list(question.findings(comparison, differences(*sides)))


def findings(comparison: Comparison) -> dict[str, Finding]:
    return by_kind(listed(comparison))


def test_a_pool_can_not_grow_to_its_maximum() -> None:
    (part,) = findings(compared(facts(OLD), facts(NEW))).values()
    assert (part.kind, part.subject, part.grade) == ("quota-short-at-most", "quota nvidia_h100_gpus", WARNING)
    assert part.sentence == "`h100/workers` can grow to 4 of 6 machines: limit 32, 48 needed"
    assert part.fix == "`slipway quota --request h100_gpus=48 --contact EMAIL`"
    assert findings(compared(facts(NEW), facts(NEW), clusters=[living(NEW)])) == {}, "it was short before"
    strict = findings(compared(facts(OLD), facts(NEW, quota=quota(strict=True))))
    assert strict["quota-short-at-most"].grade is BLOCKING


def test_a_new_cluster_does_not_fit_beside_the_old_one() -> None:
    part = findings(compared(facts(OLD), facts(NEW, kept(OLD)), gpus=8))["quota-short-now"]
    assert part.grade is BLOCKING and part.sentence == "`h100` needs 8 now beside 8 in use: limit 8, short by 8"
    asked = replace(quota(mode="request"), requests={GPUS: 48})
    waits = findings(compared(facts(OLD), facts(NEW, quota=asked), gpus=8))["quota-short-now"]
    assert waits.grade is WARNING and "requested 48" in waits.sentence
    old = facts(replace(OLD, replacement=IN_PLACE))
    new = facts(replace(NEW, replacement=IN_PLACE))
    assert "quota-short-now" not in findings(compared(old, new, gpus=8))


def test_an_increase_that_can_not_be_requested_is_not_advised() -> None:
    fixed = limits({GPUS: 32, **ENOUGH}, Increase.FIXED)
    (part,) = findings(compared(facts(OLD), facts(NEW), limits=fixed)).values()
    assert part.fix.startswith("lower `replicas`: no increase")


def test_a_run_of_a_template_needs_more_than_the_limit() -> None:
    def offers(needs: int, short: int) -> Facts:
        return facts(OLD, quota=quota(QuotaLine(f"{GPUS} offers", "short", short, {"lora spot": needs}, needs, 8)))

    (part,) = findings(compared(offers(8, 0), offers(16, 8))).values()
    assert part.sentence == "a run of `lora spot` needs 16: limit 8"
    assert findings(compared(offers(16, 8), offers(16, 8))) == {}


def test_limits_that_can_not_be_read_are_reported_only_if_more_is_used() -> None:
    parts = listed(compared(facts(OLD), facts(NEW), limits=UNREAD))
    assert {(part.kind, part.subject) for part in parts} == {("quota-unknown", "quota")}
    assert findings(compared(facts(OLD), facts(OLD), limits=UNREAD)) == {}


def coming(low: int) -> Cluster:
    spec = cluster("next", pool("workers", H100, low, 8), season=Season(begins=NOW + timedelta(days=5)))
    return DormantCluster(**vars(spec))


@pytest.mark.parametrize("first", [True, False])
def test_the_quota_of_a_coming_season_is_short(first: bool) -> None:
    after = facts(OLD, dormant={"next": coming(4)})
    (part,) = [
        part
        for part in findings(compared(None if first else facts(OLD), after)).values()
        if part.kind == "season-awaits-quota"
    ]
    assert (part.subject, part.grade) == ("cluster next", WARNING)
    assert f"begins 2026-11-26 09:00 UTC, is not ready: quota {GPUS} in us-central1 is short by 8" in part.sentence
    assert findings(compared(after, after)) == {}


def test_a_coming_season_leaves_less_at_maximum() -> None:
    after = facts(OLD, dormant={"next": coming(0)})
    part = findings(compared(facts(OLD), after, 16))["quota-short-at-most"]
    assert part.grade is WARNING and part.sentence.startswith("from 2026-11-26 09:00 UTC on, ")
    assert findings(compared(after, after, 16)) == {}


def test_the_footer() -> None:
    assert question.quota_text(compared(facts(OLD), facts(OLD))) == "sufficient now"
    assert question.quota_text(compared(facts(OLD), facts(NEW))) == "sufficient now, insufficient at maximum"
    assert question.quota_text(compared(facts(OLD), facts(NEW), gpus=8)) == "insufficient now"
    assert question.quota_text(compared(facts(OLD), facts(NEW), limits=UNREAD)) == "unknown"
    later = facts(OLD, dormant={"next": coming(4)})
    assert question.quota_text(compared(facts(OLD), later)) == "sufficient now, insufficient from 2026-11-26 09:00 UTC"

"""Quota now, at most, and while both generations are there. # N6 # D2"""

from dataclasses import replace
from typing import Any

import pytest

from slipway.google.live import Increase
from slipway.google.quotas import QuotaPreference
from slipway.model.facts import QuotaFacts, QuotaLine
from slipway.model.findings.finding import Grade
from slipway.reviewing.change.change import Change
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.quota import quota as compared
from tests.slipway.reviewing.builders import (
    H100,
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
SPOT = "custom_model_training_preemptible_nvidia_h100_gpus"
OLD = cluster("h100", pool("workers", H100, 1, 4))
NEW = cluster("h100", pool("workers", H100, 1, 6))
NOTE, WARNING, BLOCKING = Grade
OTHER = cluster("theirs", pool("workers", H100, 1, 4))


def line(high: int, *, short: int = 0, limit: int | None = 32, state: str = "ok", metric: str = GPUS) -> QuotaLine:
    return QuotaLine(metric, state, short, {"h100/workers": high}, high, limit)


def offers(needs: int, *, short: int = 0, limit: int = 8) -> QuotaLine:
    return QuotaLine(f"{SPOT} offers", "short" if short else "ok", short, {"lora spot": needs}, needs, limit)


def said(change: Change) -> dict[str, Consequence]:
    return by_kind(compared(change))


def changed(before: Any, after: Any, **fields: Any) -> dict[str, Consequence]:
    """`before` and `after` are lines, or whole facts of quota."""
    old, new = (side if isinstance(side, QuotaFacts) else quota(side) for side in (before, after))
    fields.setdefault("clusters", [living(OLD)])
    fields.setdefault("limits", limits({GPUS: 32, SPOT: 8}))
    return said(change(facts(OLD, quota=old), facts(NEW, kept(OLD), quota=new), **fields))


def asking(*lines: QuotaLine, **requests: int) -> QuotaFacts:
    return replace(quota(*lines, mode="request"), requests=requests or None)


FITS, MORE, BOTH = line(32), line(48), line(8, short=8, limit=8, state="short")
CROWDED = {"clusters": [living(OLD, used=4), replace(living(OTHER), labels={})]}
UNTOLD = {"limits": limits({GPUS: 32}, Increase.UNTOLD)}
ASKS, WAITS = asking(MORE, **{GPUS: 48}), asking(line(48, short=16, state="short"), **{GPUS: 48})
ANSWER = {"CustomModelTrainingH100GPUsPerProjectPerRegion": QuotaPreference("x", "x", "r", 48, 32, detail="scarce")}
AT_MOST, NOW, ALLOWED = "quota-short-at-most", "quota-short-now", "quota-short-allowed"


@pytest.mark.parametrize(
    ("before", "after", "world", "kind", "grade", "words"),
    [
        (FITS, MORE, CROWDED, AT_MOST, WARNING, "can't grow beyond 3 of 6 machines: quota has 24 H100 GPUs"),
        (FITS, ASKS, {}, AT_MOST, WARNING, "48 are needed"),
        (FITS, MORE, UNTOLD, AT_MOST, WARNING, "ask Google for 48"),
        (quota(FITS, strict=True), replace(ASKS, strict=True), {}, AT_MOST, WARNING, "made once Google grants enough"),
        (quota(FITS, strict=True), quota(MORE, strict=True), {}, AT_MOST, BLOCKING, "`strict` refuses the deployment"),
        (line(8), quota(BOTH, mode="warn"), {}, ALLOWED, BLOCKING, "it may fail"),
        (FITS, WAITS, {"preferences": ANSWER}, NOW, BLOCKING, "asked for 48: 32 granted (scarce)"),
    ],
)  # Z2
def test_what_is_short_and_what_is_asked_for(
    before: Any, after: Any, world: dict[str, Any], kind: str, grade: Grade, words: str
) -> None:
    part = changed(before, after, **world)[kind]
    assert (part.grade, part.subject) == (grade, f"quota {GPUS}")
    assert words in f"{part.sentence}; {part.instead}"


def test_what_was_short_by_the_same_is_not_of_this_change() -> None:
    assert changed(line(48, state="tight"), line(48, state="tight")) == {}
    assert changed(offers(16, short=8), offers(16, short=8)) == {}
    assert changed(line(48), line(40)) == {}, "less than it was"


def test_limits_that_can_not_be_read_are_said_once() -> None:
    after = quota(line(32, limit=None, state="unknown"), line(8, limit=None, state="unknown", metric=SPOT))
    judged = changed(line(32), after, limits=UNREAD)
    assert judged.keys() == {"quota-unknown"}
    assert changed(after, after, limits=UNREAD) == {}


AWAY = "us-east4"
FAR = replace(NEW, id="h100-far0001", region=AWAY, alternative=1)


def far(high: int, *, short: int = 0, state: str = "ok") -> QuotaLine:
    return replace(line(high, short=short, state=state), key=f"{GPUS} in {AWAY}")


def elsewhere(after: QuotaLine, used: int) -> dict[str, Consequence]:
    """A cluster in another region, where others use so many machines, and none here."""
    ours, theirs = (
        replace(living(side, used=used), name=f"projects/1/locations/{AWAY}/persistentResources/{side.id}")
        for side, used in ((FAR, 1), (OTHER, used))
    )
    theirs = replace(theirs, labels={})
    changed = change(facts(OLD), facts(FAR, quota=quota(after)), clusters=[ours, theirs])
    there = limits({GPUS: 32})
    live = replace(changed.live, limits=limits({GPUS: 100_000}), limits_elsewhere={AWAY: there})
    return said(replace(changed, live=live))


def test_quota_of_another_region_is_judged_and_told_by_its_own_limits_and_use() -> None:  # N2
    judged = elsewhere(far(32, state="tight"), used=1)["quota-short-at-most"]
    assert judged.subject == f"quota {GPUS} in us-east4"
    assert "beyond 4 of 6 machines: quota has 24 H100 GPUs in us-east4" in judged.sentence
    assert judged.instead.startswith("ask Google for 40 (`CustomModelTrainingH100")
    now = elsewhere(far(32, short=8), used=4)["quota-short-now"]
    assert "Quota for H100 GPUs in us-east4 is short by 8" in now.sentence


def test_limits_of_another_region_that_can_not_be_read_are_named() -> None:
    changed = change(facts(OLD), facts(FAR, quota=quota(far(32, state="unknown"))))
    live = replace(changed.live, limits_elsewhere={AWAY: UNREAD})
    (part,) = said(replace(changed, live=live)).values()
    assert "whether H100 GPUs in us-east4 suffice: aiplatform.googleapis.com: denied" in part.sentence

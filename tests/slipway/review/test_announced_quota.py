"""What more quota the schedule may ask for by itself: what seasons need, what is deployed already. # Z2 # B6 # N5"""

from __future__ import annotations

from dataclasses import replace

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.catalog.clusters import Cluster, DormantCluster
from slipway.facts import Facts, QuotaFacts, QuotaLine
from slipway.findings.finding import Grade
from slipway.machines.spec import MachineSpec
from slipway.review.change import Change
from slipway.review.gate import unannounced
from slipway.review.review import review
from slipway.season import Season
from tests.slipway.review.builders import H100, NOW, change, cluster, facts, job, kept, limits, living, pool, quota

GPUS, A100S = (f"custom_model_training_nvidia_{gpus}_gpus" for gpus in ("h100", "a100"))
FIRST = cluster("first", pool("workers", H100, 1, 4))
SECOND = replace(cluster("second", pool("workers", H100, 1, 4)), season=Season(begins=NOW))


def stopped_by(one: Change) -> set[str]:
    """Kinds of what stops the scheduled deployment."""
    return {shut.kind for shut in unannounced([review(one)])}


def told(one: Change) -> set[str]:
    return {each.kind for each in review(one).consequences}


def drawing(asked: int, *, mode: str = "request", short: int = 0, offers: int = 0, **drawn: int) -> QuotaFacts:
    """`drawn`: at most, by the cluster."""
    shares = {f"{name}/workers": amount for name, amount in drawn.items()}
    lines = [QuotaLine(GPUS, "short" if short else "tight", short, shares, sum(drawn.values()), 8)]
    if offers:
        lines.append(QuotaLine(f"{GPUS} offers", "ok", 0, {"lora on-demand": offers}, offers, 8))
    return replace(quota(*lines, mode=mode), requests={GPUS: asked} if asked else None)


def deployed(before: QuotaFacts, *some: Cluster) -> Facts:
    return facts(*(some or [FIRST]), dormant={"second": DormantCluster(**vars(SECOND))}, quota=before)


def season_begins(before: QuotaFacts, after: QuotaFacts, second: Cluster = SECOND, first: Cluster = FIRST) -> Change:
    there = [living(first)]
    return change(deployed(before), facts(first, second, quota=after), clusters=there, limits=limits({GPUS: 8}))


@pytest.mark.parametrize(
    ("short", "kinds"), [(0, {"season-quota-requested"}), (8, {"season-quota-requested", "season-awaits-quota"})]
)
def test_what_a_season_asks_of_quota_stops_nothing(short: int, kinds: set[str]) -> None:
    """Else nobody would ever ask for it."""
    begins = season_begins(drawing(0, first=8), drawing(40, short=short, first=8, second=32))
    assert stopped_by(begins) == set()
    assert kinds <= told(begins)
    again = season_begins(drawing(40, short=short, first=8, second=32), drawing(40, short=short, first=8, second=32))
    assert told(again).isdisjoint(kinds), "said once"


def hour(before: QuotaFacts, after: QuotaFacts, *some: Cluster) -> Change:
    """An hour in which nobody edits anything."""
    known = some or (FIRST,)
    there = [living(one) for one in known]
    was, becomes = deployed(before, *known), deployed(after, *known)
    return change(was, becomes, clusters=there, limits=limits({GPUS: 8, A100S: 8}))


def test_what_is_asked_for_without_any_edit_stops_nothing() -> None:
    """Others use it, or a request of somebody's was taken over as it was, which is too low."""
    asks = hour(drawing(16, first=32), drawing(48, first=32))
    assert told(asks) == {"deployed-quota-requested"} and stopped_by(asks) == set()
    season = season_begins(drawing(16, first=8), drawing(56, first=8, second=32))
    assert "season-quota-requested" in told(season) and stopped_by(season) == set()


def test_what_an_alternative_asks_for_once_it_is_there_stops_nothing() -> None:  # N2
    """It was asked for what was to be made first, before there was an alternative."""
    machine = MachineSpec("a2-highgpu-8g", "NVIDIA_TESLA_A100", 8)
    there = replace(FIRST, id="first-a1a1a1a", pools={"workers": pool("workers", machine, 1, 4)}, alternative=1)
    line = QuotaLine(A100S, "tight", 0, {"first/workers": 32}, 32, 8)
    after = replace(quota(line, mode="request"), requests={A100S: 32})
    asks = hour(drawing(32, first=32), after, there)
    assert "deployed-quota-requested" in told(asks) and stopped_by(asks) == set()


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize(
    "before", [drawing(0, mode="enforce", first=32), drawing(0, first=32), drawing(0, offers=16, first=32)]
)
def test_a_check_or_a_template_that_nobody_deployed_stops_it(before: QuotaFacts, strict: bool) -> None:
    after = drawing(48, offers=32, first=32)
    if strict:
        after = replace(after, strict=True, lines=before.lines)
    assert "quota-requested" in stopped_by(hour(before, after))


EDITED = replace(SECOND, id="second-4b2277a")


@pytest.mark.parametrize("short", [0, 8])
@pytest.mark.parametrize(
    ("before", "after", "first", "second"),
    [
        pytest.param(drawing(0, first=8), drawing(48, first=16, second=32), "4b2277a", SECOND, id="another draws more"),
        pytest.param(drawing(0, mode="enforce", first=8), drawing(40, first=8, second=32), "", SECOND, id="mode"),
        pytest.param(drawing(0, first=8), drawing(40, offers=32, first=8, second=32), "", SECOND, id="a template"),
        pytest.param(drawing(0, first=8), drawing(16, first=16), "4b2277a", SECOND, id="no season draws it"),
        pytest.param(drawing(0, first=8), drawing(40, first=8, second=32), "", EDITED, id="its cluster"),
    ],
)
def test_what_an_edit_asks_of_quota_stops_it(
    before: QuotaFacts, after: QuotaFacts, first: str, second: Cluster, short: int
) -> None:
    """`first`: what of its id is another one."""
    lines = {key: replace(one, short=short if key == GPUS else 0) for key, one in after.lines.items()}
    other = replace(FIRST, id=f"first-{first}") if first else FIRST
    stopped = stopped_by(season_begins(before, replace(after, lines=lines), second, other))
    # An edited cluster is told of by itself, too.
    stopped -= {"cluster-created"} if first or second is EDITED else set()
    assert stopped == {"quota-requested", *(["quota-short-now"] if short else [])}


def test_a_season_that_waits_for_quota_is_told_once_and_stops_nothing(snapshot: SnapshotAssertion) -> None:
    """Also where the one whose quota it is to have still has a job: what ends is withdrawn meanwhile."""
    ends, waits = replace(FIRST, season=Season(ends=NOW)), DormantCluster(**vars(SECOND), lacks=(GPUS,))
    tune = job("tune", on=ends)
    rests = {"first": DormantCluster(**vars(ends), since=NOW), "second": waits}
    before = deployed(drawing(8, mode="enforce", first=8), ends)
    after = facts(kept(ends, tune), clusters={}, quota=drawing(0, mode="enforce"), dormant=rests)
    there = [living(ends, used=1)]
    begins = change(before, after, clusters=there, jobs=[tune])
    (one,) = (one for one in review(begins).consequences if one.kind == "season-awaits-quota")
    assert one.grade is Grade.WARNING and one.subject == "cluster second"
    assert one.sentence == snapshot
    assert stopped_by(begins) == set()
    assert told(change(after, after, clusters=there, jobs=[tune])) == set(), "said once"
    had = facts(SECOND, quota=drawing(0, mode="enforce", second=8), dormant={"first": rests["first"]})
    assert stopped_by(change(after, had, clusters=[living(ends)])) == set(), "its turn comes"

"""Clusters that come, go or go back by themselves, and the quota that is asked for them: what nobody deployed stops it.
# N1 # N5 # B6 # Z2"""

from __future__ import annotations

from dataclasses import replace

import pytest

from slipway.deploying.generations.published_clusters import published
from slipway.model.catalog.clusters import Cluster, DormantCluster, PricedAlternative
from slipway.model.cluster import Alternative, ClusterSpec, CurrentCluster, PoolSpec
from slipway.model.facts import Facts, QuotaFacts, QuotaLine
from slipway.model.findings.finding import Grade
from slipway.model.fingerprint import cluster_id, fingerprint_of
from slipway.model.machines.spec import MachineSpec
from slipway.model.season import Season
from slipway.reviewing.change.change import Change
from slipway.reviewing.gate import unannounced
from slipway.reviewing.review import review
from tests.slipway.reviewing.builders import (
    H100,
    NOW,
    PROJECT,
    REGION,
    STACK,
    change,
    cluster,
    facts,
    job,
    kept,
    limits,
    living,
    pool,
    quota,
)

NEW = cluster("h100", pool("workers", H100, 1, 6))
BEGINS, ENDS = Season(begins=NOW), Season(ends=NOW)
SMALL = pool("workers", H100, 1, 4)


def resting(one: Cluster) -> dict[str, DormantCluster]:
    return {one.name: DormantCluster(**vars(one))}


def stopped_by(one: Change) -> dict[str, str]:
    """What stops the scheduled deployment: sentences by kind."""
    return {shut.kind: shut.sentence for shut in unannounced([review(one)])}


def comes(was: Cluster, becomes: Cluster) -> Change:
    return change(facts(NEW, dormant=resting(was)), facts(NEW, becomes), clusters=[living(NEW)])


def goes(was: Cluster, becomes: Cluster) -> Change:
    return change(facts(was, NEW), facts(NEW, dormant=resting(becomes)), clusters=[living(was), living(NEW)])


CPUS, FEWER, OTHERS = (
    PoolSpec("workers", MachineSpec(machine), low, high, True, low)
    for machine, low, high in (("n1-standard-8", 1, 4), ("n1-standard-4", 1, 4), ("n1-standard-16", 2, 9))
)
OPEN = ClusterSpec("open", (CPUS,), season=BEGINS, alternatives=(Alternative((FEWER,), "us-east4"),))


def made(spec: ClusterSpec, option: int = 0) -> Cluster:
    """As the catalog has it when it is there, by the id that it would have."""
    there = spec.options[option]
    fingerprint = fingerprint_of(STACK, PROJECT, REGION, there)
    return published(CurrentCluster(there, cluster_id(spec.name, fingerprint), fingerprint, import_=True), REGION)


def test_one_that_comes_or_goes_as_a_deployed_alternative_stops_nothing() -> None:  # N2
    """An `up` that was killed made it, before it wrote the catalog."""
    came = comes(made(OPEN), made(OPEN, 1))
    there = replace(came, live=replace(came.live, clusters=(living(NEW), living(made(OPEN, 1)))))
    assert stopped_by(there) == {}
    over = replace(OPEN, season=ENDS)
    assert stopped_by(goes(made(over, 1), made(over))) == {}
    elsewhere = replace(OPEN, alternatives=(Alternative((FEWER,), "us-west1"),))
    assert stopped_by(comes(made(OPEN), made(elsewhere, 1))).keys() == {"cluster-created", "season-changed"}


@pytest.mark.parametrize(
    ("alternatives", "edit"),
    [
        ((Alternative((OTHERS,)),), "`2–9 n1-standard-16`"),
        ((), "none"),
    ],
)
def test_other_alternatives_that_nobody_deployed_stop_it_before_they_count_as_deployed(
    alternatives: tuple[Alternative, ...], edit: str
) -> None:
    over = replace(OPEN, season=ENDS)
    other = replace(over, alternatives=alternatives)
    told = f"`alternatives` `1–4 n1-standard-4 in us-east4` → {edit}"
    assert "season-changed" in stopped_by(goes(made(over), made(other)))
    (season,) = (one for one in review(goes(made(over), made(other))).consequences if one.kind == "season-changed")
    assert told in map(str, season.edits) and season.so.startswith("it is ")
    assert stopped_by(goes(made(over, 1), made(other))).keys() == {"season-changed"}


@pytest.mark.parametrize("state", ["RUNNING", "ERROR"])
def test_a_revert_that_nobody_deployed_stops_it(state: str) -> None:
    """The current cluster would go for the older one, whose job is all that kept it."""
    older, newer = cluster("h100", SMALL), cluster("h100", SMALL, generation=2)
    tune = job("tune", on=older)
    there = [living(older, used=1), living(newer, state=state)]
    reverts = change(facts(newer, kept(older, tune)), facts(older), clusters=there, jobs=[tune])
    assert stopped_by(reverts).keys() == {"cluster-returns"}


@pytest.mark.parametrize("state", ["", "ERROR"])
def test_an_alternative_that_is_lost_may_give_way_to_the_cluster_that_still_lives(state: str) -> None:  # N2
    """Both are of the entry that is deployed."""
    first = replace(cluster("h100", SMALL), alternatives=(PricedAlternative((SMALL,), "us-east4"),))
    far = replace(first.options[1], id="h100-0000001")
    tune = job("tune", on=first)
    there = [living(first, used=1), *([living(far, state=state)] if state else [])]
    falls = change(facts(far, kept(first, tune)), facts(first), clusters=there, jobs=[tune])
    assert "cluster-falls-back" in {one.kind for one in review(falls).consequences}
    assert stopped_by(falls) == {}


GPUS, A100S = (f"custom_model_training_nvidia_{gpus}_gpus" for gpus in ("h100", "a100"))
FIRST = cluster("first", pool("workers", H100, 1, 4))
SECOND = replace(cluster("second", pool("workers", H100, 1, 4)), season=Season(begins=NOW))


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
    assert stopped_by(begins) == {}
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
    assert told(asks) == {"deployed-quota-requested"} and stopped_by(asks) == {}


def test_what_an_alternative_asks_for_once_it_is_there_stops_nothing() -> None:  # N2
    """The quota was asked for what was to be made first, before there was an alternative."""
    machine = MachineSpec("a2-highgpu-8g", "NVIDIA_TESLA_A100", 8)
    there = replace(FIRST, id="first-a1a1a1a", pools=(pool("workers", machine, 1, 4),), alternative=1)
    line = QuotaLine(A100S, "tight", 0, {"first/workers": 32}, 32, 8)
    after = replace(quota(line, mode="request"), requests={A100S: 32})
    asks = hour(drawing(32, first=32), after, there)
    assert "deployed-quota-requested" in told(asks) and stopped_by(asks) == {}


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
    stopped = set(stopped_by(season_begins(before, replace(after, lines=lines), second, other)))
    # An edited cluster, or mode, is told of by itself, too.
    stopped -= {"quota-check-stricter", *(["cluster-created"] if first or second is EDITED else [])}
    assert stopped == {"quota-requested", *(["quota-short-now"] if short else [])}


def test_a_season_that_waits_for_quota_is_told_once_and_stops_nothing() -> None:
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
    assert "too little quota for H100 GPUs; later deployments look again" in one.so
    assert stopped_by(begins) == {}
    assert told(change(after, after, clusters=there, jobs=[tune])) == set(), "said once"

"""Clusters that come and go by their dates, or go back, and of which main says what nobody deployed. # N1 # N5 # B6"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from slipway.catalog.clusters import Cluster, DormantCluster
from slipway.cluster import Alternative, ClusterSpec, CurrentCluster, PoolSpec
from slipway.fingerprint import cluster_id, fingerprint_of
from slipway.generations.published_clusters import published
from slipway.machines.spec import MachineSpec
from slipway.review.change import Change
from slipway.review.gate import unannounced
from slipway.review.review import review
from slipway.season import Reason, Season
from tests.slipway.review.builders import (
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
    living,
    pool,
)

NEW = cluster("h100", pool("workers", H100, 1, 6))
BEGINS, ENDS, IDLES = Season(begins=NOW), Season(ends=NOW), Season(idle_limit=timedelta(days=7))
SMALL, LARGE = pool("workers", H100, 1, 4), pool("workers", H100, 16, 16)


def second(season: Season, **fields: object) -> Cluster:
    return replace(cluster("second", fields.pop("pool", SMALL), **fields), season=season)  # type: ignore[arg-type]


def resting(one: Cluster, why: Reason = "season") -> dict[str, DormantCluster]:
    since = NOW - timedelta(days=3) if why == "idle" else None
    return {one.name: DormantCluster(**vars(one), why=why, since=since)}


def stopped_by(one: Change) -> dict[str, str]:
    """What stops the scheduled deployment: sentences by kind."""
    return {shut.kind: shut.sentence for shut in unannounced([review(one)])}


def comes(was: Cluster, becomes: Cluster, why: Reason = "season") -> Change:
    return change(facts(NEW, dormant=resting(was, why)), facts(NEW, becomes), clusters=[living(NEW)])


def goes(was: Cluster, becomes: Cluster, why: Reason = "season") -> Change:
    there = [living(was), living(NEW)]
    return change(facts(was, NEW), facts(NEW, dormant=resting(becomes, why)), clusters=there)


@pytest.mark.parametrize(
    ("was", "becomes", "why", "edit"),
    [
        (
            second(BEGINS),
            second(BEGINS, pool=LARGE),
            "season",
            "`pools.workers.replicas.min` 1 → 16 and `pools.workers.replicas.max` 4 → 16",
        ),
        (second(BEGINS), second(BEGINS, generation=2), "season", "`generation` 1 → 2"),
        (second(IDLES), second(IDLES, generation=2), "idle", "`generation` 1 → 2"),
    ],
)
def test_an_edit_that_nobody_deployed_of_a_cluster_that_was_dormant_stops_its_beginning(
    was: Cluster, becomes: Cluster, why: Reason, edit: str
) -> None:
    """All else that follows may come by time: it would be made, and paid."""
    assert stopped_by(comes(was, was, why)) == {}
    found = stopped_by(comes(was, becomes, why))
    assert found.keys() == {"cluster-created", "season-changed"}
    assert found["season-changed"].startswith(f"`second`: {edit}; ")


def test_an_edit_that_nobody_deployed_stops_a_season_s_end() -> None:
    """What the schedule published as dormant would count as deployed from then on, and be made one day."""
    assert stopped_by(goes(second(ENDS), second(ENDS))) == {}
    found = stopped_by(goes(second(ENDS), second(ENDS, pool=LARGE)))
    assert found.keys() == {"season-changed"} and "`pools.workers.replicas.min` 1 → 16" in found["season-changed"]
    assert stopped_by(goes(second(IDLES), second(IDLES), "idle")) == {}
    assert stopped_by(goes(second(IDLES), second(IDLES, generation=2), "idle")).keys() == {"season-changed"}


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
    came = replace(comes(made(OPEN), made(OPEN, 1)))
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
        ((Alternative((FEWER,), "us-west1"),), "`1–4 n1-standard-4 in us-west1`"),
        ((), "none"),
    ],
)
def test_other_alternatives_that_nobody_deployed_stop_it_before_they_count_as_deployed(
    alternatives: tuple[Alternative, ...], edit: str
) -> None:
    over = replace(OPEN, season=ENDS)
    other = replace(over, alternatives=alternatives)
    told = f"`open`: `alternatives` `1–4 n1-standard-4 in us-east4` → {edit}; cluster open is "
    assert stopped_by(goes(made(over), made(other)))["season-changed"].startswith(told)
    assert stopped_by(goes(made(over, 1), made(other))).keys() == {"season-changed"}
    later = Season(begins=NOW + timedelta(days=9))
    was, becomes = (replace(one, season=later) for one in (over, other))
    both = change(facts(NEW, dormant=resting(made(was))), facts(NEW, dormant=resting(made(becomes))))
    assert stopped_by(replace(both, live=replace(both.live, clusters=(living(NEW),))))["season-changed"].startswith(
        told
    )


def test_a_revert_that_nobody_deployed_stops_it() -> None:
    """The current cluster is idle, and would go for the older one, whose job is all that kept it."""
    older, newer = cluster("h100", SMALL), cluster("h100", SMALL, generation=2)
    tune = job("tune", on=older)
    before, there = facts(newer, kept(older, tune)), [living(older, used=1), living(newer)]
    reverts = change(before, facts(older), clusters=there, jobs=[tune])
    assert stopped_by(reverts).keys() == {"cluster-returns"}
    assert "is idle and is deleted" in review(reverts).consequences[0].sentence
    failed = [living(older, used=1), living(newer, state="ERROR")]
    assert stopped_by(change(before, facts(older), clusters=failed, jobs=[tune])).keys() == {"cluster-returns"}


@pytest.mark.parametrize("state", ["", "ERROR"])
def test_an_alternative_that_is_lost_may_give_way_to_the_cluster_that_still_lives(state: str) -> None:  # N2
    """Both are of the entry that is deployed."""
    first = replace(cluster("h100", SMALL), alternatives=({"workers": SMALL},), alternative_regions=("us-east4",))
    far = replace(first.as_alternative(1), id="h100-0000001")
    tune = job("tune", on=first)
    there = [living(first, used=1), *([living(far, state=state)] if state else [])]
    falls = change(facts(far, kept(first, tune)), facts(first), clusters=there, jobs=[tune])
    assert "cluster-falls-back" in {one.kind for one in review(falls).consequences}
    assert stopped_by(falls) == {}

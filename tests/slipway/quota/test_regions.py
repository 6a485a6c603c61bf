"""Each region has limits of its own; what an alternative draws elsewhere is judged there. # D2 # N2"""

from __future__ import annotations

from dataclasses import replace

from slipway.cluster import CurrentCluster
from slipway.live import Live, QuotaLimit
from slipway.quota.assessment import assess
from slipway.quota.report import QuotaReport

from .region import CPUS, DENIED, REGION, SSD, cluster, cpu, region, wanted

FAR = "europe-west4"


def far(current: CurrentCluster) -> CurrentCluster:
    return replace(current, spec=replace(current.spec, region=FAR, alternative=1))


def live(there: int) -> Live:
    """A cluster of somebody else's takes 8 CPUs elsewhere, another one 16 at home."""
    theirs = replace(cluster("theirs", cpu()), name=f"projects/1/locations/{FAR}/persistentResources/theirs")
    limits = {metric: QuotaLimit(metric, FAR, most) for metric, most in ((CPUS, there), (SSD, 75_000))}
    return replace(region(cluster("others", cpu(), replicas=2), theirs), limits_elsewhere={FAR: limits})


def judged(*current: CurrentCluster, live: Live, mode: str = "enforce") -> QuotaReport:
    return assess(current, live, region=REGION, preview=False, mode=mode)


def test_a_cluster_elsewhere_is_held_against_the_limits_there() -> None:
    report = judged(far(wanted("cpu", cpu())), live=live(15))
    (error,) = report.errors
    assert f"{CPUS} in {FAR} is short by 1" in error
    (line,) = [one for one in report.lines if one.metric == CPUS]
    assert (line.region, line.key, line.now, line.others) == (FAR, f"{CPUS} in {FAR}", 8, 8)
    assert judged(far(wanted("cpu", cpu())), live=live(16)).errors == ()


def test_what_is_drawn_elsewhere_is_not_drawn_at_home() -> None:
    here, there = wanted("here", cpu()), far(wanted("there", cpu()))
    report = judged(here, there, live=live(100))
    rows = {one.key: (one.now, one.others) for one in report.lines if one.metric == CPUS}
    assert rows == {CPUS: (8, 16), f"{CPUS} in {FAR}": (8, 8)}


def test_elsewhere_nothing_is_asked_for_and_lack_is_an_error() -> None:
    report = judged(far(wanted("cpu", cpu())), live=live(8), mode="request")
    assert report.requests == () and len(report.errors) == 1


def test_limits_that_can_not_be_read_elsewhere_stop_what_is_made_there() -> None:
    unread = replace(live(8), limits_elsewhere={FAR: DENIED})
    (error,) = judged(far(wanted("cpu", cpu())), live=unread).errors
    assert error.startswith("cannot tell") and f"in {FAR} " in error

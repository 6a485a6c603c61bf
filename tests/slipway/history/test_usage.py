"""Who used what, and what it cost: sums by user, team, template, pool and label. # N19"""

from dataclasses import replace
from decimal import Decimal

import pytest

from slipway.codec import document
from slipway.errors import ConfigError
from slipway.history.model import History, MachinesUsed, PastJob
from slipway.history.usage import Usage, usage
from slipway.machines.spec import MachineGroup, MachineSpec
from slipway.prices import Price, hourly, per_hour
from tests.slipway.whatif.past import CPU, cluster, history, job, pool

L4 = MachineSpec("g2-standard-4", "NVIDIA_L4", 1)
GPU = cluster(
    "gpu",
    replace(pool("head", 1, 1), price_per_hour=hourly(CPU, "us-central1")),
    replace(pool("workers", 2, 2, L4), price_per_hour=hourly(L4, "us-central1")),
)
BOTH = (MachinesUsed(CPU, 1, "head"), MachinesUsed(L4, 2, "workers"))
HOUR, REGION = 3600.0, "us-central1"


def told(one: PastJob) -> PastJob:
    """With the cost that the service's times make."""
    used = [MachineGroup(each.machine, each.count) for each in one.machines]
    price = per_hour(used, one.region, one.capacity_type)
    return replace(one, per_hour=price, cost=price * (Decimal(str(one.busy)) / 3600))


def month() -> History:
    ada = told(job("a", 0, 60, HOUR, on=GPU, machines=BOTH, user="ada", team="vision", busy=HOUR))
    grace = told(job("b", HOUR, 600, HOUR, on=GPU, machines=BOTH[:1], user="grace", team="language", busy=HOUR))
    beside = (MachinesUsed(L4, 4),)
    spot = told(job("c", 0, 30, HOUR / 2, machines=beside, capacity_type="spot", user="grace", busy=HOUR / 2))
    never = job("d", HOUR, None, None, on=GPU, machines=BOTH, user="ci", template="tune", labels={"cost-center": "7"})
    return history((ada, spot, grace, never), (GPU,), days=1)


def sums(of: Usage) -> dict[str, tuple[int, float]]:
    return {one.name: (one.jobs, round(one.machine_hours, 6)) for one in of.rows}


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("user", {"ada": (1, 3), "grace": (2, 3), "ci": (1, 0)}),
        ("team", {"vision": (1, 3), "language": (1, 1), "": (2, 2)}),
        ("template", {"t": (3, 6), "tune": (1, 0)}),
        ("pool", {"gpu/head": (3, 2), "gpu/workers": (2, 2), "spot": (1, 2)}),
        ("label:cost-center", {"7": (1, 0), "": (3, 6)}),
    ],
)
def test_each_job_counts_where_it_belongs(by: str, expected: dict[str, tuple[int, float]]) -> None:
    found = usage(month(), by)
    assert sums(found) == expected
    assert found.total.jobs == 4
    assert found.total.machine_hours == pytest.approx(6 + sum(one.machine_hours for one in found.idle))


@pytest.mark.parametrize("by", ["user", "team", "template", "pool", "label:x"])
def test_dollars_are_those_of_the_jobs_and_of_what_nobody_used(by: str) -> None:
    past = month()
    found = usage(past, by)
    of_jobs = sum((one.cost for one in past.jobs if one.cost), Price())
    assert float(sum(one.cost.known for one in found.rows)) == pytest.approx(float(of_jobs.known))
    idle = {one.pool: one for one in found.idle}
    assert (idle["gpu/head"].machine_hours, idle["gpu/workers"].machine_hours) == pytest.approx((22, 46))
    whole = (hourly(CPU, "us-central1") + hourly(L4, "us-central1") * 2) * 24
    assert float(found.total.pool_cost.known) == pytest.approx(float(whole.known)), "all that the pools cost"
    spot = next(one for one in past.jobs if one.capacity_type == "spot").cost
    assert spot and float(found.total.beside_cost.known) == pytest.approx(float(spot.known))


def test_a_sum_is_not_complete_where_idle_machines_are_unknown() -> None:
    past = month()
    assert usage(past).total.cost_complete
    grows = replace(GPU, pools={**GPU.pools, "workers": replace(GPU.pools["workers"], max=4, autoscaled=True)})
    (deployment,) = past.deployments
    unknown = usage(replace(past, deployments=(replace(deployment, clusters={"gpu": grows}),)))
    assert not unknown.total.cost_complete and not unknown.total.pool_cost.complete
    assert [(one.partly_unknown, one.cost_complete) for one in unknown.idle] == [(False, True), (True, False)]
    assert all(one.cost_complete for one in unknown.rows)
    adopted = replace(grows, adopted=True)
    assert usage(replace(past, deployments=(replace(deployment, clusters={"gpu": adopted}),))).total.cost_complete


def test_jobs_that_could_not_be_read_idle_in_the_sum_or_are_missing_from_it() -> None:
    past = month()
    found, whole = (usage(replace(past, jobs=past.jobs[1:], jobs_unread=frozenset(some))) for some in ({REGION}, ()))
    assert [one.at_most for one in found.idle] == [True, True] and not any(one.at_most for one in whole.idle)
    total = found.total
    assert total.pool_cost == usage(past).total.pool_cost, "machines were up, whoever had them"
    assert not total.beside_cost.complete and not total.cost_complete and not total.cost_at_most


def test_waits_are_of_jobs_that_were_sent_within_the_time_and_started() -> None:
    found = usage(month()).total.waits
    assert (found.jobs, found.median, found.p95) == (3, 60, 600)
    earlier = job("e", -HOUR, 10 * HOUR, 60, on=GPU, busy=60.0)
    assert usage(replace(month(), jobs=(earlier, *month().jobs))).total.waits.jobs == 3


def test_what_nothing_can_be_counted_by_is_refused_with_what_was_meant() -> None:
    with pytest.raises(ConfigError) as refused:
        usage(month(), "teams")
    assert "--by team" in refused.value.render()
    with pytest.raises(ConfigError):
        usage(month(), "label:")


def test_the_document_has_dollars_as_text_and_null_for_no_name() -> None:
    body = document(usage(month(), "team"))
    nobody = next(one for one in body["rows"] if one["name"] is None)
    assert nobody["besideCost"] == nobody["cost"] and Decimal(nobody["cost"]) > 0
    assert body["rows"][0]["waits"].keys() == {"jobs", "median", "p95", "longest"}
    assert {"pool", "machineHours", "liveMachineHours", "unknownHours", "cost"} <= body["idle"][0].keys()

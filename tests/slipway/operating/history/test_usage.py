"""Machines that a pool had over time, who used them, and at what cost. # N19 # N20"""

from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.base.errors import ConfigError
from slipway.front.cli.terminal import usage_table
from slipway.model.cluster import Adoption
from slipway.model.machines.spec import MachineGroup, MachineSpec
from slipway.model.prices import Price, hourly, per_hour
from slipway.operating.history.model import Deployment, History, MachinesUsed, PastJob, PoolKey, PoolSample, Sample
from slipway.operating.history.timeline import timelines
from slipway.operating.history.usage import SESSIONS, usage
from tests.builders import catalogs
from tests.slipway.operating.whatif.past import CPU, SINCE, cluster, history, job, pool

GROWING = cluster("gpu", pool("workers", 1, 4))
FIXED = cluster("cpu", pool("head", 2, 2))
WORKERS, HEAD = PoolKey(GROWING.id, "workers"), PoolKey(FIXED.id, "head")


def hours(count: float) -> datetime:
    return SINCE + timedelta(hours=count)


def sample(at: float, **live: int) -> Sample:
    keys = {"workers": WORKERS, "head": HEAD}
    return Sample(hours(at), {keys[name]: PoolSample(count, 0) for name, count in live.items()})


def spans(of: History, key: PoolKey) -> list[tuple[float, float, int | None]]:
    """Hours since SINCE, and machines."""
    found = next((timeline.spans for timeline in timelines(of) if timeline.key == key), ())
    return [((row.begin - SINCE) / timedelta(hours=1), row.hours, row.live) for row in found]


def day(**more: object) -> History:
    return replace(history((), (GROWING, FIXED), days=1), **more)  # type: ignore[arg-type]


def test_the_jobs_of_one_submission_count_once() -> None:
    """Legs of a race are such jobs, and one that has made room for another and goes on behind it."""
    first, behind = (
        replace(job(name, 0, 0, 60), display_name="tune-1", request_id=name) for name in ("first", "behind")
    )
    strangers = tuple(replace(job(name, 0, 0, 60), display_name="x", request_id="") for name in ("a", "b"))
    assert usage(day(jobs=(first, behind, *strangers))).total.jobs == 3


def test_a_sample_holds_until_the_next_or_for_two_hours_and_a_fixed_pool_needs_none() -> None:
    assert (spans(day(), WORKERS), spans(day(), HEAD)) == ([(0, 24, None)], [(0, 24, 2)])
    stranger = Sample(hours(1), {PoolKey("other-1", "workers"): PoolSample(4, 4)})
    assert {timeline.key for timeline in timelines(day(samples=(stranger,)))} == {WORKERS, HEAD}
    looked = (sample(3, workers=1, head=2), sample(4, workers=3, head=2), sample(20, workers=1, head=2))
    assert spans(day(samples=looked), WORKERS) == [
        (0, 3, None),
        (3, 1, 1),
        (4, 2, 3),
        (6, 14, None),
        (20, 2, 1),
        (22, 2, None),
    ]
    assert spans(day(samples=looked), HEAD) == [(0, 24, 2)]


def test_a_cluster_is_there_from_its_deployment_to_the_one_without_it_and_while_it_retires() -> None:
    bigger = cluster("gpu", pool("workers", 1, 8), id="gpu-9999999")
    edited = Deployment(hours(6), catalogs.catalog(bigger, retiring=(GROWING.id,)))
    gone = Deployment(hours(10), catalogs.catalog(bigger))
    changed = day(deployments=(*day().deployments, edited, gone))
    assert spans(changed, WORKERS) == [(0, 10, None)]
    assert spans(changed, PoolKey("gpu-9999999", "workers")) == [(6, 18, None)]
    assert spans(changed, HEAD) == [(0, 6, 2)]


@given(st.lists(st.tuples(st.floats(0, 24), st.integers(0, 4)), max_size=12), st.lists(st.floats(-5, 30), max_size=5))
def test_spans_follow_each_other_and_stay_inside(looked: list[tuple[float, int]], deployed: list[float]) -> None:
    samples = tuple(sample(at, workers=live) for at, live in sorted(dict(looked).items()))
    later = tuple(Deployment(hours(at), catalogs.catalog(GROWING)) for at in sorted(deployed))
    past = day(samples=samples, deployments=tuple(sorted((*day().deployments, *later), key=lambda item: item.at)))
    for timeline in timelines(past):
        assert timeline.spans[0].begin >= past.since
        assert timeline.spans[-1].end <= past.until
        for first, then in zip(timeline.spans, timeline.spans[1:], strict=False):
            assert first.end <= then.begin
            alike = (first.live, first.max) == (then.live, then.max)
            assert first.end < then.begin or not alike


L4 = MachineSpec("g2-standard-4", "NVIDIA_L4", 1)
GPU = cluster(
    "gpu",
    replace(pool("head", 1, 1), price_per_hour=hourly(CPU, "us-central1")),
    replace(pool("workers", 2, 2, L4), price_per_hour=hourly(L4, "us-central1")),
)
BOTH = (MachinesUsed(CPU, 1, "head"), MachinesUsed(L4, 2, "workers"))
HOUR, REGION = 3600.0, "us-central1"


def told(past_job: PastJob) -> PastJob:
    """With the cost that the service's times make."""
    used = [MachineGroup(each.machine, each.count) for each in past_job.machines]
    price = per_hour(used, past_job.region, past_job.capacity_type)
    return replace(past_job, cost=price * (Decimal(str(past_job.busy)) / 3600))


def month() -> History:
    ada = told(job("a", 0, 60, HOUR, on=GPU, machines=BOTH, user="ada", team="vision", busy=HOUR))
    grace = told(job("b", HOUR, 600, HOUR, on=GPU, machines=BOTH[:1], user="grace", team="language", busy=HOUR))
    beside = (MachinesUsed(L4, 4),)
    spot = told(job("c", 0, 30, HOUR / 2, machines=beside, capacity_type="spot", user="grace", busy=HOUR / 2))
    labels = {"cost-center": "7", "slipway-session": "1", "slipway-name": "lr"}
    never = job("d", HOUR, None, None, on=GPU, machines=BOTH, user="ci", template="tune", labels=labels)
    return history((ada, spot, grace, never), (GPU,), days=1)


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ("user", {"ada": (1, 3), "grace": (2, 3), "ci": (1, 0)}),
        ("team", {"vision": (1, 3), "language": (1, 1), "": (2, 2)}),
        ("template", {"t": (3, 6), "tune": (1, 0)}),
        ("pool", {"gpu/head": (3, 2), "gpu/workers": (2, 2), "spot": (1, 2)}),
        ("label:cost-center", {"7": (1, 0), "": (3, 6)}),
        ("session", {"session/lr": (1, 0), "": (3, 6)}),
        (SESSIONS, {"sessions": (1, 0), "": (3, 6)}),
    ],
)
def test_each_job_counts_where_it_belongs(by: str, expected: dict[str, tuple[int, float]]) -> None:
    past = month()
    report = usage(past, by)
    assert {row.name: (row.jobs, round(row.machine_hours, 6)) for row in report.rows} == expected
    assert report.total.jobs == 4
    idle = {row.pool: row.machine_hours for row in report.idle}
    assert idle == pytest.approx({"gpu/head": 22, "gpu/workers": 46})
    assert report.total.machine_hours == pytest.approx(6 + 22 + 46)
    of_jobs = sum((job.cost for job in past.jobs if job.cost), Price())
    assert float(sum(row.cost.known for row in report.rows)) == pytest.approx(float(of_jobs.known))
    whole = (hourly(CPU, "us-central1") + hourly(L4, "us-central1") * 2) * 24
    assert float(report.total.pool_cost.known) == pytest.approx(float(whole.known)), "all that the pools cost"
    spot = next(job for job in past.jobs if job.capacity_type == "spot").cost
    assert spot and float(report.total.beside_cost.known) == pytest.approx(float(spot.known))


def test_a_sum_is_not_complete_where_idle_machines_are_unknown() -> None:
    past = month()
    assert usage(past).total.cost_complete
    grows = replace(GPU, pools=(GPU.pools[0], replace(GPU.pools[1], max=4, autoscaled=True)))
    (deployment,) = past.deployments
    unknown = usage(replace(past, deployments=(replace(deployment, catalog=catalogs.catalog(grows)),)))
    assert not unknown.total.cost_complete and not unknown.total.pool_cost.complete
    assert [(row.partly_unknown, row.cost_complete) for row in unknown.idle] == [(False, True), (True, False)]
    assert all(row.cost_complete for row in unknown.rows)
    adopted = replace(grows, adopted=Adoption("team-a"))
    assert usage(
        replace(past, deployments=(replace(deployment, catalog=catalogs.catalog(adopted)),))
    ).total.cost_complete


def test_jobs_that_could_not_be_read_idle_in_the_sum_or_are_missing_from_it() -> None:
    past = month()
    found, whole = (usage(replace(past, jobs=past.jobs[1:], jobs_unread=frozenset(some))) for some in ({REGION}, ()))
    assert [row.at_most for row in found.idle] == [True, True] and not any(row.at_most for row in whole.idle)
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


def test_a_race_is_one_job_and_tells_who_won_after_what_wait_and_what_came_too_late(
    capsys: pytest.CaptureFixture[str],
) -> None:  # N23
    regions = ("us-central1", "us-east5")

    def leg(race: str, region: str, waited: float | None, run: float | None) -> PastJob:
        made = job(f"{race}-{region}", 0, waited, run, capacity_type="spot", machines=(MachinesUsed(CPU, 1),))
        return replace(told(made) if run else made, request_id=race, race=regions, region=region)

    legs = (
        leg("r1", "us-central1", None, None),
        leg("r1", "us-east5", 600, HOUR),
        leg("r2", "us-central1", 660, 36),
        leg("r2", "us-east5", 1200, HOUR),
        leg("r3", "us-central1", 60, HOUR),
        leg("r3", "us-east5", None, None),
    )
    single = told(job("s", 0, 30, HOUR, capacity_type="spot", machines=(MachinesUsed(CPU, 1),)))
    found = usage(history((*legs, single), (), days=1))
    assert found.total.jobs == found.rows[0].jobs == 4
    assert found.total.waits.jobs == 4
    races = found.races
    assert races is not None and races.races == 3
    assert races.won == {"us-east5": 2, "us-central1": 1}
    assert (races.waits.median, races.waits.p95) == (600, 1200)
    assert float(races.late_cost.known) == pytest.approx(float(hourly(CPU, "us-central1", "spot").known) / 100)
    assert float((races.cost + races.late_cost).known) < float(found.total.cost.known)
    usage_table.show(found, {})
    said = " ".join(capsys.readouterr().out.split())
    assert "of these, 3 races: won 2 in us-east5 and 1 in us-central1, after 10 min / 20 min (p50 / p95); $" in said
    assert "the other regions $<0.01" in said
    assert usage(history((single,), (), days=1)).races is None

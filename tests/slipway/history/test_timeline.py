"""How many machines a pool had over time, and when that is unknown. (N19, N20)"""

import json
from dataclasses import replace
from datetime import datetime, timedelta

from hypothesis import given
from hypothesis import strategies as st

from slipway.codec import document
from slipway.history.model import Deployment, History, PoolKey, PoolSample, Sample
from slipway.history.timeline import PoolSpan, timelines
from tests.slipway.whatif.past import SINCE, cluster, history, pool

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
    found = next((one.spans for one in timelines(of) if one.key == key), ())
    return [((one.begin - SINCE) / timedelta(hours=1), one.hours, one.live) for one in found]


def day(**more: object) -> History:
    return replace(history((), (GROWING, FIXED), days=1), **more)  # type: ignore[arg-type]


def test_a_pool_that_grows_is_unknown_until_somebody_looked() -> None:
    assert spans(day(), WORKERS) == [(0, 24, None)]


def test_a_pool_of_a_fixed_size_is_known_by_its_deployment() -> None:
    assert spans(day(), HEAD) == [(0, 24, 2)]


def test_a_sample_holds_until_the_next_or_for_two_hours() -> None:
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


def test_a_declared_cluster_that_a_sample_does_not_have_has_no_machines() -> None:
    assert spans(day(samples=(sample(0, head=2),)), WORKERS) == [(0, 2, 0), (2, 22, None)]


def test_a_cluster_is_there_from_its_deployment_to_the_one_without_it_and_while_it_retires() -> None:
    bigger = cluster("gpu", pool("workers", 1, 8), id="gpu-9999999")
    edited = Deployment(hours(6), "b", False, {"gpu": bigger}, retiring=(GROWING.id,))
    gone = Deployment(hours(10), "b", False, {"gpu": bigger})
    changed = day(deployments=(*day().deployments, edited, gone))
    assert spans(changed, WORKERS) == [(0, 10, None)]
    assert spans(changed, PoolKey("gpu-9999999", "workers")) == [(6, 18, None)]
    assert spans(changed, HEAD) == [(0, 6, 2)]


def test_a_sample_sees_what_the_deployments_do_not_tell_yet() -> None:
    late = Deployment(hours(5), "b", False, {"gpu": GROWING})
    assert spans(day(deployments=(late,), samples=(sample(4, workers=2),)), WORKERS) == [(4, 2, 2), (6, 18, None)]


def test_a_pool_that_no_deployment_named_is_left_out() -> None:
    stranger = Sample(hours(1), {PoolKey("other-1", "workers"): PoolSample(4, 4)})
    assert {one.key for one in timelines(day(samples=(stranger,)))} == {WORKERS, HEAD}


def test_timelines_are_a_document() -> None:  # N20
    """The same for whoever draws them: prices as text, and null for what nobody recorded."""
    first, _ = json.loads(json.dumps(document(timelines(day()))))
    assert first["key"] == {"clusterId": GROWING.id, "pool": "workers"}
    assert (first["cluster"], first["perHour"], first["machine"]["type"]) == ("gpu", "0.5", "n1-standard-8")
    (span,) = first["spans"]
    assert span == {"begin": SINCE.isoformat(), "end": hours(24).isoformat(), "live": None, "min": 1, "max": 4}


@given(st.lists(st.tuples(st.floats(0, 24), st.integers(0, 4)), max_size=12), st.lists(st.floats(-5, 30), max_size=5))
def test_spans_follow_each_other_and_stay_inside(looked: list[tuple[float, int]], deployed: list[float]) -> None:
    samples = tuple(sample(at, workers=live) for at, live in sorted(dict(looked).items()))
    later = tuple(Deployment(hours(at), "c", False, {"gpu": GROWING}) for at in sorted(deployed))
    past = day(samples=samples, deployments=tuple(sorted((*day().deployments, *later), key=lambda one: one.at)))
    for one in timelines(past):
        assert one.spans[0].begin >= past.since
        assert one.spans[-1].end <= past.until
        for first, then in zip(one.spans, one.spans[1:], strict=False):
            assert first.end <= then.begin
            assert first.end < then.begin or not _alike(first, then)


def _alike(first: PoolSpan, then: PoolSpan) -> bool:
    return (first.live, first.min, first.max) == (then.live, then.min, then.max)

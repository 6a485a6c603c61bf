"""The earliest start by each capacity type: what is known, and that the rest is not. # N9 N16 N23"""

from dataclasses import replace
from datetime import timedelta

import pytest

from slipway.google.jobs import VertexJob
from slipway.using.jobs.earlier_jobs import Times, start_times
from slipway.using.jobs.earliest_start import EarliestStart, compared
from slipway.using.jobs.usual_end import UsualRoom
from tests.builders.place import NOW
from tests.slipway.using.jobs.test_earlier_jobs import ONE, earlier

ROOM = UsualRoom(NOW, NOW + timedelta(minutes=25), NOW + timedelta(minutes=70))


@pytest.mark.parametrize(
    ("start", "text"),
    [
        (EarliestStart.by_room("pool cpu", ROOM, 2), "pool cpu in 25 min–1 h 10 min (2 jobs before it)"),
        (
            EarliestStart.by_room("pool cpu", replace(ROOM, latest=None), 1),
            "pool cpu not before 25 min (1 job before it)",
        ),
        (EarliestStart.by_history("flex-start", Times(7200, 21600, 5)), "flex-start in 2–6 h (5 starts in 30 days)"),
        (EarliestStart.by_history("spot", None), "spot unknown"),
        (EarliestStart.by_history("pool cpu", None, 3), "pool cpu unknown (3 jobs before it)"),
        (EarliestStart("pool b", 0.0, 0.0), "pool b now"),
    ],
)
def test_what_is_known_is_told_with_what_tells_it(start: EarliestStart, text: str) -> None:
    assert str(start) == text
    assert compared([start, EarliestStart("spot")]) == f"may start: {text} · spot unknown"


def beside(seconds: float, region: str, capacity_type: str = "spot") -> VertexJob:
    job = earlier(seconds, capacity_type=capacity_type, on="")
    return replace(job, name=f"projects/1/locations/{region}/customJobs/{job.display_name}")


def test_starts_are_those_of_a_capacity_type_in_one_region() -> None:
    jobs = [beside(seconds, "us-east5") for seconds in (60, 90, 120)]
    others = [beside(9, "europe-west4"), beside(5, "us-east5", "on-demand")]
    assert start_times([*jobs, *others], "spot", ONE, "us-east5", NOW) == Times(60, 120, 3)
    assert start_times([*jobs, *others], "spot", ONE, "europe-west4", NOW) is None, "fewer than three"
    on_pool = [replace(job, persistent_resource_id="cpu-1") for job in jobs]
    assert start_times(on_pool, "spot", ONE, "us-east5", NOW) is None

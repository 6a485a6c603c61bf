"""The life of a job from what the service tells of it. # W5"""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from slipway.google.jobs import VertexJob
from slipway.google.monitoring import CPU, Point, Series
from slipway.google.storage import Location, StoredObject
from slipway.operating.board.life import checkpoints, life_of, phases
from slipway.using.jobs.log import EventKind, JobEvent, JobEvents
from slipway.using.jobs.utilization import Utilization, UtilizationRow

BEGIN = datetime(2026, 11, 1, tzinfo=UTC)
JOB = VertexJob("projects/1/locations/r/customJobs/4711", "tune", "JOB_STATE_RUNNING", create_time=BEGIN)


def at(hours: float) -> datetime:
    return BEGIN + timedelta(hours=hours)


def event(kind: EventKind, hours: float | None, trial: str = "") -> JobEvent:
    return JobEvent(kind, None if hours is None else at(hours), "workerpool0-0", "main", trial, f"{kind} happened")


def lived(job: VertexJob, *events: JobEvent) -> list[tuple[str, float, float]]:
    hour = timedelta(hours=1)
    return [(one.what, (one.begin - BEGIN) / hour, (one.end - BEGIN) / hour) for one in phases(job, events, at(9))]


def test_one_that_waits_has_only_waited() -> None:
    assert lived(JOB) == [("waiting", 0, 9)]


def test_one_that_never_started_waited_to_its_end() -> None:
    assert lived(replace(JOB, end_time=at(2))) == [("waiting", 0, 2)]


def test_one_that_ran() -> None:
    job = replace(JOB, start_time=at(1), end_time=at(4))
    assert lived(job) == [("waiting", 0, 1), ("running", 1, 4)]


def test_one_that_lost_its_machines_and_had_others() -> None:
    job = replace(JOB, start_time=at(1))
    told = (event("running", 1), event("preemption", 3), event("restart", 3.5), event("running", 4))
    assert lived(job, *told) == [("waiting", 0, 1), ("running", 1, 3), ("preempted", 3, 4), ("running", 4, 9)]
    assert lived(job, *told[:2])[-1] == ("preempted", 3, 9)


def test_what_has_no_time_or_is_a_trials_moves_no_phase() -> None:
    job = replace(JOB, start_time=at(1))
    assert lived(job, event("preemption", None), event("preemption", 3, trial="2"))[-1] == ("running", 1, 9)


def test_a_job_that_tells_no_time_has_no_phases() -> None:
    assert lived(replace(JOB, create_time=None)) == []


def stored(name: str, hours: float) -> StoredObject:
    return StoredObject(Location("work", name), 1, "1", "", at(hours))


def test_checkpoints_are_objects_that_are_called_so_each_minute_once() -> None:
    objects = [
        stored("a/model.pt", 1),
        stored("a/Checkpoint-1/x", 2),
        stored("a/Checkpoint-1/y", 2),
        stored("ckpt2", 3),
    ]
    assert [(one.time, one.text) for one in checkpoints(objects)] == [(at(2), "a/Checkpoint-1/x"), (at(3), "ckpt2")]


def test_what_could_not_be_read_is_said_and_long_series_are_thinned() -> None:
    points = tuple(Point(at(number / 60), 0.5) for number in range(1000))
    row = UtilizationRow.of("workers-0", "cpu", Series(CPU, "4711", "workerpool0-0", "", points))
    life = life_of(JOB, JobEvents(why="denied"), Utilization((row,)), ("hi",), (), at(9), ("", "log: denied"))
    assert life.why == ("events: denied", "log: denied")
    assert len(life.use[0].points) <= 120 and (life.use[0].mean, life.use[0].max) == (0.5, 0.5)

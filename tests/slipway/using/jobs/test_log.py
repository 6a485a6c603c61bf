"""Reading a growing log: every line once, late ones too, at the service's pace; what the service's own lines tell of
preemptions, restarts and stock-outs; and roles of replicas: who wrote a line, and what each used of its machines.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any, cast

import pytest
from hypothesis import given
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from slipway.base.errors import ConfigError
from slipway.google.failures import Answer, Call, Exhausted
from slipway.google.jobs import VertexJob
from slipway.google.logging import LogEntry, Logging
from slipway.google.monitoring import CPU, Point, Series
from slipway.google.trials import Trial
from slipway.google.worker_pools import WorkerPool
from slipway.model.kinds import PIPELINE, TUNING_JOB
from slipway.model.machines.spec import MachineSpec
from slipway.using.jobs.log import (
    JobEvents,
    Tail,
    event_kind,
    events_of,
    job_filter,
    line,
    log_pause,
    read_events,
    read_events_of_many,
)
from slipway.using.jobs.roles import of_role, prefix, role_filter
from slipway.using.jobs.utilization import period_of, read_utilization, rows_of

BEGIN = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def entry(second: float, text: str = "", task: str = "workerpool0-0", insert_id: str = "") -> LogEntry:
    when = BEGIN + timedelta(seconds=second)
    return LogEntry(when, when.isoformat(), "INFO", task, task, text or f"line {second}", insert_id or f"{second}", {})


class Book(Logging):
    """What the service would answer: its entries since the filter's time, as the service orders them."""

    def __init__(self, *entries: LogEntry) -> None:
        self.written: list[LogEntry] = list(entries)
        self.busy = self.read = 0
        self.asked: list[str] = []

    def entries(self, filter: str, *, page_size: int = 1000, newest_first: bool = False) -> Iterator[LogEntry]:
        self.asked.append(filter)
        if self.busy:
            self.busy -= 1
            raise Exhausted(Call("read"), answer=Answer(429, "RESOURCE_EXHAUSTED", "slowly"))
        since = filter.partition('timestamp>="')[2].rstrip('"')
        edge = datetime.fromisoformat(since) if since else BEGIN - timedelta(days=1)
        since_then = [entry for entry in self.written if entry.timestamp and entry.timestamp >= edge]
        self.read = len(since_then)
        yield from sorted(since_then, key=lambda item: item.stamp)


def texts(entries: Sequence[LogEntry]) -> list[str]:
    return [entry.text for entry in entries]


def test_lines_come_once_and_in_order() -> None:
    book = Book(*(entry(second) for second in range(5)))
    tail = Tail(book, ("4711",))
    assert texts(list(tail.more())) == [f"line {second}" for second in range(5)]
    assert list(tail.more()) == []
    book.written.append(entry(6))
    assert texts(list(tail.more())) == ["line 6"]


def test_equal_lines_at_one_time_are_told_apart_by_their_ids() -> None:
    book = Book(entry(1, "same", insert_id="a"), entry(1, "same", insert_id="b"))
    assert texts(list(Tail(book, ("4711",)).more())) == ["same", "same"]


@given(st.lists(st.lists(st.integers(0, 19), max_size=4), max_size=5))
def test_whatever_comes_when_each_line_is_seen_once(batches: list[list[int]]) -> None:
    book = Book()
    tail = Tail(book, ("4711",))
    seen: list[LogEntry] = []
    for number, batch in enumerate(batches):
        book.written += [entry(second, insert_id=f"{number}.{index}") for index, second in enumerate(batch)]
        seen += tail.more()
    assert sorted(entry.insert_id for entry in seen) == sorted(entry.insert_id for entry in book.written)


def test_a_rate_limit_gives_nothing_and_slows_down() -> None:
    book = Book(entry(1))
    book.busy = 2
    tail = Tail(book, ("4711",))
    assert list(tail.more()) == [] and tail.refusals == 1
    assert list(tail.more()) == [] and tail.refusals == 2
    assert texts(list(tail.more())) == ["line 1"] and tail.refusals == 0


def test_a_burst_of_lines_is_not_read_again() -> None:  # N25
    """Or the queries of its project were used up, and nobody was told why the job failed."""
    book = Book(*(entry(number / 1000, insert_id=str(number)) for number in range(20_000)))
    tail = Tail(book, ("4711",))
    assert len(list(tail.more())) == 20_000 and tail.pages == 20
    for late in (19.5, 20.5):
        book.written.append(entry(late, insert_id="late"[: int(late) - 17]))
        assert texts(list(tail.more())) == [f"line {late}"]
        assert book.read <= 1002 and tail.pages <= 2


@given(age=st.floats(0, 1e6), refusals=st.integers(0, 20))
def test_a_follower_stays_within_the_limit_of_log_queries(age: float, refusals: int) -> None:
    assert 1 <= log_pause(age, refusals) <= 30
    assert log_pause(age, refusals) <= log_pause(age, refusals + 1)


def test_the_filter_is_the_jobs_own(snapshot: SnapshotAssertion) -> None:
    assert job_filter(("4711",), since=BEGIN, severity="ERROR") == snapshot


def said(text: str, task: str = "service", **labels: str) -> LogEntry:
    named = {f"ml.googleapis.com/{name}": value for name, value in labels.items()}
    return LogEntry(None, "", "WARNING", task, task, text, text, named)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("The Spot VM of replica workerpool0-0 was preempted.", "preemption"),
        ("Worker pool 0 replica 1: instance has been preempted", "preemption"),
        ("Restarting the job after preemption (restart 1 of 6) in 60 s, as soon as there are Spot VMs.", "restart"),
        ("The replica workerpool0-0 ended before its work was done; restarting it (restart 1 of 5).", "restart"),
        ("Attempt 1 of the job has failed; retrying the job.", "restart"),
        ("Job was preempted and is being restarted.", "restart"),
        ("STOCKOUT: 2 g2-standard-4 were not available. Resources are insufficient in region: r. …", "stock-out"),
        ("STOCKOUT: Spot VMs were preempted; the job was restarted 6 times. Resources are insufficient.", "stock-out"),
        ("Job is running.", "running"),
        ("Job completed successfully.", None),
        ("restart_job_on_worker_restart is set", None),
    ],
)
def test_what_a_line_of_the_service_tells(text: str, kind: str | None) -> None:  # X1, X2
    assert event_kind(said(text)) == kind
    assert event_kind(said(text, task="workerpool0-0")) is None, "a replica wrote it"


def test_that_a_job_runs_again_is_an_event_and_that_it_runs_at_first_is_none() -> None:  # X1, X2
    """The trials of a tuning job run on while one of them has lost its machines."""
    runs, lost = "Job is running.", "The Spot VM of replica workerpool0-0 was preempted."
    lines = [(runs, "1"), (runs, "2"), (lost, "1"), (runs, "2"), ("Restarting the job", "1"), (runs, "1"), (runs, "1")]
    listed = events_of([said(text, trial_id=trial) for text, trial in lines], spot(1))
    assert [(entry.kind, entry.trial) for entry in listed] == [("preemption", "1"), ("restart", "1"), ("running", "1")]


def test_an_event_has_the_services_words_and_the_replica_that_it_names() -> None:  # X2
    lines = (said("The Spot VM of replica workerpool0-12 was preempted.", trial_id="3"), said("Job is running."))
    (event,) = events_of((*lines, said("hello", task="workerpool0-0")), spot(1))
    assert (event.kind, event.replica, event.trial) == ("preemption", "workerpool0-12", "3")
    assert event.text == "The Spot VM of replica workerpool0-12 was preempted."
    (nameless,) = events_of([said("A Spot VM was preempted")], spot(1))
    assert nameless.replica == ""


def test_a_bar_is_shown_as_a_terminal_leaves_it() -> None:
    job = VertexJob("j", "j", "JOB_STATE_RUNNING")
    text = "\r  0%|    |\r 50%|##  |\r\nnext\r\n"
    assert line(entry(1, text), job) == "workerpool0-0   50%|##  |\nworkerpool0-0  next"


def spot(number: int) -> VertexJob:
    return VertexJob(f"projects/1/locations/us-central1/customJobs/{number}", "spot", "JOB_STATE_SUCCEEDED")


def test_events_of_many_jobs_come_from_one_query() -> None:  # X7, N19
    book = Book(
        replace(entry(1, "The Spot VM of replica workerpool0-0 was preempted.", "service"), job="1"),
        replace(entry(2, "Job is running.", "service"), job="2"),
        replace(entry(3, "Job is running.", "service"), job="1"),
        replace(entry(4, "Job is running.", "service"), job="4711"),
    )
    events = read_events_of_many(book, (spot(1), spot(2), spot(3)))
    kinds = {name.rpartition("/")[2]: [event.kind for event in value.all] for name, value in events.items()}
    assert kinds == {"1": ["preemption", "running"], "2": [], "3": []}
    assert not any(item.more or item.why for item in events.values()) and len(book.asked) == 1


def test_so_many_jobs_as_a_filter_takes_are_asked_about_the_newest_first() -> None:  # X7
    book = Book()
    events = read_events_of_many(book, map(spot, range(10**18, 10**18 + 2000)))
    assert 500 < len(events) < 1000 and spot(10**18).name in events
    (filter,) = book.asked
    assert len(filter) <= 20_000, "Cloud Logging's limit"


def test_what_may_not_be_read_of_many_jobs_is_said_of_each() -> None:  # X7, D2
    book = Book()
    book.busy = 1
    events = read_events_of_many(book, (spot(1), spot(2)))
    assert len(events) == 2 and all(entry.why for entry in events.values())
    assert read_events_of_many(book, ()) == {} and len(book.asked) == 1


def job(roles: str, *replicas: int) -> VertexJob:
    pools = tuple(WorkerPool(MachineSpec("n1-standard-4"), count) for count in replicas)
    return VertexJob("jobs/1", "digits", "JOB_STATE_RUNNING", {"slipway-roles": roles}, pools)


def line_of(task: str) -> LogEntry:
    return LogEntry(None, "", "INFO", task, task, "line", "1", {})


@pytest.mark.parametrize(
    ("task", "who"),
    [
        ("workerpool0-0", "scheduler"),
        ("workerpool1-1", "workers-1"),
        ("workerpool2-0", "workerpool2-0"),
        ("service", "service"),
        ("workerpool3-0", "workerpool3-0"),
    ],
)
def test_a_line_stands_after_the_role_that_wrote_it(task: str, who: str) -> None:
    assert prefix(line_of(task), job("scheduler_workers", 1, 2)) == who


@pytest.mark.parametrize(
    ("who", "role", "chosen"),
    [
        ("workers-1", "workers", True),
        ("workers-1", "worker", False),
        ("parameter-servers-0", "parameter-servers", True),
        ("2/trial", "trial", True),
        ("2/trial", "2/trial", True),
        ("2/workers-0", "workers", True),
        ("12/trial", "2/trial", False),
    ],
)
def test_a_role_is_that_of_all_its_replicas_and_of_all_trials(who: str, role: str, chosen: bool) -> None:
    assert of_role(who, role) is chosen


CREW = replace(job("scheduler_workers", 1, 2), name="projects/p/locations/r/customJobs/4711")
TUNING = replace(job("trial", 1), kind=TUNING_JOB, max_trials=12)
OF_TRIAL_3 = 'AND labels."ml.googleapis.com/trial_id"="3"'


@pytest.mark.parametrize(
    ("found", "role", "filter"),
    [
        (CREW, "scheduler", 'resource.labels.task_name:"workerpool0-"'),
        (CREW, "workers", 'resource.labels.task_name:"workerpool1-"'),
        (CREW, "workers-1", 'resource.labels.task_name="workerpool1-1"'),
        (CREW, "workerpool1-0", 'resource.labels.task_name="workerpool1-0"'),
        (CREW, "service", 'resource.labels.task_name="service"'),
        (TUNING, "3/trial", f'resource.labels.task_name:"workerpool0-" {OF_TRIAL_3}'),
        (TUNING, "3/service", f'resource.labels.task_name="service" {OF_TRIAL_3}'),
    ],
)
def test_the_service_chooses_the_lines_of_a_role(found: VertexJob, role: str, filter: str) -> None:
    assert role_filter(found, role) == filter


@pytest.mark.parametrize(
    ("found", "role", "why", "fix"),
    [
        (CREW, "worker", "its lines are of scheduler, workers and service", "slipway jobs logs digits --role workers"),
        (CREW, "workers-2", "its lines are of scheduler, workers and service", "--role workers-"),
        (CREW, 'a" OR "b', "its lines are of scheduler, workers and service", "--role scheduler"),
        (CREW, "3/workers", "its lines are of scheduler, workers and service", "--role workers"),
        (TUNING, "13/trial", "of trial and service; N/ROLE is that of trial N", "--role trial"),
    ],
)
def test_a_role_that_a_job_does_not_have_is_refused(found: VertexJob, role: str, why: str, fix: str) -> None:
    with pytest.raises(ConfigError) as refused:
        role_filter(found, role)
    assert refused.value.why.endswith(why) and fix in refused.value.fix


NOW = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)
L4 = MachineSpec("g2-standard-4", "NVIDIA_L4", 1)
JOB = replace(
    VertexJob.read({"name": "projects/1/locations/r/customJobs/7", "displayName": "digits"}),
    worker_pools=(WorkerPool(L4, 1), WorkerPool(L4, 12)),
    labels={"slipway-roles": "chief_workers"},
)


def series(metric: str, task: str, accelerator: str = "", *values: float, job: str = "7") -> Series:
    points = tuple(Point(NOW + timedelta(minutes=n), value) for n, value in enumerate(values or (0.5,)))
    return Series(metric, job, task, accelerator, points)


def test_the_rows_of_trials_have_their_numbers() -> None:
    tried = tuple(
        Trial(id_, "ACTIVE", {}, {}, f"projects/1/locations/r/customJobs/{job}")
        for id_, job in (("1", "9"), ("2", "8"))
    )
    tuned = replace(JOB, kind=TUNING_JOB, tried=tried)
    listed = [series(CPU, "workerpool0-0", job=job) for job in ("8", "9")]
    assert [row.role for row in rows_of(listed, tuned)] == ["1/chief", "2/chief"]


def test_of_one_that_has_no_job_behind_it_yet_nothing_is_asked() -> None:
    """A query without ids would have every job's lines."""
    book, waits = Book(), replace(JOB, kind=PIPELINE, start_time=NOW)
    assert read_events(book, waits) == JobEvents() and book.asked == []
    assert read_utilization(cast(Any, None), waits, NOW).why == "no samples yet"


@pytest.mark.parametrize(
    ("length", "period"),
    [
        (timedelta(0), 0),
        (timedelta(hours=4), 0),
        (timedelta(hours=4, seconds=1), 120),
        (timedelta(hours=12), 180),
        (timedelta(days=7), 42 * 60),
    ],
)
def test_a_long_run_is_read_as_means_of_whole_minutes(length: timedelta, period: int) -> None:
    assert period_of(length) == period


def test_what_is_no_number_is_no_point() -> None:
    def point(minute: int, value: object) -> dict[str, object]:
        return {"interval": {"endTime": f"2026-11-20T12:{minute:02}:00Z"}, "value": {"doubleValue": value}}

    values = [0.5, "NaN", math.inf, None]
    listed = Series.read({"points": [point(minute, value) for minute, value in enumerate(values)]})
    assert [point.value for point in listed.points] == [0.5]

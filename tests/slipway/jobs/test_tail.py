"""Reading a growing log: every line once, late ones too, at the service's pace."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.cloud.failures import Answer, Call, Exhausted
from slipway.cloud.logging import LogEntry, Logging, LogPage
from slipway.jobs.tail import LogPolling, Tail, job_filter, of_role, prefix

BEGIN = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def entry(second: float, text: str = "", task: str = "workerpool0-0", insert_id: str = "") -> LogEntry:
    when = BEGIN + timedelta(seconds=second)
    return LogEntry(when, when.isoformat(), "INFO", task, task, text or f"line {second}", insert_id or f"{second}", {})


class Book(Logging):
    """What the service would answer: its entries since the filter's time, page by page, as the service orders them."""

    def __init__(self, *entries: LogEntry, page: int = 2) -> None:
        self.written: list[LogEntry] = list(entries)
        self.page, self.queries, self.busy = page, 0, 0

    def entries(self, filter: str, *, token: str = "", page_size: int = 1000, newest_first: bool = False) -> LogPage:
        self.queries += 1
        if self.busy:
            self.busy -= 1
            raise Exhausted("", "", call=Call("read"), answer=Answer(429, "RESOURCE_EXHAUSTED", "slowly"))
        since = filter.partition('timestamp>="')[2].rstrip('"')
        edge = datetime.fromisoformat(since) if since else BEGIN - timedelta(days=1)
        found = sorted(
            (one for one in self.written if one.timestamp and one.timestamp >= edge), key=lambda one: one.stamp
        )
        start = int(token or 0)
        rest = str(start + self.page) if start + self.page < len(found) else ""
        return LogPage(tuple(found[start : start + self.page]), rest)


def texts(entries: Sequence[LogEntry]) -> list[str]:
    return [one.text for one in entries]


def test_lines_come_once_and_in_order() -> None:
    book = Book(*(entry(second) for second in range(5)))
    tail = Tail(book, ("4711",))
    assert texts(list(tail.more())) == [f"line {second}" for second in range(5)]
    assert list(tail.more()) == []
    book.written.append(entry(6))
    assert texts(list(tail.more())) == ["line 6"]


def test_a_line_that_arrives_late_is_not_lost() -> None:
    book = Book(entry(0), entry(30))
    tail = Tail(book, ("4711",))
    list(tail.more())
    book.written.append(entry(15, "late"))
    assert texts(list(tail.more())) == ["late"]


def test_equal_lines_at_one_time_are_told_apart_by_their_ids() -> None:
    book = Book(entry(1, "same", insert_id="a"), entry(1, "same", insert_id="b"))
    assert texts(list(Tail(book, ("4711",)).more())) == ["same", "same"]


@given(st.lists(st.lists(st.integers(0, 19), max_size=4), max_size=5))
def test_whatever_comes_when_each_line_is_seen_once(batches: list[list[int]]) -> None:
    book = Book(page=3)
    tail = Tail(book, ("4711",))
    seen: list[LogEntry] = []
    for number, batch in enumerate(batches):
        book.written += [entry(second, insert_id=f"{number}.{index}") for index, second in enumerate(batch)]
        seen += tail.more()
    assert sorted(one.insert_id for one in seen) == sorted(one.insert_id for one in book.written)


def test_a_rate_limit_gives_nothing_and_slows_down() -> None:
    book = Book(entry(1))
    book.busy = 2
    tail = Tail(book, ("4711",))
    assert list(tail.more()) == [] and tail.refusals == 1
    assert list(tail.more()) == [] and tail.refusals == 2
    assert texts(list(tail.more())) == ["line 1"] and tail.refusals == 0


@given(age=st.floats(0, 1e6), refusals=st.integers(0, 20))
def test_a_follower_stays_within_the_limit_of_log_queries(age: float, refusals: int) -> None:
    pace = LogPolling()
    assert 60 / pace.interval(age, refusals) <= 60
    assert pace.interval(age, refusals) <= pace.longest
    assert pace.interval(age, refusals) <= pace.interval(age, refusals + 1)


def test_the_filter_is_the_jobs_own() -> None:
    assert job_filter(("4711",), since=BEGIN, severity="ERROR") == (
        'resource.type="ml_job" AND resource.labels.job_id="4711" '
        'AND timestamp>="2026-11-20T12:00:00+00:00" AND severity>=ERROR'
    )


@pytest.mark.parametrize(
    ("task", "who"),
    [
        ("workerpool0-0", "scheduler"),
        ("workerpool1-1", "workers-1"),
        ("workerpool2-0", "workerpool2-0"),
        ("service", "service"),
    ],
)
def test_a_line_stands_after_the_role_that_wrote_it(task: str, who: str) -> None:
    assert prefix(replace(entry(1), task=task), ("scheduler", "workers"), (1, 2)) == who


def test_without_roles_the_services_own_name_stands() -> None:
    assert prefix(entry(1), (), (1,)) == "workerpool0-0"


@pytest.mark.parametrize(
    ("who", "role", "chosen"),
    [
        ("workers-1", "workers", True),
        ("workers-1", "workers-1", True),
        ("workers-1", "worker", False),
        ("parameter-servers-0", "parameter-servers", True),
        ("2/trial", "trial", True),
        ("2/trial", "2/trial", True),
        ("2/workers-0", "workers", True),
        ("2/service", "service", True),
        ("12/trial", "2/trial", False),
    ],
)
def test_a_role_is_that_of_all_its_replicas_and_of_all_trials(who: str, role: str, chosen: bool) -> None:
    assert of_role(who, role) is chosen

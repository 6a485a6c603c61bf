"""A log of many thousand lines: all of it, with how long that takes."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from slipway.cli.jobs import logs
from slipway.cli.jobs.logs import how_far
from slipway.cloud.connection import Connection
from slipway.cloud.endpoints import OVERRIDES, Endpoints
from slipway.cloud.failures import Exhausted
from slipway.cloud.session import Session
from slipway.cloud.transport import Transport
from slipway.jobs.log import WHOLE_LOG
from tests.slipway.cli.stack import Stack
from tests.slipway.cloud.server import Server

BEGIN = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


def minutes(number: float) -> datetime:
    return BEGIN + timedelta(minutes=number)


def test_how_long_the_rest_takes_follows_from_how_far_the_lines_have_come() -> None:
    told = how_far(60_000, BEGIN, minutes(10), minutes(40))
    assert told.startswith("60,000 lines so far; a") and "the rest" in told and " 3 min" in told
    assert told.endswith("only its end: --tail 1000")
    for at in (None, BEGIN, minutes(40)):
        assert "the rest" not in how_far(10_000, BEGIN, at, minutes(40))


def test_it_is_said_while_a_long_log_is_printed(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logs, "_LONG", 20)
    monkeypatch.setattr(logs, "_A_MINUTE", 50)
    code = "code=for n in range(120): print('line', n)"
    name = stack.run("submit", "hello", "-p", code, "--wait", "--output", "json").json["job"]["displayName"]
    done = stack.run("jobs", "logs", name)
    assert [line.partition(" ")[0] for line in done.err.splitlines()] == ["20", "50", "100"]
    assert [line for line in done.out.splitlines() if " line " in line] == [f"main  line {n}" for n in range(120)]
    assert stack.run("jobs", "logs", name, "--tail", "90").err == ""


@pytest.fixture
def server() -> Iterator[Server]:
    running = Server()
    yield running
    running.close()


def patient(server: Server, slept: list[float]) -> Connection:
    session = Session(Transport({}), WHOLE_LOG, sleep=slept.append, chance=lambda: 0.5)
    return Connection(session, Endpoints(overrides=dict.fromkeys(OVERRIDES, server.url)))


def test_a_minute_s_limit_is_waited_for_and_no_line_is_left_out(server: Server) -> None:
    """It ended with as many lines as a minute gives, and exit code 0."""
    slept: list[float] = []
    page = {"entries": [{"textPayload": "a"}], "nextPageToken": "next"}

    def answer() -> bytes:
        server.status = 429 if 1 < len(server.sent) < 9 else 200
        return json.dumps(page if len(server.sent) == 1 else {"entries": [{"textPayload": "b"}]}).encode()

    server.next_content = answer
    lines = [entry.text for entry in patient(server, slept).logging("p").entries("")]
    assert lines == ["a", "b"] and sum(slept) > 45


def test_a_limit_that_lasts_is_an_error_and_no_end_of_the_log(server: Server) -> None:
    server.says({"error": {"status": "RESOURCE_EXHAUSTED", "message": "slowly"}}, 429)
    slept: list[float] = []
    with pytest.raises(Exhausted):
        list(patient(server, slept).logging("p").entries(""))
    assert sum(slept) > 60

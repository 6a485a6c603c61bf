"""`slipway submit` on a reservation in calendar mode: before its beginning, between its dates, and at its end."""

import re
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from slipway.model.season import moment_text

from .stack import PROJECT, REGION, SLEEP, Stack
from .test_sweep import points

PATH = f"projects/{PROJECT}/zones/{REGION}-a/reservations/week"
MOMENT = r"\d{4}-\d\d-\d\d( \d\d:\d\d UTC)?"
"""Midnight is its date alone."""
SUBMIT = ("submit", "hello", "-p", f"code={SLEEP}", "--yes")


def reserved(stack: Stack, begins: int, ends: int) -> dict[str, Any]:
    """Declare the reservation in stack and cloud, so many seconds from now, for `hello`, which has others besides."""
    stack.beside_pools("hello", "reservation", "on-demand")
    key = "compute.googleapis.com/reservation-name"
    for worker in stack.spec()["workerPoolSpecs"]:
        affinity = {"reservationAffinityType": "SPECIFIC_RESERVATION", "key": key, "values": [PATH]}
        worker["machineSpec"] = {**worker["machineSpec"], "reservationAffinity": affinity}
    now = datetime.now(UTC)
    dates = {key: moment_text(now + timedelta(seconds=at)) for key, at in (("from", begins), ("until", ends))}
    stack.catalog["reservations"] = {PATH: {"path": PATH, "machine": "n1-standard-4", "machines": 1, **dates}}
    stack.publish()
    return {PATH: {"machine": "n1-standard-4", "count": 1, "from": begins, "until": ends}}


def test_a_week_s_machines_are_taken_between_their_dates_and_go_at_the_end(moved: Stack) -> None:  # N23 Z6
    """Whoever submitted before a week that was bought got the service's refusal of an unknown reservation."""
    with moved.scenario(reservations=reserved(moved, 3600, 7200)), moved.settings(stockout_retry_seconds=0.1):
        early = moved.run(*SUBMIT, "--capacity", "reservation")
        assert early.code == 5 and moved.jobs() == []
        assert "hello can't run now on reservation machines" in early.err
        assert re.search(rf"week begins on {MOMENT}, in (1 h|60 min|59 min)", early.err)
        shown = moved.well("templates", "show", "hello").out
        assert re.search(rf"reservation week: from {MOMENT}.* until {MOMENT}", shown)
        falls = moved.well(*SUBMIT)
        assert re.search(r"leaves reservation for on-demand, which costs .*week begins on", falls.out)
        assert "reservationAffinity" not in str(moved.jobs()[0])
        moved.cancel_all()
        moved.all_end()
        moved.cloud.rest("POST", "/vertex-local/clock", {"advance": 3660})
        taken = moved.well(*SUBMIT, "--capacity", "reservation")
        assert "reservation: runs on 1 machine of its own" in taken.out
        assert re.search(r"week ends on .*, in .*: what still runs on it then loses its machines", taken.out)
        job = moved.jobs()[0]["name"]
        moved.until(lambda: moved.cloud.rest("GET", f"/v1/{job}")["state"] == "JOB_STATE_RUNNING", 120)
        moved.cloud.rest("POST", "/vertex-local/clock", {"advance": 3600})
        moved.until(lambda: "endTime" in moved.cloud.rest("GET", f"/v1/{job}"), 120)
        ended = moved.cloud.rest("GET", f"/v1/{job}")
        assert ended["state"] == "JOB_STATE_FAILED" and "Resources are insufficient" in ended["error"]["message"]
        late = moved.run(*SUBMIT, "--capacity", "reservation")
        assert late.code == 5 and "can never run on reservation machines" in late.err
        assert "week ended on" in late.err


@pytest.mark.parametrize("dates", [(-7200, -3600), (3600, 7200)])
def test_a_sweep_goes_on_to_the_next_type_outside_of_them(stack: Stack, dates: tuple[int, int]) -> None:  # N23
    reserved(stack, *dates)
    words = ("submit", "hello", "--sweep", points(stack, 2), "--then", "on-demand", "--yes")
    done = stack.run(*words, "--dry-run")
    assert done.code == 0, done.err
    assert "on-demand" in done.out and "week" in done.out + done.err


def test_a_sweep_stops_where_a_reservation_ends_while_it_is_sent(stack: Stack) -> None:  # N23
    """The rest was sent to machines that were gone, and the refusal told nobody why."""
    with stack.scenario(reservations=reserved(stack, 0, 15)):
        words = ("submit", "hello", "--sweep", points(stack, 2), "--then", "on-demand", "--rate", "1", "--yes")
        stopped = stack.run(*words)
        assert (stopped.code, len(stack.jobs())) == (4, 1), stopped.said
        assert "error: a reservation ended while the sweep was being sent" in stopped.err
        assert "week ended on" in stopped.err
        rest = stack.well(*words)
        assert "1 submitted now, 1 before, of 2" in rest.out
        assert "reservationAffinity" not in str(stack.jobs()[0])


@pytest.mark.parametrize(
    ("others", "code", "words"),
    [
        ({"old": ("n1-standard-4", -7200, -3600)}, 0, ""),
        ({"gpu": ("a3-highgpu-8g", -60, 3600)}, 0, ""),
        ({"late": ("n1-standard-4", -60, 7200), "soon": ("n1-standard-4", -60, 3600)}, 0, "soon ends on"),
        ({"week": ("n1-standard-4", -7200, -3600), "gpu": ("a3-highgpu-8g", 3600, 7200)}, 5, "can never run"),
    ],
)
def test_of_any_reservation_those_count_that_a_job_can_take(
    stack: Stack, others: dict[str, tuple[str, int, int]], code: int, words: str
) -> None:  # N23
    """The end of a reservation that is over, or has other machines, takes no job's machines."""
    reserved(stack, -60, 30 * 86400)
    for worker in stack.spec()["workerPoolSpecs"]:
        worker["machineSpec"]["reservationAffinity"] = {"reservationAffinityType": "ANY_RESERVATION"}
    for name, (machine, *ends) in others.items():
        path = PATH.replace("week", name)
        dates = [moment_text(datetime.now(UTC) + timedelta(seconds=at)) for at in ends]
        known = {"path": path, "machine": machine, "machines": 1, "from": dates[0], "until": dates[1]}
        stack.catalog["reservations"][path] = known
    stack.publish()
    done = stack.run("submit", "hello", "--dry-run", "--capacity", "reservation")
    assert done.code == code, done.err
    assert words in done.err if words else " ends on " not in done.err

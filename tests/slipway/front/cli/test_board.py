"""`slipway board` as people type it, on a real local cloud. # N19 # Z5"""

import json
import re
import signal
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from slipway.google.connection import connect
from slipway.google.storage import Location

from .stack import SLEEP, SPOT_CPUS, Stack, held
from .test_sweep_jobs import swept

pytestmark = pytest.mark.smoke


def data_of(page: str) -> dict[str, Any]:
    (text,) = re.findall(r'<script type="application/json" id="board">(.*?)</script>', page, re.DOTALL)
    found: dict[str, Any] = json.loads(text)["data"]
    return found


def jobs_of(board: dict[str, Any]) -> list[dict[str, Any]]:
    return [dict(zip(board["jobs"]["columns"], row, strict=True)) for row in board["jobs"]["rows"]]


def test_the_page_has_what_other_commands_print(stack: Stack, tmp_path: Path) -> None:
    held(stack, machines=2)
    stack.well("submit", "hello", "--wait")
    file = tmp_path / "page.html"
    done = stack.well("board", "--out", str(file))
    assert str(file) in done.out and f"{stack.name}, 2 jobs" in done.out
    board = data_of(file.read_text("utf-8"))
    assert (board["schema"], board["kind"], board["stack"]) == (2, "board", stack.name)

    listed = {entry["id"]: entry for entry in stack.run("jobs", "list", "--output", "json").json["jobs"]}
    for job in jobs_of(board):
        other = listed[job["id"]]
        for key in ("region", "displayName", "template", "user", "capacityType", "state", "cost"):
            if key != "cost" or other["ended"]:  # What runs costs more by the second.
                assert (job[key] or None) == other[key], key

    (pool,) = board["now"]["pools"]
    (other,) = stack.run("pools", "--output", "json").json["pools"]
    assert pool["name"] == f"{other['cluster']}/{other['pool']}"
    assert (pool["busy"], pool["live"], pool["max"]) == (other["busy"], other["live"], other["max"])
    assert pool["shares"][0]["user"] == "ada" and len(pool["shares"][0]["jobs"]) == 1

    quota = stack.run("quota", "--output", "json").json["lines"]
    assert [gauge["limit"] for gauge in board["now"]["gauges"]] == [
        line["limit"] for line in quota if line["now"] is not None
    ]
    assert board["lives"], "what runs is shown in full"


def test_what_waits_is_there_with_its_reason_and_a_job_that_is_named_in_full(small: Stack) -> None:
    holder = held(small)
    waiting = small.sends("hello")
    board = small.well("board", "--job", holder, "--output", "json").json
    (cluster,) = board["now"]["waiting"]
    assert (cluster["id"], cluster["on"], cluster["machines"]) == (waiting["id"], "cpu", 1)
    assert "1 of 1 machine busy" in cluster["why"]
    (life,) = (life for life in board["lives"] if life["id"] != waiting["id"])
    assert [phase["what"] for phase in life["phases"]] == ["waiting", "running"]


def test_the_runs_of_a_sweep_are_there_with_what_came_of_them(stack: Stack) -> None:
    sweep = swept(stack, *(f"print({number})" for number in range(3)))
    for number, job in enumerate(sorted(stack.jobs(), key=lambda item: item["labels"]["slipway-run"])):
        output = job["jobSpec"]["baseOutputDirectory"]["outputUriPrefix"].partition(f"w-{stack.name}/")[2]
        steps = [{"step": step, "accuracy": number + step / 10} for step in (1, 2, 3)]
        stack.write(f"{output.rstrip('/')}/metrics.json", json.dumps(steps).encode())
    stack.until(lambda: all(job["state"] == "JOB_STATE_SUCCEEDED" for job in stack.jobs()))
    board = stack.run("board", "--sweep", sweep, "--sort", "-accuracy", "--output", "json").json
    (found,) = board["sweeps"]
    assert (found["id"], found["metric"], found["maximize"], found["parameters"]) == (sweep, "accuracy", True, ["code"])
    assert sorted(run["metrics"]["accuracy"] for run in found["runs"]) == [0.3, 1.3, 2.3]
    assert [run["metrics"]["accuracy"] for run in found["runs"] if run["best"]] == [2.3]
    assert [run["run"] for run in found["runs"]] == ["0", "1", "2"] and len(found["curves"]) == 9
    for metric in ("loss", "-"):
        refused = stack.run("board", "--sweep", sweep, "--sort", metric)
        assert refused.code == 2 and "metric" in refused.err


def test_users_are_told_of_jobs_and_of_nothing_that_takes_an_operator(stack: Stack) -> None:
    with stack.settings(quota=SPOT_CPUS):
        stack.well("submit", "hello", "--capacity", "spot", "-p", f"code={SLEEP}")
    found = {finding["id"] for finding in stack.run("doctor", "--output", "json").json["findings"]}
    assert found > {"job-beside-pool", "role-missing"}
    now = stack.run("board", "--output", "json").json["now"]
    assert [finding["id"] for finding in now["findings"]] == ["job-beside-pool"] and now["unseen"] == []
    assert now["due"] is None, "this catalog does not tell"


def test_what_is_not_there_is_refused_in_words(standing: Stack, tmp_path: Path) -> None:
    for words, said in ((("--job", "nobody"), "nobody"), (("--sweep", "none"), "none"), (("--since", "x"), "duration")):
        done = standing.run("board", "--out", str(tmp_path / "b.html"), *words)
        assert done.code in (2, 4) and said in done.err and "Traceback" not in done.err
    assert not (tmp_path / "b.html").exists()


def test_the_hourly_run_writes_the_page_only_where_the_stack_asks_for_it(stack: Stack) -> None:  # N20
    assert stack.run("record", "--output", "json", role="deployer").json["board"] is None
    stack.well("submit", "hello", "--wait")
    stack.catalog["board"] = True
    stack.publish()
    done = stack.well("record", role="deployer")
    assert f"board: {stack.address}/board/board.html" in done.out
    about = stack.cloud.rest("GET", f"/storage/v1/b/c-{stack.name}/o/board%2Fboard.html")
    assert about["contentType"] == "text/html; charset=utf-8"
    at = Location(f"c-{stack.name}", "board/board.html")
    page = connect(stack.env("submitter")).storage.read(at).decode()  # Whoever may read the catalog may read it.
    assert len(jobs_of(data_of(page))) == 1


def test_it_is_served_until_ctrl_c(standing: Stack) -> None:
    with standing.started("board", "--serve", PYTHONUNBUFFERED="1") as process:
        assert process.stdout
        address = process.stdout.readline().strip()
        with urllib.request.urlopen(address) as answer:
            page = answer.read().decode()
        process.send_signal(signal.SIGINT)
        assert process.wait() == 0
    assert address.startswith("http://127.0.0.1:") and data_of(page)["stack"] == standing.name
    assert 'data-fresh="60"' in page

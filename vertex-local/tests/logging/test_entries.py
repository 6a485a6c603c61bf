"""Log entries over REST: filters, order, pages, the limit on reads. (N4)"""

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
import requests

from vertex_local.log_store import Window
from vertex_local.logging import query
from vertex_local.logging.entries import write
from vertex_local.testing.calling import Calling
from vertex_local.testing.local_cloud import LocalCloud
from vertex_local.world import open_world

WRITE, LIST = "/v2/entries:write", "/v2/entries:list"


def entry(text: str, at: int, **more: Any) -> dict[str, Any]:
    return {"textPayload": text, "timestamp": f"2026-11-20T10:00:{at:02d}Z", **more}


def listed(cloud: LocalCloud, filter_: str, **more: Any) -> dict[str, Any]:
    body = {"resourceNames": ["projects/local-project"], "filter": filter_, **more}
    answer: dict[str, Any] = cloud.rest("POST", "/v2/entries:list", body)
    return answer


@pytest.fixture
def job(cloud: LocalCloud) -> str:
    identifier = str(uuid.uuid4().int)[:18]
    labels = {"job_id": identifier, "project_id": "local-project", "task_name": "workerpool0-0"}
    entries = [
        entry("starting", 1, severity="INFO"),
        entry("accuracy 0.98", 2, severity="WARNING", labels={"ml.googleapis.com/trial_id": "1"}),
        {"jsonPayload": {"message": "done", "step": 7}, "timestamp": "2026-11-20T10:00:03Z", "severity": "ERROR"},
    ]
    body = {
        "logName": "projects/local-project/logs/workerpool0-0",
        "resource": {"type": "ml_job", "labels": labels},
        "entries": entries,
    }
    cloud.rest("POST", "/v2/entries:write", body)
    return identifier


def texts(answer: dict[str, Any]) -> list[str]:
    return [found.get("textPayload") or found["jsonPayload"]["message"] for found in answer.get("entries", [])]


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ("", ["starting", "accuracy 0.98", "done"]),
        ("severity>=WARNING", ["accuracy 0.98", "done"]),
        ('AND timestamp>="2026-11-20T10:00:02Z"', ["accuracy 0.98", "done"]),
        ('timestamp<"2026-11-20T11:00:02+01:00"', ["starting"]),
        ('labels."ml.googleapis.com/trial_id"="1"', ["accuracy 0.98"]),
        ('textPayload:"ACCURACY"', ["accuracy 0.98"]),
        (r'textPayload=~"^start.*g$"', ["starting"]),
        ("jsonPayload.step>5", ["done"]),
        ("NOT severity=ERROR", ["starting", "accuracy 0.98"]),
        ("-severity=ERROR", ["starting", "accuracy 0.98"]),
        ("(severity=ERROR OR textPayload:start)", ["starting", "done"]),
        ("severity=(ERROR OR INFO)", ["starting", "done"]),
        ('log_id("workerpool0-0") "accuracy"', ["accuracy 0.98"]),
        ('logName="projects/local-project/logs/workerpool1-0"', []),
        ("labels:*", ["accuracy 0.98"]),
    ],
)
def test_a_jobs_entries_by_filter(cloud: LocalCloud, job: str, more: str, expected: list[str]) -> None:
    answer = listed(cloud, f'resource.type="ml_job" AND resource.labels.job_id="{job}" {more}')
    assert texts(answer) == expected


def test_entries_come_in_order_and_page_by_page(cloud: LocalCloud, job: str) -> None:
    question = f'resource.labels.job_id="{job}"'
    first = listed(cloud, question, pageSize=2, orderBy="timestamp desc")
    assert texts(first) == ["done", "accuracy 0.98"]
    token = first["nextPageToken"]
    last = listed(cloud, question, pageSize=2, orderBy="timestamp desc", pageToken=token)
    assert texts(last) == ["starting"] and "nextPageToken" not in last
    with pytest.raises(requests.HTTPError, match="400"):
        listed(cloud, question, pageToken=token)


def test_what_the_writer_left_out_is_filled_in(cloud: LocalCloud, job: str) -> None:
    found = listed(cloud, f'resource.labels.job_id="{job}"')["entries"]
    assert len({one["insertId"] for one in found}) == 3
    assert all(one["receiveTimestamp"] and one["timestamp"].startswith("2026-11-20T10:00:0") for one in found)


def test_reads_a_minute_are_limited_when_the_setting_says_so(cloud: LocalCloud) -> None:
    cloud.rest("POST", "/vertex-local/settings", {"log_reads_per_minute": 2})
    try:
        codes = []
        for _ in range(4):
            try:
                listed(cloud, "", pageSize=1)
                codes.append(200)
            except requests.HTTPError as failure:
                codes.append(failure.response.status_code)
                error = failure.response.json()["error"]
                assert error["status"] == "RESOURCE_EXHAUSTED"
                assert error["details"][0]["metadata"]["service"] == "logging.googleapis.com"
        assert codes[-2:] == [429, 429] and codes.count(200) <= 2
    finally:
        cloud.rest("POST", "/vertex-local/settings", {"log_reads_per_minute": 0})


def test_only_so_many_entries_are_kept(tmp_path: Path) -> None:
    world = open_world(tmp_path)
    world.change_settings({"log_entries_kept": 5})
    resource = {"type": "ml_job", "labels": {"job_id": "1"}}
    write(world, "projects/local-project/logs/w", resource, [entry(str(number), number) for number in range(9)])
    kept = [found["textPayload"] for _, found in world.logs.read(Window(), None, False)]
    assert kept == ["4", "5", "6", "7", "8"]


def test_of_one_writer_s_lines_no_others_are_read(tmp_path: Path) -> None:
    """A page about a job asks for the service's few, among hundreds of thousands of its replicas'."""
    world = open_world(tmp_path)
    for task, number in (("workerpool0-0", 9), ("service", 2)):
        labels = {"job_id": "1", "task_name": task}
        resource = {"type": "ml_job", "labels": labels}
        write(world, f"projects/local-project/logs/{task}", resource, [entry(f"{task} {n}", n) for n in range(number)])
    window = query.parse('resource.labels.job_id="1" AND resource.labels.task_name="service"').window
    assert (window.job, window.task) == ("1", "service")
    kept = [found["textPayload"] for _, found in world.logs.read(window, None, True)]
    assert kept == ["service 1", "service 0"]
    either = query.parse('resource.labels.task_name="service" OR resource.labels.task_name="workerpool0-0"').window
    assert either == Window()


def written(**changes: Any) -> dict[str, Any]:
    return {"logName": "projects/local-project/logs/l", "entries": [{"textPayload": "x", **changes}]}


def test_an_entry_from_before_with_such_a_severity_breaks_no_filter(calling: Calling) -> None:
    calling.call("POST", WRITE, written(severity="ERROR"))
    (_, entry), *_ = calling.world.logs.read(Window(), None, False)
    calling.world.logs.append([{**entry, "severity": "LOUD"}], 10)
    asked = {"resourceNames": ["projects/local-project"], "filter": "severity>=ERROR"}
    assert [found["severity"] for found in calling.call("POST", LIST, asked)["entries"]] == ["ERROR"]


def test_a_pair_of_surrogates_is_a_character(calling: Calling) -> None:
    calling.call("POST", WRITE, raw=json.dumps(written(textPayload="😀")).encode())
    (_, entry), *_ = calling.world.logs.read(Window(), None, False)
    assert entry["textPayload"] == "😀"

"""Metrics of many jobs, read at once on a real local cloud: what can't be read says why, and is asked for once."""

from __future__ import annotations

import gzip
from dataclasses import replace
from typing import Any
from unittest import mock

from syrupy.assertion import SnapshotAssertion

from slipway.google.jobs import VertexJob
from slipway.google.storage import Storage
from slipway.google.trials import Trial
from slipway.model.kinds import TUNING_JOB
from slipway.using.context import Clock, Context
from slipway.using.jobs.metrics import MOST_BYTES, MetricStep, read_metrics
from tests.slipway.front.cli.stack import REGION, Stack
from tests.slipway.front.cli.test_experiments import digits as _digits
from tests.slipway.front.cli.test_experiments import sdk

digits = _digits
STARTED: dict[str, Any] = {"state": "JOB_STATE_RUNNING", "startTime": "2026-11-20T12:00:00Z"}


def context(stack: Stack, **more: Any) -> Context:
    return Context(stack.address, environ=stack.env(), folder=stack.folder, **more)


def job(name: str, output: str, **more: Any) -> VertexJob:
    body = {
        "name": f"projects/1/locations/{REGION}/customJobs/{name}",
        "displayName": name,
        "jobSpec": {"baseOutputDirectory": {"outputUriPrefix": output}},
        **STARTED,
        **more,
    }
    return VertexJob.read(body)


def jobs(stack: Stack, contents: dict[str, bytes | None]) -> list[VertexJob]:
    """One of each name, that has written this; None for nothing."""
    for name, content in contents.items():
        if content is not None:
            stack.write(f"jobs/{name}/metrics.json", content)
    return [job(name, f"gs://w-{stack.name}/jobs/{name}") for name in contents]


def test_each_jobs_file_is_read_and_what_is_not_there_says_why(
    stack: Stack, snapshot: SnapshotAssertion
) -> None:  # N19
    contents = {
        "flat": b'{"accuracy": 0.98}',
        "steps": b'[{"step": 1, "loss": 2.0}, {"step": 2, "loss": 1.0}]',
        "none": None,
        "empty": b"",
        "large": b" " * MOST_BYTES + b'{"a": 1}',
    }
    listed = [*jobs(stack, contents), job("waits", "gs://w", startTime=None), job("nowhere", "")]
    found = {name.rsplit("/", 1)[-1]: one for name, one in read_metrics(context(stack), listed).items()}
    assert dict(found["flat"]) == {"accuracy": 0.98} and found["flat"].source == "metrics.json"
    assert dict(found["steps"]) == {"loss": 1.0} and found["steps"].steps[0] == MetricStep(1, {"loss": 2.0})
    assert {name: one.why for name, one in found.items() if not one} == snapshot


def test_what_is_stored_compressed_is_unpacked_by_the_service(stack: Stack) -> None:
    boundary = "part"
    path = f"/upload/storage/v1/b/w-{stack.name}/o?uploadType=multipart"
    meta = b'{"name": "jobs/packed/metrics.json", "contentEncoding": "gzip"}'
    body = b"--part\r\nContent-Type: application/json\r\n\r\n" + meta
    body += b"\r\n--part\r\nContent-Type: application/json\r\n\r\n" + gzip.compress(b'{"loss": 1}') + b"\r\n--part--"
    stack.cloud.call("POST", path, content_type=f"multipart/related; boundary={boundary}", data=body).raise_for_status()
    (found,) = read_metrics(context(stack), [job("packed", f"gs://w-{stack.name}/jobs/packed")]).values()
    assert dict(found) == {"loss": 1}


def test_who_may_not_read_is_told_the_role_and_a_closed_bucket_is_asked_once(stack: Stack) -> None:
    stack.cloud.rest("POST", "/storage/v1/b?project=local-project", {"name": f"x-{stack.name}"})
    closed = [job(f"job{number}", f"gs://x-{stack.name}/jobs/{number}") for number in range(200)]
    with mock.patch.object(Storage, "beginning", autospec=True, side_effect=Storage.beginning) as asked:
        found = read_metrics(context(stack), closed)
    assert len(found) == 200 and asked.call_count < 50
    assert all("storage.objects.get" in one.why for one in found.values())


def test_after_a_minute_nothing_more_is_asked_for(stack: Stack) -> None:
    ticks = iter([0.0, *[61.0] * 100])
    found = read_metrics(
        context(stack, clock=Clock(monotonic=lambda: next(ticks))), jobs(stack, {"late": b'{"loss": 1}'})
    )
    (late,) = found.values()
    assert not late and late.why.startswith("not read") and "60 s" in late.why


def test_what_was_logged_to_the_experiments_run_is_there_beside_the_file(digits: Stack) -> None:  # N19
    sent = digits.sends("hello", "--wait")
    run = sdk(digits).ExperimentRun(sent["displayName"], f"digits-{digits.name}")
    run.log_metrics({"loss": 0.5, "accuracy": 0.9, "note": "fine"})
    digits.write(f"jobs/{sent['displayName']}/metrics.json", b'{"accuracy": 0.91}')
    here = context(digits)
    ended = here.vertex.job(sent["name"])
    (found,) = read_metrics(here, [ended]).values()
    assert dict(found) == {"loss": 0.5, "accuracy": 0.91}
    (alone,) = read_metrics(here, [replace(ended, output="")]).values()
    assert dict(alone) == {"loss": 0.5, "accuracy": 0.9}
    assert alone.source == f"experiment digits-{digits.name}, run {sent['displayName']}"
    (gone,) = read_metrics(here, [replace(ended, output="", experiment_run=f"{ended.experiment_run}x")]).values()
    assert not gone and "run" in gone.why


def test_a_tuning_jobs_are_those_of_its_best_trial(stack: Stack) -> None:
    tried = tuple(Trial(str(number), "SUCCEEDED", {}, {"accuracy": number / 10}, "") for number in (1, 3, 2))
    tuning = replace(job("tune", "gs://w"), kind=TUNING_JOB, goals={"accuracy": "MAXIMIZE"}, tried=tried)
    (found,) = read_metrics(context(stack), [tuning]).values()
    assert dict(found) == {"accuracy": 0.3} and found.source == "trial 3"
    (none,) = read_metrics(context(stack), [replace(tuning, tried=())]).values()
    assert none.why == "no trial has succeeded"

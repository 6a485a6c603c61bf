"""Faults and limits that tests switch on. (N7)"""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime

import google.cloud.storage as storage
import pytest
import requests
from google.api_core import exceptions

from tests.storage.conftest import bucket as bucket
from tests.storage.conftest import client
from vertex_local.clock import ManualClock
from vertex_local.rate_limits import Limits
from vertex_local.settings import Settings
from vertex_local.testing.bodies import cluster_body, job_body
from vertex_local.testing.calling import CLUSTERS, JOBS, Calling
from vertex_local.testing.local_cloud import LocalCloud
from vertex_local.wire import ApiError


@pytest.fixture(autouse=True)
def no_faults_left(cloud: LocalCloud) -> Iterator[None]:
    yield
    cloud.rest("DELETE", "/vertex-local/faults")


def switch_on(cloud: LocalCloud, **fault: object) -> None:
    cloud.rest("POST", "/vertex-local/faults", {"faults": [fault]})


def test_the_official_client_gets_over_a_lost_answer_with_a_precondition(
    cloud: LocalCloud, bucket: storage.Bucket
) -> None:
    """The retry meets its own work: 412, as in the cloud."""
    switch_on(cloud, kind="lost-answer", match=f"POST /upload/storage/v1/b/{bucket.name}/", times=1)
    with pytest.raises(exceptions.PreconditionFailed):
        bucket.blob("claim").upload_from_string("mine", if_generation_match=0)
    assert bucket.blob("claim").download_as_text() == "mine"


def test_unavailable_comes_before_any_work_and_ends(cloud: LocalCloud, bucket: storage.Bucket) -> None:
    switch_on(cloud, kind="unavailable", match=f"POST /upload/storage/v1/b/{bucket.name}/", times=2)
    with pytest.raises(exceptions.ServiceUnavailable):
        bucket.blob("x").upload_from_string("no", retry=None)
    assert bucket.get_blob("x") is None
    bucket.blob("x").upload_from_string("at the third try", if_generation_match=0)
    assert bucket.blob("x").download_as_text() == "at the third try"


def test_a_held_call_does_its_work_when_the_fault_is_switched_off(cloud: LocalCloud, bucket: storage.Bucket) -> None:
    upload = f"POST /upload/storage/v1/b/{bucket.name}/o.uploadType=multipart"
    switch_on(cloud, kind="hold", match=upload, every=2, times=1)
    bucket.blob("first").upload_from_string("every second is held")
    with ThreadPoolExecutor() as threads:
        second = threads.submit(bucket.blob("second").upload_from_string, "later")
        while cloud.rest("GET", "/vertex-local/faults")["faults"][0]["times"]:
            time.sleep(0.01)
        bucket.blob("third").upload_from_string("once only")
        assert bucket.get_blob("second") is None and not second.done()
        cloud.rest("DELETE", "/vertex-local/faults")
        second.result()
    assert bucket.blob("second").download_as_text() == "later"


@pytest.mark.parametrize("size", [8, 1 << 20], ids=["small", "of many pieces"])
def test_a_held_call_is_dropped_when_its_caller_has_gone(cloud: LocalCloud, bucket: storage.Bucket, size: int) -> None:
    """As a killed job's: it would overwrite what the job's next attempt has written meanwhile."""
    switch_on(cloud, kind="hold", match=f"POST /upload/storage/v1/b/{bucket.name}/", times=1)
    with pytest.raises(requests.Timeout):
        bucket.blob("x").upload_from_string("x" * size, timeout=1, retry=None)
    bucket.blob("x").upload_from_string("written meanwhile")
    cloud.rest("DELETE", "/vertex-local/faults")
    bucket.blob("y").upload_from_string("after what was let go of")
    assert bucket.blob("x").download_as_text() == "written meanwhile"


def test_a_list_lags_behind_what_was_made(cloud: LocalCloud, bucket: storage.Bucket) -> None:
    bucket.blob("new").upload_from_string("x")
    switch_on(cloud, kind="lagging-list", match="GET /storage/v1/b/", seconds=3600)
    assert [blob.name for blob in client(cloud).list_blobs(bucket.name)] == []
    assert bucket.get_blob("new") is not None
    cloud.rest("DELETE", "/vertex-local/faults")
    assert [blob.name for blob in client(cloud).list_blobs(bucket.name)] == ["new"]


# --- The service's rate limits, under a clock that stands still. (N7)


NUMBER = "100000000001"
START = datetime(2026, 11, 20, 10, 0, tzinfo=UTC)


def test_sixty_submissions_a_minute_and_region_by_default() -> None:
    clock = ManualClock(START)
    limits = Limits(clock, Settings, NUMBER)
    for second in range(60):
        limits.take("submit", "us-central1")
        clock.advance(0.5 if second < 59 else 0)
    with pytest.raises(ApiError) as refused:
        limits.take("submit", "us-central1")
    assert (refused.value.code, refused.value.status) == (429, "RESOURCE_EXHAUSTED")
    detail = refused.value.details[0]
    assert detail["reason"] == "RATE_LIMIT_EXCEEDED" and detail["metadata"]["quota_limit_value"] == "60"
    limits.take("submit", "europe-west4")
    limits.take("call", "us-central1")


def test_the_window_slides() -> None:
    clock = ManualClock(START)
    limits = Limits(clock, lambda: Settings(submissions_per_minute=2), NUMBER)
    limits.take("submit", "r")
    clock.advance(40)
    limits.take("submit", "r")
    clock.advance(20)
    limits.take("submit", "r")
    with pytest.raises(ApiError):
        limits.take("submit", "r")


def test_a_wrong_request_counts_and_a_full_minute_is_said_before_what_is_wrong(calling: Calling) -> None:
    calling.set(submissions_per_minute=1)
    assert calling.refused("POST", f"{JOBS}?colour=red", {}).code == 400  # refused before it is counted
    assert calling.refused("POST", JOBS, {}, role="previewer").code == 403
    assert calling.refused("POST", JOBS, {}).code == 400
    for body in ({}, job_body()):
        assert calling.refused("POST", JOBS, body).code == 429
    assert calling.refused("POST", f"{CLUSTERS}?persistentResourceId=cpu", cluster_body()).code == 429
    assert calling.refused("POST", JOBS, {}, role="previewer").code == 403

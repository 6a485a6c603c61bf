"""Faults and limits that tests switch on. (N7)"""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import google.cloud.storage as storage
import pytest
import requests
from google.api_core import exceptions

from local.cloud.faults import parse
from local.cloud.wire import ApiError
from tests.local.cloud.storage.conftest import bucket as bucket
from tests.local.cloud.storage.conftest import client
from tests.local.conftest import LocalCloud


@pytest.fixture(autouse=True)
def no_faults_left(cloud: LocalCloud) -> Iterator[None]:
    yield
    cloud.rest("DELETE", "/slipway/faults")


def switch_on(cloud: LocalCloud, **fault: object) -> None:
    cloud.rest("POST", "/slipway/faults", {"faults": [fault]})


@pytest.mark.parametrize(
    "faults",
    [True, "x", {"kind": "delay"}, [None], ["x"], [{"match": "x"}], [{"kind": "delay", "match": 5}]]
    + [
        [{"kind": "delay", "match": "x", name: value}]
        for name in ("times", "seconds", "every")
        for value in ("1", None)
    ]
    + [[{"kind": "delay", "match": "x", "seconds": -1}], [{"kind": "delay", "match": "x", "every": 0}]],
)
def test_what_is_no_fault_is_refused(faults: object) -> None:
    with pytest.raises(ApiError) as refused:
        parse({"faults": faults})
    assert refused.value.code == 400


@pytest.mark.parametrize("body", [{}, {"fault": []}, {"faults": [], "more": 1}])
def test_a_body_that_names_no_faults_switches_none_off(body: dict[str, object]) -> None:
    with pytest.raises(ApiError, match="nothing else"):
        parse(body)


def test_an_answer_is_lost_after_the_work_is_done(cloud: LocalCloud, bucket: storage.Bucket) -> None:
    switch_on(cloud, kind="lost-answer", match=f"POST /upload/storage/v1/b/{bucket.name}/", times=1)
    with pytest.raises((requests.ConnectionError, exceptions.RetryError, exceptions.ServiceUnavailable)):
        bucket.blob("x").upload_from_string("done", retry=None)
    assert bucket.blob("x").download_as_text() == "done"


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
        while cloud.rest("GET", "/slipway/faults")["faults"][0]["times"]:
            time.sleep(0.01)
        bucket.blob("third").upload_from_string("once only")
        assert bucket.get_blob("second") is None and not second.done()
        cloud.rest("DELETE", "/slipway/faults")
        second.result()
    assert bucket.blob("second").download_as_text() == "later"


@pytest.mark.parametrize("size", [8, 1 << 20], ids=["small", "of many pieces"])
def test_a_held_call_is_dropped_when_its_caller_has_gone(cloud: LocalCloud, bucket: storage.Bucket, size: int) -> None:
    """As a killed job's: it would overwrite what the job's next attempt has written meanwhile."""
    switch_on(cloud, kind="hold", match=f"POST /upload/storage/v1/b/{bucket.name}/", times=1)
    with pytest.raises(requests.Timeout):
        bucket.blob("x").upload_from_string("x" * size, timeout=1, retry=None)
    bucket.blob("x").upload_from_string("written meanwhile")
    cloud.rest("DELETE", "/slipway/faults")
    bucket.blob("y").upload_from_string("after what was let go of")
    assert bucket.blob("x").download_as_text() == "written meanwhile"


def test_a_list_lags_behind_what_was_made(cloud: LocalCloud, bucket: storage.Bucket) -> None:
    bucket.blob("new").upload_from_string("x")
    switch_on(cloud, kind="lagging-list", match="GET /storage/v1/b/", seconds=3600)
    assert [found.name for found in client(cloud).list_blobs(bucket.name)] == []
    assert bucket.get_blob("new") is not None
    cloud.rest("DELETE", "/slipway/faults")
    assert [found.name for found in client(cloud).list_blobs(bucket.name)] == ["new"]


@pytest.mark.parametrize("wrong", [{"kind": "fire", "match": "x"}, {"kind": "delay"}, {"kind": "delay", "match": "("}])
def test_a_fault_that_is_none_is_refused(cloud: LocalCloud, wrong: dict[str, str]) -> None:
    with pytest.raises(requests.HTTPError, match="400"):
        cloud.rest("POST", "/slipway/faults", {"faults": [wrong]})

"""A disk that is full while the cloud writes, shown with a limit on its files. (N4)"""

import json

import pytest
import requests
from google.api_core import exceptions

from tests.local.cloud.storage.conftest import client
from tests.local.conftest import LocalCloud

LIMIT = 400_000


def test_a_full_disk_is_an_answer_and_nothing_is_half_written(own_cloud: LocalCloud) -> None:
    own_cloud.up(SLIPWAY_LOCAL_FILE_LIMIT=str(LIMIT))
    bucket = client(own_cloud).create_bucket("small-disk")
    bucket.blob("kept").upload_from_string("before")
    with pytest.raises(exceptions.GoogleAPICallError, match="disk is full") as failure:
        bucket.blob("big").upload_from_string(b"x" * (LIMIT + 1))
    assert failure.value.code == 507
    assert "disk full" in json.loads(own_cloud.local("status", "--output", "json").stdout)["trouble"]
    assert bucket.get_blob("big") is None and bucket.blob("kept").download_as_text() == "before"
    assert len(list((own_cloud.state / "objects").glob("??/*"))) == 1
    bucket.blob("small").upload_from_string("after")
    assert "trouble" not in json.loads(own_cloud.local("status", "--output", "json").stdout)


def test_a_database_that_cannot_grow_rolls_back_and_lives_on(own_cloud: LocalCloud) -> None:
    own_cloud.up(SLIPWAY_LOCAL_FILE_LIMIT=str(LIMIT))
    made, failed = [], None
    for number in range(400):
        try:
            labels = {f"label-{index}": "x" * 60 for index in range(60)}
            own_cloud.rest(
                "POST", "/storage/v1/b?project=slipway-local", {"name": f"bucket-{number}", "labels": labels}
            )
            made.append(f"bucket-{number}")
        except requests.HTTPError as error:
            failed = error.response
            break
    assert failed is not None and failed.status_code == 507
    assert failed.json()["error"]["status"] == "RESOURCE_EXHAUSTED" and "nothing was written" in failed.text
    assert sorted(found.name for found in client(own_cloud).list_buckets()) == sorted(made)
    own_cloud.local("down")
    own_cloud.up()
    assert sorted(found.name for found in client(own_cloud).list_buckets()) == sorted(made)
    client(own_cloud).create_bucket("room-again")

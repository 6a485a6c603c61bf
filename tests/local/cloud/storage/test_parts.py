"""Multipart uploads of the XML API, by the client that sends them and by hand. (N17)"""

import os
from pathlib import Path
from xml.etree import ElementTree

import pytest
import requests
from google.cloud import storage
from google.cloud.storage import transfer_manager

from tests.local.conftest import LocalCloud

MIB = 1024**2
BUCKET = "in-parts"


@pytest.fixture
def client(cloud: LocalCloud, monkeypatch: pytest.MonkeyPatch) -> storage.Client:
    monkeypatch.setenv("STORAGE_EMULATOR_HOST", f"{cloud.url}/t/{cloud.token()}")
    found = storage.Client("slipway-local")
    if not found.bucket(BUCKET).exists():
        found.create_bucket(BUCKET)
    return found


def test_the_transfer_manager_sends_a_file_in_parts(client: storage.Client, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(os.urandom(11 * MIB + 7))
    blob = client.bucket(BUCKET).blob("a folder/größe.bin")
    blob.metadata, blob.cache_control = {"step": "7"}, "no-store"
    transfer_manager.upload_chunks_concurrently(
        str(file), blob, content_type="a/b", chunk_size=5 * MIB, max_workers=2, worker_type=transfer_manager.THREAD
    )
    found = client.bucket(BUCKET).get_blob(blob.name)
    assert found is not None and found.download_as_bytes() == file.read_bytes()
    assert (found.content_type, found.metadata, found.cache_control) == ("a/b", {"step": "7"}, "no-store")
    assert (found.component_count, found.md5_hash) == (3, None)


class ByHand:
    """Calls of the XML API on one object."""

    def __init__(self, cloud: LocalCloud, name: str) -> None:
        self.cloud, self.path = cloud, f"/{BUCKET}/{name}"

    def call(self, method: str, query: str, data: bytes = b"", **headers: str) -> requests.Response:
        authorized = {"Authorization": f"Bearer {self.cloud.token()}", **headers}
        return requests.request(
            method, f"{self.cloud.url}{self.path}?{query}", data=data, headers=authorized, timeout=30
        )

    def begun(self) -> str:
        root = ElementTree.fromstring(self.call("POST", "uploads").text)
        return str(root.findtext("{http://s3.amazonaws.com/doc/2006-03-01/}UploadId"))


def code(answer: requests.Response) -> tuple[int, str]:
    return answer.status_code, str(ElementTree.fromstring(answer.text).findtext("Code"))


def completion(*parts: tuple[int, str]) -> bytes:
    listed = "".join(f"<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>" for number, etag in parts)
    return f"<CompleteMultipartUpload>{listed}</CompleteMultipartUpload>".encode()


@pytest.mark.usefixtures("client")
def test_what_is_wrong_with_parts_is_said_in_xml(cloud: LocalCloud) -> None:
    hand = ByHand(cloud, "by-hand")
    upload = f"uploadId={hand.begun()}"
    etags = [hand.call("PUT", f"partNumber={number}&{upload}", b"small").headers["etag"] for number in (1, 2)]
    assert hand.call("GET", upload).text.count("<PartNumber>") == 2
    one, two = ((number, etag) for number, etag in enumerate(etags, 1))
    assert code(hand.call("PUT", f"partNumber=0&{upload}", b"x")) == (400, "InvalidArgument")
    assert code(hand.call("PUT", f"partNumber=3&{upload}", b"x", **{"Content-MD5": "AAAA"}))[0] == 400
    assert code(hand.call("POST", upload, b"<a")) == (400, "MalformedXML")
    assert code(hand.call("POST", upload, completion())) == (400, "InvalidPart")
    assert code(hand.call("POST", upload, completion((1, '"other"')))) == (400, "InvalidPart")
    assert code(hand.call("POST", upload, completion(two, one))) == (400, "InvalidPartOrder")
    assert code(hand.call("POST", upload, completion(one, two))) == (400, "EntityTooSmall")
    assert hand.call("POST", upload, completion(two)).status_code == 200
    assert cloud.call("GET", f"/storage/v1/b/{BUCKET}/o/by-hand?alt=media").content == b"small"
    assert code(hand.call("POST", upload, completion(two))) == (404, "NoSuchUpload")


@pytest.mark.usefixtures("client")
def test_an_upload_that_is_given_up_leaves_nothing(cloud: LocalCloud) -> None:
    hand = ByHand(cloud, "given-up")
    upload = f"uploadId={hand.begun()}"
    hand.call("PUT", f"partNumber=1&{upload}", b"x")
    assert hand.call("DELETE", upload).status_code == 204
    assert code(hand.call("PUT", f"partNumber=1&{upload}", b"x")) == (404, "NoSuchUpload")
    assert not (cloud.state / "uploads" / upload.partition("=")[2]).exists()
    assert ByHand(cloud, "other").call("POST", "uploads").status_code == 200


def test_the_rest_of_the_xml_api_is_not_there(cloud: LocalCloud) -> None:
    answer = requests.get(f"{cloud.url}/{BUCKET}/x", headers={"Authorization": f"Bearer {cloud.token()}"}, timeout=30)
    assert answer.status_code == 404 and "There is no method" in answer.json()["error"]["message"]

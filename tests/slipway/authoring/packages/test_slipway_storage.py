"""Objects as a replica sees them: what passes is waited out, what does not is said, and no file is half. # N7, X3

Against the storage of the local cloud, with faults in between.
"""

import io
import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from slipway.authoring.packages import slipway_storage
from slipway.authoring.packages.slipway_http import StorageError, patiently, storage_base
from slipway.authoring.packages.slipway_storage import Body, ChangedError, Storage

from .conftest import Between, Bucket


@pytest.fixture
def waits(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The waits between tries."""
    waited: list[float] = []
    monkeypatch.setattr(slipway_storage, "patiently", lambda ask, _: patiently(ask, waited.append))
    return waited


@pytest.mark.parametrize("faults", [[503], [429, 500], ["silent"], ["lost"], ["half"]])
def test_passing_trouble_is_waited_out(
    server: Between, bucket: Bucket, waits: list[float], tmp_path: Path, faults: list[Any]
) -> None:
    storage, content = Storage(server.environ), b"1" * 3_000_000
    folder = f"trouble-{faults[0]}"

    def body(name: str) -> Body:
        return Body(name, {}, io.BytesIO(content), len(content), lambda: None)

    server.handler.faults = [*faults]
    storage.keep(f"gs://{bucket.name}/{folder}/model", body, waits.append)
    assert bucket.contents(f"{folder}/") == {"model": content} and len(waits) == len(faults)
    for before in ([], [None]):  # as it is listed, and as it is read
        server.handler.faults = [*before, *faults]
        assert list(storage.fetch(f"gs://{bucket.name}/{folder}", tmp_path)) == ["model"]
        assert (tmp_path / "model").read_bytes() == content and not server.handler.faults


def test_a_folder_is_fetched_and_one_object_alone(server: Between, bucket: Bucket, tmp_path: Path) -> None:
    for name in ("set/a.csv", "set/deep/b c.csv", "set2/no.csv", "set/"):
        bucket.put(name, b"1,2")
    for uri, found in (
        ("set", ["a.csv", "deep/b c.csv"]),
        ("set/", ["a.csv", "deep/b c.csv"]),
        ("set/a.csv", ["a.csv"]),
    ):
        place = tmp_path / uri.replace("/", "-")
        assert sorted(Storage(server.environ).fetch(f"gs://{bucket.name}/{uri}", place)) == found
        assert {str(path.relative_to(place)) for path in place.rglob("*.*")} == {*found}
    assert Storage(server.environ).fetch(f"gs://{bucket.name}/nowhere", tmp_path) == {}


@pytest.mark.parametrize(
    ("uri", "said"),
    [
        ("data/a.csv", "is not of the form gs://BUCKET/NAME"),
        ("gs://", "is not of the form gs://BUCKET/NAME"),
        ("gs://no-such-bucket/x", "HTTP 404"),
        ("gs://packages-work/odd", "gs://packages-work/odd/../../escaped has a name that no file can have"),
    ],
)
def test_what_can_not_be_fetched_is_said(server: Between, bucket: Bucket, tmp_path: Path, uri: str, said: str) -> None:
    bucket.put("odd/../../escaped", b"x")
    with pytest.raises(StorageError, match=said):
        Storage(server.environ).fetch(uri, tmp_path / "data")


def test_a_body_ends_only_once_its_file_was_found_the_same() -> None:
    def changed() -> None:
        raise ChangedError

    for check in (changed, lambda: None):
        body = Body("name", {"key": "value"}, io.BytesIO(b"12345"), 5, check)
        length, sent = body.length, b""
        try:
            while block := body.read():
                sent += block
        except ChangedError:
            assert len(sent) < length
        else:
            assert len(sent) == length and sent.count(b"12345") == 1
            assert json.loads(sent.split(b"\r\n\r\n")[1].splitlines()[0])["metadata"] == {"key": "value"}


def test_storage_is_googles_unless_told_otherwise() -> None:
    assert storage_base({}) == "https://storage.googleapis.com"
    assert storage_base({"STORAGE_EMULATOR_HOST": "localhost:9000/"}) == "http://localhost:9000"
    assert urlsplit(storage_base({"STORAGE_EMULATOR_HOST": "http://h:1/t/secret"})).path == "/t/secret"

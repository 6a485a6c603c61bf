import io
import json
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest

from local.plugin.provider import Provider
from local.plugin.resources.object_media import content_type, md5, media
from local.plugin.transport import CloudError
from local.plugin.values import COMPUTED, UNKNOWN, Archive, Asset, Properties
from tests.local.plugin.conftest import Asked, Recorder

_TOKEN = "gcp:storage/bucketObject:BucketObject"
_UPLOAD = "POST /upload/storage/v1/b/cat/o"
_ONE = "/storage/v1/b/cat/o/packages%2Fx.json"
_INPUTS: Properties = {"bucket": "cat", "name": "packages/x.json", "content": "{}", "__defaults": []}


def _answer(data: bytes = b"{}") -> dict[str, Any]:
    return {
        "bucket": "cat",
        "name": "packages/x.json",
        "md5Hash": md5(data),
        "generation": "17",
        "storageClass": "STANDARD",
        "contentType": "application/json",
    }


def _parts(asked: Asked) -> tuple[dict[str, Any], str, bytes]:
    boundary = asked.headers["content-type"].split("boundary=")[1].encode()
    _, metadata, media_part, _ = asked.raw.split(b"--" + boundary)
    head, data = media_part.removeprefix(b"\r\n").removesuffix(b"\r\n").split(b"\r\n\r\n", 1)
    return json.loads(metadata.split(b"\r\n\r\n", 1)[1]), head.decode().split(": ", 1)[1], data


def test_create_uploads_metadata_and_bytes_in_one_request(recorder: Recorder, provider: Provider) -> None:
    recorder.answer(_UPLOAD, {})
    recorder.answer(f"GET {_ONE}", _answer())
    inputs = {**_INPUTS, "contentType": "application/json", "metadata": {"a": "b"}, "cacheControl": "no-store"}
    made = provider.create(_TOKEN, inputs, 0)
    asked = recorder.only(_UPLOAD)
    assert asked.query == {
        "name": "packages/x.json",
        "uploadType": "multipart",
        "alt": "json",
        "prettyPrint": "false",
    }
    metadata, kind, data = _parts(asked)
    assert metadata == {
        "bucket": "cat",
        "contentType": "application/json",
        "metadata": {"a": "b"},
        "cacheControl": "no-store",
    }
    assert (kind, data) == ("application/json", b"{}")
    assert made.id == "cat-packages/x.json"
    assert made.state["content"] == "{}"
    assert made.state["detectMd5hash"] == made.state["md5hash"] == md5(b"{}")
    assert made.state["generation"] == 17
    assert provider.difference(_TOKEN, made.state, _INPUTS).changes == ()


def test_changed_content_is_uploaded_over_the_old(recorder: Recorder, provider: Provider) -> None:
    recorder.answer(_UPLOAD, {})
    recorder.answer(f"GET {_ONE}", _answer(b"new"))
    state = {**_INPUTS, "md5hash": md5(b"{}"), "detectMd5hash": md5(b"{}")}
    provider.update(_TOKEN, "cat-packages/x.json", state, {**_INPUTS, "content": "new"}, 0)
    assert _parts(recorder.only(_UPLOAD))[2] == b"new"
    assert not [line for line in recorder.lines if line.startswith("DELETE")]


def test_a_hold_changes_the_object_as_it_is(recorder: Recorder, provider: Provider) -> None:
    recorder.answer(f"GET {_ONE}", _answer())
    recorder.answer(f"PUT {_ONE}", {})
    state = {**_INPUTS, "md5hash": md5(b"{}"), "detectMd5hash": md5(b"{}")}
    provider.update(_TOKEN, "cat-packages/x.json", state, {**_INPUTS, "temporaryHold": True}, 0)
    assert recorder.only(f"PUT {_ONE}").body["temporaryHold"] is True


def test_a_preview_of_new_content_does_not_know_the_generation(provider: Provider) -> None:
    state = {**_INPUTS, "md5hash": md5(b"{}"), "generation": 17}
    planned = provider.plan(_TOKEN, state, {**_INPUTS, "content": "new"})
    assert planned["generation"] is planned["md5hash"] is planned["detectMd5hash"] is UNKNOWN
    assert planned["mediaLink"] is planned["md5hexhash"] is COMPUTED
    assert provider.plan(_TOKEN, None, {**_INPUTS, "content": UNKNOWN})["content"] is UNKNOWN


def test_delete_goes_by_name(recorder: Recorder, provider: Provider) -> None:
    recorder.answer(f"DELETE {_ONE}", None, 204)
    provider.delete(_TOKEN, "cat-packages/x.json", _INPUTS, 0)
    assert recorder.only(f"DELETE {_ONE}").query == {"alt": "json", "prettyPrint": "false"}


def test_a_file_is_uploaded_as_it_is(recorder: Recorder, provider: Provider, tmp_path: Path) -> None:
    data = b"\x1f\x8b\x08" + bytes(range(256))
    (tmp_path / "p.tar.gz").write_bytes(data)
    recorder.answer(_UPLOAD, {})
    recorder.answer(f"GET {_ONE}", _answer(data))
    source = Asset("h", path=str(tmp_path / "p.tar.gz"))
    made = provider.create(_TOKEN, {"bucket": "cat", "name": "packages/x.json", "source": source}, 0)
    assert _parts(recorder.only(_UPLOAD))[1:] == ("application/x-gzip", data)
    assert made.state["source"] == source


def test_a_file_that_is_not_there_is_said(provider: Provider) -> None:
    inputs = {"bucket": "cat", "name": "x", "source": Asset("h", path="/no/such/file")}
    with pytest.raises(CloudError, match=r"source: can't be read: .*No such file.*/no/such/file"):
        provider.plan(_TOKEN, None, inputs)


def test_nothing_is_fetched_from_elsewhere() -> None:
    with pytest.raises(CloudError, match="fetches nothing from elsewhere"):
        media(Asset("h", uri="https://example.com/x"))


def test_archives_become_the_same_zip_for_the_same_files(tmp_path: Path) -> None:
    folder = tmp_path / "f"
    (folder / "d").mkdir(parents=True)
    (folder / "a.txt").write_text("a")
    (folder / "d" / "b.txt").write_text("b")
    with tarfile.open(tmp_path / "f.tar.gz", "w:gz") as tape:
        tape.add(folder, ".")
    listed = Archive(assets={"a.txt": Asset(text="a"), "d": Archive(assets={"b.txt": Asset(text="b")})})
    from_folder = media(Archive(path=str(folder)))
    assert from_folder == media(listed)
    with zipfile.ZipFile(io.BytesIO(from_folder)) as packed:
        assert packed.namelist() == ["a.txt", "d/b.txt"]
        assert packed.read("d/b.txt") == b"b"
    with zipfile.ZipFile(io.BytesIO(media(Archive(path=str(tmp_path / "f.tar.gz"))))) as packed:
        assert sorted(name.removeprefix("./") for name in packed.namelist()) == ["a.txt", "d/b.txt"]


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"", "text/plain; charset=utf-8"),
        (b'{"a": 1}\n', "text/plain; charset=utf-8"),
        (b"\x00\x01", "application/octet-stream"),
        (b"PK\x03\x04rest", "application/zip"),
    ],
)
def test_the_content_type_is_told_from_the_bytes(data: bytes, kind: str) -> None:
    assert content_type(data) == kind

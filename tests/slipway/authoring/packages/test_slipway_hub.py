"""Inputs of the Hugging Face hub: one commit's files, with a token that no other host sees. # N25 # N31

Against a server that stands in for the hub, as huggingface_hub asks it, and one for the store of its large files.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote

import pytest

from slipway.authoring.packages import slipway_storage
from slipway.authoring.packages.slipway_hub import Hub
from slipway.authoring.packages.slipway_inputs import copied
from slipway.authoring.packages.slipway_storage import RefusedError
from tests import loopback

COMMIT = "0123abcd"
FILES = {"config.json": b"{}", "onnx/model.onnx": b"onnx", "model safe.bin": bytes(range(256)) * 20}


@dataclass
class Pages:
    """The hub at `url`; `heard` are the paths of requests with their tokens, at the hub and at the store."""

    url: str = ""
    gated: bool = False
    faults: list[int] = field(default_factory=list)
    heard: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def environ(self) -> dict[str, str]:
        return {"HF_ENDPOINT": self.url, "HF_TOKEN": "hf_secret", "GCE_METADATA_HOST": "127.0.0.1:9"}


@pytest.fixture
def hub() -> Iterator[Pages]:
    pages = Pages()

    class Store(loopback.Handler):
        def do_GET(self) -> None:
            pages.heard.append(("store", self.path, self.headers.get("Authorization", "")))
            content, asked = FILES[unquote(self.path[1:])], self.headers.get("Range", "")
            if not asked:
                return self.answer(200, content)
            start, end = map(int, asked.removeprefix("bytes=").split("-"))
            return self.answer(206, content[start : end + 1])

    with loopback.served(Store) as store:

        class Handler(loopback.Handler):
            def do_GET(self) -> None:
                token = self.headers.get("Authorization", "")
                pages.heard.append(("hub", self.path, token))
                if pages.faults:
                    return self.answer(pages.faults.pop(0))
                if pages.gated and token != "Bearer hf_secret":
                    return self.answer(401, b"Access to model acme/tiny is restricted.")
                if self.path == "/api/models/acme/tiny/revision/v1%2Fx?blobs=true":
                    listed = [{"rfilename": name, "size": len(content)} for name, content in FILES.items()]
                    return self.answer(200, json.dumps({"sha": COMMIT, "siblings": listed}).encode())
                if self.path.startswith("/api/datasets/acme/words/revision/main"):
                    listed = [{"rfilename": "config.json", "size": 2}]
                    return self.answer(200, json.dumps({"sha": COMMIT, "siblings": listed}).encode())
                place = self.path.partition(f"/resolve/{COMMIT}/")[2]
                if self.path.startswith("/api/resolve-cache/"):
                    return self.answer(200, FILES[unquote(self.path.rpartition("/")[2])])
                if place == "config.json":
                    return self.answer(307, headers={"Location": f"/api/resolve-cache/{place}"})
                if place:
                    return self.answer(302, headers={"Location": f"{store}/{place}"})
                return self.answer(404, b"Repository not found")

        with loopback.served(Handler) as pages.url:
            yield pages


def fetched(hub: Pages, folder: Path, address: str) -> tuple[dict[str, bytes], list[str]]:
    """Return the files of an input, and what the log has."""
    said: list[str] = []
    (place,) = copied(folder, {**hub.environ, "SLIPWAY_INPUT_DATA": address}, said.append).values()
    found = {path.relative_to(place).as_posix(): path.read_bytes() for path in Path(place).rglob("*") if path.is_file()}
    return found, said


def test_all_files_of_one_commit_come_and_the_token_stays_at_the_hub(
    hub: Pages, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(slipway_storage, "PART", 1000)
    hub.gated = True
    files, said = fetched(hub, tmp_path, "hf://acme/tiny@v1%2Fx")
    assert files == FILES and "copies hf://acme/tiny@v1%2Fx to $SLIPWAY_INPUT_DATA: 3 objects, 5.1 kB" in said
    of_store = {token for server, _, token in hub.heard if server == "store"}
    assert of_store == {""} and {token for server, _, token in hub.heard if server == "hub"} == {"Bearer hf_secret"}
    assert all(COMMIT in path or "/api/" in path for server, path, _ in hub.heard if server == "hub")


def test_a_folder_or_a_file_of_a_data_set_comes_alone(hub: Pages, tmp_path: Path) -> None:
    assert fetched(hub, tmp_path, "hf://datasets/acme/words/config.json")[0] == {"config.json": b"{}"}


def test_passing_trouble_is_waited_out(hub: Pages) -> None:
    hub.faults = [503]
    assert list(Hub(hub.environ).found("hf://datasets/acme/words")) == ["config.json"]


@pytest.mark.parametrize(
    ("address", "gated", "fix"),
    [
        ("hf://acme/none", False, "correct the address"),
        ("hf://datasets/acme/words", True, "--secret HF_TOKEN=SECRET"),
        ("hf://datasets/acme/words/nowhere", False, "correct the address"),
    ],
)
def test_a_job_whose_input_can_not_be_had_does_not_start(
    hub: Pages, tmp_path: Path, address: str, gated: bool, fix: str
) -> None:
    hub.gated = gated
    environ = {**hub.environ, "HF_TOKEN": "", "SLIPWAY_INPUT_DATA": address}
    with pytest.raises(RefusedError) as refused:
        copied(tmp_path, environ, lambda _: None)
    assert address in refused.value.args[1] and fix in refused.value.args[2]

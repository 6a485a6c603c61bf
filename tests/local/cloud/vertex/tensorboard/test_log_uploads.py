"""Event files that a job writes come to the tensorboard that it names (Z4)."""

import struct
from collections.abc import Sequence
from typing import Any
from urllib.parse import quote

import google_crc32c
import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.cloud import identities
from local.cloud.vertex.tensorboard.event_files import Scalar, scalars
from tests.local.cloud.calling import PARENT, Calling

BOARDS = f"/v1/{PARENT}/tensorboards"


def field(number: int, content: bytes) -> bytes:
    """A length-delimited field of a protocol message, as bytes."""
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*out, value))


def record(event: bytes) -> bytes:
    def masked(content: bytes) -> bytes:
        crc = google_crc32c.value(content)
        return struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)

    length = struct.pack("<Q", len(event))
    return length + masked(length) + event + masked(event)


def event(step: int, value: bytes, wall_time: float = 1.5) -> bytes:
    return record(b"\x09" + struct.pack("<d", wall_time) + b"\x10" + varint(step) + field(5, field(1, value)))


def simple(tag: str, step: int, value: float) -> bytes:
    """As PyTorch's SummaryWriter writes a scalar."""
    return event(step, field(1, tag.encode()) + b"\x15" + struct.pack("<f", value))


def tensor(tag: str, step: int, value: float, plugin: str = "scalars", *, first: bool = True) -> bytes:
    """As TensorFlow 2 writes a scalar: a tensor, whose plugin stands in the first value alone."""
    content = field(1, tag.encode()) + field(8, b"\x08\x01" + field(4, struct.pack("<f", value)))
    return event(step, content + (field(9, field(1, field(1, plugin.encode()))) if first else b""))


FILE = record(b"\x1a\x0dbrain.Event:2") + simple("loss", 1, 0.5)


def test_scalars_of_both_forms_are_read() -> None:
    content = FILE + tensor("accuracy", 1, 0.25) + tensor("accuracy", 2, 0.75, first=False)
    assert list(scalars(content)) == [
        Scalar("loss", 1, 1.5, 0.5),
        Scalar("accuracy", 1, 1.5, 0.25),
        Scalar("accuracy", 2, 1.5, 0.75),
    ]


def test_what_is_no_scalar_is_passed_over() -> None:
    assert list(scalars(tensor("weights", 1, 1.0, "histograms") + simple("loss", 2, 0.5))) == [
        Scalar("loss", 2, 1.5, 0.5)
    ]


@given(st.integers(0, len(FILE + FILE)))
def test_a_file_that_is_being_written_gives_what_is_whole(length: int) -> None:
    whole = list(scalars(FILE + FILE))
    found = list(scalars((FILE + FILE)[:length]))
    assert found == whole[: len(found)]


@given(st.integers(0, len(FILE) - 1), st.integers(1, 255))
def test_a_damaged_record_ends_the_file(at: int, flip: int) -> None:
    damaged = bytearray(FILE)
    damaged[at] ^= flip
    assert list(scalars(bytes(damaged))) == []


@pytest.fixture
def board(calling: Calling) -> str:
    calling.call("POST", "/storage/v1/b?project=slipway-local", {"name": "work"})
    return str(calling.call("POST", BOARDS, {"displayName": "board"})["response"]["name"])


def job(calling: Calling, board: str) -> str:
    """The name of a job that writes below gs://work/out/logs/."""
    made = calling.call("POST", f"/v1/{PARENT}/customJobs", job_body(board))
    return str(made["name"])


def job_body(board: str) -> dict[str, Any]:
    task = {"imageUri": "python:3.10", "command": ["true"]}
    pool = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1", "containerSpec": task}
    spec = {
        "workerPoolSpecs": [pool],
        "serviceAccount": identities.DEPLOYER,
        "tensorboard": board,
        "baseOutputDirectory": {"outputUriPrefix": "gs://work/out"},
    }
    return {"displayName": "train", "jobSpec": spec}


def logs(calling: Calling, name: str, content: bytes) -> None:
    path = f"/upload/storage/v1/b/work/o?uploadType=media&name={quote(f'out/logs/{name}', safe='')}"
    calling.call("POST", path, raw=content)


def values(calling: Calling, at: str, run: str) -> dict[str, Sequence[float]]:
    found = calling.call("GET", f"{at}/runs/{run}/timeSeries")["tensorboardTimeSeries"]
    return {
        series["displayName"]: [
            point["scalar"]["value"]
            for point in calling.call("GET", f"/v1/{series['name']}:read")["timeSeriesData"]["values"]
        ]
        for series in found
    }


def test_a_job_s_logs_are_runs_of_an_experiment_of_its_own(calling: Calling, board: str) -> None:
    job_id = job(calling, board).rpartition("/")[2]
    logs(calling, "events.out.tfevents.1.host.1.0", FILE)
    logs(calling, "Eval Set/events.out.tfevents.2", tensor("accuracy", 3, 0.5))
    logs(calling, "notes.txt", b"no events")
    at = f"/v1/{board}/experiments/{job_id}"
    assert calling.call("GET", at)["displayName"] == "train"
    listed = calling.call("GET", f"{at}/runs")["tensorboardRuns"]
    assert sorted(item["displayName"] for item in listed) == ["default", "eval-set"]
    assert values(calling, at, "default") == {"loss": [0.5]}
    assert values(calling, at, "eval-set") == {"accuracy": [0.5]}


def test_a_file_that_grows_is_read_again_until_the_job_has_ended(calling: Calling, board: str) -> None:
    name = job(calling, board)
    at = f"/v1/{board}/experiments/{name.rpartition('/')[2]}"
    logs(calling, "events.tfevents", FILE)
    assert values(calling, at, "default") == {"loss": [0.5]}
    logs(calling, "events.tfevents", FILE + simple("loss", 2, 0.25))
    assert values(calling, at, "default") == {"loss": [0.5, 0.25]}
    calling.call("POST", f"/v1/{name}:cancel", {})
    logs(calling, "events.tfevents", FILE + simple("loss", 2, 0.25) + simple("loss", 3, 0.125))
    assert values(calling, at, "default") == {"loss": [0.5, 0.25, 0.125]}


def test_the_sdk_finds_the_run_s_context_to_end_it(calling: Calling, board: str) -> None:
    name = job(calling, board)
    logs(calling, "events.tfevents", FILE)
    calling.call("GET", f"/v1/{board}")
    contexts = f"/v1/{PARENT}/metadataStores/default/contexts/{name.rpartition('/')[2]}"
    assert calling.call("GET", f"{contexts}-default")["metadata"]["_state"] == "RUNNING"
    # The mark by which the SDK tells it from an experiment of people.
    assert "tensorboard_link" in calling.call("GET", contexts)["metadata"]


@pytest.mark.parametrize(("where", "code"), [("us-central1", 404), ("europe-west4", 400)])
def test_the_tensorboard_must_be_in_the_job_s_region(calling: Calling, board: str, where: str, code: int) -> None:
    number = f"{board.partition('/locations/')[0]}/locations/{where}/tensorboards/1"
    if code == 400:
        made = calling.call("POST", BOARDS.replace("us-central1", where), {"displayName": "far"})
        number = made["response"]["name"]
    assert calling.refused("POST", f"/v1/{PARENT}/customJobs", job_body(number)).code == code

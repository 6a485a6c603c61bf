"""Logs and curves are kept as far as they were written, and half of a file beside the whole one. # X3 # N25

Against the storage of the local cloud, with real files that real processes write.
"""

from __future__ import annotations

import io
import os
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.authoring.packages.slipway_files import Moment
from slipway.authoring.packages.slipway_growing import grown

from .conftest import Machine
from .writer import Writer

EVENTS = "events.out.tfevents.1764201600.host.7.0"


def record(data: bytes) -> bytes:
    """Return a record as TensorFlow frames it; nobody here reads its sums."""
    return struct.pack("<QI", len(data), 7) + data + struct.pack("<I", 7)


def test_a_log_that_is_opened_once_is_kept_up_to_its_last_line(machine: Machine) -> None:  # N25
    """However often it is written to, and though it is not opened to append."""
    results = machine.results()
    with (results.folder / "train.log").open("w") as file:
        print("epoch 1", file=file, flush=True)
        results.keep()
        assert machine.kept == {}, "one look tells no log from a file that is being written"
        print("epoch 2\nepo", file=file, end="", flush=True)
        results.keep()
        assert machine.kept == {"train.log": b"epoch 1\nepoch 2\n"} and not results.unkept
        print("ch 3\nhalf a line", file=file, end="", flush=True)
    results.keep(ended=True, killed=True)
    assert machine.kept == {"train.log": b"epoch 1\nepoch 2\nepoch 3\n"} and not results.unkept


def test_a_log_is_whole_once_it_is_closed(machine: Machine) -> None:
    results = machine.results()
    with (results.folder / "train.log").open("w") as file:
        for line in ("1\n", "2\n"):
            print(line, file=file, end="", flush=True)
            results.keep()
        print("no end of a line", file=file, end="")
    results.keep()
    assert machine.kept == {"train.log": b"1\n2\nno end of a line"} and not results.unsure


def test_curves_are_kept_up_to_their_last_record(machine: Machine) -> None:  # N25
    results = machine.results()
    path = results.folder / "logs" / EVENTS
    path.parent.mkdir()
    with path.open("wb") as file:
        file.write(record(b"brain.Event:2") + record(b"loss 0.5") + record(b"loss 0.4")[:-3])
        file.flush()
        results.keep()
        assert machine.kept == {f"logs/{EVENTS}": record(b"brain.Event:2") + record(b"loss 0.5")}
        file.write(record(b"loss 0.4")[-3:])
        file.flush()
        results.keep()
        curves = record(b"brain.Event:2") + record(b"loss 0.5") + record(b"loss 0.4")
        assert machine.kept == {f"logs/{EVENTS}": curves}
    again = machine.results()
    assert again.restore() == [f"logs/{EVENTS}"]


def test_lines_that_are_written_over_are_no_log(machine: Machine) -> None:
    results = machine.results()
    writer = Writer.of(results.folder / "state", "w+", 0)
    writer.write("step 1\n")
    results.keep()
    writer.write("step 222\n")
    results.keep()
    assert machine.kept == {} and results.unkept["state"][1] == "it is still open for writing"
    writer.close()


def test_what_is_no_text_waits_for_its_end(machine: Machine) -> None:
    results = machine.results()
    with (results.folder / "weights").open("wb") as file:
        for _ in range(3):
            file.write(b"\0" * 100 + b"\n")
            file.flush()
            results.keep()
        assert machine.kept == {} and results.unkept["weights"][1] == "it is still open for writing"


def test_a_half_stands_beside_the_whole_until_there_is_another(
    machine: Machine, capsys: pytest.CaptureFixture[str]
) -> None:  # N25
    first = machine.results()
    (first.folder / "checkpoint").write_text("one")
    first.keep()
    (first.folder / "checkpoint").write_text("half of t")
    first.keep(ended=True, killed=True)
    assert machine.kept == {"checkpoint": b"one", "checkpoint.partial": b"half of t"}
    second = machine.results()
    assert second.restore() == ["checkpoint"] and list(second.files()) == ["checkpoint"]
    (second.folder / "checkpoint").write_text("two, whole")
    second.keep(ended=True)
    assert machine.kept == {"checkpoint": b"two, whole"}


def test_no_half_takes_the_place_of_a_file_of_the_codes_own(machine: Machine) -> None:
    results = machine.results()
    for name, text in (("checkpoint.partial", "its own"), ("checkpoint", "half")):
        (results.folder / name).write_text(text)
    os.utime(results.folder / "checkpoint.partial", (0, 0))
    results.keep(ended=True, killed=True)
    assert machine.kept == {"checkpoint.partial": b"its own"}


@given(st.lists(st.binary(max_size=40), max_size=8), st.data())
def test_of_any_events_what_is_whole_is_the_records_that_are_there(records: list[bytes], data: st.DataObject) -> None:
    frames = [record(each) for each in records]
    content = b"".join(frames)
    ends = [sum(map(len, frames[:count])) for count in range(len(frames) + 1)]
    before = None

    for size in sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=4))):
        before = grown(io.BytesIO(content[:size]), EVENTS, Moment(1, size, size), before)
        assert before is not None and before.whole == max(end for end in ends if end <= size)


@given(st.text(alphabet="ab\n", max_size=60), st.data())
def test_of_any_text_what_is_whole_ends_with_a_line(text: str, data: st.DataObject) -> None:

    content, before = text.encode(), None
    for size in sorted(data.draw(st.lists(st.integers(0, len(content)), max_size=4))):
        before = grown(io.BytesIO(content[:size]), "log", Moment(1, size, size), before)
        assert before is not None and before.whole == content[:size].rfind(b"\n") + 1

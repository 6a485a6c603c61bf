"""A replica's log, whatever user code prints. (N4)"""

import json
import os
import threading
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.cloud.nodes import logfile


def written(folder: Path, text: str) -> logfile.Line:
    path = folder / "log"
    logfile.LogFile(path).user(text, "INFO")
    (line,), _ = logfile.read(path, 0, 1 << 20)
    return line


def test_a_line_in_json_with_a_message_is_taken_apart(tmp_path: Path) -> None:
    line = written(tmp_path, json.dumps({"message": "m", "severity": "warning", "loss": 0.5, "who": "😀"}))
    assert (line.severity, line.text, line.fields) == ("WARNING", "", {"message": "m", "loss": 0.5, "who": "😀"})


@pytest.mark.parametrize(
    "text",
    [
        '{"message": "loss", "loss": NaN}',
        '{"message": "loss", "loss": -Infinity}',
        '{"message": "\\ud800"}',
        '{"message": ' * 5000,
        '{"loss": 1}',
        "{",
    ],
)
def test_a_line_that_no_client_could_read_as_json_stays_a_text(tmp_path: Path, text: str) -> None:
    line = written(tmp_path, text)
    assert (line.severity, line.text, line.fields) == ("INFO", text, None)


def read_in_parts(*parts: bytes) -> list[bytes]:
    """The lines of a stream whose bytes come so."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb", buffering=0) as out, os.fdopen(reading, "rb") as stream:
        found: list[bytes] = []
        thread = threading.Thread(target=lambda: found.extend(logfile.lines(stream)))
        thread.start()
        for part in parts:
            out.write(part)
        out.close()
        thread.join()
    return found


@pytest.mark.parametrize(
    ("parts", "lines"),
    [
        ([b"a\n\nb\r\nc"], [b"a", b"", b"b", b"c"]),
        ([b"a\r", b"\nb\r\r\n"], [b"a", b"b"]),
        ([b"\r 10%", b"\r 20%", b"\r 30%\n", b"done\n"], [b" 10%", b" 20%", b" 30%", b"done"]),
        ([b"one\rtwo\r"], [b"one", b"two"]),
        ([b"", b"\r\r"], []),
    ],
)
def test_a_bar_that_goes_back_to_its_beginning_is_a_line_for_each_move(parts: list[bytes], lines: list[bytes]) -> None:
    assert read_in_parts(*parts) == lines


@given(st.lists(st.text("a\r\n", max_size=6).map(str.encode), max_size=6))
def test_lines_are_the_same_however_their_bytes_come(parts: list[bytes]) -> None:
    assert read_in_parts(*parts) == read_in_parts(b"".join(parts))


def test_a_line_without_an_end_comes_in_parts() -> None:
    long = b"x" * (2 * logfile.LINE_BYTES + 5)
    assert [len(one) for one in read_in_parts(long)] == [logfile.LINE_BYTES, logfile.LINE_BYTES, 5]


def test_a_bar_can_be_seen_while_it_moves() -> None:
    """The line came when it was full: hours of a training in one line at its end."""
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb", buffering=0) as out, os.fdopen(reading, "rb") as stream:
        lines = logfile.lines(stream)
        out.write(b"\r  0%|    | 0/2\r 50%|##  | 1/2")
        assert next(lines) == b"  0%|    | 0/2"
        out.write(b"\r100%|####| 2/2")
        assert next(lines) == b" 50%|##  | 1/2"

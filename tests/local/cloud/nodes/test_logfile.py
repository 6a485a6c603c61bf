"""A replica's log, whatever user code prints. (N4)"""

import json
from pathlib import Path

import pytest

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

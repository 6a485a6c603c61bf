"""Recordings of GPUs as nvidia-smi writes them, and the tool that makes one. # Z5"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from local.cloud.supply.gpu_recording import GpuSample, parse
from local.cloud.supply.parsing import ScenarioError
from local.cloud.supply.parsing import parse as scenario
from tests.local.cloud.recordings import record

FILE = Path(record.__file__).with_name("gemma2-27b-on-8-h100.csv")
HEAD = "timestamp, index, name, utilization.gpu [%], memory.used [MiB], memory.total [MiB]\n"


def line(
    at: str = "13:11:59.204", index: str = "0", use: str = "97 %", used: str = "40 MiB", of: str = "80 MiB"
) -> str:
    return f"2025/01/17 {at}, {index}, NVIDIA H100 80GB HBM3, {use}, {used}, {of}\n"


def test_it_is_read_with_units_and_without_and_remarks_are_passed_over() -> None:
    found = parse(f"# mine\n\n{HEAD}{line()}{line(index='1', use='3', used='8', of='80')}{line('13:12:59.704')}")
    assert found.samples == (GpuSample(0, 0, 0.97, 0.5), GpuSample(0, 1, 0.03, 0.1), GpuSample(60.5, 0, 0.97, 0.5))
    assert [sample.use for sample in found.of(5)] == [0.03], "the second GPU again"


def test_what_a_gpu_does_not_tell_is_left_out() -> None:
    assert len(parse(HEAD + line() + line(index="1", use="[N/A]")).samples) == 1


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "no column timestamp"),
        (HEAD.replace("index, ", ""), "no column index"),
        (HEAD, "no GPU was measured"),
        (HEAD + line(use="[N/A]"), "no GPU was measured"),
        (HEAD + line() + "2025/01/17 13", "line 3: "),
        (HEAD + line("at noon"), "line 2: time data"),
        (f"# a remark\n{HEAD}{line(index='GPU-1')}", "line 3: invalid literal"),
        (HEAD + line(use="130 %"), "line 2: a use of more"),
        (HEAD + line(index="640"), "line 2: a use of more than all there is, or no GPU's number"),
        (HEAD + line(of="0 MiB"), "line 2: "),
    ],
)
def test_what_it_can_not_be_is_said_with_its_line(text: str, says: str) -> None:
    with pytest.raises(ValueError, match=re.escape(says)):
        parse(text)
    with pytest.raises(ScenarioError, match=re.escape("gpus[0].csv is nothing that nvidia-smi recorded")):
        scenario({"gpus": [{"job": "a", "csv": text}]})


@given(st.text())
def test_no_text_does_more_than_be_refused(text: str) -> None:
    try:
        parse(HEAD + text)
    except ValueError:
        return


def test_the_composed_one_has_the_form_and_the_course_of_the_article() -> None:
    found = parse(FILE.read_text("utf-8"))
    assert {sample.gpu for sample in found.samples} == set(range(8))
    for gpu in range(8):
        use = [sample.use for sample in found.of(gpu)]
        assert len(use) == 59 and sum(one < 0.05 for one in use[1:]) == 31
    assert FILE.read_text("utf-8").startswith("# Composed, not recorded")


def test_a_real_one_is_recorded_while_a_command_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for nvidia-smi, whose last line is torn when it is ended."""
    begun = tmp_path / "begun"
    tool = tmp_path / "nvidia-smi"
    whole = HEAD + line() + line(index="1")
    tool.write_text(
        f"#!/bin/sh\necho \"$@\" > {tmp_path}/asked\nprintf '%s2025/01/17 13:' '{whole}'\n: > {begun}\nexec sleep 60\n"
    )
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    until_begun = f"while [ ! -e {begun} ]; do sleep 0.05; done; exit 3"
    assert record.main([str(tmp_path / "mine.csv"), "--", "sh", "-c", until_begun]) == 3
    text = (tmp_path / "mine.csv").read_text("utf-8")
    assert text.startswith("# Recorded on ") and len(parse(text).samples) == 2
    assert "--format=csv --loop=60" in (tmp_path / "asked").read_text()

"""A job whose GPUs nobody uses is told, and then ended after a checkpoint, where its template asks for that. # N25"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from slipway.authoring.packages import slipway_idle
from slipway.authoring.packages.slipway_command import Command
from slipway.authoring.packages.slipway_idle import Idleness

SAVES = """
import pathlib, signal, sys, time
def save(*_):
    pathlib.Path(sys.argv[1]).write_text("saved")
    sys.exit(0)
signal.signal(signal.SIGTERM, save)
print("ready", flush=True)
time.sleep(600)
"""


def looked(uses: list[float | None], below: float = 0.05, after: float = 60.0) -> tuple[list[bool], Idleness]:
    """Return the outcomes of looks every 20 s at these uses."""
    times: Iterator[float] = iter(range(0, 10_000, 20))
    left = iter(uses)
    idleness = Idleness(below, after, lambda: next(left), lambda: next(times))
    return [idleness.over() for _ in uses], idleness


def test_it_is_told_after_half_of_the_time_and_ended_after_all_of_it(capsys: pytest.CaptureFixture[str]) -> None:
    outcomes, idleness = looked([0.0, 0.04, 0.0, 0.0])
    assert outcomes == [False, False, False, True]
    said = capsys.readouterr().out
    said_then = "the GPUs of this machine were used for less than 5% for 40 s"
    assert said == f"slipway: {said_then}: the job is ended in 20 s, unless they are used\n"
    assert idleness.why == "the GPUs of this machine were used for less than 5% for 60 s"


@pytest.mark.parametrize("use", [0.05, 0.9, None])
def test_any_use_and_what_can_not_be_measured_begin_it_anew(use: float | None) -> None:
    assert looked([0.0, 0.0, 0.0, use, 0.0, 0.0, 0.0])[0] == [False] * 7


def test_only_a_template_s_word_ends_anything() -> None:
    asked = Idleness.asked_for({"SLIPWAY_IDLE": "0.1 1800"})
    assert asked and (asked.below, asked.after) == (0.1, 1800) and Idleness.asked_for({}) is None


def test_its_code_has_time_to_save(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slipway_idle, "LOOK_S", 0)
    looks: list[bool] = []
    command = Command(
        [sys.executable, "-c", SAVES, str(tmp_path / "saved")], {}, lambda: looks.append(True), copied=False
    )
    idleness = Idleness(0.05, 0.0, lambda: 0.0)
    watcher = threading.Thread(target=idleness.watch, args=(command, threading.Event()))
    watcher.start()
    code, killed = command.wait()
    watcher.join()
    assert looks and not command.noticed and (killed or code == 0) and idleness.why


def test_without_nvidia_smi_nothing_is_ended_and_the_log_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setattr(slipway_idle, "LOOK_S", 0)
    Idleness(0.05, 0.0).watch(None, threading.Event())  # type: ignore[arg-type]
    assert "the use of GPUs is not measured, so that idle ones do not end the job" in capsys.readouterr().out


@pytest.mark.parametrize(("printed", "use"), [("3\n40\n", 0.4), ("[N/A]\n", None), ("", None)])
def test_the_busiest_gpu_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, printed: str, use: float | None
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\nprintf '{printed}'\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert slipway_idle.use_of_gpus() == use

"""The measurement of commands: wall time and peak memory of a process, in pairs, so that a slow moment hits both
sides."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.errors import BenchError

_GAUGE = Path(__file__).with_name("gauge.py")


@dataclass(frozen=True)
class Sample:
    """A run of a command: `seconds` from its start to its end, `peak_mb` resident, and its output."""

    seconds: float
    peak_mb: float
    output: str


def run(command: Sequence[str], environ: Mapping[str, str], folder: Path) -> Sample:
    """Run `command` in `folder` with exactly `environ`. Raises BenchError, with its words, when it did not exit 0."""
    with tempfile.TemporaryDirectory(prefix="slipway-gauge-") as name:
        report, out, err = (Path(name) / file for file in ("report", "stdout", "stderr"))
        gauge = [sys.executable, "-S", "-E", str(_GAUGE), str(report), str(out), str(err), *command]
        started = subprocess.run(gauge, env=dict(environ), cwd=folder, capture_output=True, text=True)
        if started.returncode != 0:
            raise BenchError(f"{command[0]} can't be started: {started.stderr.strip()}")
        seconds, peak_kb, code = report.read_text().split()
        said, complained = out.read_text(errors="replace"), err.read_text(errors="replace")
    if code != "0":
        raise BenchError(f"{' '.join(command)} ended with {code}:\n{complained.strip() or said.strip()}")
    return Sample(float(seconds), int(peak_kb) / 1024, said)


def medians(
    runs: int, ours: Callable[[], float], theirs: Callable[[], float], tell: Callable[[str], None]
) -> tuple[float, float]:
    """Return the medians of both sides over `runs` paired runs (A B A B …), after one of each that is not counted."""
    ours(), theirs()
    pairs = []
    for index in range(runs):
        pairs.append((ours(), theirs()))
        tell(f"{index + 1}/{runs}  ours {pairs[-1][0]:.3f}  theirs {pairs[-1][1]:.3f}")
    return statistics.median(pair[0] for pair in pairs), statistics.median(pair[1] for pair in pairs)


def median(runs: int, ours: Callable[[], float], tell: Callable[[str], None]) -> float:
    """Return the median over `runs` runs, after one that is not counted."""
    ours()
    values = []
    for index in range(runs):
        values.append(ours())
        tell(f"{index + 1}/{runs}  ours {values[-1]:.3f}")
    return statistics.median(values)

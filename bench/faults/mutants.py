"""A mutant of the local cloud for each rule that it enforces: whether some test notices."""

from __future__ import annotations

import contextlib
import fnmatch
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path

from bench.errors import BenchError
from bench.faults.guards import Rule, copy
from bench.faults.journal import Entry, Journal
from bench.faults.processes import deaf
from bench.ground import CHECKOUT

# What runs long, or asks other things than rules.
_LEFT_OUT = (
    "test_fuzz.py",
    "test_readme.py",
    "test_layout.py",
    "test_honesty.py",
    "test_gcloud.py",
    "sources",
)
_LOOK_S = 5.0
_GOODBYE_S = 60.0


def chosen(found: Iterable[Rule], done: Collection[str], patterns: Sequence[str], limit: int) -> list[str]:
    """The ids of the rules to play: those that fit a pattern, as in `storage/*`, and without one those that were not
    done. Raises BenchError for a pattern that fits no rule."""
    every = [rule.id for rule in found]
    strange = [pattern for pattern in patterns if not fnmatch.filter(every, pattern)]
    if strange:
        raise BenchError(f"no rule of the local cloud is called {' or '.join(strange)}, as one is {every[0]}")
    fitting = [rule for rule in every if any(fnmatch.fnmatchcase(rule, pattern) for pattern in patterns)]
    left = fitting if patterns else [rule for rule in every if rule not in done]
    return left[:limit] if limit else left


def play(journal: Journal, wanted: Sequence[str], minutes: float, tell: Callable[[str], None]) -> int:
    """Plays the mutants of these rules; how many no test noticed."""
    tell(f"{len(wanted)} mutants; every test of the local cloud runs once before, which takes minutes")
    if not wanted:
        return 0
    bad, until = 0, time.monotonic() + 60 * minutes if minutes else float("inf")
    with tempfile.TemporaryDirectory(prefix="slipway-mutants-") as folder:
        target, notes = Path(folder, "checkout"), Path(folder, "notes")
        target.mkdir()
        notes.mkdir()
        copy(CHECKOUT, target, notes)
        (notes / "wanted.json").write_text(json.dumps(wanted))
        results, log = notes / "results.jsonl", notes / "pytest.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "pytest", "-q", "-p", "bench.faults.mutant_plugin", *_tests()],
                cwd=target,
                env={**os.environ, "MUTANT_FOLDER": str(notes), "PYTHONPATH": str(target)},
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        read, ended = 0, False
        try:
            while not ended and time.monotonic() < until:
                ended = process.poll() is not None
                rows = results.read_text().splitlines() if results.exists() else []
                for row in map(json.loads, rows[read:]):
                    journal.add(Entry("mutants", row["rule"], row["outcome"], {"test": row["test"], "why": row["why"]}))
                    bad += row["outcome"] != "noticed"
                    read += 1
                    tell(f"{read}/{len(wanted)}  {row['outcome']}  {row['rule']}")
                if not ended:
                    time.sleep(_LOOK_S)
        finally:
            with deaf():
                _end(process, target)
        if ended and read < len(wanted):
            raise BenchError(f"the mutants' tests ended early:\n{log.read_text()[-3000:]}")
    return bad


def _end(process: subprocess.Popen[bytes], target: Path) -> None:
    """Ends the tests as Ctrl-C does, so that they stop what they started, and then what a mutant let live, such as a
    second cloud of one state folder: all that runs in the copy, on Linux, where that can be seen."""
    if process.poll() is None:
        process.send_signal(signal.SIGINT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(_GOODBYE_S)
    for folder in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (folder / "cwd").readlink().is_relative_to(target.resolve()):
                os.kill(int(folder.name), signal.SIGKILL)


def _tests() -> list[str]:
    ignored = [f"--ignore=tests/local/cloud/{name}" for name in _LEFT_OUT]
    return ["tests/local/cloud", "-m", "not journey", *ignored]

"""A mutant of the local cloud for each rule that it enforces: whether some test notices."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.errors import BenchError
from bench.faults.guards import copy, rules
from bench.faults.journal import Entry, Journal
from bench.ground import CHECKOUT

# What runs long, or asks other things than rules.
_LEFT_OUT = (
    "test_fuzz.py",
    "test_readme.py",
    "test_layout.py",
    "test_honesty.py",
    "test_gcloud.py",
    "sources",
    "nodes",
)
_LOOK_S = 5.0


def play(journal: Journal, limit: int, minutes: float, tell: Callable[[str], None]) -> int:
    """Plays the mutants that the journal has not; how many no test noticed."""
    done = journal.entries("mutants")
    wanted = [rule.id for rule in rules(CHECKOUT) if rule.id not in done]
    wanted = wanted[:limit] if limit else wanted
    tell(f"{len(wanted)} mutants; every test of the local cloud runs once before, which takes minutes")
    if not wanted:
        return 0
    bad, until = 0, time.monotonic() + 60 * minutes if minutes else float("inf")
    with tempfile.TemporaryDirectory(prefix="slipway-mutants-") as folder:
        target, notes = Path(folder, "checkout"), Path(folder, "notes")
        target.mkdir()
        notes.mkdir()
        copy(CHECKOUT, target)
        (notes / "wanted.json").write_text(json.dumps(wanted))
        results, log = notes / "results.jsonl", notes / "pytest.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "pytest", "-q", "-p", "bench.faults.mutant_plugin", *_chosen()],
                cwd=target,
                env={**os.environ, "MUTANT_FOLDER": str(notes), "PYTHONPATH": str(target)},
                stdout=output,
                stderr=subprocess.STDOUT,
            )
        read, ended = 0, False
        while not ended and time.monotonic() < until:
            ended = process.poll() is not None
            rows = results.read_text().splitlines() if results.exists() else []
            for row in map(json.loads, rows[read:]):
                journal.add(Entry("mutants", row["rule"], row["outcome"], {"test": row["test"]}))
                bad += row["outcome"] != "noticed"
                read += 1
                tell(f"{read}/{len(wanted)}  {row['outcome']}  {row['rule']}")
            if not ended:
                time.sleep(_LOOK_S)
        if not ended:
            process.terminate()
            process.wait()
        elif read < len(wanted):
            raise BenchError(f"the mutants' tests ended early:\n{log.read_text()[-3000:]}")
    return bad


def _chosen() -> list[str]:
    ignored = [f"--ignore=tests/local/cloud/{name}" for name in _LEFT_OUT]
    return ["tests/local/cloud", "-m", "not journey", *ignored]

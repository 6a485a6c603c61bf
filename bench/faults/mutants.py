"""A mutant of the local cloud for each rule that it enforces: whether some test notices.

Every test runs once in a copy of the checkout, to see which rules it meets. Then each rule is switched off by itself
for the tests that meet it, in a process of their own, so that nothing that a mutant admitted outlives it.
"""

from __future__ import annotations

import fnmatch
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import psutil

from bench.errors import BenchError
from bench.faults import meetings
from bench.faults.processes import kill
from bench.faults.report import Entry
from bench.faults.rules import MET, OFF, PROJECT, copy
from bench.ground import CHECKOUT

# Tests that run long, or do not concern rules.
_LEFT_OUT = ("test_fuzz.py", "test_layout.py", "test_honesty.py", "test_gcloud.py", "sources")
_TESTS = ("tests", "-m", "not journey", *(f"--ignore=tests/{name}" for name in _LEFT_OUT))
# The most tests of a rule that are run. A test that waits for the refused result has noticed.
_MOST = 12
_LONGEST_S = 60
_FAILED = 1


def matching(rules: Sequence[str], patterns: Sequence[str]) -> list[str]:
    """Return the rules that fit a pattern, as in `storage/*`; all without a pattern. Raises BenchError for a pattern
    that fits no rule."""
    for pattern in patterns:
        if not fnmatch.filter(rules, pattern):
            raise BenchError(f"no rule of the local cloud is called {pattern}, as one is {rules[0]}")
    return [rule for rule in rules if not patterns or any(fnmatch.fnmatchcase(rule, one) for one in patterns)]


@dataclass(frozen=True)
class Copy:
    """A copy of the checkout with a switch for each rule, made in a new folder."""

    folder: Path

    def __post_init__(self) -> None:
        copy(CHECKOUT, self.folder)

    def pytest(self, *arguments: str, patience: float | None = None) -> tuple[int, str]:
        """Return its exit code, and its line on the first test that failed, or its last one. Raises TimeoutExpired
        after `patience` seconds."""
        command = [sys.executable, "-m", "pytest", "-q", "--no-header", "--tb=no", *arguments]
        environ = {**os.environ, "PYTHONPATH": str(self.folder)}
        # In a session of its own: Ctrl-C is the bench's, which ends all processes here.
        with subprocess.Popen(
            command, cwd=self.folder / PROJECT, env=environ, start_new_session=True, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        ) as process:  # fmt: skip
            try:
                said, _ = process.communicate(timeout=patience)
            except BaseException:
                end(self.folder)
                raise
        lines = said.strip().splitlines() or [""]
        return process.returncode, next((line for line in lines if line.startswith(("FAILED", "ERROR"))), lines[-1])

    def meetings(self, until: float) -> Mapping[str, Sequence[str]] | None:
        """Return by rule the tests that meet it; None where not all of them have run at `until`, a moment of the
        monotonic clock."""
        patience = None if until == float("inf") else until - time.monotonic()
        try:
            code, said = self.pytest("-p", meetings.__name__, *_TESTS, patience=patience)
        except subprocess.TimeoutExpired:
            return None
        file = self.folder / PROJECT / meetings.FILE
        if code not in (0, _FAILED) or not file.exists():
            raise BenchError(f"the tests of the local cloud ended with {code}: {said}")
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        found: dict[str, list[str]] = {}
        for row in sorted(rows, key=lambda row: row["seconds"]):
            for rule in row["rules"]:
                found.setdefault(rule, []).append(row["test"])
        return {rule: _varied(tests) for rule, tests in found.items()}


def _varied(tests: Sequence[str]) -> list[str]:
    """Put one case of each test before its other cases, which show much the same."""
    first: dict[str, str] = {}
    for test in tests:
        first.setdefault(test.partition("[")[0], test)
    return list(dict.fromkeys([*first.values(), *tests]))[:_MOST]


class MutantPlayer:
    """A worker: `play` switches a rule off."""

    def __init__(self, folder: Path, met: Mapping[str, Sequence[str]]) -> None:
        self._copy, self._met = Copy(folder), met

    def play(self, rule: str) -> Entry:
        """Return the outcome. Noticed: a test fails, and passes with the rule on. Missed: none fails. Never met: no
        test meets the rule. Unclear: the failing test fails with the rule on as well."""
        tests = self._met.get(rule, ())
        if not tests:
            return Entry("mutants", rule, "never-met")
        off = self._copy.folder / OFF
        off.write_text(rule)
        code, said = self._copy.pytest("-x", f"--timeout={_LONGEST_S}", *tests)
        off.unlink()
        (self._copy.folder / MET).unlink(missing_ok=True)
        end(self._copy.folder)
        if code == 0:
            return Entry("mutants", rule, "missed", f"of {len(tests)} tests that meet it, such as {tests[0]}")
        again, _ = self._copy.pytest("--last-failed", *tests)
        return Entry("mutants", rule, "unclear" if code != _FAILED or again else "noticed", said)

    def close(self) -> None:
        end(self._copy.folder)


def end(folder: Path) -> None:
    """End all processes in a folder: a mutant may leave some alive, such as a second cloud of one state."""
    found = []
    for process in psutil.process_iter():
        try:
            if Path(process.cwd()).is_relative_to(folder):
                found.append(process)
        except (psutil.Error, OSError):
            continue
    kill(found)

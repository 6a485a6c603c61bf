"""A plugin of pytest: who meets which rule of the local cloud, and who notices when that one is switched off.

It runs every chosen test once, and then, for each rule, the quickest tests that met it, in the same session: what they
share, such as a running cloud, is made once.
"""

from __future__ import annotations

import json
import os
import signal
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

FOLDER = Path(os.environ["MUTANT_FOLDER"])
_LONGEST_S = 60
# Of tests that share much, the quickest few say as much as all.
_TESTS = 4


@dataclass
class _Seen:
    seconds: dict[str, float] = field(default_factory=dict)
    met: dict[str, list[str]] = field(default_factory=dict)


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    signal.signal(signal.SIGALRM, _too_long)
    items = {item.nodeid: item for item in session.items}
    wanted = json.loads((FOLDER / "wanted.json").read_text())
    seen = _record(session.items)
    with (FOLDER / "results.jsonl").open("a") as results:
        for rule in wanted:
            tests = sorted(seen.met.get(rule, []), key=lambda name: seen.seconds[name])[:_TESTS]
            row = {"rule": rule, **_tried(rule, [items[name] for name in tests], session.items)}
            results.write(json.dumps(row) + "\n")
            results.flush()
    return True


def _too_long(signum: int, frame: object) -> None:
    raise TimeoutError("a test that waits for what a rule would have refused")


def _record(items: Sequence[pytest.Item]) -> _Seen:
    seen = _Seen()
    for at, item in enumerate(items):
        _met()
        began = time.monotonic()
        good = _passes(item, items[(at + 1) % len(items)])
        if good:
            seen.seconds[item.nodeid] = time.monotonic() - began
            for rule in _met():
                seen.met.setdefault(rule, []).append(item.nodeid)
    return seen


def _tried(rule: str, items: Sequence[pytest.Item], every: Sequence[pytest.Item]) -> dict[str, Any]:
    """`outcome`: noticed, missed, never-met (no test meets it) or unclear (a test fails with the rule on as well)."""
    if not items:
        return {"outcome": "never-met", "test": ""}
    off = FOLDER / "off"
    for item in items:
        # Another test is named as the next, so that what this one has made for itself is ended.
        other = every[0] if every[0] is not item else every[-1]
        off.write_text(rule)
        good = _passes(item, other)
        off.unlink()
        if not good:
            clear = _passes(item, other)
            if not clear:
                # What is let in may spoil the cloud that all share, such as an empty policy: it is made anew.
                item.session._setupstate.teardown_exact(None)
                clear = _passes(item, other)
            return {"outcome": "noticed" if clear else "unclear", "test": item.nodeid}
    return {"outcome": "missed", "test": items[0].nodeid}


def _passes(item: pytest.Item, following: pytest.Item) -> bool:
    # A test that ran before is made new, as if it had not.
    if hasattr(item, "_initrequest"):
        item._initrequest()
    signal.alarm(_LONGEST_S)
    try:
        return all(report.passed or report.skipped for report in runtestprotocol(item, log=False, nextitem=following))
    finally:
        signal.alarm(0)


def _met() -> set[str]:
    file = FOLDER / "met"
    found = set(file.read_text().split()) if file.exists() else set()
    file.unlink(missing_ok=True)
    return found

"""A plugin of pytest: who meets which rule of the local cloud, and who notices when that one is switched off.

It runs every chosen test once, and then, for each rule, those that met it until one notices, in the same session: what
they share, such as a running cloud, is made once.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from _pytest.runner import runtestprotocol

FOLDER = Path(os.environ["MUTANT_FOLDER"])
_LONGEST_S = 60
# So long is looked for a test that notices.
_ENOUGH_S = 60.0


@dataclass
class _Seen:
    seconds: dict[str, float] = field(default_factory=dict)
    met: dict[str, list[str]] = field(default_factory=dict)

    def who_met(self, rule: str) -> list[str]:
        """The quickest first, but one case of each test before any other case of it: they say much the same."""
        cases: Counter[str] = Counter()
        ranked = []
        for name in sorted(self.met.get(rule, []), key=lambda name: self.seconds[name]):
            test = name.partition("[")[0]
            ranked.append((cases[test], name))
            cases[test] += 1
        return [name for _, name in sorted(ranked, key=lambda pair: pair[0])]


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> bool:
    signal.signal(signal.SIGALRM, _too_long)
    items = {item.nodeid: item for item in session.items}
    wanted = json.loads((FOLDER / "wanted.json").read_text())
    seen = _record(session.items)
    with (FOLDER / "results.jsonl").open("a") as results:
        for rule in wanted:
            row = {"rule": rule, **_tried(rule, [items[name] for name in seen.who_met(rule)], session.items)}
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
        if not _fails(item, items[(at + 1) % len(items)]):
            seen.seconds[item.nodeid] = time.monotonic() - began
            for rule in _met():
                seen.met.setdefault(rule, []).append(item.nodeid)
    return seen


def _tried(rule: str, items: Sequence[pytest.Item], every: Sequence[pytest.Item]) -> dict[str, Any]:
    """`outcome`: noticed, missed, never-met (no test meets it) or unclear (a test fails with the rule on as well)."""
    if not items:
        return {"outcome": "never-met", "test": "", "why": ""}
    off, until = FOLDER / "off", time.monotonic() + _ENOUGH_S
    for item in items:
        # Another test is named as the next, so that what this one has made for itself is ended.
        other = every[0] if every[0] is not item else every[-1]
        off.write_text(rule)
        why = _fails(item, other)
        off.unlink()
        if why:
            return {"outcome": "noticed" if _clears(item, other) else "unclear", "test": item.nodeid, "why": why}
        if time.monotonic() > until:
            break
    return {"outcome": "missed", "test": items[0].nodeid, "why": ""}


def _clears(item: pytest.Item, other: pytest.Item) -> bool:
    """Whether a test passes with all rules on. What was let in may have spoiled what all share: an empty policy in the
    cloud, which is made anew then, or an answer that is remembered in this process."""
    if not _fails(item, other):
        return True
    item.session._setupstate.teardown_exact(None)
    for name, module in list(sys.modules.items()):
        if name.startswith("local.cloud."):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()
    return not _fails(item, other)


def _fails(item: pytest.Item, following: pytest.Item) -> str:
    """Why a test fails, in a line; "" when it does not."""
    # A test that ran before is made new, as if it had not.
    if hasattr(item, "_initrequest"):
        item._initrequest()
    signal.alarm(_LONGEST_S)
    try:
        reports = runtestprotocol(item, log=False, nextitem=following)
    finally:
        signal.alarm(0)
    for report in reports:
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            return " ".join(str(crash.message if crash else report.longrepr).split())[:200] or "it fails"
    return ""


def _met() -> set[str]:
    file = FOLDER / "met"
    found = set(file.read_text().split()) if file.exists() else set()
    file.unlink(missing_ok=True)
    return found

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
            row = {"rule": rule, **_tried(rule, [items[name] for name in seen.who_met(rule)])}
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
        if not _fails(item, items[at + 1] if at + 1 < len(items) else item.session):
            seen.seconds[item.nodeid] = time.monotonic() - began
            for rule in _met():
                seen.met.setdefault(rule, []).append(item.nodeid)
    return seen


def _tried(rule: str, items: Sequence[pytest.Item]) -> dict[str, Any]:
    """`outcome`: noticed, missed, never-met (no test meets it) or unclear (a test fails with the rule on as well)."""
    if not items:
        return {"outcome": "never-met", "test": "", "why": ""}
    outcome, until = {"outcome": "missed", "test": items[0].nodeid, "why": ""}, time.monotonic() + _ENOUGH_S
    for item in items:
        why = _without(rule, item)
        if why and _fails(item, item.session):
            why = _anew(rule, item)
        if why:
            outcome = {"outcome": "noticed", "test": item.nodeid, "why": why}
            break
        if why is None:
            outcome = {"outcome": "unclear", "test": item.nodeid, "why": "it fails with the rule on as well"}
        if time.monotonic() > until:
            break
    return outcome


def _without(rule: str, item: pytest.Item) -> str | None:
    """Why a test fails while a rule is off; "" when it does not."""
    off = FOLDER / "off"
    off.write_text(rule)
    try:
        return _fails(item, item.session)
    finally:
        off.unlink()


def _anew(rule: str, item: pytest.Item) -> str | None:
    """The same where all that tests share is made anew, since what was let in, by this rule or one before, may have
    spoiled it: an empty policy in the cloud, an answer that is remembered in this process. None: it fails with the
    rule on even so."""
    _forget(item.session)
    if _fails(item, item.session):
        return None
    why = _without(rule, item)
    _forget(item.session)
    return why


def _forget(session: pytest.Session) -> None:
    session._setupstate.teardown_exact(None)
    for name, module in list(sys.modules.items()):
        if name.startswith("local.cloud."):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()


def _fails(item: pytest.Item, following: pytest.Item | pytest.Session) -> str:
    """Why a test fails, in a line; "" when it does not. What the one that follows shares with it is kept, of a session
    that follows what all tests share, such as a running cloud."""
    # A test that ran before is made new, as if it had not.
    if hasattr(item, "_initrequest"):
        item._initrequest()
    signal.alarm(_LONGEST_S)
    try:
        reports = runtestprotocol(item, log=False, nextitem=following)  # type: ignore[arg-type]
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

"""A plugin of pytest: which tests meet which rules of the local cloud, a line of JSON for each test that passes."""

from __future__ import annotations

import json
import time
from collections.abc import Generator
from pathlib import Path

import pytest

from bench.faults.rules import MET, PROJECT

_MET = MET.relative_to(PROJECT)
FILE = Path("meetings.jsonl")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    _MET.unlink(missing_ok=True)
    failed, began = item.session.testsfailed, time.monotonic()
    result = yield
    if _MET.exists() and item.session.testsfailed == failed:
        row = {"test": item.nodeid, "seconds": time.monotonic() - began, "rules": sorted(set(_MET.read_text().split()))}
        with FILE.open("a") as file:
            file.write(json.dumps(row) + "\n")
    return result

"""A job that fails after 20,000 lines, under the service's limit of log queries: its reason is told. # N25"""

from pathlib import Path

import pytest

from tests.local.conftest import LocalCloud

from ..stack import Stack
from ..test_code import checked_out, opened

WRITES = """
import sys
for number in range(10_000):
    print(f"INFO:root:step {number}", file=sys.stderr)
try:
    raise ValueError("the reason")
finally:
    sys.excepthook(*sys.exc_info())
    for number in range(10_000):
        print("cleans up", number)
"""


@pytest.fixture
def limited(own_cloud: LocalCloud, tmp_path: Path) -> Stack:
    """A stack whose project has 60 log queries a minute."""
    own_cloud.up("--set", "submissions_per_minute=0", "--set", "calls_per_minute=0", "--set", "image_builds=once")
    (tmp_path / ".git").mkdir()
    made = Stack(own_cloud, tmp_path)
    made.make()
    return made


@pytest.mark.journey
def test_its_reason_survives_and_its_queries_last(limited: Stack) -> None:
    opened(limited)
    checked_out(limited)
    (limited.folder / "src" / "hello" / "task.py").write_text(WRITES)
    done = limited.run("submit", "hello", "--code", "./src", "--follow")
    assert done.code == 4 and done.out.count("\n") > 20_000, done.err[-2000:]
    assert "ValueError: the reason" in done.err and "Quota exceeded" not in done.err, done.err
    name = str(limited.jobs()[0]["displayName"])
    errors = limited.run("jobs", "logs", name, "--severity", "error", "--tail", "50")
    lines = [line.removeprefix("main  ") for line in errors.out.splitlines()]
    assert "ValueError: the reason" in lines and not [line for line in lines if "INFO" in line], errors.out[:2000]
    assert "log queries a minute" not in errors.err

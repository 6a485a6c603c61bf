"""Every rule of the local cloud is found, and can be switched off by itself. # N4"""

import subprocess
import sys
from pathlib import Path

import pytest

from bench.errors import BenchError
from bench.faults import mutants, rules

ROOT = Path(__file__).parents[3]
RULES = '''"""What is refused."""

from __future__ import annotations

import sys


def check(count: int, name: str) -> str:
    if count < 1:
        raise LookupError("too few")
    if (
        name == "a"
        or name == "b"
    ):
        kind = "taken"
        raise LookupError(kind)
    if name == "é":
        return "fine"
    if not name: raise ValueError("no rule of the service")
    return "fine"


try:
    print(check(int(sys.argv[1]), sys.argv[2]))
except LookupError as error:
    print(error)
'''


def test_a_rule_is_a_condition_that_refuses_and_can_be_off(tmp_path: Path) -> None:
    cloud = tmp_path / "checkout" / "vertex-local" / "vertex_local"
    cloud.mkdir(parents=True)
    for file, text in ((cloud / "rules.py", RULES), (cloud / "__init__.py", "")):
        file.write_text(text)
    few, taken = rules.rules(tmp_path / "checkout")
    assert (few, taken) == ("rules.py:check#1", "rules.py:check#2")
    rules.copy(tmp_path / "checkout", tmp_path / "copy")
    met, off = tmp_path / "copy" / rules.MET, tmp_path / "copy" / rules.OFF

    def said(count: int, name: str) -> str:
        """In a process of its own, with an environment of its own, as those of jobs have."""
        command = [sys.executable, "-m", "vertex_local.rules", str(count), name]
        done = subprocess.run(
            command, cwd=tmp_path / "copy" / "vertex-local", env={}, capture_output=True, text=True, check=True
        )
        return done.stdout.strip()

    assert (said(0, "a"), said(1, "b"), said(1, "c")) == ("too few", "taken", "fine")
    assert met.read_text().split() == [few, taken], "only whom it refuses meets a rule"
    off.write_text(few)
    assert (said(0, "c"), said(0, "b")) == ("fine", "taken")


def test_the_rules_of_clusters_and_jobs_are_among_them() -> None:
    listed = rules.rules(ROOT)
    assert len(set(listed)) == len(listed) > 300
    for rule in ("vertex/clusters/rules.py:_replicas#4", "vertex/jobs/rules.py:_worker_pool#1"):
        assert rule in listed
    assert mutants.matching(listed, ()) == listed
    assert {rule.split("/")[0] for rule in mutants.matching(listed, ("storage/*", "quotas/*"))} == {
        "storage",
        "quotas",
    }
    with pytest.raises(BenchError, match="no rule of the local cloud is called"):
        mutants.matching(listed, ("nowhere/*",))

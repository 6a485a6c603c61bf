"""Every rule of the local cloud is found, and can be switched off by itself. # N4"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bench.errors import BenchError
from bench.faults import guards, mutants

ROOT = Path(__file__).parents[3]
RULES = '''"""What is refused."""

from __future__ import annotations


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
'''


def test_a_rule_is_a_condition_that_refuses(tmp_path: Path) -> None:
    (tmp_path / "local/cloud/vertex").mkdir(parents=True)
    (tmp_path / "local/cloud/vertex/rules.py").write_text(RULES)
    found = guards.rules(tmp_path)
    assert [rule.id for rule in found] == ["vertex/rules.py:check#1", "vertex/rules.py:check#2"]

    off, met = set[str](), list[str]()

    def enforced(rule: str) -> bool:
        met.append(rule)
        return rule not in off

    source = guards.switched(found, RULES).replace("from local.cloud.mutant import met as _met\n", "\n")
    space: dict[str, Any] = {"_met": enforced}
    exec(compile(source, "rules.py", "exec"), space)

    def said(count: int, name: str) -> str:
        try:
            return str(space["check"](count, name))
        except LookupError as error:
            return str(error)

    assert (said(0, "a"), said(1, "a"), said(1, "c")) == ("too few", "taken", "fine")
    assert met == ["vertex/rules.py:check#1", "vertex/rules.py:check#2"], "only whom it refuses meets a rule"
    off.add("vertex/rules.py:check#1")
    assert (said(0, "c"), said(0, "b")) == ("fine", "taken")


def test_the_rules_of_clusters_and_jobs_are_among_them() -> None:
    found = [rule.id for rule in guards.rules(ROOT)]
    assert len(set(found)) == len(found) > 300
    for rule in ("vertex/clusters/rules.py:_replicas#4", "vertex/jobs/rules.py:_worker_pool#1"):
        assert rule in found


def test_rules_are_chosen_by_pattern_or_by_what_was_not_done() -> None:
    found = [guards.Rule(name, Path("x.py"), (1, 0), (1, 1)) for name in ("a.py:f#1", "a.py:f#2", "b.py:g#1")]
    assert mutants.chosen(found, {"a.py:f#1"}, (), 0) == ["a.py:f#2", "b.py:g#1"]
    assert mutants.chosen(found, {"a.py:f#1"}, ("a.py:*",), 1) == ["a.py:f#1"]
    with pytest.raises(BenchError, match="no rule of the local cloud is called c"):
        mutants.chosen(found, (), ("c.py*",), 0)


def test_a_mutant_is_switched_off_in_every_process(tmp_path: Path) -> None:
    """Jobs have an environment of their own, so the folder stands in the copy."""
    space: dict[str, Any] = {}
    exec(guards.MET.format(folder=str(tmp_path)), space)
    assert space["met"]("a.py:f#1")
    (tmp_path / "off").write_text("a.py:f#1")
    assert (space["met"]("a.py:f#1"), space["met"]("a.py:f#2")) == (False, True)
    assert (tmp_path / "met").read_text().split() == ["a.py:f#1", "a.py:f#1", "a.py:f#2"]

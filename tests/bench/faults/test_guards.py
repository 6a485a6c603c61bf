"""Every rule of the local cloud is found, and can be switched off by itself. # N4"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bench.faults import guards

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

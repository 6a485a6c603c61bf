"""All questions of the product, asked about both sides of a change. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from types import ModuleType

from slipway.answers import access, cost, job_needs, plan, policy, quota, resources, submissions
from slipway.answers.answer import Answer, Difference, differences
from slipway.answers.comparison import Comparison, Side
from slipway.model.findings.finding import Finding

QUESTIONS: tuple[ModuleType, ...] = (plan, job_needs, access, submissions, quota, cost, policy)
"""Modules with `answers(comparison, side)` and `findings(comparison, differences)`."""


@dataclass(frozen=True)
class Asked:
    """The answers that a change alters, and the findings about them."""

    differences: tuple[Difference, ...] = ()
    findings: tuple[Finding, ...] = ()
    #: The questions that failed by a fault of Slipway, a sentence each.
    failed: tuple[str, ...] = ()


def ask(comparison: Comparison) -> Asked:
    """Ask all questions. A question that raises is reported, and the others are still asked."""
    found: list[Difference] = []
    findings: list[Finding] = []
    failed: list[str] = []
    for module in QUESTIONS:
        try:
            changed = _changed(module.answers, comparison)
            findings += module.findings(comparison, changed)
        except Exception as problem:
            name = module.__name__.rpartition(".")[2].replace("_", " ")
            failed.append(by_our_fault(f"{name} could not be compared", problem))
            continue
        found += changed
    try:
        findings += resources.findings(comparison)
    except Exception as problem:
        failed.append(by_our_fault("resources could not be compared", problem))
    return Asked(tuple(found), tuple(findings), tuple(failed))


def by_our_fault(problem: str, error: Exception) -> str:
    """Return `quota could not be compared because of a bug in Slipway; report it (KeyError: 'cpus')`."""
    return f"{problem} because of a bug in Slipway; report it ({type(error).__name__}: {error})"


def _changed(
    answers: Callable[[Comparison, Side], Iterator[Answer]], comparison: Comparison
) -> Sequence[Difference]:
    before = tuple(answers(comparison, Side.BEFORE))
    after = tuple(answers(comparison, Side.AFTER))
    return differences(before, after)

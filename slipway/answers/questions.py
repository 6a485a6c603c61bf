"""All questions of the product, asked about both sides of a change. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from slipway.answers import access, cost, job_needs, plan, policy, quota, resources, submission_findings, submissions
from slipway.answers.answer import Answer, Difference, differences
from slipway.answers.comparison import Comparison, Side
from slipway.model.findings.finding import Finding


@dataclass(frozen=True)
class Question:
    """A question that can be asked about each side."""

    name: str
    answers: Callable[[Comparison, Side], Iterable[Answer]]
    #: The findings about the answers that differ.
    findings: Callable[[Comparison, Sequence[Difference]], Iterable[Finding]]


QUESTIONS = (
    Question("plan", plan.answers, plan.findings),
    Question("job needs", job_needs.answers, job_needs.findings),
    Question("access", access.answers, access.findings),
    Question("submissions", submissions.answers, submission_findings.findings),
    Question("quota", quota.answers, quota.findings),
    Question("cost", cost.answers, cost.findings),
    Question("policy", policy.answers, policy.findings),
)


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
    for question in QUESTIONS:
        try:
            changed = _changed(question, comparison)
            findings += question.findings(comparison, changed)
        except Exception as problem:
            failed.append(by_our_fault(f"{question.name} could not be compared", problem))
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


def _changed(question: Question, comparison: Comparison) -> Sequence[Difference]:
    before = tuple(question.answers(comparison, Side.BEFORE))
    after = tuple(question.answers(comparison, Side.AFTER))
    return differences(before, after)

"""The cases of the corpus, and the score of a review against the expectations of its case."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from slipway.model.findings.finding import Finding, Grade
from slipway.reviewing.review import Review
from tests.review.case import Case, Expected

_FILES = sorted(Path(__file__).with_name("cases").glob("[a-z]*.py"))
_THEMES = tuple(import_module(f"tests.review.cases.{path.stem}") for path in _FILES)
ALL: tuple[Case, ...] = tuple(case for theme in _THEMES for case in theme.CASES)
CASES: Mapping[str, Case] = {case.says: case for case in ALL}


@dataclass(frozen=True)
class Score:
    """The score of a review."""

    #: Required findings that it lacks.
    missed: tuple[Expected, ...]
    #: Warnings that are not expected, and findings where the case expects none.
    alarms: tuple[str, ...]
    #: Unexpected blocking findings.
    shut: tuple[str, ...]
    #: Comparisons that failed.
    failed: tuple[str, ...]
    #: Secrets that it prints.
    leaks: tuple[str, ...]

    @property
    def perfect(self) -> bool:
        return not (self.missed or self.alarms or self.shut or self.failed or self.leaks)


def score(case: Case, review: Review) -> Score:
    wrong = [finding for finding in review.findings if not _is_fair(finding, case, Grade.WARNING)]
    alarms = [finding for finding in wrong if _counts(finding, case)]
    shut = [
        finding
        for finding in review.findings
        if finding.grade is Grade.BLOCKING and not _is_fair(finding, case, Grade.BLOCKING)
    ]
    return Score(
        missed=tuple(expected for expected in case.finds if not _has(review, expected)),
        alarms=tuple(map(_line, alarms)),
        shut=tuple(map(_line, shut)),
        failed=tuple(part for part in review.incomplete if "could not be compared" in part),
        leaks=tuple(secret for secret in case.hidden if secret in repr(review)),
    )


def _line(finding: Finding) -> str:
    return f"{finding.grade.name} {finding.kind} {finding.subject}: {finding.sentence}"


def _counts(finding: Finding, case: Case) -> bool:
    return finding.grade >= Grade.WARNING or case.silent or finding.kind in case.absent


def _has(review: Review, expected: Expected) -> bool:
    return any(satisfies(finding, expected) for finding in review.findings)


def satisfies(finding: Finding, expected: Expected) -> bool:
    if finding.kind not in expected.kinds or expected.resource not in finding.subject:
        return False
    if finding.grade < expected.severity:
        return False
    text = "\n".join((finding.sentence, finding.fix, *finding.details, *map(str, finding.facts.values())))
    return all(number in text for number in expected.numbers)


def _is_fair(finding: Finding, case: Case, least: Grade) -> bool:
    if finding.kind in case.absent:
        return False
    if finding.kind in case.may:
        return True
    for expected in case.finds:
        if finding.kind in expected.kinds and expected.resource in finding.subject and expected.severity >= least:
            return True
    return False


def expected_kinds(cases: Iterable[Case]) -> Iterator[str]:
    for case in cases:
        for expected in case.finds:
            yield from expected.kinds


def parameters(cases: Mapping[str, Case]) -> list[ParameterSet]:
    """Return the cases as parameters of a test.

    `make test` plays those marked `smoke`: the first one of each kind of finding, and the first that has none.
    """
    seen: set[str] = set()
    found = []
    for says, case in cases.items():
        kinds = set(expected_kinds([case])) or {"none"}
        found.append(pytest.param(says, marks=() if kinds <= seen else pytest.mark.smoke))
        seen |= kinds
    return found

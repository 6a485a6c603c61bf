"""Findings of one run as a JSON document, for whoever comes after it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from slipway.findings.finding import Finding, Grade, Subject
from slipway.findings.kinds import KINDS

KIND = "findings"


def write(stack: str, looked: Collection[str], findings: Iterable[Finding]) -> dict[str, Any]:
    """`looked`: the kinds of which these are all that there are."""
    listed = [
        {
            "kind": one.kind,
            "grade": one.grade.review_word,
            "subject": [one.subject.what, one.subject.name, one.subject.part],
            "sentence": one.sentence,
            "fix": one.fix,
            "means": one.means,
            "facts": dict(one.facts),
        }
        for one in findings
    ]
    return {"schema": 1, "kind": KIND, "stack": stack, "lookedAt": sorted(looked), "findings": listed}


def read(body: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Raises KeyError, TypeError or ValueError."""
    grades = {grade.review_word: grade for grade in Grade}
    return tuple(
        KINDS[one["kind"]].of(
            Subject(*map(str, one["subject"])),
            str(one["sentence"]),
            str(one["fix"]),
            str(one["means"]),
            grade=grades[one["grade"]],
            **one["facts"],
        )
        for one in body["findings"]
    )

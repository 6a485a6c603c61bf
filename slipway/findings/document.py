"""Findings of one run as a JSON document, for whoever comes after it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from slipway.findings.finding import Finding, Subject
from slipway.findings.kinds import KINDS

KIND = "findings"


def write(stack: str, looked: Iterable[str], findings: Iterable[Finding]) -> dict[str, Any]:
    """`looked`: the kinds of which these are all that there are."""
    keys = ("kind", "subject", "sentence", "fix", "facts")
    listed = [{key: getattr(one, key) for key in keys} for one in findings]
    return {"schema": 1, "kind": KIND, "stack": stack, "lookedAt": list(looked), "findings": listed}


def read(body: Mapping[str, Any]) -> tuple[Finding, ...]:
    """Raises KeyError, TypeError or ValueError."""
    return tuple(
        KINDS[one["kind"]].of(Subject.read(one["subject"]), str(one["sentence"]), str(one["fix"]), **one["facts"])
        for one in body["findings"]
    )

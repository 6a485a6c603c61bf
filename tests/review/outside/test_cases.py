"""The outside cases can be played: their edits apply, and each has a source and truths."""

from __future__ import annotations

import pytest

from tests.review.checkout import BASE
from tests.review.outside.cases import ALL
from tests.review.outside.truth import OutsideCase


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.title)
def test_a_case_applies_and_is_founded(case: OutsideCase) -> None:
    for edit in case.edits:
        assert (BASE / edit.file).read_text(encoding="utf-8").count(edit.old) == 1
    assert case.source.address.startswith("https://") and case.source.date and case.truths

"""What docs/templates.md tells a reader to type is accepted. What it shows is compared where each template is run."""

from __future__ import annotations

import pytest

from tests import shipped

from .stack import Stack, told

pytestmark = pytest.mark.journey

SUBMIT = "slipway submit "


def test_every_submission_that_the_guide_tells_is_accepted(stack: Stack) -> None:  # D3
    typed = [one.command.removeprefix(SUBMIT).split() for one in told() if one.command.startswith(SUBMIT)]
    assert typed
    there = shipped.templates()
    for words in (one for one in typed if one[0] in there):
        done = stack.slipway("submit", *words, "--dry-run")
        assert done.code == 0, done.said

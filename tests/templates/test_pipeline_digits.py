"""pipeline-digits from submission to its model, which the SDK gives back. # W5"""

from __future__ import annotations

import pytest

from .stack import Stack

pytestmark = pytest.mark.journey


def test_pipeline_digits_trains_and_uploads_its_model(stack: Stack) -> None:
    job = stack.run("pipeline-digits", trees=20)
    assert job.metrics["accuracy"] > 0.9
    assert job.document["model"].endswith("@1")

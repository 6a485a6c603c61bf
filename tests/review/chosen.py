"""The cases of the corpus that `make test` plays: the first one of each finding type, and the first that has none."""

from collections.abc import Mapping

import pytest
from _pytest.mark.structures import ParameterSet

from tests.review.case import Case


def parameters(cases: Mapping[str, Case]) -> list[ParameterSet]:
    """Return the cases as parameters of a test. Chosen ones are marked `smoke`."""
    seen: set[str] = set()
    found = []
    for says, case in cases.items():
        types = {kind for name in case.names for kind in name.kinds} or {"none"}
        found.append(pytest.param(says, marks=() if types <= seen else pytest.mark.smoke))
        seen |= types
    return found

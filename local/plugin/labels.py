"""The three label properties after a read."""

from collections.abc import Mapping
from typing import Any

from .values import Properties


def read_labels(labels: Mapping[str, str] | None, state: Properties) -> dict[str, Any]:
    """Return all labels as `effectiveLabels`; the two others have only those of the last known state."""
    own = dict(labels or {})

    def known(name: str) -> dict[str, str]:
        return {key: own[key] for key in state.get(name) or {} if key in own}

    declared = known("labels")
    read: dict[str, Any] = {"pulumiLabels": known("pulumiLabels"), "effectiveLabels": own}
    return read | ({"labels": declared} if declared else {})

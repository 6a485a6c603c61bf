"""The kinds of findings: kinds.json has a row for each, in a review's order within a section."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from slipway.model.findings.finding import Continued, FindingKind, Grade, Section


def _kind(row: Mapping[str, Any]) -> FindingKind:
    # By hand, as the codec would take longer than a command's other imports.
    typed = {
        "section": Section(row["section"]),
        "usual": Grade[row["usual"].upper()],
        "announced": tuple(Grade[word.upper()] for word in row.get("announced", ())),
        "continued": Continued(row.get("continued", Continued.OWN)),
    }
    return FindingKind(**{**row, **typed})


_ROWS = json.loads(Path(__file__).with_name("kinds.json").read_text("utf-8"))
KINDS: Mapping[str, FindingKind] = {row["word"]: _kind(row) for row in _ROWS}

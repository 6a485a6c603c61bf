"""Files and lines of findings in the checkout of the change, before the key that caused them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from slipway.authoring.stack.yaml_file import Document, load
from slipway.model.findings.finding import Finding
from slipway.reviewing.change.files import is_own
from slipway.reviewing.review import Review

_PATH = frozenset("/:")
"""Characters of a path or of a key of the stack file, which no argument of a template has."""


def located(review: Review, checkout: Path, touched: Collection[str]) -> Review:
    """Replace a field `slipway:…` by `stacks/Pulumi.prod.yaml:14 slipway:…`, and one of an edited template by its file.

    A deleted key has the line of its parent. A key of a file that can't be read stays as it is.
    """
    file = f"stacks/Pulumi.{review.stack}.yaml"
    stack = load(checkout / file, shown_as=file) if is_own(file, checkout) else None
    found = []
    for finding in review.findings:
        place = _place(finding, stack, touched)
        found.append(replace(finding, field=f"{place} {finding.field}".strip()))
    return replace(review, findings=tuple(found))


def _place(finding: Finding, stack: Document | None, touched: Collection[str]) -> str:
    """Return the file of a finding's key, with the line in a stack file; empty if it is unknown."""
    key = finding.field
    if key.startswith(("slipway:", "gcp:")):
        if stack is None or not stack.lines:
            return ""
        return f"{stack.file}:{stack.line(('config', *key.split('.')))}"
    source = f"templates/{finding.subject.name.replace('-', '_')}.py"
    is_argument = bool(key) and _PATH.isdisjoint(key)
    return source if is_argument and source in touched else ""

"""Files and lines of findings in the checkout of the change, before the key that caused them."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from slipway.authoring.stack.yaml_file import Document, load
from slipway.model.findings.finding import Finding
from slipway.reviewing.change.files import is_own
from slipway.reviewing.review import Review


def located(review: Review, checkout: Path, touched: Collection[str]) -> Review:
    """Replace a field `slipway:…` by `stacks/Pulumi.prod.yaml:14 slipway:…`, and a template's by its file.

    A deleted key has the line of its parent. A key of a file that can't be read stays as it is.

    Args:
        review: The review.
        checkout: The project's folder in a checkout of the change.
        touched: The edited files, if they are known; a template's file that is not edited is no place.
    """
    file = f"stacks/Pulumi.{review.stack}.yaml"
    stack = load(checkout / file, shown_as=file) if is_own(file, checkout) else None
    found = tuple(_located(finding, file, stack, touched) for finding in review.findings)
    return replace(review, findings=found)


def _located(finding: Finding, file: str, stack: Document | None, touched: Collection[str]) -> Finding:
    key = finding.field
    if key.startswith(("slipway:", "gcp:")):
        if stack is None or not stack.lines:
            return finding
        return replace(finding, field=f"{file}:{stack.line(('config', *key.split('.')))} {key}")
    of_template = finding.subject.what == "template" and key and "/" not in key and ":" not in key
    if not of_template:
        return finding
    source = f"templates/{finding.subject.name.replace('-', '_')}.py"
    if touched and source not in touched:
        return replace(finding, field="")
    return replace(finding, field=f"{source} {key}")

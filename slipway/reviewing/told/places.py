"""Places of consequences: file and line of the change's checkout, in front of the key."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from slipway.authoring.stack.yaml_file import load
from slipway.base.errors import ConfigError
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.review import Review

_STACK_KEYS = ("slipway:", "gcp:")


def located(review: Review, checkout: Path) -> Review:
    """Replace `slipway:…` by `stacks/Pulumi.prod.yaml:14 slipway:…`. A deleted key has the line of its parent; one that
    can't be found stays alone. Reads files, and runs none."""
    file = f"stacks/Pulumi.{review.stack}.yaml"
    try:
        stack = load(checkout / file, shown_as=file)
    except ConfigError:
        stack = None

    def told(part: Consequence) -> Consequence:
        if part.field.startswith(_STACK_KEYS):
            first, *rest = part.field.split(".")
            where = f"{file}:{stack.line(('config', first, *rest))}" if stack and stack.lines else ""
        else:
            where = _in_template(part, checkout)
        return replace(part, field=f"{where} {part.field}") if where else part

    return replace(review, consequences=tuple(map(told, review.consequences)))


def _in_template(part: Consequence, checkout: Path) -> str:
    if part.subject.what != "template" or not part.field:
        return ""
    file = f"templates/{part.subject.name.replace('-', '_')}.py"
    try:
        lines = (checkout / file).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return ""
    head, _, tail = part.field.partition(".")
    word = f'"{tail}"' if tail else f"{head}="
    line = next((number for number, text in enumerate(lines, 1) if word in text), 0)
    return f"{file}:{line}" if line else file

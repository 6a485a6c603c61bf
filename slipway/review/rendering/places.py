"""Places of consequences: file and line of the change's checkout, in front of the key."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from slipway.errors import ConfigError
from slipway.findings.finding import Finding
from slipway.review.review import Review
from slipway.stack.yaml_file import Document, load

_STACK_KEYS = ("slipway:", "gcp:")


def located(review: Review, checkout: Path) -> Review:
    """Put `stacks/Pulumi.prod.yaml:14 slipway:…` for `slipway:…`. What is not there any more has the line of what it
    was in; what can't be found keeps its key alone. Reads files, and runs none."""
    places = _Places(checkout, review.stack)
    return replace(review, consequences=tuple(map(places.located, review.consequences)))


@dataclass(frozen=True)
class _Places:
    checkout: Path
    stack: str

    def located(self, one: Finding) -> Finding:
        where = self._in_stack(one.field) if one.field.startswith(_STACK_KEYS) else self._in_template(one)
        return replace(one, field=f"{where} {one.field}") if where else one

    @property
    def _stack_file(self) -> str:
        return f"stacks/Pulumi.{self.stack}.yaml"

    @cached_property
    def _document(self) -> Document | None:
        try:
            found = load(self.checkout / self._stack_file, shown_as=self._stack_file)
        except ConfigError:
            return None
        return found if found.lines else None

    def _in_stack(self, key: str) -> str:
        if self._document is None:
            return ""
        first, *rest = key.split(".")
        return f"{self._stack_file}:{self._document.line(('config', first, *rest))}"

    def _in_template(self, one: Finding) -> str:
        if one.subject.what != "template" or not one.field:
            return ""
        file = f"templates/{one.subject.name.replace('-', '_')}.py"
        try:
            lines = (self.checkout / file).read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError):
            return ""
        head, _, tail = one.field.partition(".")
        word = f'"{tail}"' if tail else f"{head}="
        line = next((number for number, text in enumerate(lines, 1) if word in text), 0)
        return f"{file}:{line}" if line else file

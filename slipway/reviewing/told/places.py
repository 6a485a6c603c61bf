"""Places of consequences in the change's checkout, in front of the key: a stack's file and line, a template's file."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

from slipway.authoring.stack.yaml_file import load
from slipway.reviewing.change.files import is_own
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.review import Review


def located(review: Review, checkout: Path, touched: Collection[str]) -> Review:
    """Replace `slipway:…` by `stacks/Pulumi.prod.yaml:14 slipway:…`. A deleted key has the line of its parent; one of a
    file that can't be read stays alone. `touched`: the edited files, where they are known: a template's key is no place
    where its file is none of them."""
    file = f"stacks/Pulumi.{review.stack}.yaml"
    stack = load(checkout / file, shown_as=file) if is_own(file, checkout) else None

    def told(part: Consequence) -> Consequence:
        if part.field.startswith(("slipway:", "gcp:")) and stack and stack.lines:
            where = f"{file}:{stack.line(('config', *part.field.split('.')))}"
        elif part.subject.what == "template" and part.field and not set(":/") & set(part.field):
            where = f"templates/{part.subject.name.replace('-', '_')}.py"
            if touched and where not in touched:
                return replace(part, field="")
        else:
            return part
        return replace(part, field=f"{where} {part.field}")

    return replace(review, consequences=tuple(map(told, review.consequences)))

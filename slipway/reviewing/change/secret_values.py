"""Values as a comment may have them; those that look like a secret are never shown."""

from __future__ import annotations

from slipway.authoring.stack.secrets import looks_secret
from slipway.base.formatting import short
from slipway.model.catalog.placeholders import DOLLAR, placeholder

HIDDEN = "hidden"


def shown(value: object, name: str = "", longest: int = 60, beside: str = "") -> str:
    """Return a value as a comment may have it: in backticks and short, or `hidden`. For a long one, the part in which
    it differs from the value `beside` it."""
    text = "true" if value is True else "false" if value is False else str(value)
    text = text.replace(placeholder(DOLLAR), "$")
    part = _from_difference(text, beside, longest // 2) if len(text) > longest and beside else text
    if looks_secret(text, name) or looks_secret(part):
        return HIDDEN
    text = part
    if not beside and len(text) > longest and text.startswith("projects/"):
        text = f"…{text[-longest + 1 :]}"  # A resource's own name comes last.
    return f"`{short(text.replace('`', chr(39)), longest)}`" if text else "nothing"


def _from_difference(text: str, other: str, before: int) -> str:
    alike = next((place for place, (one, two) in enumerate(zip(text, other, strict=False)) if one != two), len(other))
    return f"…{text[alike - before :]}" if alike > before else text

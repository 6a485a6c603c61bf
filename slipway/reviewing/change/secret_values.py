"""Values as a comment may have them; those that look like a secret are never shown."""

from __future__ import annotations

from slipway.authoring.stack.secrets import looks_secret
from slipway.base.formatting import short
from slipway.model.catalog.placeholders import DOLLAR, placeholder, render

HIDDEN = "hidden"


def shown(value: object, name: str = "", longest: int = 60, beside: str = "") -> str:
    """Return a value as a sentence may have it: in backticks and short, or `hidden`. For a long one, the part in which
    it differs from the value `beside` it."""
    text = bare(value, name, longest, beside)
    return text if text == HIDDEN else f"`{text}`" if text else "nothing"


def bare(value: object, name: str = "", longest: int = 60, beside: str = "") -> str:
    """Return the same without backticks."""
    text = render(value).replace(placeholder(DOLLAR), "$")
    part = _from_difference(text, beside, longest // 2) if len(text) > longest and beside else text
    if looks_secret(text, name) or looks_secret(part):
        return HIDDEN
    if not beside and len(part) > longest and part.startswith("projects/"):
        part = f"…{part[-longest + 1 :]}"  # A resource's own name comes last.
    return short(part.replace("`", chr(39)), longest)


def _from_difference(text: str, other: str, before: int) -> str:
    alike = next((place for place, (one, two) in enumerate(zip(text, other, strict=False)) if one != two), len(other))
    return f"…{text[alike - before :]}" if alike > before else text

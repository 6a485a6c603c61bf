"""Values as a comment may have them; those that look like a secret are never shown."""

from __future__ import annotations

from slipway.authoring.stack.secrets import has_secret
from slipway.base.formatting import short
from slipway.model.catalog.placeholders import DOLLAR, placeholder, render

HIDDEN = "(not shown)"
_BEFORE = 2048
"""The characters before a part in which its name may stand."""


def shown(value: object, name: str = "") -> str:
    """Return a value as a sentence may have it: in backticks and short, or `HIDDEN`."""
    text = bare(value, name)
    return text if text == HIDDEN else f"`{text}`" if text else "nothing"


def bare(value: object, name: str = "", longest: int = 60, beside: str = "") -> str:
    """Return the same without backticks; of a long one the part in which it differs from the value `beside` it."""
    text = render(value).replace(placeholder(DOLLAR), "$")
    part = near = text
    if len(text) > longest and beside:
        both = enumerate(zip(text, beside, strict=False))
        start = next((place for place, (one, two) in both if one != two), len(beside)) - longest // 2
        part = f"…{text[max(start, text.find('/', start, start + longest // 2)) :]}" if start > 0 else text
        near = text[max(0, start - _BEFORE) :]
    if has_secret(text, name) or any(map(has_secret, {part, near} - {text})):
        return HIDDEN
    if not beside and len(part) > longest and part.startswith("projects/"):
        part = f"…{part[-longest + 1 :]}"  # A resource's own name comes last.
    return short(part.replace("`", chr(39)), longest)

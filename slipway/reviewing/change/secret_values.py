"""Values as a comment may have them; those that look like a secret are never shown."""

from __future__ import annotations

import re

from slipway.authoring.stack.secrets import has_secret
from slipway.base.formatting import short
from slipway.model.catalog.placeholders import DOLLAR, placeholder, render

HIDDEN = "(not shown)"
_BEFORE = 2048
"""The characters before a part in which its name may stand."""
_BLANKS = {" ": "␣", "\n": "⏎", "\t": "⇥"}


def shown(value: object, name: str = "", beside: object = "") -> str:
    """Return a value as a sentence may have it: in backticks and short, or `HIDDEN`."""
    text = bare(value, name, beside=beside)
    return text if text == HIDDEN else f"`{text}`" if text else "nothing"


def bare(value: object, name: str = "", longest: int = 60, beside: object = "") -> str:
    """Return the same without backticks; of a long one the part in which it differs from the value `beside` it. Where
    the two would read alike, blanks and line breaks are visible."""
    text, other = (render(each).replace(placeholder(DOLLAR), "$") for each in (value, beside))
    part, near = _part(text, other, longest)
    if has_secret(text, name) or any(map(has_secret, {part, near} - {text})):
        return HIDDEN
    if text != other and other and short(part, longest) == short(_part(other, text, longest)[0], longest):
        part = re.sub(r"\s", lambda blank: _BLANKS.get(blank[0], ascii(blank[0])[1:-1]), part[: 4 * longest])
    if not other and len(part) > longest and part.startswith("projects/"):
        part = f"…{part[-longest + 1 :]}"  # A resource's own name comes last.
    return short(part.replace("`", chr(39)), longest)


def _part(text: str, other: str, longest: int) -> tuple[str, str]:
    """Return the part of a long text in which it differs from the other one, and what a secret's name may be in."""
    if len(text) <= longest or not other:
        return text, text
    both = enumerate(zip(text, other, strict=False))
    ends = min(len(text), len(other))
    start = next((place for place, (one, two) in both if one != two), ends) - longest // 2
    part = f"…{text[max(start, text.find('/', start, start + longest // 2)) :]}" if start > 0 else text
    return part, text[max(0, start - _BEFORE) :]

"""Values as a comment can show them. A value that looks like a secret is never shown. Pure."""

from __future__ import annotations

import re

from slipway.authoring.stack.secrets import address_has_secret, has_secret
from slipway.base.formatting import short
from slipway.model.catalog.placeholders import DOLLAR, placeholder, render

HIDDEN = "(not shown)"
_BEFORE = 2048
"""The characters before a part in which the name of a secret can stand."""
_BLANKS = {" ": "␣", "\n": "⏎", "\t": "⇥"}


def shown(value: object, name: str = "", beside: object = "") -> str:
    """Return a short value in backticks, `none` if it is empty, or `HIDDEN`."""
    text = bare(value, name, beside=beside)
    if text == HIDDEN:
        return text
    return f"`{text}`" if text else "none"


def bare(value: object, name: str = "", longest: int = 60, beside: object = "") -> str:
    """Return a value without backticks, or `HIDDEN`.

    Of a long value, the part is returned in which it differs from the value `beside` it. If the two would read alike,
    blanks and line breaks are visible.
    """
    text = _text(value)
    other = _text(beside)
    start = _start(text, other, longest)
    part = f"…{text[start:]}" if start else text
    near = text[max(0, start - _BEFORE) :]
    if has_secret(text, name) or address_has_secret(text) or has_secret(near):
        return HIDDEN
    if text != other and other:
        other_start = _start(other, text, longest)
        if short(text[start:], longest) == short(other[other_start:], longest):
            part = re.sub(r"\s", _visible, part[: 4 * longest])
    if not other and len(part) > longest and part.startswith("projects/"):
        # A resource's own name comes last.
        part = f"…{part[-longest + 1 :]}"
    return short(part.replace("`", "'"), longest)


def change(before: object, after: object, name: str = "") -> str:
    """Return `` `4` → `6` ``."""
    return f"{shown(before, name, after)} → {shown(after, name, before)}"


def _text(value: object) -> str:
    return render(value).replace(placeholder(DOLLAR), "$")


def _visible(blank: re.Match[str]) -> str:
    return _BLANKS.get(blank[0], ascii(blank[0])[1:-1])


def _start(text: str, other: str, longest: int) -> int:
    """Return where the part of a long text begins that differs from the other one."""
    if len(text) <= longest or not other:
        return 0
    ends = min(len(text), len(other))
    differs = next((place for place in range(ends) if text[place] != other[place]), ends)
    start = max(0, differs - longest // 2)
    slash = text.find("/", start, start + longest // 2)
    return max(start, slash) if start else 0

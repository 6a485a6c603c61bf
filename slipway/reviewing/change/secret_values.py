"""Values as a comment can show them. A value that looks like a secret is never shown. Pure."""

from __future__ import annotations

from itertools import takewhile
from operator import eq

from slipway.authoring.stack.secrets import address_has_secret, has_secret
from slipway.base.formatting import short
from slipway.model.catalog.placeholders import DOLLAR, placeholder, render

HIDDEN = "(not shown)"
_BEFORE = 2048
"""The characters before a part in which the name of a secret can stand."""


def shown(value: object, name: str = "", beside: object = "") -> str:
    """Return a short value in backticks, `none` if it is empty, or `HIDDEN`."""
    text = bare(value, name, beside=beside)
    return {HIDDEN: HIDDEN, "": "none"}.get(text, f"`{text}`")


def bare(value: object, name: str = "", longest: int = 60, beside: object = "") -> str:
    """Return a value without backticks, or `HIDDEN`. Of a long one, what differs from the one `beside` it is kept."""
    text = _text(value)
    other = _text(beside)
    start = 0
    if len(text) > longest and other:
        same = takewhile(bool, map(eq, text, other))
        start = max(0, len(list(same)) - longest // 2)
    near = text[max(0, start - _BEFORE) :]
    if has_secret(text, name) or has_secret(near) or address_has_secret(text):
        return HIDDEN
    part = f"…{text[start:]}" if start else text
    return short(part.replace("`", "'"), longest)


def change(before: object, after: object, name: str = "") -> str:
    """Return `` `4` → `6` ``."""
    return f"{shown(before, name, after)} → {shown(after, name, before)}"


def _text(value: object) -> str:
    return render(value).replace(placeholder(DOLLAR), "$")

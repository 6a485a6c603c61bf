"""Sentences as Markdown that shows them and nothing else, whatever text they contain. Pure."""

from __future__ import annotations

import html
import re

_CODE = re.compile(r"`([^`\n]+)`")
_ACTIVE = re.compile(r"[\\`*_\[\]|~$]")
"""Characters that may begin a link, an emphasis, a table's cell or a formula."""
_REFERENCE = re.compile(
    r"(?i)(?<!\w)(@)(?=\w)|(#)(?=\d)|\b(GH)(?=-\d)|(https?|ftp)(?=://)|(www)(?=\.)|:(?=(100|1234|[a-z8+-][\w+-]*):)"
)
"""Plain text that GitHub turns into a mention, a reference, a link or, as the `:100:` of `task.py:100:2`, a picture."""
_CONTROL = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\U000e0000-\U000e007f]"
)
_BREAK = "&#8203;"
"""A space without width: it parts the sign of a reference from its name."""


def text(sentence: str) -> str:
    """Return a sentence whose names in backticks become code; all else is shown unchanged, and makes no link."""
    parts = _CODE.split(_flat(sentence))  # The odd parts were in backticks.
    return "".join(code(part) if index % 2 else _shown(part) for index, part in enumerate(parts))


def code(name: str) -> str:
    """Return a name as code, also in a table's cell, where a bar would end it."""
    plain = _flat(name).replace("`", "'").strip()
    # Without a name its two backticks would pair with others.
    return f"<code>{_shown(plain)}</code>" if "|" in plain else f"`{plain}`" * bool(plain)


def block(lines: str, language: str = "text") -> str:
    """Return lines unchanged, in a fence that nothing in them can end."""
    clean = _CONTROL.sub(" ", lines)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall(r"`+", clean)), default=0))
    return f"{fence}{language}\n{clean}\n{fence}"


def folded(summary: str, body: str) -> str:
    """Return a fold. Its summary is shown unchanged: GitHub reads it as HTML, in which backticks make no code."""
    return f"<details><summary>{_shown(_flat(summary))}</summary>\n\n{body}\n\n</details>"


def _flat(words: str) -> str:
    return _CONTROL.sub(" ", words.replace("\n", " "))


def _shown(words: str) -> str:
    """Return text as Markdown in which no character has a meaning."""
    without_references = _REFERENCE.sub(lambda match: f"{match[0]}{_BREAK}", html.escape(words, quote=False))
    return _ACTIVE.sub(lambda sign: f"&#{ord(sign[0])};", without_references)

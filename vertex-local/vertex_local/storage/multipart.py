"""Multipart bodies, taken apart without touching binary content."""

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass

from . import errors

_BLANK = re.compile(rb"\r?\n\r?\n")


@dataclass(frozen=True)
class Part:
    """A part of a multipart body."""

    #: By lower-case names.
    headers: Mapping[str, str]
    content: bytes


def boundary(content_type: str) -> bytes:
    """Return the boundary of a Content-Type header. Raises 400 when it has none."""
    match = re.search(r"""boundary=(?:"([^"]+)"|'([^']+)'|([^;\s]+))""", content_type)
    if not match:
        raise errors.invalid("The Content-Type of a multipart body names no boundary.")
    return (match[1] or match[2] or match[3]).encode()


def parts(body: bytes, mark: bytes) -> list[Part]:
    """Return the parts between the boundaries, each at the start of a line (CRLF or LF)."""
    separator = re.compile(rb"(?:\A|\r?\n)--" + re.escape(mark) + rb"(--)?[ \t]*(?=\r?\n|\Z)")
    marks = list(separator.finditer(body))
    return [_part(body[this.end() : following.start()]) for this, following in itertools.pairwise(marks) if not this[1]]


def _part(text: bytes) -> Part:
    blank = _BLANK.search(text)
    if not blank:
        raise errors.invalid("A part of a multipart body has no blank line after its headers.")
    return Part(headers(text[: blank.start()]), text[blank.end() :])


def headers(text: bytes) -> dict[str, str]:
    """Return header lines as a mapping with lower-case names."""
    fields = {}
    for line in text.decode("latin-1").splitlines():
        name, colon, value = line.partition(":")
        if colon:
            fields[name.strip().lower()] = value.strip()
    return fields

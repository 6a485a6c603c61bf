"""Release notes of a pinned wheel: read from its own archive, without running any of it."""

from __future__ import annotations

import hashlib
import io
import zipfile
from http.client import HTTPException
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from slipway.cli.terminal.pins import download
from slipway.review.release_notes import FILE, between

if TYPE_CHECKING:
    from slipway.review.pins import Pin

_LARGEST_WHEEL, _LARGEST_NOTES = 100_000_000, 1_000_000


def notes(was: Pin | None, becomes: Pin, *, fetch: bool) -> tuple[tuple[str, ...], str]:
    """Return the notes, or why there are none. The wheel is read only where a hash identifies it, and only from this
    machine or the host of the base branch's wheel: the author of a pull request names no other host."""
    if was is None or not (was.version and becomes.version):
        return (), "it has no version in its name, as what comes from git has none"
    if was.version == becomes.version:
        return (), "it has the same version"
    back = _number(becomes.version) < _number(was.version)
    if back:
        text, why = _own(), ""
    else:
        text, why = _of_wheel(was, becomes, fetch=fetch)
    if why:
        return (), why
    older, newer = (becomes, was) if back else (was, becomes)
    told = between(text, older.version, newer.version)
    words = "It goes back, so this is lost again" if back else ""
    return ((words, *told) if words else told), "" if told else f"its changelog has nothing from {older} to {newer}"


def _number(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit() and len(part) < 10)


def _own() -> str:
    from slipway.installation import PACKAGE

    try:
        return (PACKAGE / "CHANGELOG.md").read_text(encoding="utf-8")
    except OSError:
        return ""


def _of_wheel(was: Pin, becomes: Pin, *, fetch: bool) -> tuple[str, str]:
    if not becomes.address:
        return "", "it comes from a package index, which is not asked"
    if not becomes.sha256:
        return "", "no hash says which wheel it is"
    if not fetch:
        return "", "nothing was to be read"
    here, there = urlsplit(becomes.address), urlsplit(was.address)
    if here.scheme != "file" and (here.scheme, here.netloc) != (there.scheme, there.netloc):
        return "", "it comes from another host than the base branch's"
    try:
        wheel = download(becomes.address, _LARGEST_WHEEL)
        if hashlib.sha256(wheel).hexdigest() != becomes.sha256:
            return "", "the wheel at its address has another hash"
        with zipfile.ZipFile(io.BytesIO(wheel)) as archive:
            member = archive.getinfo(FILE)
            if member.file_size > _LARGEST_NOTES:
                return "", "its changelog is too large"
            return archive.read(member).decode("utf-8", errors="replace"), ""
    except KeyError:
        return "", "its wheel has no changelog"
    except (OSError, ValueError, HTTPException, zipfile.BadZipFile, NotImplementedError, RuntimeError) as problem:
        return "", f"its wheel can't be read ({problem})"

"""The pins of a repository of one's own: slipway from its installed source, and its requirements, with hashes."""

from __future__ import annotations

import hashlib
import re
import ssl
import urllib.request
from collections.abc import Callable, Mapping
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.parse import urldefrag, urlsplit
from zipfile import BadZipFile, ZipFile

from slipway.base import installation
from slipway.base.errors import ConfigError

PINS = "requirements.txt"
LAPTOP = "requirements-local.txt"
LOCKS = {PINS: "deploy", LAPTOP: "local"}
"""The extra of slipway in each file of pins."""
_DETAIL = re.compile(r" \\\n    --hash=\S+|\n    #.*")
_ENTRY = re.compile(r"\S.*\n?(?:[ \t]+.*\n?)*")
_PATIENCE = 30.0


def source_with_hash() -> tuple[Mapping[str, Any], str]:
    """Return slipway's source, with the wheel's hash; and why there is none, empty where there is one. pip notes the
    hash at installation, uv does not. Raises ConfigError where the wheel is another by now, or is not there."""
    origin = installation.direct_url()
    url, known = str(origin.get("url", "")), installation.sha256(origin)
    if known:
        if installation.sha256(_with_hash(origin)[0]) != known:
            raise _another("than the one that was installed", "it has another hash than pip noted at installation")
        return origin, ""
    if installation.in_checkout() or "dir_info" in origin:
        return origin, "slipway comes from a folder"
    if "vcs_info" in origin:
        return origin, "slipway comes from a commit of git, and pip takes hashes for all or none"
    if not url:
        return origin, "slipway comes from a package index"
    return _with_hash(origin, check=_check_same)


def pins(origin: Mapping[str, Any], extra: str, without: str) -> tuple[str, str]:
    """Return the text of a file of pins, and why it has no hashes; `without` says why slipway has none."""
    source = installation.requirement(origin, extra) if origin else installation.source(extra)
    if extra == LOCKS[LAPTOP]:
        cloud, missing = _cloud_with_hash(origin)
        source, without = f"{source}\n{cloud}", without or missing
    hashed = not without
    lock = (installation.PACKAGE / "front" / "starter" / f"requirements-{extra}.lock").read_text(encoding="utf-8")
    pinned_by = "their hashes: pip wants one for each" if hashed else "their versions"
    head = "# Written by `slipway init`; `slipway init . --upgrade` renews it.\n"
    # A last line that stays: beside a changed pin, git would see a conflict in a team's own packages.
    return (
        f"{head}{source}\n{lock if hashed else bare(lock)}# Add packages of your own below, with {pinned_by}.\n",
        without,
    )


def _cloud_with_hash(origin: Mapping[str, Any]) -> tuple[str, str]:
    """Return the local cloud's source as pip takes it, with the wheel's hash; and why there is none, or empty."""
    origin_of_cloud = installation.local_cloud(origin)
    named = installation.requirement(origin_of_cloud, name=installation.LOCAL_CLOUD)
    if not origin_of_cloud:
        return f"{named}=={installation.version()}", "the local cloud comes from a package index"
    if "archive_info" not in origin_of_cloud:
        return named, "the local cloud comes from a folder or a commit"
    both = "put it beside slipway's, as each release has it"
    hashed, why = _with_hash(origin_of_cloud, name=installation.LOCAL_CLOUD, mend=both)
    return installation.requirement(hashed, name=installation.LOCAL_CLOUD), why


def _with_hash(
    origin: Mapping[str, Any],
    *,
    name: str = "slipway",
    mend: str = "install Slipway from the address of a release",
    check: Callable[[bytes], None] = lambda wheel: None,
) -> tuple[Mapping[str, Any], str]:
    """Return a source with the hash of its wheel, and why it has none. Raises ConfigError, with the `mend`, where there
    is no wheel, which nobody could install by the pins, and the errors of `check`."""
    address = urldefrag(installation.requirement(origin).partition(" @ ")[2]).url
    try:
        wheel = _read(str(origin["url"]))
    except (OSError, ValueError, HTTPException) as problem:
        if not _is_gone(problem):
            return origin, f"{address} can't be read: {problem}"
        why = f"the pins would name {address}: {problem}"
        raise ConfigError(f"the wheel of {name} is not there", why=why, fix=f"{mend}, then run this again") from problem
    check(wheel)
    return {**origin, "archive_info": {"hashes": {"sha256": hashlib.sha256(wheel).hexdigest()}}}, ""


def _is_gone(problem: Exception) -> bool:
    if isinstance(problem, HTTPError):
        return problem.code in (404, 410)
    reason = problem.reason if isinstance(problem, URLError) else problem
    return isinstance(reason, FileNotFoundError | NotADirectoryError)


def bare(text: str) -> str:
    """Return pins without hashes, and without the comments on their origin."""
    return _DETAIL.sub("", text)


def with_hashes(text: str, *sources: str) -> str:
    """Return bare pins, each with the hashes and the origin that it has in the first source that has it."""
    entries = {bare(entry): entry for source in reversed(sources) for entry in _ENTRY.findall(source)}
    return "".join(entries.get(line, line) for line in text.splitlines(keepends=True))


def _read(url: str) -> bytes:
    """Read a wheel from its address, as its installer did. Raises OSError, ValueError or HTTPException."""
    address = urldefrag(url).url
    scheme = urlsplit(address).scheme
    if scheme not in ("file", "http", "https"):
        raise ValueError("it has an odd address")
    if "@" in urlsplit(address).netloc:
        raise ValueError("it needs a credential")  # A redirection would give it to another host.
    # A file leads nowhere else, and reading all authorities takes longer than the rest of a command.
    handlers = () if scheme == "file" else (urllib.request.HTTPSHandler(context=_trusted()),)
    with urllib.request.build_opener(*handlers).open(address, timeout=_PATIENCE) as answer:
        return bytes(answer.read())


def _trusted() -> ssl.SSLContext:
    import certifi

    trusted = ssl.create_default_context()
    trusted.load_verify_locations(certifi.where())
    return trusted


def _check_same(wheel: bytes) -> None:
    """Raise ConfigError where a wheel is not the one that runs here: its contents are untried."""
    from io import BytesIO

    try:
        with ZipFile(BytesIO(wheel)) as packed:
            (record,) = (name for name in packed.namelist() if re.fullmatch(r"[^/]+\.dist-info/RECORD", name))
            files = [line for line in packed.read(record).decode().splitlines() if ".dist-info/" not in line]
    except (BadZipFile, ValueError) as problem:
        raise ConfigError("slipway's address has no wheel any more", why=str(problem), fix=_AGAIN) from problem
    installed = (installation.PACKAGE.parent / record).is_file() and (installation.PACKAGE.parent / record).read_text()
    if not set(files) <= set((installed or "").splitlines()):
        raise _another("than the one that runs", "its requirements would bring what nobody has looked at here")


def _another(than: str, why: str) -> ConfigError:
    return ConfigError(f"slipway's address has another wheel {than}", why=why, fix=_AGAIN)


_AGAIN = "install Slipway from there once more, then run this again"

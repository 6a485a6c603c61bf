"""Errors of the engine, with a cause and a fix for the person."""

from __future__ import annotations

import errno

_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


class EngineError(Exception):
    """No usable Pulumi engine: what happened, why, and what to do now."""

    def __init__(self, what: str, why: str, fix: str) -> None:
        super().__init__(f"error: {what}\n  why: {why}\n  fix: {fix}")
        self.what = what
        self.why = why
        self.fix = fix


class ReleaseUnavailableError(EngineError):
    """The official release can't be had here (no network, no build for this machine); another source may serve."""


def disk_full(why: str) -> EngineError:
    """Return the error for a full disk. `why` names the file or quotes the tool."""
    return EngineError(
        "the disk is full while the Pulumi engine is set up",
        why,
        "free some 5 GB, or name roomier folders: SLIPWAY_CACHE for the engine, GOCACHE and GOMODCACHE for Go's "
        "files, then run the same command again",
    )


def in_words(error: OSError) -> EngineError:
    """Return an `OSError` met while writing the cache as an `EngineError`."""
    why = f"{error.filename}: {error.strerror}" if error.filename else str(error)
    if error.errno in _FULL:
        return disk_full(why)
    return EngineError(
        "the engine's cache folder can't be used", why, "make it writable, or set SLIPWAY_CACHE to a folder that is"
    )

"""The bytes of an object, from a string or a file, and their content type."""

import base64
import hashlib
from pathlib import Path

from ..transport import CloudError
from ..values import Asset

_MAGIC = (
    (b"\x1f\x8b\x08", "application/x-gzip"),
    (b"PK\x03\x04", "application/zip"),
    (b"%PDF-", "application/pdf"),
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
)
_BINARY = frozenset(range(0x20)) - {0x09, 0x0A, 0x0C, 0x0D, 0x1B}


def media(source: Asset) -> bytes:
    """Return the bytes of an asset. Raises CloudError."""
    if source.text is not None:
        return source.text.encode()
    if source.path is None:
        raise CloudError(f"source: the local gcp plugin fetches nothing from elsewhere ({source.uri})")
    try:
        return Path(source.path).read_bytes()
    except OSError as problem:
        raise CloudError(f"source: can't be read: {problem}") from problem


def is_elided(source: Asset) -> bool:
    """Return whether only the hash was sent: the engine leaves the contents out where it asks for differences."""
    return source.text is None and source.path is None and source.uri is None


def md5(data: bytes) -> str:
    """Return the MD5 as the Storage API writes it."""
    return base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()


def content_type(data: bytes) -> str:
    """Return the content type that the bytes suggest, for an object to which the program gives none."""
    for magic, name in _MAGIC:
        if data.startswith(magic):
            return name
    return "application/octet-stream" if _BINARY.intersection(data[:512]) else "text/plain; charset=utf-8"

"""Encrypted values of a stack file (`secure: …`), which no key that Slipway reads can have. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any

from slipway.authoring.stack.yaml_file import Document, FileMistake, KeyPath

OF_THE_PROVIDER = (
    "project",
    "region",
    "impersonateServiceAccount",
    "billingProject",
    "userProjectOverride",
    "addPulumiAttributionLabel",
)
"""Keys of `gcp:` that Slipway reads as well. Others are for the provider alone, and can be encrypted."""
_WHAT = "is encrypted, but can't be secret: resource names, the catalog and reviews show the values of a stack file"
_FIX = "write it in plain text; keep credentials in Secret Manager, and write the name of their secret"


def check_encrypted(document: Document, secret: Collection[str] = ()) -> tuple[FileMistake, ...]:
    """Return the encrypted values among the keys that Slipway reads. `secret`: keys of the configuration that Pulumi
    names as secret, which may be written elsewhere than in the file."""
    config = _mapping(_mapping(document.values).get("config"))
    found: list[KeyPath] = []
    for key in dict.fromkeys([*config, *secret]):
        if _is_read(str(key)):
            found += _encrypted_in_entry(("config", key), config.get(key), is_secret=key in secret)
    return tuple(document.mistake(path, _WHAT, _FIX) for path in found)


def _mapping(value: Any) -> dict[Any, Any]:
    return value if isinstance(value, dict) else {}


def _is_read(key: str) -> bool:
    space, _, name = key.partition(":")
    if space == "gcp":
        return name in OF_THE_PROVIDER
    return space == "slipway"


def _encrypted_in_entry(path: KeyPath, value: Any, *, is_secret: bool) -> list[KeyPath]:
    """Return the encrypted values of an entry; the entry itself if only Pulumi names it as secret."""
    encrypted = list(_encrypted(value, path))
    if is_secret and not encrypted:
        return [path]
    return encrypted


def _encrypted(value: Any, path: KeyPath) -> Iterator[KeyPath]:
    return (place for place, _ in encrypted_values(value, path))


def encrypted_values(value: Any, path: KeyPath) -> Iterator[tuple[KeyPath, str]]:
    """Yield the encrypted values at and below a path, with their texts."""
    if _is_encrypted(value):
        yield path, value["secure"]
        return
    for place, item in _items(value):
        yield from encrypted_values(item, (*path, place))


def _is_encrypted(value: Any) -> bool:
    entries = _mapping(value)
    return list(entries) == ["secure"] and isinstance(entries["secure"], str)


def _items(value: Any) -> Iterable[tuple[Any, Any]]:
    """Return the items of a mapping or a list with their keys or places; none of another value."""
    if isinstance(value, list):
        return enumerate(value)
    return _mapping(value).items()

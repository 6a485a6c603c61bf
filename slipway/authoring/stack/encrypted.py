"""Encrypted values of a stack file (`secure: …`), which no key that Slipway reads can have. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator
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
    values = document.values if isinstance(document.values, dict) else {}
    config = values.get("config")
    entries = config if isinstance(config, dict) else {}
    found: list[KeyPath] = []
    for key in dict.fromkeys([*entries, *secret]):
        if _is_read(str(key)):
            below = [*_encrypted(entries.get(key), ("config", key))]
            found += below or ([("config", key)] if key in secret else [])
    return tuple(document.mistake(path, _WHAT, _FIX) for path in found)


def _is_read(key: str) -> bool:
    space, _, name = key.partition(":")
    return space == "slipway" or (space == "gcp" and name in OF_THE_PROVIDER)


def _encrypted(value: Any, path: KeyPath) -> Iterator[KeyPath]:
    if isinstance(value, dict) and [*value] == ["secure"] and isinstance(value["secure"], str):
        yield path
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _encrypted(item, (*path, key))
    elif isinstance(value, list):
        for place, item in enumerate(value):
            yield from _encrypted(item, (*path, place))

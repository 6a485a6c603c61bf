"""Settings of a stack file that are for Pulumi, and that Pulumi would reject when it reads them. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from slipway.authoring.stack.encrypted import encrypted_values
from slipway.authoring.stack.yaml_file import Document, FileMistake, KeyPath

_DISABLED = "pulumi:disable-default-providers"
_BASE64 = "[A-Za-z0-9+/]+={0,2}"
_ENCRYPTED = re.compile(f"v1:{_BASE64}:{_BASE64}")
_KEYS = ("encryptionsalt", "encryptedkey")
_CLOUD = ("https://", "http://")


def check_pulumi_settings(document: Document) -> tuple[FileMistake, ...]:
    """Return the settings that Pulumi would reject, whatever backend it has."""
    values = document.values
    config = values.get("config") if isinstance(values, dict) else None
    if not isinstance(config, dict):
        return ()
    return (*_disabled_providers(document, config), *_undecryptable(document, config))


def _disabled_providers(document: Document, config: dict[Any, Any]) -> Iterator[FileMistake]:
    disabled = _listed(config.get(_DISABLED))
    if "*" in disabled or "gcp" in disabled:
        yield document.mistake(
            ("config", _DISABLED),
            "disables the default provider of gcp, which creates all resources of a stack file",
            "leave gcp and * out; to use a provider of your own, write a program (docs/your-program.md)",
        )


def _listed(value: Any) -> list[Any]:
    """Return the items of a list, which may also be written as JSON text."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except ValueError:
            return []
    return value if isinstance(value, list) else []


def _undecryptable(document: Document, config: dict[Any, Any]) -> Iterator[FileMistake]:
    has_key = any(document.values.get(key) for key in _KEYS)
    for path, text in encrypted_values(config, ("config",)):
        # Values of Pulumi Cloud have another form, which tells nothing.
        if text.startswith("v1:"):
            yield from _wrong_value(document, path, text, has_key)


def _wrong_value(document: Document, path: KeyPath, text: str, has_key: bool) -> Iterator[FileMistake]:
    again = f"encrypt it again: `pulumi config set --secret {path[1]}`"
    if not _ENCRYPTED.fullmatch(text):
        yield document.mistake(path, "is not a value that Pulumi has encrypted, so Pulumi can't decrypt it", again)
    elif not has_key:
        what = "can't be decrypted: the file has neither `encryptionsalt` nor `encryptedkey`"
        yield document.mistake(path, what, f"put back the line that the file had, or {again}")


def check_environment(document: Document, backend: str) -> FileMistake | None:
    """Return the mistake of an `environment` (Pulumi ESC) that a backend does not have, by its address; None if there
    is none. An empty address is an unknown backend."""
    values = document.values
    used = values.get("environment") if isinstance(values, dict) else None
    if not used or backend.startswith(_CLOUD):
        return None
    what = "needs Pulumi Cloud: Pulumi rejects it with any other backend"
    if backend:
        what = f"needs Pulumi Cloud, and the backend is {backend.partition('?')[0]}: Pulumi rejects it"
    return document.mistake(("environment",), what, "leave it out, and write its values under `config`")

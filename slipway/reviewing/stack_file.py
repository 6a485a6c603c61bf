"""Edits of a stack file, from its text: of undeployed keys, and of a refused file. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from slipway.authoring.stack.secrets import looks_secret
from slipway.authoring.stack.yaml_file import from_text
from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change import Change
from slipway.reviewing.templates.secret_values import HIDDEN
from slipway.reviewing.words import Edit

_USED_LATER = {
    r"slipway:persistentResources\.(?P<name>.+)\.pools\.(?P<pool>.+)\.replicas\.initial": (
        "The next `{name}` that is made begins with {after} machines in pool `{pool}`; nothing that runs changes"
    ),
    r"slipway:reservations\.(?P<name>.+)\.machines": (
        "Templates that take more than {after} machines of reservation `{name}` are refused"
    ),
}
_PROVIDERS, _DECLARED = ("gcp:", "pulumi:"), ("gcp:project", "gcp:region", "gcp:addPulumiAttributionLabel")
_HELD = "secure"
"""The key of a value that the engine has encrypted."""


def edits(before: str, after: str) -> tuple[Edit, ...]:
    """Return the edits from one text of the file to another; none where either is no stack file."""
    old, new = (dict(_values(one)) for one in (before, after))
    if not (old and new):
        return ()
    changed = [key for key in dict.fromkeys((*old, *new)) if old.get(key) != new.get(key)]
    return tuple(Edit(key, old.get(key, ""), new.get(key, "")) for key in changed)


def used_later(change: Change) -> Iterator[Finding]:
    """Find edits of keys that count at the next deployment, which neither the catalog nor a resource has."""
    for edit in change.files.stacks.get(change.stack, ()) if change.after else ():
        for pattern, words in _USED_LATER.items():
            if found := re.fullmatch(pattern, edit.key):
                told = words.format(after=edit.after, **found.groupdict())
                told = told if edit.after else f"`{edit.key}` is left out; nothing that runs changes"
                yield KINDS["used-later"].of(Subject("key", edit.key), told, details=(str(edit),), field=edit.key)


def deploying(change: Change) -> Iterator[Finding]:
    """Find edits of keys that the engine and its provider read: the identity and the place of the deployment."""
    for edit in change.files.stacks.get(change.stack, ()):
        if ":" not in edit.key or (edit.key.startswith(_PROVIDERS) and not edit.key.startswith(_DECLARED)):
            words = f"`{edit.key}` decides how, where or as whom this is deployed"
            yield KINDS["program-edited"].of(Subject("key", edit.key), words, details=(str(edit),), field=edit.key)


def _values(text: str) -> Iterator[tuple[str, str]]:
    values = from_text(text, "").values
    for key, value in values.items() if isinstance(values, dict) else ():
        yield from _below("" if key == "config" else str(key), value)


def _below(key: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, each in value.items():
            yield from _below(f"{key}.{name}".lstrip("."), each)
    elif isinstance(value, list):
        yield key, ", ".join(sorted(map(_item, value)))
    elif key:
        name = re.split(r"[.:]", key)[-1]
        text = value if isinstance(value, str) else json.dumps(value)
        yield key, HIDDEN if name == _HELD or looks_secret(text, name) else text


def _item(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return HIDDEN if looks_secret(text) else text

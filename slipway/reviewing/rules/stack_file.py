"""Edits of a stack file, from its text: of undeployed keys, and of a refused file. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from slipway.model.findings.finding import Subject
from slipway.reviewing.change.change import Change, Side
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.table import by_row

_LATER = {
    r"slipway:persistentResources\.(?P<name>.+)\.pools\.(?P<pool>.+)\.replicas\.initial": "used-later-initial",
    r"slipway:reservations\.(?P<name>.+)\.machines": "used-later-machines",
}
"""By a key that neither the catalog nor a resource has: the row of what follows at the next deployment."""
_PROVIDERS, _DECLARED = ("gcp:", "pulumi:"), ("gcp:project", "gcp:region", "gcp:addPulumiAttributionLabel")


def used_later(change: Change) -> Iterator[Consequence]:
    for edit in () if Side.AFTER in change.unknown else change.files.stacks.get(change.stack, ()):
        for pattern, row in _LATER.items():
            if match := re.fullmatch(pattern, edit.key):
                values: dict[str, Any] = {"key": edit.key, "after": edit.after, **match.groupdict()}
                yield by_row(row if edit.after else "used-later", Subject("key", edit.key), edits=(edit,), **values)


def deploying(change: Change) -> Iterator[Consequence]:
    """Find edits of keys that the engine and its provider read: the identity and the place of the deployment."""
    for edit in change.files.stacks.get(change.stack, ()):
        if ":" not in edit.key or (edit.key.startswith(_PROVIDERS) and not edit.key.startswith(_DECLARED)):
            yield by_row("deploying-key", Subject("key", edit.key), key=edit.key, edits=(edit,))

"""Edits of a stack file, from its text: of undeployed keys, and of a refused file. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slipway.model.findings.finding import Finding, Subject
from slipway.model.findings.kinds import KINDS
from slipway.reviewing.change.change import Change

_USED_LATER = {
    r"slipway:persistentResources\.(?P<name>.+)\.pools\.(?P<pool>.+)\.replicas\.initial": (
        "The next `{name}` that is made begins with {after} machines in pool `{pool}`; nothing that runs changes"
    ),
    r"slipway:reservations\.(?P<name>.+)\.machines": (
        "Templates that take more than {after} machines of reservation `{name}` are refused"
    ),
}
_PROVIDERS, _DECLARED = ("gcp:", "pulumi:"), ("gcp:project", "gcp:region", "gcp:addPulumiAttributionLabel")


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

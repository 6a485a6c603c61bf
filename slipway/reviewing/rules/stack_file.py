"""Edits of a stack file, from its text: of undeployed keys, and of a refused file. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from slipway.model.findings.finding import Subject
from slipway.reviewing.change.change import Change, Side
from slipway.reviewing.consequence import IT, Consequence, consequence

_LATER = {
    r"slipway:persistentResources\.(?P<name>.+)\.pools\.(?P<pool>.+)\.replicas\.initial": (
        "The next `{name}` that is made",
        "begins with {after} machines in pool `{pool}`",
    ),
    r"slipway:reservations\.(?P<name>.+)\.machines": (
        "Templates that take more than {after} machines of reservation `{name}`",
        "are refused",
    ),
}
"""By a key that neither the catalog nor a resource has: who is hit at the next deployment, and what happens."""
_PROVIDERS, _DECLARED = ("gcp:", "pulumi:"), ("gcp:project", "gcp:region", "gcp:addPulumiAttributionLabel")


def used_later(change: Change) -> Iterator[Consequence]:
    for edit in () if Side.AFTER in change.unknown else change.files.stacks.get(change.stack, ()):
        for pattern, phrases in _LATER.items():
            if found := re.fullmatch(pattern, edit.key):
                who, does = (phrase.format(after=edit.after, **found.groupdict()) for phrase in phrases)
                yield consequence(
                    "used-later",
                    Subject("key", edit.key),
                    does if edit.after else "is left out",
                    who=who if edit.after else IT,
                    so="nothing that runs changes",
                    edits=(edit,),
                    field=edit.key,
                )


def deploying(change: Change) -> Iterator[Consequence]:
    """Find edits of keys that the engine and its provider read: the identity and the place of the deployment."""
    for edit in change.files.stacks.get(change.stack, ()):
        if ":" not in edit.key or (edit.key.startswith(_PROVIDERS) and not edit.key.startswith(_DECLARED)):
            subject = Subject("key", edit.key)
            does = "decides how, where or as whom this is deployed"
            yield consequence("program-edited", subject, does, edits=(edit,), field=edit.key)

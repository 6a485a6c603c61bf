"""Workspaces that a change removes from a program that keeps other workspaces, as Pulumi's events list them. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slipway.deploying.engine import events
from slipway.deploying.engine.preview import Preview
from slipway.model import facts


def removed_workspaces(preview: Preview) -> Mapping[str, Sequence[events.Published]]:
    """Return the components of each removed workspace, by its stack's name; none if the preview ended early, or if the
    program keeps no workspace."""
    after = facts.by_stack(events.declared(preview))
    if not preview.complete or not after:
        return {}
    before = facts.by_stack(events.deployed(preview))
    return {stack: before[stack] for stack in sorted(before.keys() - after.keys())}

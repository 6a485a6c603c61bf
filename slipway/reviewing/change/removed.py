"""Workspaces that a change removes from a program which keeps others, as the engine's events have them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from slipway.deploying.engine import events
from slipway.deploying.engine.preview import Preview
from slipway.model import facts


def removed_workspaces(preview: Preview) -> Mapping[str, Sequence[events.Published]]:
    """Return the components of each workspace that is removed, by its stack's name; none if the preview ended early, or
    if the program keeps no workspace."""
    after = facts.by_stack(events.declared(preview))
    if not (preview.complete and after):
        return {}
    before = facts.by_stack(events.deployed(preview))
    return {stack: before[stack] for stack in sorted(before.keys() - after.keys())}

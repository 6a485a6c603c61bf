"""Workspaces that a change removes from a program which keeps others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from slipway.deploying.engine import events
from slipway.model.facts import CATALOG, TEMPLATE, WORKSPACE
from slipway.model.findings.finding import Subject
from slipway.reviewing.change.change import Change
from slipway.reviewing.change.removed import removed_workspaces
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.table import by_row
from slipway.reviewing.rules.words import in_backticks


def workspaces(change: Change) -> Iterator[Consequence]:
    for stack, components in removed_workspaces(change.preview).items() if change.preview else ():
        clusters = [name for inputs in _inputs(components, CATALOG) for name in inputs.get("clusters") or ()]
        people = [member for inputs in _inputs(components, WORKSPACE) for member in inputs.get("submitters") or ()]
        templates = [name for type_, name, _ in components if type_ == TEMPLATE]
        yield by_row(
            "workspace-removed",
            Subject("workspace", stack),
            clusters=in_backticks(sorted(clusters)),
            templates=in_backticks(sorted(templates)),
            people=in_backticks(sorted(people)),
        )


def _inputs(components: Sequence[events.Published], of: str) -> Iterator[Mapping[str, Any]]:
    return (inputs for type_, _, inputs in components if type_ == of)

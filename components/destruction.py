"""A destruction: for SLIPWAY_PURPOSE=destroy a program declares nothing, so that the engine deletes all it knows."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Any

import pulumi

from slipway.authoring.stack.stack import Edit
from slipway.base.errors import SlipwayError
from slipway.deploying.deployment.deletion_guard import GuardSubject
from slipway.deploying.deployment.destruction import must_leave_none
from slipway.deploying.deployment.own_resources import must_keep_own
from slipway.deploying.deployment.summary import outliving
from slipway.google.connection import connect
from slipway.google.live import Unknown
from slipway.google.live_reader import LiveScope, Reader
from slipway.model.labels import STACK_LABEL
from slipway.model.origin import Origin
from slipway.model.state import State

from .engine import EngineRun, configured, end_without_resources, left
from .guard import check, guard
from .leaving import Leaving
from .member import Member
from .namesakes import retained
from .resolution import plain
from .strays import refuse_foreign
from .workspace_resources import leave_grants, stand_in


@dataclass(frozen=True)
class _Declared:
    """Labels, projects, regions and catalog buckets that a program declares, and where its deployment may be."""

    labels: frozenset[str]
    projects: frozenset[str]
    regions: frozenset[str]
    catalogs: frozenset[str]


def end_if_nothing_exists(run: EngineRun, components: Sequence[Member]) -> None:
    """End the program where neither the state nor the cloud has anything of it. Where that is unknown, or something
    exists, return: the destruction then reports it."""
    declared = _declared(run, components)
    if declared is None:
        return
    connection = connect(os.environ)
    for project, region in product(sorted(declared.projects), sorted(declared.regions)):
        clusters = Reader(connection, LiveScope(project, region)).clusters()
        if isinstance(clusters, Unknown) or any(each.labels.get(STACK_LABEL) in declared.labels for each in clusters):
            return
    for bucket in sorted(declared.catalogs):
        catalog = Reader(connection, LiveScope(run.project, run.region)).catalog(bucket)
        if isinstance(catalog, Unknown) or (catalog is not None and catalog.owner in declared.labels):
            return
    end_without_resources()


def _declared(run: EngineRun, components: Sequence[Member]) -> _Declared | None:
    """Return what a program declares; None if a project, a region or a bucket is unknown."""
    names = [each.name for each in components if each.kind == "workspace"] or [""]
    identities = [run.identity(name) for name in names]
    given = [plain(each.args) for each in components]
    projects = frozenset(each.values.get("project") or run.project for each in given)
    if not all(projects) or any(each.unknown.keys() & {"project", "region", "catalog_bucket"} for each in given):
        return None
    regions = {run.region}
    for each in given:
        regions.update(_regions(each.values))
    catalogs = [str(each.values["catalog_bucket"]) for each in given if "catalog_bucket" in each.values]
    defaults = [identity.buckets(project)[0] for identity, project in product(identities, projects)]
    labels = frozenset(identity.label for identity in identities)
    return _Declared(labels, projects, frozenset(regions - {""}), frozenset((*catalogs, *defaults)))


def _regions(value: Any) -> Iterator[str]:
    """Yield the regions among arguments, also those of alternatives."""
    if isinstance(value, Mapping):
        if isinstance(value.get("region"), str):
            yield value["region"]
        for part in value.values():
            yield from _regions(part)
    elif isinstance(value, list | tuple):
        for part in value:
            yield from _regions(part)


def take_down(checkout: Path, edit: Edit | None) -> None:
    """Declare nothing, so that the engine deletes all that it knows, where that is all of the stack."""
    pulumi.log.warn("SLIPWAY_PURPOSE=destroy: nothing is declared, so `pulumi up` would delete the stack too")
    try:
        _, file = configured(checkout, edit)
    except SlipwayError:
        file = None  # A mistake in the stack file, or an edit of it, must not prevent a destruction.
    state, empty = left(checkout, os.environ)
    run = EngineRun.of(checkout, state, empty=empty)
    leaving = Leaving(os.environ, run.identity().label, (run.project, run.region), run.state)
    leaving.declared = file
    leaving.retained = retained()
    refuse_foreign(run, Origin(run.name))
    must_leave_none(leaving)
    must_keep_own(leaving)
    if run.empty:
        end_without_resources()
    hooks = guard(lambda: [leaving], run.state)
    if run.preview:
        try:
            check(GuardSubject(), leaving.use)
        except SlipwayError as refusal:
            pulumi.log.warn(str(refusal))
    if isinstance(run.state, State):
        if kept := outliving(run.state):
            pulumi.log.info(kept)
        leaving.foretell()
        if leaving.grants:
            workspace = stand_in("workspace", {"facts": dict(run.state.workspace)})
            leave_grants(leaving.grants, run.project, hooks, workspace)

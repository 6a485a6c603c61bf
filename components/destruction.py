"""A destruction: for SLIPWAY_PURPOSE=destroy a program declares nothing, so that the engine deletes all it knows."""

from __future__ import annotations

import os
from pathlib import Path

import pulumi

from slipway.authoring.stack.stack import Edit
from slipway.base.errors import SlipwayError
from slipway.deploying.deployment.deletion_guard import GuardSubject
from slipway.deploying.deployment.destruction import must_leave_none
from slipway.deploying.deployment.summary import outliving
from slipway.model.origin import Origin
from slipway.model.state import State

from .engine import EngineRun, configured, left
from .guard import check, guard
from .leaving import Leaving
from .strays import refuse_foreign
from .workspace_resources import leave_grants, stand_in


def take_down(checkout: Path, edit: Edit | None) -> None:
    """Declare nothing, so that the engine deletes all that it knows, where that is all of the stack."""
    pulumi.log.warn("SLIPWAY_PURPOSE=destroy: nothing is declared, so `pulumi up` would delete the stack too")
    try:
        _, file = configured(checkout, edit)
    except SlipwayError:
        file = None  # A mistake in the stack file, or an edit of it, must not prevent a destruction.
    run = EngineRun.of(checkout, left(checkout, os.environ))
    leaving = Leaving(os.environ, run.identity().label, (run.project, run.region), run.state)
    leaving.declared = file
    refuse_foreign(run, Origin(run.name))
    must_leave_none(leaving)
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

"""A destruction: for SLIPWAY_PURPOSE=destroy a program declares nothing, so that the engine deletes all it knows."""

from __future__ import annotations

import os
from pathlib import Path

import pulumi

from slipway.authoring.stack.stack import Edit, Stack
from slipway.base.errors import SlipwayError
from slipway.deploying.deployment.deletion_guard import GuardSubject, guarded_grants, guarded_use
from slipway.deploying.deployment.destruction import Destruction
from slipway.deploying.deployment.removal import GracePeriod
from slipway.deploying.deployment.summary import doubtful_grants, outliving, shared_grants
from slipway.model.state import State

from .engine import ADVICE, EngineRun, configured, left
from .guard import check, guard
from .workspace import leave_grants


def take_down(checkout: Path, edit: Edit | None) -> None:
    """Declare nothing, so that the engine deletes all that it knows, where that is all of the stack."""
    pulumi.log.warn("SLIPWAY_PURPOSE=destroy: nothing is declared, so `pulumi up` would delete the stack too")
    try:
        file = configured(checkout, edit)
    except SlipwayError:
        file = None  # A mistake in the stack file, or an edit of it, must not prevent a destruction.
    run = EngineRun.of(checkout, left(checkout, os.environ))
    # The destruction takes the stack's outputs with it, and a killed program tells nothing any more.
    if not run.preview:
        pulumi.log.info(ADVICE)
    destruction = destruction_of(run, file)
    destruction.must_leave_none()
    here = os.environ, lambda: destruction.where, run.name, run.state
    use = guarded_use(*here)
    guard(use, GracePeriod.of(os.environ), guarded_grants(*here), run.state)
    if run.preview:
        try:
            check(GuardSubject(), use)
        except SlipwayError as refusal:
            pulumi.log.warn(str(refusal))
    if isinstance(run.state, State):
        stay = destruction.shared_grants()
        for told in filter(None, (outliving(run.state), shared_grants(stay))):
            pulumi.log.info(told)
        for warning in doubtful_grants(stay, run.project):
            pulumi.log.warn(warning)
        if stay:
            leave_grants([action.grant for action in stay], run.project)


def destruction_of(run: EngineRun, file: Stack | None) -> Destruction:
    return Destruction(os.environ, run.state, stack=run.name, project=run.project, region=run.region, file=file)

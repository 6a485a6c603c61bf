"""A destruction: for SLIPWAY_PURPOSE=destroy a program declares nothing, so that the engine deletes all it knows."""

from __future__ import annotations

import os
from pathlib import Path

import pulumi

from slipway.authoring.stack.stack import Edit, Stack
from slipway.base.errors import SlipwayError
from slipway.deploying.deployment.deletion_guard import GuardSubject, StackGuard
from slipway.deploying.deployment.destruction import must_leave_none
from slipway.deploying.deployment.shared_grants import dropped, must_be_unneeded
from slipway.deploying.deployment.summary import doubtful_grants, outliving, shared_grants
from slipway.deploying.deployment.workspace_plan import SharedGrant
from slipway.google.live import Unknown
from slipway.model.state import State, StateGrant

from .engine import ADVICE, EngineRun, configured, left
from .guard import check, guard
from .workspace_resources import leave_grants


def take_down(checkout: Path, edit: Edit | None) -> None:
    """Declare nothing, so that the engine deletes all that it knows, where that is all of the stack."""
    pulumi.log.warn("SLIPWAY_PURPOSE=destroy: nothing is declared, so `pulumi up` would delete the stack too")
    try:
        _, file = configured(checkout, edit)
    except SlipwayError:
        file = None  # A mistake in the stack file, or an edit of it, must not prevent a destruction.
    run = EngineRun.of(checkout, left(checkout, os.environ))
    # The destruction takes the stack's outputs with it, and a killed program tells nothing any more.
    if not run.preview:
        pulumi.log.info(ADVICE)
    leaving = Leaving(run, file)
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
            leave_grants(leaving.grants, run.project, hooks, run.state.workspace)


class Leaving(StackGuard):
    """A stack that is taken down, and the grants that other stacks may need. Each is decided on when the stack's
    catalog is gone, so that of two stacks that are taken down at once the later one sees that nobody needs it."""

    taken_down = True

    def __init__(self, run: EngineRun, file: Stack | None) -> None:
        super().__init__(os.environ, run.name, (run.project, run.region), run.state)
        self.declared = file
        self.grants = () if isinstance(run.state, Unknown) else dropped(run.state)
        self._told: dict[StateGrant, SharedGrant] = {}

    def foretell(self) -> None:
        """Tell which of them would stay now."""
        staying = [stays for stays in self.need(self.grants) if not stays.passing]
        self._told = {stays.grant: stays for stays in staying}
        if needed := shared_grants(staying):
            pulumi.log.info(needed)
        for warning in doubtful_grants(staying, self.place[0]):
            pulumi.log.warn(warning)

    def let_go(self, grant: StateGrant) -> None:
        """Take a grant from its member unless another stack needs it. Raises PolicyError where that can't be told now,
        CloudError where it can't be taken."""
        stays, told = self.release_in_time(grant, pulumi.log.info), self._told.get(grant)
        if stays and stays.passing:
            must_be_unneeded(grant, stays)
        if stays is None and told:
            pulumi.log.info(f"{grant.role} of {grant.member} goes, as no other stack needs it by now")
        elif stays and not (told and told.stacks == stays.stacks):
            for text in (shared_grants([stays]), *doubtful_grants([stays], self.place[0])):
                if text:
                    pulumi.log.warn(text)

"""The whole program, which turns the stack file's declaration and the live resources into resources. The rules are in
`slipway`."""

from __future__ import annotations

import atexit
import gc
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pulumi

from slipway.authoring.stack.stack import Stack
from slipway.base.clock import right_time
from slipway.base.errors import SlipwayError
from slipway.deploying.deployment.deletion_guard import GuardSubject, guarded_grants, guarded_use
from slipway.deploying.deployment.live_plan import read_and_plan
from slipway.deploying.deployment.removal import GracePeriod
from slipway.deploying.deployment.workspace_plan import metric_writers
from slipway.google.live import Live, Unknown
from slipway.model.state import State, refuse_move, stack_locations

from .engine import ADVICE, Run, configured, explain_errors, give_advice, known, left
from .guard import check, guard

if TYPE_CHECKING:
    from slipway.deploying.deployment.deployment import ProvenStack
    from slipway.deploying.deployment.destruction import Destruction
    from slipway.deploying.deployment.plan import Plan

SAID = 32
"""The exit code that tells Pulumi's language host that the person knows the reason."""


def deploy(program: str) -> None:
    """Declare the stack that the engine names, or take it down, for SLIPWAY_PURPOSE=destroy.

    `program` is the path of the `__main__.py` that calls this: stack files, templates and jobs are those beside it. An
    error is shown to the person, and ends the process.
    """
    # By default the interpreter searches all of pulumi's objects for garbage, as it imports the rest and as it ends: a
    # quarter of the program's time.
    gc.set_threshold(50_000)
    atexit.register(gc.freeze)
    explain_errors(os.environ)
    checkout = Path(program).resolve().parent
    try:
        if os.environ.get("SLIPWAY_PURPOSE") == "destroy":
            _take_down(checkout)
        else:
            _up(checkout)
    except SlipwayError as error:
        pulumi.log.error(str(error))
        sys.exit(SAID)


def _up(checkout: Path) -> None:
    """Read, decide, report, declare. From the plan on, nothing is refused any more."""
    now = datetime.now(UTC)
    # Slow imports run while the engine, then the cloud, answers: `preview-vs-bare` of the bench.
    with ThreadPoolExecutor(1) as background:
        background.submit(import_module, "slipway.deploying.deployment.deployment")
        run = Run.of(checkout, known())
    stack: Stack | None = None

    def where() -> tuple[tuple[str, str], ...]:
        state, others = None if isinstance(run.state, Unknown) else run.state, stack.other_regions if stack else ()
        return stack_locations(state, run.project, run.region, others)

    grace, use = GracePeriod.of(os.environ), guarded_use(os.environ, where, run.name, run.state)
    hooks = guard(
        use,
        grace.left,
        grace.replaced,
        guarded_grants(os.environ, where, run.name, run.state),
        _trainers(run.state),
        lambda: _unasked(run, stack),
    )
    stack = configured(checkout)
    _refuse_move(run, stack)
    from slipway.deploying.deployment.deployment import prove_stack

    proven = prove_stack(stack, checkout / "templates")
    with ThreadPoolExecutor(1) as background:
        deciding = background.submit(copy_context().run, _decide, run, proven, now)
        from .deployment import up

        up(run, proven, grace, use, hooks, deciding.result)


def _decide(run: Run, proven: ProvenStack, now: datetime) -> tuple[Live, Plan, datetime]:
    say, warn = pulumi.log.info, pulumi.log.warn
    asked = {"metrics": proven.metrics, "writers": metric_writers(proven.templates.values())}
    live, plan = read_and_plan(proven.stack, os.environ, run.preview, now, say, warn, known=run.state, **asked)
    return live, plan, right_time(now, live.time)


def _refuse_move(run: Run, stack: Stack) -> None:
    """Refuse a move. Warns where the stack's resources are unknown, and gives advice where it has none yet."""
    if isinstance(run.state, Unknown):
        pulumi.log.warn(f"can't tell what the stack has already, from {run.state.api}: {run.state.why}")
        return
    refuse_move(run.state, stack=run.name, project=run.project, region=run.region, others=stack.other_regions)
    if not (run.preview or run.deployed):  # Later the output `onError` has it.
        pulumi.log.info(ADVICE)
        give_advice()


def _take_down(checkout: Path) -> None:
    """Declare nothing, so that the engine deletes all that it knows, where that is all of the stack."""
    pulumi.log.warn("SLIPWAY_PURPOSE=destroy: nothing is declared, so `pulumi up` would delete the stack too")
    from slipway.deploying.deployment.summary import outliving, shared_grants, untold_grants  # only for a destruction

    try:
        file = configured(checkout)
    except SlipwayError:
        file = None  # A mistake in the stack file must not prevent a destruction.
    run = Run.of(checkout, left(checkout, os.environ))
    # The destruction takes the stack's outputs with it, and a killed program tells nothing any more.
    if not run.preview:
        pulumi.log.info(ADVICE)
    destruction = _destruction(run, file)
    destruction.must_leave_none()
    grace = GracePeriod.of(os.environ)

    def where() -> tuple[tuple[str, str], ...]:
        return destruction.where

    use = guarded_use(os.environ, where, run.name, run.state)
    needed_by = guarded_grants(os.environ, where, run.name, run.state)
    guard(use, grace.left, grace.replaced, needed_by, _trainers(run.state))
    if run.preview:
        try:
            check(GuardSubject(), use)
        except RuntimeError as refusal:
            pulumi.log.warn(str(refusal))
    if isinstance(run.state, State):
        stay = destruction.shared_grants()
        for told in filter(None, (outliving(run.state), shared_grants(stay))):
            pulumi.log.info(told)
        for warning in untold_grants(stay, run.project):
            pulumi.log.warn(warning)
        if stay:
            from .workspace import leave_grants

            leave_grants([one.grant for one in stay], run.project)


def _trainers(known: State | Unknown) -> frozenset[str] | None:
    return None if isinstance(known, Unknown) else frozenset(one.name for one in known.accounts)


def _unasked(run: Run, file: Stack | None) -> None:
    """Raise SlipwayError where a destruction of which the program was not told would leave a cluster, or harm."""
    destruction = _destruction(run, file)
    destruction.must_leave_none()
    destruction.must_keep_roles()


def _destruction(run: Run, file: Stack | None) -> Destruction:
    from slipway.deploying.deployment.destruction import Destruction  # only for a destruction

    return Destruction(os.environ, run.state, stack=run.name, project=run.project, region=run.region, file=file)

"""A run of `up` or preview, behind the declarations: the engine's answers, the plan, and the making of clusters."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import pulumi

from slipway.authoring.stack.stack import Edit, Stack
from slipway.base.clock import right_time
from slipway.base.errors import PolicyError
from slipway.deploying.deployment.deletion_guard import Neighbourhood, guarded_use
from slipway.deploying.deployment.live_plan import as_it_stays, read_and_plan
from slipway.deploying.deployment.plan import Plan
from slipway.deploying.deployment.removal import GracePeriod
from slipway.deploying.deployment.shared_grants import must_be_unneeded
from slipway.deploying.deployment.workspace_plan import metric_writers
from slipway.google.live import Live, Unknown
from slipway.google.provider_errors import ON_ERROR
from slipway.model.state import State, StateGrant, refuse_move, stack_locations

from .engine import ADVICE, EngineRun, configured, give_advice, in_thread, known
from .guard import guard
from .persistent_resource import Creation, Guarded

if TYPE_CHECKING:
    from slipway.deploying.deployment.deployment import Deployment, ProvenStack

    from .workspace import Workspace


class Outputs(TypedDict):
    """The stack's outputs, which other programs read."""

    clusters: Mapping[str, pulumi.Input[str]]
    retiring: Sequence[pulumi.Input[str]]
    catalog: pulumi.Input[str]
    work: pulumi.Input[str]
    trainer: pulumi.Input[str]


class Run:
    """A deployment under way. Each method is a step of a program, in this order.

    After `plan` nothing is refused any more, but by a preview, which refuses at its end.
    """

    #: The hooks for resources that jobs need: they ask for jobs before a deletion.
    guard: pulumi.ResourceHookBinding

    def __init__(self, checkout: Path, edit: Edit | None) -> None:
        self._checkout, self._edit, self._began = checkout, edit, datetime.now(UTC)
        # Slow imports run while the engine, then the cloud, answers: `preview-vs-bare` of the bench.
        with ThreadPoolExecutor(1) as background:
            background.submit(import_module, "slipway.deploying.deployment.deployment")
            self._engine = EngineRun.of(checkout, known())
        self._stack: Stack | None = None
        self._errors: tuple[PolicyError, ...] = ()
        self._creation: Creation | None = None
        state, name = self._engine.state, self._engine.name
        self._grace, self._use = GracePeriod.of(os.environ), guarded_use(os.environ, self._where, name, state)
        self._others = Neighbourhood(os.environ, self._where, name, state)
        self._workspace: Workspace | None = None
        self.guard = guard(self._use, self._grace, self._let_go, state, self._refuse_unasked)

    def read_stack(self) -> Stack:
        """Return the stack of its file and the engine's configuration. Raises StackErrors, ConfigError if it moves."""
        run, stack = self._engine, configured(self._checkout, self._edit)
        self._stack = stack
        if isinstance(run.state, Unknown):
            pulumi.log.warn(f"can't tell what the stack has already, from {run.state.api}: {run.state.why}")
            return stack
        refuse_move(run.state, stack=run.name, project=run.project, region=run.region, others=stack.other_regions)
        if not (run.preview or run.deployed):  # Later the output `onError` has it.
            pulumi.log.info(ADVICE)
            give_advice()
        if run.preview:
            stack, self._errors = as_it_stays(stack, run.state)
        return stack

    def plan(self, stack: Stack) -> Deployment:
        """Return what is to be declared, from the stack and what lives, and tell the person the coming steps.

        Raises ConfigError for mistakes in templates, and PolicyError when quota does not suffice, or the stack breaks a
        mandatory rule of its own.
        """
        from slipway.authoring.template.proof import refuse
        from slipway.deploying.deployment.deployment import build_packages, plan_deployment, prove_stack

        proven = prove_stack(stack, self._checkout / "templates")
        if not self._engine.preview:
            refuse(proven.errors)
        with ThreadPoolExecutor(1) as background:
            deciding = background.submit(copy_context().run, self._decide, proven)
            from slipway.deploying.deployment.checkout import checkout_revision

            from .making import Making

            revision = checkout_revision(self._checkout, os.environ)
            proven, packages = build_packages(proven, self._checkout)
            if not self._engine.preview:
                refuse(proven.errors)
            live, plan, now = deciding.result()
        run = self._engine
        planned = partial(
            plan_deployment, proven, packages, revision, live, preview=run.preview, now=now, known=run.state
        )
        self._making = making = Making(run, proven, plan, now, planned)
        catalog = making.first.catalog
        self._grace.began_with(live.catalog, catalog.catalog_bucket, catalog.trainer, *catalog.trainers.values())
        making.tell()
        self._make = making.creator(self._use, self._grace)
        pulumi.export("onError", ON_ERROR)
        if not run.preview:
            making.first.refuse()
        return making.first

    def _decide(self, proven: ProvenStack) -> tuple[Live, Plan, datetime]:
        began, say, warn = self._began, pulumi.log.info, pulumi.log.warn
        asked = {"metrics": proven.metrics, "writers": metric_writers(proven.templates.values())}
        run = self._engine
        live, plan = read_and_plan(proven.stack, os.environ, run.preview, began, say, warn, known=run.state, **asked)
        return live, plan, right_time(began, live.time)

    def creation(self, workspace: Workspace, after: Sequence[pulumi.Resource]) -> Creation | None:
        """Declare that missing clusters are made when `after` exist. None in a stack that never made any like this."""
        making, state, self._workspace = self._making, self._engine.state, workspace
        if making.ids or (isinstance(state, State) and state.creation):
            bucket = workspace.catalog.name
            self._creation = Creation(
                making.ids, self._make, bucket=bucket, workspace=workspace, after=after, now=making.now
            )
        return self._creation

    def guarded(self, opts: pulumi.ResourceOptions) -> Guarded:
        """Return the common arguments of the stack's clusters. `opts`: Pulumi's options of each."""
        return Guarded(project=self._engine.project, region=self._engine.region, hooks=self.guard, opts=opts)

    def after_creation(self, rest: Callable[[Deployment], Outputs]) -> None:
        """Call `rest` with the deployment as it came to be, and export what it returns: at once, unless a cluster may
        become one of its alternatives, or none."""
        making, creation = self._making, self._creation
        outputs: Any
        if creation and making.open and not self._engine.preview:
            # The URN exists when the hook has been called, or when the engine has found that it need not be.
            outputs = creation.object.urn.apply(lambda _: pulumi.Output.all(**rest(making.made)))
        else:
            outputs = rest(making.made)
        for name in Outputs.__annotations__:
            pulumi.export(name, outputs[name])
        self._keep_shared(outputs["catalog"])

    def end(self) -> None:
        """Refuse a preview of what `up` refuses: a review reads the whole declaration first."""
        if self._engine.preview:
            self._making.first.refuse(self._errors)

    def _keep_shared(self, catalog: pulumi.Output[str]) -> None:
        """Declare the undeclared grants that others need, once the catalog is published: of two stacks that drop a
        member at once, the later one sees that nobody needs the roles."""
        workspace, plan = self._workspace, self._making.first.plan.workspace
        if workspace is None or not plan.dropped:
            return
        if self._engine.preview:
            workspace.keep(plan.shared)
            return

        async def keep() -> None:
            from slipway.deploying.deployment.summary import doubtful_grants

            staying = await in_thread(lambda: self._others.need(plan.dropped))
            for warning in doubtful_grants(staying):
                if warning not in self._making.first.warnings:
                    pulumi.log.warn(warning)
            workspace.keep(staying)

        _: pulumi.Output[None] = catalog.apply(lambda _: keep())

    def _let_go(self, grant: StateGrant) -> None:
        must_be_unneeded(grant, self._others.release(grant))

    def _where(self) -> tuple[tuple[str, str], ...]:
        run, others = self._engine, self._stack.other_regions if self._stack else ()
        return stack_locations(None if isinstance(run.state, Unknown) else run.state, run.project, run.region, others)

    def _refuse_unasked(self) -> None:
        """Raise SlipwayError where a destruction of which the program was not told would leave a cluster, or harm."""
        from .destruction import destruction_of

        destruction = destruction_of(self._engine, self._stack)
        destruction.must_leave_none()
        destruction.must_keep_roles(self._others)

"""A group: the components of one workspace, which together are a stack of Slipway's. Or those without a workspace."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import pulumi

from slipway.authoring.stack.stack import Stack, parse
from slipway.authoring.stack.yaml_file import Document
from slipway.base.clock import right_time
from slipway.base.errors import PolicyError
from slipway.base.formatting import join
from slipway.deploying.deployment.deletion_guard import GuardSubject, StackGuard
from slipway.deploying.deployment.live_plan import Declared, as_it_stays, read_and_plan
from slipway.deploying.deployment.plan import Plan, as_made
from slipway.deploying.deployment.summary import made_otherwise
from slipway.deploying.deployment.workspace_plan import CATALOG, TRAINER, WORK, metric_writers
from slipway.deploying.generations.action import DELETE, What
from slipway.google.connection import connect
from slipway.google.live import Live, Unknown
from slipway.model.state import State, refuse_move

from .engine import ADVICE, EngineRun, in_thread
from .entries import A_NUMBER, config_of, number_networks, refuse_namesakes
from .generation import Creation, Guarded, OtherRegions, RetiringResource
from .member import Kind, Member
from .resolution import Given
from .world import World

if TYPE_CHECKING:
    from slipway.deploying.creation.provider_creation import ProviderCreation
    from slipway.deploying.deployment.deployment import Deployment, ProvenStack

PLAIN_NAMES = ("workspace", "catalog", "quota")
"""The names of components whose children bear no prefix. Frozen: the stacks of stack files have them."""


def prefix(name: str) -> str:
    """Return the beginning of the names of a component's children, by the component's name."""
    return "" if name in PLAIN_NAMES else f"{name}-"


def group_name(stack: str, workspace: str) -> str:
    """Return the name, in labels and the catalog, of what belongs to a workspace by its name; empty where none is."""
    return f"{stack}-{prefix(workspace)}".rstrip("-") if workspace else stack


class Setting(Protocol):
    """The program around a group."""

    checkout: Path
    began: datetime
    engine: EngineRun
    world: World | None
    file: Document | None
    components: list[Member]
    given: Mapping[Member, Given]
    hooks: pulumi.ResourceHookBinding
    making: pulumi.ResourceHook
    makers: dict[str, Callable[[], Awaitable[None]]]

    async def after_all(self, of: Sequence[Member]) -> None:
        """Wait until these components have declared their children."""
        ...


class Group:
    """The components of one workspace, or of one place without a workspace, and what is decided about them.

    `name`: the stack's, in labels, the catalog and default names: the engine's stack, with the workspace's name behind
    it where that is not the usual one.
    """

    #: The deployment as it is planned, and then of the clusters that came to be.
    deployment: Deployment
    made: Deployment
    #: The stack that the components declare.
    stack: Stack
    #: Makes missing clusters, where there is a bucket to note them in.
    creation: Creation | None = None

    def __init__(
        self,
        composition: Setting,
        workspace: Any,
        members: Sequence[Member],
        place: tuple[str, str],
        state: State | Unknown,
    ) -> None:
        self.composition, self.workspace, self.components = composition, workspace, tuple(members)
        self.project, self.region = place
        self.engine = composition.engine
        self.name = group_name(self.engine.name, workspace.name if workspace else "")
        self.guard = StackGuard(os.environ, self.name, place, state)
        self.guard.has_workspace = workspace is not None
        self.state = state

    def of(self, kind: Kind) -> list[Any]:
        return [component for component in self.components if component.kind == kind]

    def given(self, component: Member) -> Given:
        return self.composition.given[component]

    @property
    def clusters(self) -> Mapping[str, Any]:
        return {component.name: component for component in self.of("cluster")}

    @property
    def templates(self) -> Mapping[str, Member]:
        return {component.template: component for component in self.of("template")}

    @property
    def quota(self) -> Member | None:
        return next(iter(self.of("quota")), None)

    @property
    def catalog(self) -> Member | None:
        return next(iter(self.of("catalog")), None)

    # -- what the components declare --

    def read(self) -> Stack:
        """Return the stack that the components declare. Raises StackErrors with every mistake."""
        file = self.composition.file
        given = {component: self.given(component) for component in self.components}
        config = config_of(given, (self.project, self.region))
        if file is None:
            number_networks(config, self._number)
        written = replace(file, values={**file.values, "config": config}) if file else Document("", {"config": config})
        return replace(parse(written, stack=self.name), offered_on=self._offered_on())

    def _number(self, project: str) -> str:
        return A_NUMBER if self.composition.world else connect(os.environ).permissions(project).number(project)

    # -- what is decided --

    def decide(self) -> None:
        """Read what lives, plan, and tell the person the coming steps.

        Raises ConfigError for mistakes in arguments and templates, and PolicyError when quota does not suffice, or the
        stack breaks a mandatory rule of its own; a preview raises these at its end.
        """
        engine, state = self.engine, self.state
        self.stack = self.guard.declared = stack = self.read()
        self._errors: tuple[PolicyError, ...] = ()
        if isinstance(state, Unknown):
            pulumi.log.warn(f"can't tell what the stack has already, from {state.api}: {state.why}")
        else:
            refuse_move(state, stack=self.name, project=self.project, region=self.region, others=stack.other_regions)
            if self.workspace:
                refuse_namesakes(self.workspace.name, stack, self.own.keys(), state)
            if engine.preview:
                self.stack, self._errors = as_it_stays(stack, state)
        self.deployment = self.made = self._plan()
        self._tell()
        self._make = self._creator()
        if not engine.preview:
            self.deployment.refuse()

    def _plan(self) -> Deployment:
        from slipway.authoring.template.proof import refuse
        from slipway.deploying.deployment.deployment import build_packages, plan_deployment, prove_stack

        checkout, preview = self.composition.checkout, self.engine.preview
        folders = {name: checkout / each.folder for name, each in self.templates.items()}
        proven = prove_stack(self.stack, checkout / "templates", folders)
        if not preview:
            refuse(proven.errors)
        with ThreadPoolExecutor(1) as background:
            deciding = background.submit(copy_context().run, self._decide, proven)
            from slipway.deploying.deployment.checkout import checkout_revision

            revision = checkout_revision(checkout, os.environ)
            proven, packages = build_packages(proven, checkout)
            if not preview:
                refuse(proven.errors)
            live, plan, self.now = deciding.result()
        self._proven = proven
        self._planned = partial(
            plan_deployment, proven, packages, revision, live, preview=preview, now=self.now, known=self.state
        )
        return self._planned(plan)

    def _decide(self, proven: ProvenStack) -> tuple[Live, Plan, datetime]:
        began, engine, world = self.composition.began, self.engine, self.composition.world
        live, plan = read_and_plan(
            proven.stack,
            os.environ,
            engine.preview,
            began,
            pulumi.log.info,
            pulumi.log.warn,
            metrics=proven.metrics,
            writers=metric_writers(proven.templates.values()),
            known=self.state,
            lives=world.seen(self.region, proven.metrics) if world else None,
            declared=Declared(self.workspace is not None, self.catalog is not None, frozenset(self._own_roles)),
        )
        return live, plan, right_time(began, live.time)

    def _offered_on(self) -> Mapping[str, frozenset[str]]:
        """Return the names of the clusters that a template may run on, for those that may not run on all."""
        some = {name: self.given(each).values.get("clusters") for name, each in self.templates.items()}
        return {name: frozenset(clusters) for name, clusters in some.items() if clusters is not None}

    def _tell(self) -> None:
        from slipway.reviewing.preview_text import preview_text

        engine, first, log = self.engine, self.deployment, pulumi.log
        for message in preview_text(first, self.state, self.now, preview=engine.preview):
            log.info(message)
        for warning in (*first.warnings, *self._unknown()):
            log.warn(warning)
        if engine.deployed and not engine.preview and first.plan.of(What.CREATE, *DELETE):
            log.info(ADVICE)  # After a kill of the program amid clusters only the engine's words remain.

    def _unknown(self) -> Iterator[str]:
        """Yield what a preview can't know of the components' arguments."""
        for component in self.components:
            for path, sources in self.given(component).unknown.items():
                when = f"when {join(sources)} {'exists' if len(sources) == 1 else 'exist'}" if sources else "in `up`"
                yield f"{component.name}: {path} is known {when}; this preview goes without, and the id may be another"

    # -- what comes to be --

    @property
    def _own_roles(self) -> Iterator[str]:
        roles = {"catalog_bucket": CATALOG, "work_bucket": WORK, "trainer": TRAINER}
        return (roles[key] for key in self.own)

    @property
    def own(self) -> Mapping[str, pulumi.Resource]:
        """The resources of the program that stand for the workspace's, by the names of its arguments."""
        return self.given(self.workspace).own if self.workspace else {}

    @property
    def open(self) -> bool:
        """Tell whether a cluster may become an alternative, or none: then what depends on it comes after."""
        plan = self.deployment.plan
        return bool(plan.seasons) or any(action.instead for action in plan.of(What.CREATE))

    async def as_made(self) -> Deployment:
        """Wait until it is known which clusters come to be, and return their deployment."""
        creation = await self.creating()
        if creation and self.open and not self.engine.preview:
            # The URN exists when the hook has been called, or when the engine has found that it need not be.
            await creation.object.urn.future()
        return self.made

    async def creating(self) -> Creation | None:
        """Declare, once, that missing clusters are made, when the workspace and the requests for quota are declared.
        None where nothing is made, and never was by this stack; and without a workspace: the provider makes them."""
        if self._creating is None:
            self._creating = asyncio.ensure_future(self._declare_creation())
        return await asyncio.shield(self._creating)

    _creating: asyncio.Future[Creation | None] | None = None

    async def _declare_creation(self) -> Creation | None:
        if regions := self.deployment.catalog.other_regions:
            OtherRegions(self.child(self.workspace, "other-regions") if self.workspace else "other-regions", regions)
        workspace, ids = self.workspace, [action.id for action in self.deployment.plan.of(What.CREATE)]
        known = isinstance(self.state, State) and self.state.creation
        if workspace is None or not (ids or known):
            return None
        before = [workspace, *([self.quota] if self.quota else [])]
        await self.composition.after_all(before)
        after = [resource for component in before for resource in component.needed]
        waits = [source for cluster in self.of("cluster") for source in self._waits_for(cluster)]
        name = f"{prefix(workspace.name)}creation"
        creation = Creation(
            name,
            ids,
            self._make,
            hook=self.composition.making,
            bucket=workspace.catalog_bucket,
            workspace=workspace,
            after=[*after, *waits],
            now=self.now,
        )
        self.composition.makers[name] = creation.run
        return creation

    def _waits_for(self, cluster: Member) -> Sequence[pulumi.Resource]:
        depends: Any = cluster.options.depends_on or ()
        listed = [depends] if isinstance(depends, pulumi.Resource) else depends
        return [*(listed if isinstance(listed, list | tuple) else ()), *self.given(cluster).sources]

    def _alone(self) -> ProviderCreation:
        """Return the creation of clusters by the provider, without a workspace."""
        from slipway.deploying.creation.creation_context import CreationContext
        from slipway.deploying.creation.parallel_creation import creation_policy
        from slipway.deploying.creation.provider_creation import ProviderCreation

        cloud = CreationContext(
            self.name,
            connect(os.environ).vertex(self.project, self.region),
            lambda cluster: self.guard.use(GuardSubject(cluster)),
            pulumi.log.info,
            pulumi.log.warn,
        )
        return ProviderCreation(cloud, creation_policy(os.environ))

    def may_try_again(self, id_: str, why: str) -> bool:
        """Tell whether the provider is to try again to make one of the group's clusters."""
        cluster = next((each for each in self.made.plan.current if each.id == id_), None)
        if self.workspace is not None or cluster is None:
            return False
        self._provider = self._provider or self._alone()
        return self._provider.may_try_again(cluster, why)

    _provider: ProviderCreation | None = None

    def _creator(self) -> Callable[[Sequence[str]], Mapping[str, str]]:
        """Return the function that makes the clusters of these ids, and returns the ids of those that run by the first
        ids. Raises ConfigError for settings that can't be read."""
        from slipway.deploying.creation.parallel_creation import creator
        from slipway.deploying.deployment.interim_catalog import DeploymentCatalogs, interim

        first, planned = self.deployment, self._planned
        trainers = first.catalog.trainers.values()
        self.guard.grace.began_with(first.live.catalog, first.catalog.catalog_bucket, first.catalog.trainer, *trainers)
        catalogs = DeploymentCatalogs(
            before=first.live.deployed,
            interim=interim(first.plan, first.live, lambda plan: planned(plan).catalog),
            final=lambda made: planned(as_made(first.plan, made, last=True)).catalog,
            bucket=first.catalog.catalog_bucket,
            packages=tuple(package for built in first.packages.values() for package in built.values()),
            revision=first.revision,
            now=self.now,
        )
        create = creator(
            first.plan,
            os.environ,
            (self.name, self.project, self.region),
            self.guard.use,
            say=pulumi.log.info,
            warn=pulumi.log.warn,
            awaited=first.report.awaited,
            catalogs=catalogs,
            grace=self.guard.grace,
        )

        def make(ids: Sequence[str]) -> Mapping[str, str]:
            made = create(ids)
            if self.open:
                final = as_made(first.plan, made, last=True)
                for line in made_otherwise(first.plan, final, self._proven.templates.values(), self.region):
                    pulumi.log.warn(line)
                self.made = planned(final)
            return made

        return make

    def end(self) -> None:
        """Refuse a preview of what `up` refuses: a review reads the whole declaration first."""
        if self.engine.preview:
            self.deployment.refuse(self._errors)

    def child(self, component: Member, name: str) -> str:
        """Return the engine's name of a component's child, of which another component may have one alike."""
        return f"{prefix(component.name)}{name}"

    def guarded(self, id_: str, opts: pulumi.ResourceOptions) -> Guarded:
        """Return the common arguments of the group's clusters. `opts`: Pulumi's options of each. The state knows a
        generation again whoever declared it: the program itself, as in 0.1.0, or a component by any name."""
        known = self.state.urns.get(id_) if isinstance(self.state, State) else None
        former: list[pulumi.Input[str | pulumi.Alias]] = [pulumi.Alias(parent=None), *([known] if known else [])]
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(aliases=former))
        return Guarded(project=self.project, region=self.region, hooks=self.composition.hooks, opts=opts)

    async def rest(self) -> Sequence[pulumi.Resource]:
        """Declare, once, the clusters that retire and that no component stands for any more."""
        if self._rest is None:
            self._rest = asyncio.ensure_future(self._declare_rest())
        return await asyncio.shield(self._rest)

    _rest: asyncio.Future[Sequence[pulumi.Resource]] | None = None

    async def _declare_rest(self) -> Sequence[pulumi.Resource]:
        made = await self.as_made()
        after = pulumi.ResourceOptions(depends_on=[self.workspace] if self.workspace else [])
        return [
            RetiringResource(
                action.id,
                action.living.spec.pools,
                location=action.living.region,
                facts=made.facts.clusters[action.id],
                **self.guarded(action.id, after),
            )
            for action in made.plan.retiring
            if action.living and action.cluster not in self.clusters
        ]

    def keep_shared(self, published: pulumi.Output[str]) -> pulumi.Output[None] | None:
        """Declare the undeclared grants that others need, once the catalog is published: of two stacks that drop a
        member at once, the later one sees that nobody needs the roles."""
        workspace, plan = self.workspace, self.deployment.plan.workspace
        if workspace is None or not plan.dropped:
            return None
        if self.engine.preview:
            workspace.keep(plan.shared)
            return None

        async def keep() -> None:
            from slipway.deploying.deployment.summary import doubtful_grants

            staying = await in_thread(lambda: self.guard.need(plan.dropped))
            for warning in doubtful_grants(staying):
                if warning not in self.deployment.warnings:
                    pulumi.log.warn(warning)
            workspace.keep(staying)

        return published.apply(lambda _: keep())

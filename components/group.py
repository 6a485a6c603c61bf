"""A group: the components of one workspace, which together are a stack of Slipway's. Or those without a workspace."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pulumi

from slipway.authoring.stack.stack import Stack, parse
from slipway.authoring.stack.yaml_file import Document, KeyPath, StackErrors
from slipway.base.errors import PolicyError
from slipway.base.formatting import join
from slipway.deploying.deployment.deletion_guard import StackGuard
from slipway.deploying.deployment.destruction import must_leave_none
from slipway.deploying.deployment.live_plan import Declared, as_it_stays
from slipway.deploying.deployment.own_resources import must_keep_own
from slipway.deploying.deployment.replacement import rename_hints
from slipway.deploying.deployment.workspace_plan import FIELDS
from slipway.deploying.generations.action import What
from slipway.google.connection import connect
from slipway.google.live import Unknown
from slipway.model.origin import Program
from slipway.model.state import GENERATION, State
from slipway.model.state_refusals import refuse_doubles, refuse_move

from .creation import NAME, Creation
from .decision import decide, tell
from .engine import EngineRun, destroys
from .entries import (
    A_NUMBER,
    config_of,
    in_words,
    number_networks,
    refuse_alternatives,
)
from .file_values import changed_by_program, of_program, without_lines
from .generation import Generation, Surroundings, record_regions, retiring
from .hooks import Hooks
from .leaving import Leaving
from .member import Kind, Member
from .namesakes import names_of, refuse_namesakes, retained
from .resolution import Given
from .voice import Voice

if TYPE_CHECKING:
    from slipway.deploying.deployment.deployment import Deployment

PLAIN_NAMES = ("workspace", "catalog", "quota")
"""The names of components whose children bear no prefix. Frozen: the stacks of stack files have them."""


def prefix(name: str) -> str:
    """Return the beginning of the names of a component's children, by the component's name."""
    return "" if name in PLAIN_NAMES else f"{name}-"


class Group:
    """The components of one workspace, or of one place without a workspace, and what is decided about them.

    `name`: the stack's, in the catalog and in messages: the engine's stack, with the workspace's name behind it where
    that is not the usual one. `identity`: that in labels and default names.
    """

    #: The deployment as it is planned.
    deployment: Deployment
    #: Knows also the one of the clusters that came to be.
    creation: Creation
    #: The stack file, with the lines of the values that the program leaves as they are; None without one.
    file: Document | None = None
    #: The reason why a preview can't read its project; empty if it can.
    absent: str = ""
    #: Names the workspace if the program has several.
    voice: Voice = Voice()

    def __init__(
        self,
        run: EngineRun,
        hooks: Hooks,
        workspace: Any,
        place: tuple[str, str],
        given: Mapping[Member, Given],
        state: State | Unknown,
    ) -> None:
        """Group the components that are `given` these arguments. `state`: the engine's of them."""
        self.run, self.hooks, self.workspace, self.given, self.state = run, hooks, workspace, given, state
        self.components = tuple(given)
        self.project, self.region = place
        self.identity = run.identity(workspace.name if workspace else "")
        self.name = self.identity.name
        self.guard: StackGuard = (Leaving if destroys() else StackGuard)(os.environ, self.identity.label, place, state)
        self.guard.has_workspace = workspace is not None
        self.guard.retained = retained()
        self.guard.prefix = prefix(workspace.name) if workspace else ""
        self._creating: asyncio.Future[Creation | None] | None = None
        self._rest: asyncio.Future[Sequence[pulumi.Resource]] | None = None
        self._errors: tuple[PolicyError, ...] = ()

    def of(self, kind: Kind) -> dict[str, Any]:
        """Return the components of a kind, by their names; templates by those by which people submit them."""
        return {each.template or each.name: each for each in self.components if each.kind == kind}

    @property
    def own(self) -> Mapping[str, pulumi.Resource]:
        """The resources of the program that stand for the workspace's, by their roles."""
        own = self.given[self.workspace].own if self.workspace else {}
        return {role: own[argument] for role, argument in FIELDS.items() if argument in own}

    def _declared(self) -> Declared:
        unknown = self.given[self.workspace].unknown if self.workspace else {}
        return Declared(
            self.workspace is not None,
            bool(self.of("catalog")),
            frozenset(self.own),
            imported={} if isinstance(self.state, Unknown) else names_of(self.own, self.state),
            unknown=frozenset(role for role, argument in FIELDS.items() if argument in unknown),
        )

    @property
    def _begins(self) -> bool:
        """Whether the engine's state has nothing of the group. Its components are registered first of all, after the
        decision: so a rejected deployment leaves nothing there, and a killed one does."""
        state = self.state
        if isinstance(state, Unknown) or self.guard.taken_down:
            return False
        if state.clusters or state.buckets or state.accounts or state.grants or state.catalog_bucket:
            return False
        own = [self.workspace] if self.workspace else self.components
        return not any((each.pulumi_resource_type, each.pulumi_resource_name) in state.urns for each in own)

    def child(self, component: Member | None, name: str) -> str:
        """Return the engine's name of a component's child, of which another component may have one alike."""
        return f"{prefix(component.name)}{name}" if component else name

    # -- what is decided --

    def decide(self, file: Document | None) -> None:
        """Read what lives, plan, and tell the person the coming steps. `file`: the stack file, where there is one.

        Raises ConfigError for mistakes in arguments and templates, and PolicyError when quota does not suffice, or the
        stack breaks a mandatory rule of its own; a preview raises these at its end.
        """
        run, state, guard = self.run, self.state, self.guard
        stack = guard.declared = self._read(file)
        if self.workspace is None:
            refuse_alternatives(stack)
        if isinstance(state, Unknown):
            self.voice.warn(f"can't tell what the stack has already, from {state.api}: {state.why}")
        else:
            placing = self.workspace or self.components[0]
            refuse_move(
                state,
                stack=self.name,
                project=self.project,
                region=self.region,
                others=stack.other_regions,
                component="" if file else f"{placing.title}",
            )
            if self.workspace:
                refuse_namesakes(self.workspace.pulumi_resource_name, stack, self.own.keys(), state)
            staying, errors = as_it_stays(stack, state)
            if run.preview or guard.taken_down:  # No edit of a name prevents a destruction.
                stack, self._errors = staying, errors
            elif self.own and errors:  # The plan looks at what the workspace itself makes.
                raise errors[0]
        declared = self._declared()
        folders = {name: run.checkout / each.folder for name, each in self.of("template").items()}
        places = self.file.places if self.file else lambda _: ()
        decision = decide(
            run, stack, state, declared, folders, places, self.voice, begins=self._begins, absent=self.absent
        )
        self.deployment = first = decision.deployment
        self._refuse_doubles()
        if not guard.taken_down:
            tell(run, decision, state, self._unknown(), self.voice, publishes=declared.catalog)
            for hint in rename_hints(first.plan, stack.origin):
                self.voice.info(hint)
        trainers = first.catalog.trainer, *first.catalog.trainers.values()
        guard.grace.began_with(first.live.catalog, first.catalog.catalog_bucket, *trainers)
        self.creation = Creation(decision, guard, self.voice)
        guard.declared_clusters = lambda: self.creation.made.plan.declared
        if isinstance(guard, Leaving):
            must_leave_none(guard)
            must_keep_own(guard)
            guard.foretell()
        elif not run.preview:
            first.refuse()

    def _refuse_doubles(self) -> None:
        """Raise ConfigError where the state has a cluster of the group a second time."""
        if isinstance(self.state, Unknown):
            return
        plan = self.deployment.plan
        planned = [*(cluster.id for cluster in plan.current), *(action.id for action in plan.retiring)]
        known = [cluster.name for cluster in self.state.clusters]
        refuse_doubles(self.state, {*planned, *known}, self.deployment.stack.origin)

    def _read(self, file: Document | None) -> Stack:
        """Return the stack that the components declare. Raises StackErrors with every mistake."""
        config = config_of(self.given, (self.project, self.region))
        changed = None if file is None else changed_by_program(file, config)
        number_networks(config, self._number, changed)
        written = self._written(file, config, changed or ())
        some = {name: self.given[each].values.get("clusters") for name, each in self.of("template").items()}
        # The names of the clusters of each template that may not run on all.
        offered_on = {name: frozenset(clusters) for name, clusters in some.items() if clusters is not None}
        try:
            stack = parse(written, stack=self.name, identity=self.identity)
        except StackErrors as error:
            if file is None:
                raise in_words(error.mistakes, self.given) from None
            raise StackErrors(of_program(error.mistakes, changed or (), self.given)) from None
        program = None if file else Program(self.run.name, self.identity.workspace, self._renamed() or None)
        return replace(stack, offered_on=offered_on, program=program)

    def _written(self, file: Document | None, config: dict[str, Any], changed: Sequence[KeyPath]) -> Document:
        """Return the document that has the declared configuration, with the lines of the stack file's own values."""
        if file is None:
            return Document("", {"config": config})
        self.file = without_lines(file, changed)
        return replace(self.file, values={**file.values, "config": config})

    def _renamed(self) -> dict[str, str]:
        """Return the components that keep a former name, by that name, with those that the program has for them."""
        titles = {f"{type(component).__name__} {component.name}": component.title for component in self.components}
        return {kept: title for kept, title in titles.items() if kept != title}

    def _number(self, project: str) -> str:
        return A_NUMBER if self.run.world or self.absent else connect(os.environ).permissions(project).number(project)

    def _unknown(self) -> Iterator[str]:
        """Yield what a preview can't know of the components' arguments."""
        for component, given in self.given.items():
            for path, sources in given.unknown.items():
                when = f"when {join(sources)} {'exists' if len(sources) == 1 else 'exist'}" if sources else "in `up`"
                argument = f"{component.pulumi_resource_name}: {path}"
                names = "".join(f"; give {source} a `name` to see it before" for source in given.nameless.get(path, ()))
                yield f"{argument} is known {when}; this preview goes without, and the id may be another{names}"

    @property
    def current_clusters(self) -> dict[str, str]:
        """The components of the current clusters, by the ids of those."""
        components = self.of("cluster")
        names = {cluster.id: cluster.spec.name for cluster in self.creation.made.plan.current}
        return {id_: components[name].title for id_, name in names.items() if name in components}

    def end(self) -> None:
        """Refuse a preview of what `up` refuses: a review reads the whole declaration first."""
        if self.run.preview and not self.guard.taken_down:
            self.deployment.refuse(self._errors)

    # -- what comes to be --

    async def as_made(self) -> Deployment:
        """Wait until it is known which clusters come to be, and return their deployment."""
        creation = await self.creating()
        if creation and creation.may_differ and not self.run.preview:
            # The URN exists when the hook has been called, or when the engine has found that it need not be.
            await creation.object.urn.future()
        return self.creation.made

    async def creating(self) -> Creation | None:
        """Declare, once, that missing clusters are made, when the workspace and the requests for quota are declared.
        None where nothing is made, and never was by this stack; and without a workspace: the provider makes them."""
        self._creating = self._creating or asyncio.ensure_future(self._declare_creation())
        return await asyncio.shield(self._creating)

    async def _declare_creation(self) -> Creation | None:
        if regions := self.deployment.catalog.other_regions:
            record_regions(self.child(self.workspace, "other-regions"), regions)
        workspace, creates = self.workspace, bool(self.deployment.plan.of(What.CREATE))
        known = isinstance(self.state, State) and self.state.creation
        if workspace is None or not (creates or known):
            return None
        before = [workspace, *self.of("quota").values()]
        await all_declared(before)
        after = [resource for component in before for resource in component.needed]
        # A cluster's component is registered after what the cluster depends on.
        await asyncio.gather(*(cluster.urn.future() for cluster in self.of("cluster").values()))
        self.creation.declare(self.child(workspace, NAME), self.hooks, workspace.catalog_bucket, workspace, after)
        return self.creation

    def around(self, id_: str, opts: pulumi.ResourceOptions) -> Surroundings:
        """Return what the group's clusters have in common. `opts`: Pulumi's options of this one. The state knows a
        generation again whoever declared it: the program itself, as in 0.1.0, or a component by any name."""
        known = self.state.urns.get((GENERATION, id_)) if isinstance(self.state, State) else None
        former: list[pulumi.Input[str | pulumi.Alias]] = [pulumi.Alias(parent=None), *([known] if known else [])]
        opts = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(aliases=former))
        in_state = isinstance(self.state, State) and any(each.name == id_ for each in self.state.clusters)
        kept = self.hooks.kept if known and in_state else None
        return Surroundings(
            self.project,
            self.region,
            self.hooks.guard,
            opts,
            kept,
            stack=self.identity.label,
            transforms=self.hooks.transforms,
            registered=self.hooks.clusters,
        )

    def retire(self, name: str, opts: pulumi.ResourceOptions) -> list[Generation]:
        """Declare the clusters of a name that retire, which go after their last jobs, protected or not."""
        made = self.creation.made
        going = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(protect=False))
        return [
            retiring(action.living, made.facts.clusters[action.id], self.around(action.id, going))
            for action in made.plan.retiring
            if action.living and action.cluster == name
        ]

    async def rest(self) -> Sequence[pulumi.Resource]:
        """Declare, once, the clusters that retire and that no component stands for any more."""
        self._rest = self._rest or asyncio.ensure_future(self._declare_rest())
        return await asyncio.shield(self._rest)

    async def _declare_rest(self) -> Sequence[pulumi.Resource]:
        made = await self.as_made()
        after = pulumi.ResourceOptions(depends_on=[self.workspace] if self.workspace else [])
        names = dict.fromkeys(action.cluster for action in made.plan.retiring)
        return [old for name in names if name not in self.of("cluster") for old in self.retire(name, after)]


async def all_declared(components: Sequence[Member]) -> None:
    """Wait until these components have declared their children."""
    await asyncio.gather(*(component.children for component in components))

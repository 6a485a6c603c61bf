"""The components of a program, decided about together once all that they are given is known.

What one component declares depends on the others: a cluster that no longer stands in the program retires, quota counts
all of them, and the catalog names what came to be. So a component only joins here when it is constructed. No resource
is registered before the program's last line: by then the composition knows all, reads what lives once, decides, and
each component declares its part.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any, cast
from weakref import WeakKeyDictionary

import pulumi
from pulumi.runtime.settings import get_monitor

from slipway.authoring.stack.yaml_file import Document
from slipway.base.errors import ConfigError, SlipwayError
from slipway.base.formatting import join
from slipway.deploying.deployment.deletion_guard import StackGuard
from slipway.google.live import Unknown
from slipway.model.identity import Identity
from slipway.model.origin import Origin, Program
from slipway.model.state import State

from .duplicates import refuse_duplicates
from .engine import EngineRun, ProgramEnd, current_program, destroys, fail, in_thread, known, left
from .entries import ArgumentError, refuse_no_place, refuse_sign_in, refuse_wrong
from .foundations import absent_projects, await_created, foundations
from .group import Group, all_declared, prefix
from .hooks import Hooks
from .member import Member
from .namesakes import forget, watch
from .options import provider_of
from .places import depends_on, left_as_it_is, of_one, together
from .recovery import add_imports, warn_of_imports
from .resolution import Given, plain, resolved
from .secret_arguments import refuse_secret_configuration
from .strays import refuse_foreign
from .taken_out import TakenOut, taken_out
from .voice import Voice
from .waiting import awaited_in, come, refuse_late, settled
from .world import World, mocked

Place = tuple[str, str]
"""Project and region."""
Key = tuple[Member | None, Place]
"""The workspace of a group, and its place."""
Share = tuple[str, Place, str]
"""The part of a program's state that belongs to a group: the beginning of its names, its place, its stack in labels."""


class Composition:
    """The components of one program, and what is decided about them.

    `checkout`: the folder with `templates/` and `jobs/`.
    """

    #: The stack file that the components' arguments come from, whose lines errors name.
    file: Document | None = None
    groups: Sequence[Group] = ()
    #: Workspaces that the engine knows, and that no component stands for.
    taken_out: Sequence[TakenOut] = ()
    #: Workspaces that can't be deployed now, with the errors, beside others that can.
    left: dict[Group, SlipwayError]
    #: Awaited by the engine, as every output is.
    _ending: pulumi.Output[None]
    #: The projects and APIs of the program, which exist before anything is read.
    foundations: Sequence[pulumi.Resource] = ()
    #: Set from the first question on: no component may join any more.
    _deciding: asyncio.Task[None] | None = None

    def __init__(self, checkout: Path, *, everywhere: bool = False) -> None:
        """Begin. `everywhere`: errors of all resources of the program are explained, not only those of components."""
        # Slow imports run while the engine, then the cloud, answers: `preview-vs-bare` of the bench.
        with ThreadPoolExecutor(1) as background:
            background.submit(import_module, "slipway.deploying.deployment.deployment")
            world = mocked()
            self.run = _run(checkout, world)
        self.hooks = Hooks(
            self._guards,
            self.run.state,
            self._may_try_again,
            self._places,
        )
        self.explained = [] if everywhere else [self.hooks.explained]
        if everywhere:
            pulumi.runtime.register_stack_transformation(self.hooks.explained)
        watch()
        self.components: list[Member] = []
        self.left = {}
        self._program = current_program()
        self.end_of_program = ProgramEnd()
        if self.run.empty:
            from .destruction import end_if_nothing_exists  # no deployment needs it

            self.end_of_program.first = lambda: end_if_nothing_exists(self.run, self.components)

    def _places(self, keys: Collection[str]) -> Sequence[str]:
        """Return the lines of the stack file with these keys, whose values the program leaves as they are."""
        files = [group.file for group in self.groups] or [self.file]
        return [place for file in files if file for place in file.places(keys)]

    def join(self, component: Member) -> None:
        if self._deciding is not None:
            raise ArgumentError(
                f"{component.title} comes too late",
                why="it is constructed while outputs are awaited, as in `apply`, when all else is decided already",
                fix="construct it in the program itself, and give it the output as an argument\n"
                "or, for a component for each item of another stack's output, read that first, in an async function "
                "that `pulumi.run` calls: `(await reference.get_output_details(NAME)).value`",
            )
        # The entries of a stack file are checked, with their lines. No mistake may prevent a destruction.
        if self.file is None and not destroys():
            refuse_wrong(component, self._whose(component), plain(component.args))
        self.components.append(component)

    def _whose(self, component: Member) -> Identity:
        return self.run.identity(component.name if component.kind == "workspace" else "")

    async def group(self, component: Member) -> Group | None:
        """Wait for the decision, and return the group of components that one of them belongs to. None where a program
        with a mistake is taken down, of which nothing is declared."""
        # The engine awaits what is constructed also where the program has failed: half a program decides nothing.
        await self.hooks.registered.future()
        await self.end_of_program.come()
        if self._deciding is None:
            self._deciding = asyncio.ensure_future(self._decide())
        await asyncio.shield(self._deciding)
        group = next((group for group in self.groups if component in group.components), None)
        if group in self.left:
            await self._ending.future()  # Raises the error, once the other workspaces are deployed.
        return group

    def former(self, type_: str, name: str) -> str:
        """Return the engine's name of a component as of the last deployment, by its type and name. Empty where it has
        none, and where several components could be meant."""
        named = [each for each in self.components if (each.pulumi_resource_type, each.name) == (type_, name)]
        known = {} if isinstance(self.run.state, Unknown) else self.run.state.urns
        return known.get((type_, name), "") if len(named) == 1 else ""

    def left_as_they_are(self, component: Member) -> Mapping[str, Any]:
        """Return the outputs of a component that declares nothing, as far as other deployments read them."""
        state = self.run.state
        if isinstance(state, Unknown) or component.pulumi_resource_name not in state.workspaces:
            return {}
        return {"place": state.workspaces[component.pulumi_resource_name].written, "facts": dict(state.workspace)}

    async def end(self, component: Member) -> None:
        """Wait until all is declared. Raises RunError where that, or a preview of it, is refused."""
        await self.group(component)
        await self._ending.future()

    async def _decide(self) -> None:
        try:
            await self.hooks.transforms.watch()
            # First of all, and outside of what a destruction goes on without.
            await in_thread(partial(refuse_foreign, self.run, self._origin, self.components))
            warn_of_imports(self.run)
            try:
                await self._decide_all()
            except ConfigError as error:
                if not destroys() or isinstance(self.run.state, Unknown):
                    raise
                pulumi.log.warn(f"what the program declares is left out of its destruction: {error}")
                await self._take_down(self.run.state)
        except SlipwayError as error:
            forget()
            fail(error)
        self._ending = pulumi.Output.from_input(cast(Any, self._end()))

    async def _decide_all(self) -> None:
        refuse_secret_configuration()
        refuse_duplicates(self.components)
        for component in self.components:
            await refuse_sign_in(component, provider_of(component.options))
        self.foundations = foundations(self.components)
        await await_created(self.foundations)
        given = {
            component: await resolved(component.args, partial(come, component, self.components))
            for component in self.components
        }
        for component, values in given.items() if self.file is None else ():
            if plain(component.args).unknown:
                refuse_wrong(component, self._whose(component), values)
        self._group(given)
        if self.run.preview:
            self._leave_unread(await absent_projects())
        await self._take_out()
        for group in self.groups:
            if group.workspace:
                refuse_late(group.components)
            await self._decide_group(group)
        self._leave_dependents()
        if self.left and len(self.left) == len(self.groups):
            raise together(list(self.left.values()))
        for group in self.left:
            pulumi.log.warn(left_as_it_is(group))

    def _leave_unread(self, projects: Collection[str]) -> None:
        """Have a preview read nothing of projects that only `up` creates."""
        for group in self.groups:
            if group.project in projects:
                group.absent = f"project {group.project} does not exist yet"
                group.voice.warn(f"{group.absent}: this preview reads nothing of it, and ids of clusters may be others")

    async def _decide_group(self, group: Group) -> None:
        """Decide about one of several workspaces. If what exists of it can't be read, or if its deployment is rejected,
        it is left as it is, and the others are deployed. Raises ConfigError for mistakes, which are the program's."""
        try:
            await in_thread(lambda: group.decide(self.file))
        except ConfigError:
            raise
        except SlipwayError as error:
            add_imports(error, self.run)
            named = of_one(group, error, self.groups)
            if destroys() or len(self.groups) == 1:
                raise named from error
            self.left[group] = named

    def _leave_dependents(self) -> None:
        """Leave also the workspaces whose components wait for components of one that is left."""
        for group in [group for group in self.groups if group not in self.left]:
            others = [component for other in self.left for component in other.components]
            if awaited := awaited_in(group.components, others):
                self.left[group] = depends_on(group, awaited)
                self._leave_dependents()
                return

    async def _take_down(self, state: State) -> None:
        """Let all go that the engine knows of any workspace."""
        self.groups, self.taken_out = [], [TakenOut(self.run, state, name) for name in sorted(state.workspaces)]
        for each in self.taken_out:
            each.know(_part(state, each.share, [other.share for other in self.taken_out]))
            each.together = [other.share[2] for other in self.taken_out]
        await self._take_out()

    async def _take_out(self) -> None:
        for each in self.taken_out:
            if not self.run.preview:
                await in_thread(each.refuse)
            await in_thread(each.foretell)
            itself = (other for other in self.components if other.kind == "workspace")
            each.go(self.hooks.guard, next((one for one in itself if one.pulumi_resource_name == each.component), None))

    async def _end(self) -> None:
        """Refuse a preview of what `up` refuses, at its end: a review reads the whole declaration first. The error of a
        workspace that is left as it is ends the program once the others are deployed: then Pulumi deletes nothing, and
        so nothing of what the program did not declare."""
        left = [component for group in self.left for component in group.components]
        try:
            await all_declared([component for component in self.components if component not in left])
            if left:
                await settled([component for component in self.components if component not in left], left)
            await self._refuse_transforms()
            errors = list(self.left.values())
            for each in self.taken_out:
                if self.run.preview:
                    await in_thread(each.refuse)
            errors += [of_one(group, error, self.groups) for group, error in self._refused()]
            if errors:
                raise together(errors)
        except SlipwayError as error:
            fail(error)
        finally:
            forget()

    async def _refuse_transforms(self) -> None:
        """Raise ArgumentError if a transform of the program has changed what Slipway relies on."""
        await asyncio.gather(*(urn.future() for urn in self.hooks.clusters.values()), return_exceptions=True)
        await self.hooks.transforms.registered()
        clusters, unchecked = dict[str, str](), set[str]()
        for group in self.groups:
            if group in self.left or group.guard.taken_down:
                unchecked.update(component.title for component in group.components)
            else:
                clusters |= group.current_clusters
        self.hooks.transforms.refuse(clusters, unchecked)

    def _refused(self) -> Iterator[tuple[Group, SlipwayError]]:
        """Yield the groups whose preview is refused, with the errors."""
        for group in self.groups:
            try:
                if group not in self.left:
                    group.end()
            except SlipwayError as error:
                yield group, error

    def _group(self, given: Mapping[Member, Given]) -> None:
        """Group the components by their workspaces, and those without one by their places."""
        run, parts = self.run, dict[Key, dict[Member, Given]]()
        for component, values in given.items():
            parts.setdefault(_key(component, given, (run.project, run.region)), {})[component] = values
        if isinstance(run.state, State):
            self.taken_out = taken_out(run, run.state, [each for each in given if each.kind == "workspace"])
        shares = {key: _share(run, *key) for key in parts}
        every = [*shares.values(), *(each.share for each in self.taken_out)]
        self.groups = [
            Group(run, self.hooks, *key, part, _part(run.state, shares[key], every)) for key, part in parts.items()
        ]
        for each in self.taken_out:
            each.know(_part(run.state, each.share, every))
        for group in self.groups if len(self.groups) > 1 else ():
            group.voice = Voice(group.workspace.pulumi_resource_name if group.workspace else "")
        for group in self.groups:
            group.guard.together = [each.identity.label for each in self.groups] if group.guard.taken_down else ()

    def _may_try_again(self, id_: str, why: str) -> bool:
        return any(group.creation.may_try_again(id_, why) for group in self.groups if group not in self.left)

    def _guards(self) -> Sequence[StackGuard]:
        """Return the guards of its stacks; before they are known, that of all that the engine knows as one."""
        if decided := [*(group.guard for group in self.groups), *self.taken_out]:
            return decided
        run = self.run
        every = StackGuard(os.environ, run.identity().label, (run.project, run.region), run.state)
        every.undecided = self._origin
        return [every]

    @property
    def _origin(self) -> Origin:
        return Origin(self.run.name) if self.file else Program(self.run.name)

    @property
    def spent(self) -> bool:
        """Tell whether it is that of an earlier program of a test, whose mocks serve several."""
        ended = self._program is None or self._program.done()
        return self._deciding is not None and self.run.world is not None and ended


def _run(checkout: Path, world: World | None) -> EngineRun:
    if world is not None:
        return EngineRun.of(checkout, world.state, world)
    state, empty = left(checkout, os.environ) if destroys() else (known(), False)
    return EngineRun.of(checkout, state, empty=empty)


def _key(component: Member, given: Mapping[Member, Given], usual: Place) -> Key:
    """Return a component's workspace, which it names, itself or by its clusters and templates, or else the only one;
    and its place. Raises ConfigError where that can't be told."""
    named = list(dict.fromkeys(component.workspaces))
    workspaces = [each for each in given if each.kind == "workspace"]
    found = named or workspaces
    if len(found) > 1:
        raise ConfigError(
            f"the workspace of {component.title} can't be told",
            why=f"the program has {join(each.pulumi_resource_name for each in workspaces)}"
            + (f", and it belongs to {join(each.pulumi_resource_name for each in named)}" if named else ""),
            fix="`workspace=…` among its arguments",
        )
    workspace = found[0] if found else None
    clusters: Sequence[Member] = getattr(component.args, "clusters", None) or ()
    places = {_place(each, given, usual) for each in ([workspace] if workspace else clusters or [component])}
    if len(places) > 1:
        raise ConfigError(
            f"{component.title} is of clusters in several regions",
            why=f"they are in {join(sorted(region for _, region in places))}, and it is held against those of one",
            fix="one for each region, or a Workspace in each",
        )
    (place,) = places
    asked = workspace or component
    refuse_no_place(asked, given[asked], place)
    own = _place(component, given, place)
    if workspace and own != place:
        pairs = zip(("project", "region"), place, own, strict=True)
        same = ", ".join(f"{key}={there!r}" for key, there, here in pairs if here != there)
        raise ConfigError(
            f"{component.title} is in {own[1]} of {own[0]}, and workspace {workspace.pulumi_resource_name} "
            f"in {place[1]} of {place[0]}",
            why="jobs write to a bucket in their own region, and a catalog offers one region",
            fix=f"`{same}` among its arguments, or `workspace=…` with a Workspace of its own there",
        )
    return workspace, place


def _place(component: Member, given: Mapping[Member, Given], usual: Place) -> Place:
    """Return a component's project and region, which are its own, its provider's or the stack's."""
    values = given[component].values
    return str(values.get("project") or usual[0]), str(values.get("region") or usual[1])


def _share(run: EngineRun, workspace: Member | None, place: Place) -> Share:
    name = workspace.name if workspace else ""
    return prefix(name) if name else "", place, run.identity(name).label


def _part(state: State | Unknown, own: Share, shares: Collection[Share]) -> State | Unknown:
    """Return what one of the parts of a program has of the engine's state."""
    if isinstance(state, Unknown):
        return state
    others = [other for other in shares if other != own]
    prefixes = [prefix for prefix, _, _ in others if prefix]
    places = [place for _, place, _ in others if place != own[1]]
    return state.part(own[0], prefixes, places, [stack for _, _, stack in others])


_COMPOSITIONS: WeakKeyDictionary[Any, Composition] = WeakKeyDictionary()


def composition() -> Composition:
    """Return the composition of the running program, which begins with its first component."""
    current = _COMPOSITIONS.get(get_monitor())
    return begin(Path.cwd()) if current is None or current.spent else current


def begin(checkout: Path, *, everywhere: bool = False) -> Composition:
    """Begin the composition of the running program."""
    _COMPOSITIONS[get_monitor()] = made = Composition(checkout, everywhere=everywhere)
    return made


def program_ended(error: Exception | None = None) -> None:
    """Tell that the running program has ended, with its error, where it has no stack that tells."""
    if current := _COMPOSITIONS.get(get_monitor()):
        current.end_of_program.tell(error)

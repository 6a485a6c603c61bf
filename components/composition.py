"""The components of a program, decided about together once all that they are given is known.

What one component declares depends on the others: a cluster that no longer stands in the program retires, quota counts
all of them, and the catalog names what came to be. So a component only joins here when it is constructed. No resource
is registered before the program's last line: by then the composition knows all, reads what lives once, decides, and
each component declares its part.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from typing import Any, cast
from weakref import WeakKeyDictionary

import pulumi
from pulumi.runtime.settings import get_monitor

from slipway.authoring.stack.yaml_file import Document
from slipway.base.errors import SlipwayError
from slipway.deploying.deployment.deletion_guard import StackGuard

from .engine import (
    ADVICE,
    HOOK,
    EngineRun,
    as_shown,
    bound,
    explaining,
    fail,
    give_advice,
    in_thread,
    known,
    program_error,
    registered,
)
from .entries import ArgumentError, refuse_wrong
from .group import Group
from .grouping import groups_of
from .guard import guard
from .member import Member
from .resolution import Given, plain, resolved
from .world import mocked


class Composition:
    """The components of one program, and what is decided about them.

    `checkout`: the folder with `templates/` and `jobs/`.
    """

    #: The stack file that the components' arguments come from, whose lines errors name.
    file: Document | None
    #: Awaited by the engine, as every output is.
    _ending: pulumi.Output[None]
    _registered: pulumi.Output[None]

    def __init__(self, checkout: Path, *, everywhere: bool = False) -> None:
        """Begin. `everywhere`: errors of all resources of the program are explained, not only those of components."""
        self.checkout, self.began = checkout, datetime.now(UTC)
        self.file = None
        # Slow imports run while the engine, then the cloud, answers: `preview-vs-bare` of the bench.
        with ThreadPoolExecutor(1) as background:
            background.submit(import_module, "slipway.deploying.deployment.deployment")
            #: What lives in a test with mocks; None in a real run.
            self.world = mocked()
            self.engine = EngineRun.of(checkout, self.world.state if self.world else known())
        trouble = explaining(os.environ, self.may_try_again)
        explained = bound(trouble)
        self.explained = [] if everywhere else [explained]
        if everywhere:
            pulumi.runtime.register_stack_transformation(explained)
        self.components: list[Member] = []
        self.given: Mapping[Member, Given] = {}
        self.groups: tuple[Group, ...] = ()
        #: Bound to what is written or made when a cluster comes to be, by the engine's name of that.
        self.makers: dict[str, Callable[[], Awaitable[None]]] = {}
        self.making = pulumi.ResourceHook(HOOK, self._make)
        #: Bound to all that jobs need: asks for them before a deletion.
        self.hooks = guard(self._guards, self.engine.state)
        hooks = (trouble, self.making, *(self.hooks.before_delete or ()))
        self._registered = pulumi.Output.from_input(cast(Any, registered(*cast(Any, hooks))))
        self._program = asyncio.current_task()
        self.complete = False
        self._deciding: asyncio.Task[None] | None = None

    def join(self, component: Member) -> None:
        if self.complete:
            raise ArgumentError(
                f"{type(component).__name__} {component.name} comes too late",
                why="it is constructed while outputs are awaited, when all else is decided already",
                fix="construct it in the program itself, and give it the output as an argument",
            )
        if self.file is None:  # The entries of a stack file are checked, with their lines.
            refuse_wrong(component, self.engine.name)
        self.components.append(component)

    async def group(self, component: Member) -> Group:
        """Wait for the decision, and return the group of components that one of them belongs to."""
        # The engine awaits what is constructed also where the program has failed: half a program decides nothing.
        if (error := program_error()) is not None:
            await self._registered.future()
            raise as_shown(error)
        if not self.complete:
            self.complete = True
            self._deciding = asyncio.ensure_future(self._decide())
        if self._deciding is not None:
            await asyncio.shield(self._deciding)
        return next(group for group in self.groups if component in group.components)

    def decide(self) -> None:
        """Decide at once, where no argument has to be awaited. Raises SlipwayError."""
        given = {component: plain(component.args) for component in self.components}
        if any(each.unknown for each in given.values()):
            return
        self._group(given)
        self.complete = True
        for group in self.groups:
            group.decide()
        self._ending = pulumi.Output.from_input(cast(Any, self._end()))

    async def _decide(self) -> None:
        try:
            self._group(await self._resolved())
            for group in self.groups:
                await in_thread(group.decide)
        except SlipwayError as error:
            fail(error)
        self._ending = pulumi.Output.from_input(cast(Any, self._end()))

    async def _resolved(self) -> Mapping[Member, Given]:
        return {component: await resolved(component.args) for component in self.components}

    def _group(self, given: Mapping[Member, Given]) -> None:
        self.given = given
        self.groups = groups_of(self)
        if self.engine.begins:
            pulumi.log.info(ADVICE)
            if self.file:
                give_advice()

    async def _end(self) -> None:
        """Refuse a preview of what `up` refuses, at its end: a review reads the whole declaration first."""
        await self.after_all(self.components)
        try:
            for group in self.groups:
                group.end()
        except SlipwayError as error:
            fail(error)

    async def _make(self, args: pulumi.ResourceHookArgs) -> None:
        if maker := self.makers.get(args.name):
            await maker()

    def may_try_again(self, id_: str, why: str) -> bool:
        """Tell whether the provider is to try again to make a cluster."""
        return any(group.may_try_again(id_, why) for group in self.groups)

    def _guards(self) -> Sequence[StackGuard]:
        """Return the guards of its stacks; before they are known, that of all that the engine knows as one."""
        engine = self.engine
        whole = StackGuard(os.environ, engine.name, (engine.project, engine.region), engine.state)
        return [group.guard for group in self.groups] or [whole]

    @property
    def ended(self) -> bool:
        """Tell whether its program has ended."""
        return self._program is None or self._program.done()

    async def after_all(self, of: Sequence[Member]) -> None:
        """Wait until these components have declared their children."""
        await asyncio.gather(*(component.children for component in of))


_COMPOSITIONS: WeakKeyDictionary[Any, Composition] = WeakKeyDictionary()


def composition() -> Composition:
    """Return the composition of the running program, which begins with its first component."""
    monitor = get_monitor()
    current = _COMPOSITIONS.get(monitor)
    # A test's mocks serve several programs, one after another.
    if current is None or (current.complete and current.world and current.ended):
        current = begin(Path.cwd())
    return current


def begin(checkout: Path, *, everywhere: bool = False) -> Composition:
    """Begin the composition of the running program."""
    _COMPOSITIONS[get_monitor()] = made = Composition(checkout, everywhere=everywhere)
    return made

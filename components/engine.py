"""The engine: its answers before anything is declared (the stack's configuration, checked like the file that it mostly
comes from, and its state), a thread for its hooks' waits, and the hook that explains its errors."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import pulumi
from pulumi.runtime.config import get_config_env

from slipway.authoring.stack.stack import NO_FILE, Edit, Stack, from_config
from slipway.authoring.stack.yaml_file import load
from slipway.base.errors import ConfigError, Fault
from slipway.google.live import Unknown
from slipway.google.provider_errors import ON_ERROR, meaning_of
from slipway.model.state import State, read

Result = TypeVar("Result")
_FUNCTION = "pulumi:pulumi:readStackResourceOutputs"
_DIY = "organization"  # the word of backends without organizations; the older ones of them know bare names alone
ADVICE = f"should this fail without saying what to do: {ON_ERROR}"


@dataclass(frozen=True)
class EngineRun:
    """A run of the engine: its place, its stack, and its state. Nothing is refused yet."""

    checkout: Path
    name: str
    project: str
    region: str
    state: State | Unknown
    preview: bool

    @classmethod
    def of(cls, checkout: Path, state: State | Unknown) -> EngineRun:
        gcp = pulumi.Config("gcp")  # Unchecked, as no mistake may prevent a destruction.
        place = gcp.get("project") or "", gcp.get("region") or ""
        return cls(checkout, pulumi.get_stack(), *place, state, pulumi.runtime.is_dry_run())

    @property
    def deployed(self) -> bool:
        return isinstance(self.state, State) and bool(self.state.catalog_bucket)


def configured(checkout: Path, edit: Edit | None = None) -> Stack:
    """Return the stack that is being deployed, as `edit` returns it. Raises StackErrors with file and line of every
    mistake, and ConfigError for those of `edit`.

    The engine's values take precedence over the file's (`pulumi up --config …`), whose lines are kept for the errors.
    """
    stack = pulumi.get_stack()
    file = checkout / "stacks" / f"Pulumi.{stack}.yaml"
    try:
        document = load(file, shown_as=f"stacks/{file.name}")
    except ConfigError:
        document = NO_FILE
    written = from_config(get_config_env(), stack=stack, file=document)
    if edit is None:
        return written
    from slipway.authoring.stack.edit import edited  # few programs have an edit

    return edited(written, edit)


def give_advice() -> None:
    """Keep advice on errors as an output of the stack from now on, not from the end of its first successful run: the
    engine begins the next run by reading the present state, and the program can't explain errors then."""
    root = pulumi.runtime.get_root_resource()
    assert isinstance(root, pulumi.ComponentResource), "a program runs in a stack"
    root.register_outputs({"onError": ON_ERROR})


def known() -> State | Unknown:
    """Return the stack's state, from any backend. An unreadable one is the reason why; never empty."""
    stack, organization = pulumi.get_stack(), pulumi.get_organization()
    name = stack if organization == _DIY else f"{organization}/{pulumi.get_project()}/{stack}"
    try:
        answer = pulumi.runtime.invoke(_FUNCTION, {"stackName": name}).value
        return read(answer["outputs"])
    except Exception as problem:  # Pulumi's error has no type of its own.
        return Unknown(str(problem), f"the engine ({_FUNCTION})", "a Pulumi of at least 3.259")


def left(checkout: Path, environ: Mapping[str, str]) -> State | Unknown:
    """Return the state of a stack that is being taken down.

    To answer, the engine notes a provider. From an empty state it deletes nothing, not even that, and `pulumi stack rm`
    then refuses. So it is not asked where an export has nothing of the stack.
    """
    from slipway.operating.doctor.backend_reading import look  # no deployment needs it

    backend = look(checkout, environ, pulumi.get_stack())
    return State() if not isinstance(backend, str) and backend.state == State() else known()


def beside(work: Callable[[], None]) -> None:
    """Do blocking work that nothing waits for. Its thread ends with the program."""
    threading.Thread(target=copy_context().run, args=(work,), name="beside", daemon=True).start()


async def in_thread(work: Callable[[], Result]) -> Result:
    """Do blocking work, while hooks and resources go on. Its thread ends with the program, whatever it waits for."""
    done: Future[Result] = Future()
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            done.set_result(work())
        except Exception as problem:
            done.set_exception(problem)

    threading.Thread(target=copy_context().run, args=(run,), name="hook", daemon=True).start()
    return await asyncio.wrap_future(done)


TROUBLE = "slipway-trouble-v1"
"""The hook's name, which the state keeps with every resource: it is registered always, and the name never changes."""
_DONE = {"create": "made", "update": "changed", "delete": "deleted"}


def explain_errors(environ: Mapping[str, str]) -> None:
    """Register the hook that explains a provider's error, whose words name no way out, for all later declarations. Each
    way out is told once, however many errors lead to it.

    Errors of the engine's own reading never reach the hook: the stack's output `onError` is for those.
    """
    said: set[str] = set()

    async def on_error(args: pulumi.ErrorHookArgs) -> bool:
        meaning = meaning_of(args.errors[0] if args.errors else "", environ)
        if meaning.fix not in said:
            said.add(meaning.fix)
            pulumi.log.error(words(args.name, args.type, args.failed_operation, meaning))
        return False  # The provider has repeated the request for long enough.

    hook = pulumi.ErrorHook(TROUBLE, on_error)

    def transformed(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
        if not isinstance(args.resource, pulumi.CustomResource):
            return None
        # Resources share a binding, so it stays unchanged.
        bound = copy(args.opts.hooks or pulumi.ResourceHookBinding())
        bound.on_error = [*(bound.on_error or ()), hook]
        args.opts.hooks = bound
        return pulumi.ResourceTransformationResult(args.props, args.opts)

    pulumi.runtime.register_stack_transformation(transformed)


def words(name: str, type_: str, operation: str, fault: Fault) -> str:
    done = _DONE.get(operation, operation)
    what = f"{type_.rsplit(':', 1)[-1]} {name} could not be {done}: {fault.what}"
    return str(fault._replace(what=what))

"""The engine: its answers before anything is declared (the stack's configuration, checked like the file that it mostly
comes from, and its state), a thread for its hooks' waits, and the hook that explains its errors."""

from __future__ import annotations

import asyncio
import atexit
import os
import threading
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn, TypeVar

import pulumi
from pulumi.runtime.config import get_config_env

from slipway.authoring.stack.stack import NO_FILE, Edit, Stack, parse, with_config
from slipway.authoring.stack.yaml_file import Document, load
from slipway.base.errors import ConfigError, Fault, SlipwayError
from slipway.google.live import Unknown
from slipway.google.provider_errors import ON_ERROR, meaning_of
from slipway.model.state import CLUSTER, State, read

from .world import mocked

Result = TypeVar("Result")
_FUNCTION = "pulumi:pulumi:readStackResourceOutputs"
SAID = 32
"""The exit code that tells Pulumi's language host that the person knows the reason."""
_RUNNER = "run_pulumi_func"
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

    @property
    def begins(self) -> bool:
        """Tell whether this is the first deployment of the stack, and no preview."""
        return not self.preview and isinstance(self.state, State) and not self.state.catalog_bucket


def configured(checkout: Path, edit: Edit | None = None) -> tuple[Document, Stack]:
    """Return the stack that is being deployed, as `edit` returns it, and what was written of it.

    Raises StackErrors with file and line of every mistake, and ConfigError for those of `edit`.

    The engine's values take precedence over the file's (`pulumi up --config …`), whose lines are kept for the errors.
    """
    stack = pulumi.get_stack()
    file = checkout / "stacks" / f"Pulumi.{stack}.yaml"
    try:
        document = load(file, shown_as=f"stacks/{file.name}")
    except ConfigError:
        document = NO_FILE
    document = with_config(get_config_env(), document)
    written = parse(document, stack=stack)
    if edit is None:
        return document, written
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


def fail(error: SlipwayError) -> NoReturn:
    """End the program with an error that the person is shown once. In a program that runs within another one, as of the
    Automation API, it is raised there."""
    # The engine's host lets the resources be registered that a review reads, shows the error, and would end with 1, of
    # which the engine tells the person as well.
    if not _within():
        atexit.register(os._exit, SAID)
    raise pulumi.RunError(str(error)) from error


def _within() -> bool:
    """Tell whether the program runs in a test, or in a thread of another program, as the Automation API runs it."""
    return mocked() is not None or threading.current_thread() is not threading.main_thread()


def program_error() -> BaseException | None:
    """Return the error that the program ended with, while the engine still awaits what it declared; None without one.

    Pulumi has no question for it: it is a variable of the coroutine that runs the program.
    """
    for task in asyncio.all_tasks():
        coroutine: Any = task.get_coro()
        while coroutine is not None:
            frame = getattr(coroutine, "cr_frame", None)
            if frame is not None and frame.f_code.co_name == _RUNNER:
                error: BaseException | None = frame.f_locals.get("ex")
                return error
            coroutine = getattr(coroutine, "cr_await", None)
    return None


def as_shown(error: BaseException) -> BaseException:
    """Return a program's own error as one that a resource may raise that will never be: Pulumi shows the resource's
    error in place of the program's, and without a traceback."""
    if not isinstance(error, Exception) or isinstance(error, pulumi.RunError) or _within():
        return error
    return pulumi.RunError("".join(traceback.format_exception(error)))


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


HOOK = "slipway-create-v1"
"""The hook that makes clusters."""
TROUBLE = "slipway-trouble-v1"
"""The hook's name, which the state keeps with every resource: it is registered always, and the name never changes."""
_DONE = {"create": "made", "update": "changed", "delete": "deleted"}


Transformation = Callable[[pulumi.ResourceTransformationArgs], pulumi.ResourceTransformationResult | None]


def explaining(
    environ: Mapping[str, str], may_try_again: Callable[[str, str], bool] = lambda *_: False
) -> pulumi.ErrorHook:
    """Register the hook that explains a provider's error, whose words name no way out. Each way out is told once,
    however many errors lead to it. `may_try_again` is asked first where the provider could not make a cluster, by its
    id and the error.

    Errors of the engine's own reading never reach the hook: the stack's output `onError` is for those.
    """
    said: set[str] = set()

    async def on_error(args: pulumi.ErrorHookArgs) -> bool:
        meaning = meaning_of(args.errors[0] if args.errors else "", environ)
        creates = args.type == CLUSTER and args.failed_operation == "create"
        if creates and await in_thread(lambda: may_try_again(args.name, meaning.what)):
            return True
        if meaning.fix not in said:
            said.add(meaning.fix)
            pulumi.log.error(words(args.name, args.type, args.failed_operation, meaning))
        return False  # The provider has repeated the request for long enough.

    return pulumi.ErrorHook(TROUBLE, on_error)


async def registered(*hooks: pulumi.ErrorHook | pulumi.ResourceHook) -> None:
    """Wait until the engine knows these hooks: the interpreter crashes where the program ends in an error before."""
    await asyncio.gather(*(hook._registered for hook in hooks))


def bound(hook: pulumi.ErrorHook) -> Transformation:
    """Return the transformation that binds a hook to resources, once to each."""

    def transformed(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
        if not isinstance(args.resource, pulumi.CustomResource):
            return None
        # Resources share a binding, so it stays unchanged.
        hooks = copy(args.opts.hooks or pulumi.ResourceHookBinding())
        if any(each.name == hook.name for each in hooks.on_error or () if isinstance(each, pulumi.ErrorHook)):
            return None
        hooks.on_error = [*(hooks.on_error or ()), hook]
        args.opts.hooks = hooks
        return pulumi.ResourceTransformationResult(args.props, args.opts)

    return transformed


def words(name: str, type_: str, operation: str, fault: Fault) -> str:
    done = _DONE.get(operation, operation)
    what = f"{type_.rsplit(':', 1)[-1]} {name} could not be {done}: {fault.what}"
    return str(fault._replace(what=what))

"""The engine: its answers before anything is declared (the stack's configuration, checked like the file that it mostly
comes from, and its state), the end of a program that fails, and a thread for its hooks' waits."""

from __future__ import annotations

import asyncio
import atexit
import os
import sys
import threading
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextvars import copy_context
from dataclasses import dataclass
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any, NoReturn, TypeVar
from weakref import WeakKeyDictionary

import pulumi
from pulumi.runtime.config import get_config_env, get_config_secret_keys_env
from pulumi.runtime.settings import get_engine, get_monitor
from pulumi.runtime.sync_await import _ensure_event_loop

from slipway.authoring.stack.encrypted import check_encrypted
from slipway.authoring.stack.stack import NO_FILE, Edit, Stack, parse, with_config
from slipway.authoring.stack.yaml_file import Document, StackErrors, load
from slipway.base.errors import ConfigError, SlipwayError
from slipway.google.live import Unknown
from slipway.model.identity import Identity
from slipway.model.state import State, read

from .world import World, mocked

Result = TypeVar("Result")
_FUNCTION = "pulumi:pulumi:readStackResourceOutputs"
SAID = 32
"""The exit code that tells Pulumi's language host that the person knows the reason."""
_KNOWN: WeakKeyDictionary[Any, State | Unknown] = WeakKeyDictionary()
"""By the program, the stack's state."""
_DIY = "organization"  # the word of backends without organizations; the older ones of them know bare names alone


@dataclass(frozen=True)
class EngineRun:
    """A run of the engine: its place, its stack, and its state. Nothing is refused yet."""

    checkout: Path
    name: str
    project: str
    region: str
    state: State | Unknown
    preview: bool
    #: What lives in a test with mocks; None in a real run.
    world: World | None = None
    pulumi_project: str = ""
    #: It takes down a stack whose state has no resource at all.
    empty: bool = False

    @classmethod
    def of(
        cls, checkout: Path, state: State | Unknown, world: World | None = None, *, empty: bool = False
    ) -> EngineRun:
        gcp = pulumi.Config("gcp")  # Unchecked, as no mistake may prevent a destruction.
        place = gcp.get("project") or "", gcp.get("region") or ""
        act_as_provider()
        preview = pulumi.runtime.is_dry_run()
        return cls(checkout, pulumi.get_stack(), *place, state, preview, world, pulumi.get_project(), empty)

    def identity(self, workspace: str = "") -> Identity:
        """Return the identity of what belongs to a workspace by its name, or to none."""
        return Identity(self.pulumi_project, self.name, workspace)

    @property
    def is_deployed(self) -> bool:
        """Return whether the state has a deployment that has published a catalog."""
        return isinstance(self.state, State) and bool(self.state.catalog_bucket)


def act_as_provider() -> None:
    """Have the program ask as the account, and at the cost of the project, that the provider is told of."""
    gcp = pulumi.Config("gcp")
    if account := gcp.get("impersonateServiceAccount"):
        os.environ["GOOGLE_IMPERSONATE_SERVICE_ACCOUNT"] = account
    if (gcp.get("userProjectOverride") or "").lower() == "true":
        os.environ["USER_PROJECT_OVERRIDE"] = "true"
        payer = gcp.get("billingProject") or os.environ.get("GOOGLE_BILLING_PROJECT", gcp.get("project") or "")
        os.environ["GOOGLE_BILLING_PROJECT"] = payer


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
    # Before Pulumi's decrypted values take the place of the file's: errors about these repeat them.
    if encrypted := check_encrypted(document, get_config_secret_keys_env()):
        raise StackErrors(encrypted)
    document = with_config(get_config_env(), document)
    written = parse(document, stack=stack, identity=Identity(pulumi.get_project(), stack))
    if edit is None:
        return document, written
    from slipway.authoring.stack.edit import edited  # few programs have an edit

    return edited(written, edit)


def destroys() -> bool:
    """Tell whether the person says that the program is run for a destruction, which the engine does not tell."""
    return os.environ.get("SLIPWAY_PURPOSE") == "destroy"


def known() -> State | Unknown:
    """Return the stack's state, from any backend, as it was at the first question of the run; of a test with mocks, the
    test's. An unreadable one is the reason why; never empty."""
    world = mocked()
    if world:
        return world.state
    monitor = get_monitor()
    if monitor not in _KNOWN:
        _KNOWN[monitor] = _state()
    return _KNOWN[monitor]


def _state() -> State | Unknown:
    stack, organization = pulumi.get_stack(), pulumi.get_organization()
    name = stack if organization == _DIY else f"{organization}/{pulumi.get_project()}/{stack}"
    try:
        answer = pulumi.runtime.invoke(_FUNCTION, {"stackName": name}).value
        return read(answer["outputs"])
    except Exception as problem:  # Pulumi's error has no type of its own.
        return Unknown(str(problem), f"the engine ({_FUNCTION})", "a Pulumi of at least 3.259")


def left(checkout: Path, environ: Mapping[str, str]) -> tuple[State | Unknown, bool]:
    """Return the state of a stack that is being taken down, and whether it has no resource at all.

    To answer, the engine notes a provider. From an empty state it deletes nothing, not even that, and `pulumi stack rm`
    then refuses. So it is not asked where an export has nothing of the stack.
    """
    from slipway.operating.doctor.backend_reading import look  # no deployment needs it

    backend = look(checkout, environ, pulumi.get_stack())
    if isinstance(backend, str) or backend.state != State():
        return known(), False
    return State(), backend.empty


def end_without_resources() -> None:
    """End the program of a destruction of nothing, before Pulumi is sent anything: it would create the components, and
    `pulumi stack rm` would be rejected. A program that runs within another one goes on."""
    if not _within():
        pulumi.log.info("the stack has no resources, and no cluster or catalog of it exists: nothing to destroy")
        sys.stdout.flush()
        os._exit(0)


def fail(error: SlipwayError) -> NoReturn:
    """End the program with an error that the person is shown once. In a program that runs within another one, as of the
    Automation API, it is raised there."""
    raise _failure(error) from error


def _failure(error: SlipwayError) -> pulumi.RunError:
    """Return an error of the program that the person is shown once, and that the program then ends with."""
    # The engine's host lets the resources be registered that a review reads, shows the error, and would end with 1, of
    # which the engine tells the person as well.
    if not _within():
        atexit.register(os._exit, SAID)
    return _shown_once(pulumi.RunError(str(error)))


def _within() -> bool:
    """Tell whether the program runs in a test, or in a thread of another program, as the Automation API runs it."""
    return mocked() is not None or threading.current_thread() is not threading.main_thread()


def new_future() -> asyncio.Future[Any]:
    """Return a future of the program's event loop, which does not run yet if a test imports the program."""
    loop: asyncio.AbstractEventLoop = _ensure_event_loop()  # type: ignore[no-untyped-call]
    return loop.create_future()


def current_program() -> asyncio.Task[Any] | None:
    """Return the task that runs the program; None if a test imports the program before its event loop runs."""
    try:
        return asyncio.current_task()
    except RuntimeError:
        return None


def imported_now() -> list[ModuleSpec]:
    """Return the modules whose import has called the caller, and has not ended."""
    found: list[ModuleSpec] = []
    frame = sys._getframe(1)
    while frame is not None:
        spec = frame.f_globals.get("__spec__")
        if frame.f_code.co_name == "<module>" and spec is not None and _is_importing(spec):
            found.append(spec)
        frame = frame.f_back  # type: ignore[assignment]
    return found


def _is_importing(spec: ModuleSpec) -> bool:
    return getattr(spec, "_initializing", False)


def _shown_once(error: pulumi.RunError) -> pulumi.RunError:
    """Return the error of a program. Pulumi's Automation API logs an inline program's error and returns it to the
    engine, which shows both: its log leaves out this one."""
    engine: Any = get_engine()
    if mocked() is None and _within() and engine is not None:
        log, text = engine.Log, str(error)
        engine.Log = lambda request: log(request) if request.message != text else None
    return error


class ProgramEnd:
    """The end of the running program: its stack registers the outputs then, also where the program fails."""

    def __init__(self) -> None:
        """Look out for it."""
        #: The error that the program ended with.
        self.error: BaseException | None = None
        #: Called first, before Pulumi is sent what the program declares, unless the program failed.
        self.first: Callable[[], None] = lambda: None
        self._come: asyncio.Future[None] = new_future()
        #: The modules of a program that a test imports: it ends with their imports.
        self._modules = imported_now() if current_program() is None else []
        stack: Any = pulumi.runtime.get_root_resource()
        if stack is None:  # Of a program in another language, whose host tells the end of what it constructs.
            return
        register = stack.register_outputs

        def registered(outputs: Any) -> None:
            error = sys.exc_info()[1]
            if error is None:
                self.first()
            self.tell(_stopped() if _ends_with_success(error) else error)
            stack.register_outputs = register
            register(outputs)

        # The stack of a test with mocks outlives several programs.
        if getattr(stack, "_outputs_registered", mocked() is not None):
            self._come.set_result(None)
        else:
            stack.register_outputs = registered

    def tell(self, error: BaseException | None = None) -> None:
        """Tell of it, and of the error that the program ended with."""
        if not self._come.done():
            self.error = _shown_once(error) if isinstance(error, pulumi.RunError) else error
            self._come.set_result(None)

    async def come(self) -> None:
        """Wait for it. Raises the program's error."""
        await self._come
        while any(map(_is_importing, self._modules)):  # A call of the program, such as an invoke, runs the loop.
            await asyncio.sleep(0)
        if self.error is not None:
            raise as_shown(self.error)


def _ends_with_success(error: BaseException | None) -> bool:
    """Return whether a program ended itself with the exit code of success."""
    return isinstance(error, SystemExit) and error.code in (None, 0)


def _stopped() -> pulumi.RunError:
    """Return the error of a program that ended itself before Slipway declared anything: Pulumi would delete all that
    exists, and has no way to ask the guard of running jobs, which ends together with the program."""
    return _failure(
        ConfigError(
            "the program ended itself by `sys.exit`, so nothing was changed",
            why="Slipway decides and declares at the end of the program, which it did not reach; "
            "Pulumi would delete all that is not declared",
            fix="remove `sys.exit(…)`, also around `main()`: let the program end after its last line\n"
            "or, to end with an error, `raise pulumi.RunError(…)`",
        )
    )


def as_shown(error: BaseException) -> BaseException:
    """Return a program's own error as one that a resource may raise that will never be: Pulumi shows the resource's
    error in place of the program's, and without a traceback."""
    if not isinstance(error, Exception) or isinstance(error, pulumi.RunError):
        return error
    return _shown_once(pulumi.RunError("".join(traceback.format_exception(error))))


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

"""A thread for what a hook of the engine waits for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextvars import copy_context
from typing import TypeVar

Result = TypeVar("Result")


async def in_thread(work: Callable[[], Result]) -> Result:
    """Blocking work, while hooks and resources go on. Its thread ends with the program, whatever it waits for."""
    done: Future[Result] = Future()
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            done.set_result(work())
        except Exception as problem:
            done.set_exception(problem)

    threading.Thread(target=copy_context().run, args=(run,), name="hook", daemon=True).start()
    return await asyncio.wrap_future(done)

"""A thread for what a hook of the engine waits for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextvars import copy_context
from typing import TypeVar

Result = TypeVar("Result")


async def in_thread(work: Callable[[], Result]) -> Result:
    """Blocking work, while hooks and resources go on. Its thread ends with the program, whatever it waits for."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Result] = loop.create_future()

    def end(settle: Callable[[], None]) -> None:
        if not done.cancelled():
            settle()

    def run() -> None:
        try:
            result = work()
        except Exception as problem:
            error = problem  # whose first name ends with this block
            loop.call_soon_threadsafe(end, lambda: done.set_exception(error))
        else:
            loop.call_soon_threadsafe(end, lambda: done.set_result(result))

    threading.Thread(target=copy_context().run, args=(run,), name="hook", daemon=True).start()
    return await done

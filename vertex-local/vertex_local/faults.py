"""Faults that a test can switch on while the cloud runs.

`POST /vertex-local/faults` (owner only) takes `{"faults": [{…}, …]}` and replaces all; `DELETE` switches all off.
"""

import asyncio
import re
import threading
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

from .wire import invalid_argument

Kind = Literal["lost-answer", "unavailable", "delay", "hold", "lagging-list"]


@dataclass(frozen=True)
class Fault:
    """A fault of some calls.

    - `lost-answer`: the work is done, then the connection is closed without an answer
    - `unavailable`: 503 before any work
    - `delay`: the answer comes `seconds` later
    - `hold`: the work begins once the fault is switched off or replaced; never if the caller has gone by then
    - `lagging-list`: resources made less than `seconds` ago are missing from lists
    """

    kind: Kind
    #: A regular expression, searched in `METHOD /path`; by `hold` in `METHOD /path?query`.
    match: str
    #: It counts down and ends the fault at 0; -1 lasts until switched off.
    times: int = -1
    seconds: float = 0.0
    #: Of the matching calls only one in so many is concerned.
    every: int = 1


class Faults:
    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._faults: tuple[Fault, ...] = ()
        self._matched: dict[int, int] = {}
        self._held: list[Callable[[], object]] = []

    def set(self, faults: Sequence[Fault]) -> None:
        with self._lock:
            self._faults, self._matched = tuple(faults), {}
            held, self._held = self._held, []
        for release in held:
            release()

    def current(self) -> tuple[Fault, ...]:
        with self._lock:
            return self._faults

    def take(self, kind: Kind, method: str, path: str) -> Fault | None:
        """Return the first fault of this kind that concerns the call, counted down; None when there is none."""
        with self._lock:
            return self._take(kind, f"{method} {path}")

    async def hold(self, method: str, path: str, query: str, gone: Callable[[], Awaitable[bool]]) -> bool:
        """Return once no `hold` concerns the call any more: whether one did, and the caller has gone by then."""
        loop, over = asyncio.get_running_loop(), asyncio.Event()
        with self._lock:
            if self._take("hold", f"{method} {path}?{query}") is None:
                return False
            self._held.append(lambda: loop.call_soon_threadsafe(over.set))
        # A server stops reading in the middle of a large body. Unless it reads on, it does not see that the caller has
        # gone.
        await gone()
        await over.wait()
        return await gone()

    def _take(self, kind: Kind, call: str) -> Fault | None:
        for at, fault in enumerate(self._faults):
            if fault.kind == kind and fault.times != 0 and re.search(fault.match, call):
                self._matched[at] = self._matched.get(at, 0) + 1
                if self._matched[at] % fault.every:
                    continue
                left = replace(fault, times=fault.times - 1) if fault.times > 0 else fault
                self._faults = (*self._faults[:at], left, *self._faults[at + 1 :])
                return fault
        return None


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def parse(body: dict[str, Any]) -> list[Fault]:
    """Return the faults of a request's body. Raises 400 INVALID_ARGUMENT."""
    if body.keys() != {"faults"}:
        raise invalid_argument(f"a body has 'faults' and nothing else, not {sorted(body)}; DELETE switches all off")
    faults, listed = [], body["faults"]
    if not isinstance(listed, list) or not all(isinstance(item, dict) for item in listed):
        raise invalid_argument("'faults' is a list of objects")
    for item in listed:
        try:
            fault = Fault(**item)
            re.compile(fault.match)
        except (TypeError, re.error) as error:
            raise invalid_argument(f"not a fault: {error}") from error
        if not all(_is_number(value) for value in (fault.times, fault.seconds, fault.every)) or fault.seconds < 0:
            raise invalid_argument("'times', 'seconds' and 'every' are numbers, and 'seconds' are not negative")
        if fault.every < 1:
            raise invalid_argument(f"every {fault.every}-th call: it is 1 or more")
        if fault.kind not in get_args(Kind):
            raise invalid_argument(f"no fault of kind '{fault.kind}'; known are {', '.join(get_args(Kind))}")
        faults.append(fault)
    return faults

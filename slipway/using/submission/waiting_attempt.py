"""An attempt that waits for its machines, and the display of it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from slipway.google.jobs import VertexJob
from slipway.using.submission.candidate import Candidate

if TYPE_CHECKING:
    from slipway.using.jobs.follower import Event
    from slipway.using.submission.costs import Spending

FOR_EVER = float("inf")


@dataclass(frozen=True)
class WaitingAttempt:
    """A job that waits for its machines."""

    job: VertexJob
    candidate: Candidate
    #: The time for which it waits on; then it is given up, or judged once more.
    seconds: float
    #: The later candidates that are not known to be out of reach.
    later: tuple[Candidate, ...]
    #: Its replicas take the claim, which can stop it.
    launcher: bool = True
    #: Its wait has run out, and it stays as none of `later` could run.
    overdue: bool = False


class FallbackDisplay(Protocol):
    def note(self, text: str) -> None: ...

    def confirm(self, costs: Spending) -> None:
        """Ask for a confirmation. Raises PolicyError where nobody can be asked, and KeyboardInterrupt where the answer
        is no."""

    def falling_back(self, waiting: WaitingAttempt) -> None: ...

    def watching(self, waiting: WaitingAttempt) -> AbstractContextManager[Callable[[Event], None]]: ...

"""What is known of a replica from outside."""

from dataclasses import dataclass
from typing import Literal

Phase = Literal["starting", "running", "exited", "unready", "lost", "stopped", "killed"]


@dataclass(frozen=True)
class Sighting:
    """`starting` is not in user code yet.

    `exited` has the code of user code (128 + N for signal N), `unready` the words of why user code never started;
    a `lost` replica's machine went away, a `stopped` one was asked to end, a `killed` one was ended without a word.
    """

    phase: Phase
    code: int = 0
    message: str = ""

    @property
    def ended(self) -> bool:
        return self.phase not in ("starting", "running")

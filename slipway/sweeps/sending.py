"""What has come of sending a sweep: in the end, and so far. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field

from slipway.cloud.failures import CloudError
from slipway.errors import SlipwayError
from slipway.sweeps.runs import Run


@dataclass
class SendingResult:
    """Runs that were accepted now, refused with the service's words, and of which nobody knows."""

    accepted: dict[Run, str] = field(default_factory=dict)
    refused: dict[Run, CloudError] = field(default_factory=dict)
    unknown: list[Run] = field(default_factory=list)
    stopped: SlipwayError | None = None
    interrupted: bool = False


@dataclass
class SendingProgress:
    """`before` of `total` runs were accepted earlier, `now` since. `limited`: times a rate limit was met; `held`: by
    the last call. `trouble`: why nothing gets through, from the last call; empty while calls are answered."""

    total: int
    before: int = 0
    now: int = 0
    missed: int = 0
    refused: int = 0
    limited: int = 0
    held: bool = False
    trouble: str = ""

    @property
    def done(self) -> int:
        return self.before + self.now

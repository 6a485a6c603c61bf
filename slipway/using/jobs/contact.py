"""Contact with a service over days: it is asked again and again, and may be away for a while."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime

from slipway.base.formatting import span
from slipway.google.failures import CloudError
from slipway.using.context import Clock

REPORTED_AGAIN_S = 300.0


@dataclass
class Contact:
    """Contact with a service, which tells of its loss: at once, then rarely."""

    clock: Clock
    #: Seconds until it is given up.
    patience: float
    #: The name of a lost contact in messages.
    what: str = "no contact"
    #: The clause that tells what continues meanwhile.
    goes_on: str = "the job goes on"
    _lost_since: tuple[float, datetime] | None = field(default=None, init=False)
    _reported_at: float = field(default=0.0, init=False)

    def there(self) -> None:
        self._lost_since = None

    def lost(self, problem: CloudError) -> str:
        """Return the message about `problem`, mostly empty. Raises it after a long time without any answer."""
        now = self.clock.monotonic()
        if self._lost_since is None:
            self._lost_since, self._reported_at = (now, self.clock.now()), now
            still = "still trying" if self.patience == float("inf") else f"still trying for {span(self.patience)}"
            return f"{self.what} ({problem.message}); {still}; Ctrl-C loses nothing: {self.goes_on}"
        if now - self._lost_since[0] > self.patience:
            raise problem
        if now - self._reported_at < REPORTED_AGAIN_S:
            return ""
        self._reported_at = now
        return f"{self.what} since {self._lost_since[1]:%H:%M} UTC ({problem.message}); {self.goes_on}"

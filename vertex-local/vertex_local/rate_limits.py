"""The service's rate limits: requests a minute, counted in a sliding window."""

import threading
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta

from .clock import Clock
from .settings import Settings
from .wire import resource_exhausted

_WINDOW = timedelta(minutes=1)


@dataclass(frozen=True)
class _Limit:
    setting: str
    metric: str
    limit: str
    service: str


_LIMITS = {
    "submit": _Limit(
        "submissions_per_minute",
        "aiplatform.googleapis.com/job_submission_requests",
        "Resource management and job submission requests per minute per region",
        "aiplatform.googleapis.com",
    ),
    "call": _Limit(
        "calls_per_minute",
        "aiplatform.googleapis.com/crud_requests",
        "Resource management (CRUD) requests per minute per region",
        "aiplatform.googleapis.com",
    ),
    "logs": _Limit(
        "log_reads_per_minute",
        "logging.googleapis.com/read_requests",
        "Read requests per minute",
        "logging.googleapis.com",
    ),
}


class Limits:
    """The rate limits: `take(what, region)` counts one request, or refuses it when the last minute is full.

    Which metric names the service uses in these errors is not documented; the error's shape is.
    """

    def __init__(self, clock: Clock, settings: Callable[[], Settings], number: str) -> None:
        self._clock, self._settings, self._number = clock, settings, number
        self._lock = threading.Lock()
        self._taken: dict[tuple[str, str], deque[datetime]] = {}

    def take(self, what: str, region: str = "global") -> None:
        """Count a request. `what` is `submit` (60 a minute by default), `call` (600) or `logs` (60). Raises 429
        RESOURCE_EXHAUSTED."""
        limit = _LIMITS[what]
        allowed: int = getattr(self._settings(), limit.setting)
        if allowed <= 0:
            return
        with self._lock:
            now = self._clock.now()
            taken = self._taken.setdefault((what, region), deque())
            while taken and taken[0] <= now - _WINDOW:
                taken.popleft()
            if len(taken) >= allowed:
                raise self._refusal(limit, allowed, region)
            taken.append(now)

    def _refusal(self, limit: _Limit, allowed: int, region: str) -> Exception:
        consumer = f"project_number:{self._number}"
        return resource_exhausted(
            f"Quota exceeded for quota metric '{limit.metric}' and limit '{limit.limit}' of service "
            f"'{limit.service}' for consumer '{consumer}'.",
            [
                {
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": "RATE_LIMIT_EXCEEDED",
                    "domain": "googleapis.com",
                    "metadata": {
                        "consumer": f"projects/{self._number}",
                        "service": limit.service,
                        "quota_metric": limit.metric,
                        "quota_limit": limit.limit,
                        "quota_limit_value": str(allowed),
                        "quota_location": region,
                        "quota_unit": "1/min/{project}",
                    },
                }
            ],
        )

"""The service's rate limits: requests a minute, counted in a sliding window."""

import threading
from collections import deque
from collections.abc import Callable
from datetime import datetime, timedelta

from .clock import Clock
from .settings import Settings
from .wire import resource_exhausted

_WINDOW = timedelta(minutes=1)


_VERTEX, _LOGGING = "aiplatform.googleapis.com", "logging.googleapis.com"
_REQUESTS = "Resource management {} requests per minute per region"
# The setting, the service, and its names of the metric and the limit.
_LIMITS = {
    "submit": ("submissions_per_minute", _VERTEX, "job_submission_requests", _REQUESTS.format("and job submission")),
    "call": ("calls_per_minute", _VERTEX, "crud_requests", _REQUESTS.format("(CRUD)")),
    "logs": ("log_reads_per_minute", _LOGGING, "read_requests", "Read requests per minute"),
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
        """Count a `submit` (60 a minute by default), `call` (600) or `logs` (60). Raises 429 RESOURCE_EXHAUSTED."""
        setting, *names = _LIMITS[what]
        allowed: int = getattr(self._settings(), setting)
        if allowed <= 0:
            return
        with self._lock:
            now = self._clock.now()
            taken = self._taken.setdefault((what, region), deque())
            while taken and taken[0] <= now - _WINDOW:
                taken.popleft()
            if len(taken) >= allowed:
                raise self._refusal(allowed, region, *names)
            taken.append(now)

    def _refusal(self, allowed: int, region: str, service: str, metric: str, limit: str) -> Exception:
        return resource_exhausted(
            f"Quota exceeded for quota metric '{service}/{metric}' and limit '{limit}' of service "
            f"'{service}' for consumer 'project_number:{self._number}'.",
            [
                {
                    "@type": "type.googleapis.com/google.rpc.ErrorInfo",
                    "reason": "RATE_LIMIT_EXCEEDED",
                    "domain": "googleapis.com",
                    "metadata": {
                        "consumer": f"projects/{self._number}",
                        "service": service,
                        "quota_metric": f"{service}/{metric}",
                        "quota_limit": limit,
                        "quota_limit_value": str(allowed),
                        "quota_location": region,
                        "quota_unit": "1/min/{project}",
                    },
                }
            ],
        )

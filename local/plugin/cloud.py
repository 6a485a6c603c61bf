"""A request of the engine, as a resource type sees it: the cloud, the configuration and the time left."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .pace import Pace
from .settings import Settings
from .transport import CloudError, Transport


class OperationError(CloudError):
    """A long-running operation that ended with an error, or not in time."""


@dataclass(frozen=True)
class Cloud:
    """The cloud during one request."""

    transport: Transport
    settings: Settings
    pace: Pace
    #: In seconds; the deadline is its end on the clock of `pace`.
    timeout: float
    deadline: float

    def send(self, service: str, method: str, path: str, **parts: Any) -> Any:
        """Send a request (see Transport.send). Like the official provider it tries a change until the deadline."""
        until = None if method == "GET" else self.deadline
        return self.transport.send(service, method, path, until=until, **parts)

    def finish(self, service: str, operation: Mapping[str, Any], activity: str) -> Mapping[str, Any]:
        """Return an operation at its end. `activity` is for errors, e.g. `Creating PersistentResource`.

        An operation that has not ended is asked at once and then at each interval. Raises OperationError.
        """
        first = True
        while not operation.get("done"):
            if not first:
                if self.pace.now() + self.pace.poll > self.deadline:
                    raise OperationError(
                        f"Error waiting for {activity}: timeout while waiting for state to become 'done: true' "
                        f"(last state: 'done: false', timeout: {self.timeout:g} s); the cloud goes on with it"
                    )
                self.pace.pause(self.pace.poll)
            first = False
            operation = self.send(service, "GET", str(operation["name"]))
        error = operation.get("error")
        if error:
            raise OperationError(
                f"Error waiting for {activity}: Error code {error.get('code', 0)}, message: {error.get('message', '')}"
            )
        return operation

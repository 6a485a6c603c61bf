"""The cancels of a sweep, each an object beside the claims of its runs: whoever sends the runs looks for one that was
not there when they began, so that a cancelled sweep can be gone on with, and cancelled once more."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor, Future

from slipway.base.errors import Cancelled
from slipway.base.formatting import counted
from slipway.google.failures import CloudError, Denied
from slipway.google.storage import Location, Storage
from slipway.using.submission.request import new_request_id

EVERY_S = 2.0
Cancels = frozenset[str]


def read_cancels(storage: Storage, bucket: str, sweep: str) -> Cancels:
    """Return the cancels of a sweep; none for a caller who may not list them. Raises CloudError."""
    try:
        return frozenset(stored.at.name for stored in storage.objects(_folder(bucket, sweep)))
    except Denied:
        return frozenset()


def note_cancel(storage: Storage, bucket: str, sweep: str) -> None:
    """Note that a sweep is cancelled, for whoever sends it. Raises CloudError."""
    folder = _folder(bucket, sweep)
    storage.create(Location(bucket, f"{folder.name}{new_request_id()}"), b"", "text/plain", again=True)


def _folder(bucket: str, sweep: str) -> Location:
    return Location(bucket, f"claims/{sweep}/cancelled/")


def cancelled(sweep: str, left: int) -> Cancelled:
    return Cancelled(
        f"sweep {sweep} was cancelled, and {counted(f'{left:,}', 'run')} of it {'is' if left == 1 else 'are'} not sent",
        why="slipway jobs cancel --sweep ended it",
        fix=("to go on with it, with what was cancelled: ", {"retry_cancelled": True}),
    )


class CancelWatch:
    """A reader of the cancels beside the sending. Times are those of the monotonic clock."""

    def __init__(self, read: Callable[[], Cancels], known: Cancels, threads: Executor) -> None:
        """Begin with the cancels that are `known`."""
        self._read, self._known, self._threads = read, known, threads
        self._reading: Future[Cancels] | None = None
        self._ask_at = 0.0

    def came(self, now: float) -> bool:
        """Tell whether there was another one when it was last looked, every two seconds."""
        if self._reading is None and now >= self._ask_at:
            self._reading, self._ask_at = self._threads.submit(self._read), now + EVERY_S
        if self._reading is None or not self._reading.done():
            return False
        reading, self._reading = self._reading, None
        try:
            return bool(reading.result() - self._known)
        except CloudError:
            return False  # It is asked again, and `came_by_now` raises.

    def came_by_now(self) -> bool:
        """Tell whether there is another one. Raises CloudError."""
        return bool(self._read() - self._known)

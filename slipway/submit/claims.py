"""The claims of sendings, as whoever submits sees them: reading who has one, and taking one to give a job up."""

from __future__ import annotations

from slipway.cloud.failures import CloudError, NotFound
from slipway.cloud.storage import Location, Storage
from slipway.submit.moving import MOVED, Claim
from slipway.submit.request import Request


class Claims:
    """Those in one stack's bucket ``work``."""

    def __init__(self, storage: Storage, work_bucket: str) -> None:
        self._storage, self._bucket = storage, work_bucket

    def read(self, request: Request) -> Claim:
        """Raises CloudError when it can't be told."""
        try:
            holder = self._storage.read(self._of(request)).decode(errors="replace").strip()
        except NotFound:
            return Claim.FREE
        return Claim.MOVED if holder == MOVED else Claim.STARTED

    def take(self, request: Request) -> Claim:
        """Gives the request up unless a launcher was first. Raises CloudError when that can't be told."""
        try:
            if self._storage.create(self._of(request), MOVED.encode(), "text/plain"):
                return Claim.MOVED
        except CloudError as problem:
            if problem.not_accepted:
                raise
        return self.read(request)

    def _of(self, request: Request) -> Location:
        """Where the launchers race; without one, where the job is marked as given up."""
        return Location.parse(request.claim or f"gs://{self._bucket}/claims/{request.id}")

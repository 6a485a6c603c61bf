"""The claim of an attempt, the object that decides which job runs: reading who has it, and taking it to give a job
up."""

from __future__ import annotations

from enum import Enum, auto

from slipway.cloud.failures import CloudError, NotFound
from slipway.cloud.storage import Location, Storage
from slipway.submission.request import Request

GIVEN_UP = "moved"
"""What a claim holds of an attempt that was given up; any other content is a job's."""


class Claim(Enum):
    """Who has an attempt's claim, as far as is known."""

    FREE = auto()
    GIVEN_UP = auto()
    STARTED = auto()


class ClaimStore:
    """Those in one stack's bucket `work`."""

    def __init__(self, storage: Storage, work_bucket: str) -> None:
        self._storage, self._bucket = storage, work_bucket

    def read(self, request: Request) -> Claim:
        """Raises CloudError when it can't be told."""
        try:
            holder = self._storage.read(self._of(request)).decode(errors="replace").strip()
        except NotFound:
            return Claim.FREE
        return Claim.GIVEN_UP if holder == GIVEN_UP else Claim.STARTED

    def take(self, request: Request) -> Claim:
        """Gives the request up unless a launcher was first. Raises CloudError when that can't be told."""
        try:
            if self._storage.create(self._of(request), GIVEN_UP.encode(), "text/plain"):
                return Claim.GIVEN_UP
        except CloudError as problem:
            if problem.not_accepted:
                raise
        return self.read(request)

    def _of(self, request: Request) -> Location:
        """Where the launchers race; without one, where the job is marked as given up."""
        return Location.parse(request.claim or f"gs://{self._bucket}/claims/{request.id}")

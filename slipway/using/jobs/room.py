"""The rounds in which a job is asked to make room: objects below its claim, which its launcher reads and ends; and the
job that goes on behind."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from slipway.authoring.packages.slipway_round import CHECKPOINT, KEPT, MADE, Asked
from slipway.base.formatting import last_part
from slipway.google.failures import CloudError
from slipway.google.jobs import VertexJob
from slipway.google.storage import Location, Storage
from slipway.using.jobs.claim import claim_of, claim_text


@dataclass(frozen=True)
class Round:
    """A time that a job was asked to make room, or is going to be."""

    claim: str
    number: int = 1
    asked: Asked | None = None
    #: It has made room, and never starts its code again.
    made: bool = False

    @property
    def name(self) -> str:
        """Its name beside the claims, as the job behind has it."""
        return f"{last_part(self.claim)}/yield/{self.number}"

    @property
    def words(self) -> str:
        """Return `made for tune-7k2p3f9a (bob), by ada; request x7… goes on behind it`; empty where nobody asked."""
        if self.asked is None:
            return ""
        how = "made" if self.made else "asked"
        return f"{how} for {self.asked.whom}, by {self.asked.by}; request {self.asked.behind} goes on behind it"

    @property
    def asks(self) -> Location:
        """The object that asks the job."""
        return Location.parse(f"{self.claim}/yield/{self.number}.asked")

    def also(self, claim: str) -> Location:
        """Return the object that has the job make room for another one too, by the name of that one's claim."""
        return Location.parse(f"{self.claim}/yield/{self.number}.also.{claim}")

    @property
    def ends(self) -> Location:
        """The object that decides which of the two goes on."""
        return Location.parse(f"{self.claim}/yield/{self.number}.end")


def round_of(storage: Storage, job: VertexJob) -> Round:
    """Return the round that a job is in; after one in which it need not make room the next. Raises CloudError."""
    claim = claim_of(job)
    names = {last_part(stored.at.name) for stored in storage.objects(Location.parse(f"{claim}/yield/"))}
    number = max((int(name.partition(".")[0]) for name in names), default=1)
    asks, ends = f"{number}.asked", f"{number}.end"
    end = claim_text(storage, f"{claim}/yield/{ends}") if ends in names else ""
    if end == KEPT.decode():
        return Round(claim, number + 1)
    asked = Asked.read(storage.read(Location.parse(f"{claim}/yield/{asks}"))) if asks in names else None
    return Round(claim, number, asked, made=end == MADE.decode())


def jobs_behind(storage: Storage, jobs: Sequence[VertexJob]) -> Mapping[str, str]:
    """Return the job that goes on behind each of these that has made room, as far as it is among them, by full names.
    A job that need not make room, or can't be read about, is left out."""
    claims = {claim_of(job): job for job in jobs if job.yields and job.ended}
    found: dict[str, str] = {}
    for job in jobs:
        folder = claim_of(job).rpartition("/")[0]
        before = claims.get(f"{folder}/{job.after.partition('/')[0]}") if job.after else None
        if before:
            with suppress(CloudError):
                if claim_text(storage, f"{folder}/{job.after}.end") == MADE.decode():
                    found[before.name] = job.name
    return found


def last_checkpoint(storage: Storage, job: VertexJob) -> datetime | None:
    """Return when an object of a job's output that is named as a checkpoint was written last; None where there is none.
    Raises CloudError."""
    if not job.output:
        return None
    output = Location.parse(f"{job.output.rstrip('/')}/")
    saved = (each for each in storage.objects(output) if CHECKPOINT.search(each.at.name, len(output.name)))
    return max((each.updated for each in saved if each.updated), default=None)

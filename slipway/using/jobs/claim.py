"""The claim: the object that decides which job of a request runs, whatever its kind. Each replica's launcher tries to
create it, and a launcher that finds anything but its own job's number in it ends at once. For a job without a launcher
its sender creates it, and notes there below that the job was accepted, and how the attempt was ended.

Whoever gives an attempt up, or cancels it, takes its claim where no launcher has it. An attempt that moves on names the
next one's claim first, so that a cancel reaches that one before its job is sent.
"""

from __future__ import annotations

from enum import Enum, auto

from slipway.google.failures import CloudError, NotFound
from slipway.google.jobs import VertexJob
from slipway.google.storage import Location, Storage
from slipway.model.catalog.model import Catalog
from slipway.model.identity import bucket_in

GIVEN_UP, CANCELLED = "moved", "cancelled"
"""The contents of the claim of an attempt that was given up for the next, and of one that was cancelled; any other
content is a job's."""
_END, _NEXT, _ACCEPTED, _RETRY = "end", "next", "accepted", "retry-"
"""The names of objects below a claim: the end of an attempt whose claim its sender has, the claim of the next attempt,
and the name of the job that the sender has made; and the beginning of a name for each time that a failed job's code was
started again."""


class Claim(Enum):
    """The holder of an attempt's claim, as far as is known."""

    FREE = auto()
    GIVEN_UP = auto()
    CANCELLED = auto()
    STARTED = auto()
    #: Its sender has it, of a job without a launcher.
    SENT = auto()


ENDS = {GIVEN_UP: Claim.GIVEN_UP, CANCELLED: Claim.CANCELLED}


def claim_text(storage: Storage, at: str) -> str:
    """Return the text of an object, empty where there is none. Raises CloudError."""
    try:
        return storage.read(Location.parse(at)).decode(errors="replace").strip()
    except NotFound:
        return ""


def claim_number(found: str) -> str:
    """Return the number of the job that has a claim with this text, or the end of its attempt."""
    return found.rsplit("/", 1)[-1]


def read_claim(storage: Storage, claim: str) -> Claim:
    """Return the holder of a claim. Raises CloudError when it can't be told."""
    found = claim_text(storage, claim)
    if found and _is_senders(found):
        return ENDS.get(claim_text(storage, f"{claim}/{_END}"), Claim.SENT)
    return ENDS.get(claim_number(found), Claim.STARTED) if found else Claim.FREE


def take_claim(storage: Storage, claim: str, end: str = GIVEN_UP) -> Claim:
    """End an attempt that no launcher has begun; return the claim's holder. Raises CloudError."""
    for place in (claim, f"{claim}/{_END}"):
        try:
            if storage.create(Location.parse(place), end.encode(), "text/plain", again=end == CANCELLED):
                return ENDS[end]
        except CloudError as problem:
            if problem.not_accepted:
                raise
        if (there := read_claim(storage, claim)) is not Claim.SENT:
            return there
    return there


def give_up(storage: Storage, claim: str, following: str) -> Claim:
    """Give up an attempt for the next, whose claim is `following`; return the claim's holder. Raises CloudError."""
    place = f"{claim}/{_NEXT}"
    try:
        storage.create(Location.parse(place), following.encode(), "text/plain")
    except CloudError as problem:
        if problem.not_accepted:
            raise
        if not claim_text(storage, place):
            return read_claim(storage, claim)
    return take_claim(storage, claim)


def next_claim(storage: Storage, claim: str) -> str:
    """Return the claim of the attempt that follows one; empty where none is named. Raises CloudError."""
    return claim_text(storage, f"{claim}/{_NEXT}")


def cancel_claims(storage: Storage, claim: str, then: str) -> list[str]:
    """Take the claim of an attempt as cancelled, or where that was given up the next one's, and so on; return the
    claims after the first. `then`: the next one where the attempt does not name it. Raises CloudError."""
    following: list[str] = []
    while claim and take_claim(storage, claim, CANCELLED) is Claim.GIVEN_UP:
        claim = next_claim(storage, claim) or ("" if following else then)
        following += [claim] if claim else []
    return following


def claim_for_sender(storage: Storage, claim: str, sender: str) -> str:
    """Take a claim for a `sender` whose job has no launcher; return the text of whoever has it, with the name of the
    job that the sender has made before in its place. Raises CloudError."""
    if storage.create(Location.parse(claim), sender.encode(), "text/plain", again=True):
        return sender
    found = claim_text(storage, claim)
    return (claim_text(storage, f"{claim}/{_ACCEPTED}") or found) if found == sender else found


def note_accepted(storage: Storage, claim: str, job: VertexJob) -> None:
    """Note below a sender's claim that its job was made. Raises CloudError."""
    storage.create(Location.parse(f"{claim}/{_ACCEPTED}"), job.name.encode(), "text/plain", again=True)


def claim_of(job: VertexJob) -> str:
    """Return the object that the launchers of a job, or of a request for one, race for; empty where none is named."""
    for pool in job.worker_pools:
        # A job may be anybody's, and its last argument the flag alone.
        if "--claim" in pool.args[:-1]:
            return pool.args[pool.args.index("--claim") + 1]
    return ""


def retries_of(storage: Storage, job: VertexJob) -> int:
    """Return how often a job's code was started again after its own failures, by the marks of its launchers. Raises
    CloudError."""
    marks = storage.objects(Location.parse(f"{claim_of(job)}/{_RETRY}"))
    return sum(1 for _ in marks)


def known_retries(storage: Storage, job: VertexJob) -> int | None:
    """Return how often a job's code was started again; None for a job without retries, and if that can't be read."""
    if not (job.own_settings.retries and job.start_time):
        return None
    try:
        return retries_of(storage, job)
    except CloudError:
        return None


def mark_of(job: VertexJob, catalog: Catalog) -> str:
    """Return the object that ends the attempt of a job; empty for a job of no request."""
    if not job.request_id:
        return ""
    return claim_of(job) or mark_in(bucket_of(job, catalog) or catalog.work_bucket, job.request_id)


def mark_in(bucket: str, request_id: str) -> str:
    return f"gs://{bucket}/claims/{request_id}"


def work_buckets(job: VertexJob) -> tuple[str, ...]:
    """Return the buckets that a job, or a request for one, works in: first that of its claim, then that of its output.
    They are one, unless the job runs in another region, or the stack's bucket was another one when the request was
    sent first."""
    addresses = (address for address in (claim_of(job), job.output) if address.startswith("gs://"))
    return tuple(dict.fromkeys(Location.parse(address).bucket for address in addresses))


def bucket_of(job: VertexJob, catalog: Catalog) -> str:
    """Return the bucket of a job's claim, or for an image that of the mark that gives it up; empty for a job that names
    neither a claim nor an output. Where an image ran in another region, its mark is at home, as claims are."""
    bucket = next(iter(work_buckets(job)), "")
    home = catalog.work_bucket
    return home if bucket in (bucket_in(region, home) for region in catalog.regions_ever) else bucket


def _is_senders(found: str) -> bool:
    """Tell whether a sender has a claim: it writes `pipelineJobs/ID`, and a launcher its job's number."""
    return "/" in found and not found.startswith("projects/")

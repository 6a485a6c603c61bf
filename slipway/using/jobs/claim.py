"""The claim: the object that decides which job of a request runs, whatever its kind. Each replica's launcher tries to
create it, and a launcher that finds anything but its own job's number in it ends at once. For a job without a launcher
its sender creates it, and notes there below that the job was accepted, and how the attempt was ended.

Whoever gives an attempt up, or cancels it, takes its claim where no launcher has it. An attempt that moves on names the
next one's claim first, so that a cancel reaches that one before its job is sent.
"""

from __future__ import annotations

from enum import Enum, auto

from slipway.base.errors import Cancelled, ConfigError, ResourceError
from slipway.base.formatting import join, last_part
from slipway.google.catalog.lookup import bucket_in
from slipway.google.failures import CloudError, NotFound
from slipway.google.jobs import VertexJob
from slipway.google.storage import Location, Storage
from slipway.google.vertex import Vertex
from slipway.model.catalog.model import Catalog
from slipway.model.kinds import CUSTOM_JOB, JobKind
from slipway.model.labels import CODE_LABEL, REQUEST_LABEL, TEMPLATE_LABEL, label_filter

GIVEN_UP, CANCELLED = "moved", "cancelled"
"""The contents of the claim of an attempt that was given up for the next, and of one that was cancelled; any other
content is a job's."""
_END, _NEXT, _ACCEPTED = "end", "next", "accepted"
"""The names of objects below a claim: the end of an attempt whose claim its sender has, the claim of the next attempt,
and the name of the job that the sender has made."""


class JobGoneError(ResourceError):
    """The job that ran a submission no longer exists, most likely because somebody has deleted it."""

    def __init__(self, what: str, *, why: str) -> None:
        super().__init__(what, why=why, fix="use another request id to run it again")


class OtherJobError(ConfigError):
    """The id of a request belongs to another job."""


class Claim(Enum):
    """The holder of an attempt's claim, as far as is known."""

    FREE = auto()
    GIVEN_UP = auto()
    CANCELLED = auto()
    STARTED = auto()
    #: Its sender has it, of a job without a launcher.
    SENT = auto()


_ENDS = {GIVEN_UP: Claim.GIVEN_UP, CANCELLED: Claim.CANCELLED}


def read_claim(storage: Storage, claim: str) -> Claim:
    """Return the holder of a claim. Raises CloudError when it can't be told."""
    found = _text(storage, claim)
    if found and _is_senders(found):
        return _ENDS.get(_text(storage, f"{claim}/{_END}"), Claim.SENT)
    return _ENDS.get(_holder(found), Claim.STARTED) if found else Claim.FREE


def take_claim(storage: Storage, claim: str, end: str = GIVEN_UP) -> Claim:
    """End an attempt that no launcher has begun; return the claim's holder. Raises CloudError."""
    for place in (claim, f"{claim}/{_END}"):
        try:
            if storage.create(Location.parse(place), end.encode(), "text/plain", again=end == CANCELLED):
                return _ENDS[end]
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
        if not _text(storage, place):
            return read_claim(storage, claim)
    return take_claim(storage, claim)


def cancel_claims(storage: Storage, claim: str, then: str) -> list[str]:
    """Take the claim of an attempt as cancelled, or where that was given up the next one's, and so on; return the
    claims after the first. `then`: the next one where the attempt does not name it. Raises CloudError."""
    following: list[str] = []
    while claim and take_claim(storage, claim, CANCELLED) is Claim.GIVEN_UP:
        claim = _text(storage, f"{claim}/{_NEXT}") or ("" if following else then)
        following += [claim] if claim else []
    return following


def claim_for_sender(storage: Storage, claim: str, sender: str) -> str:
    """Take a claim for a `sender` whose job has no launcher; return the text of whoever has it, with the name of the
    job that the sender has made before in its place. Raises CloudError."""
    if storage.create(Location.parse(claim), sender.encode(), "text/plain", again=True):
        return sender
    found = _text(storage, claim)
    return (_text(storage, f"{claim}/{_ACCEPTED}") or found) if found == sender else found


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


def claimant(storage: Storage, jobs: list[VertexJob]) -> VertexJob:
    """Return the job of an attempt whose launcher has its claim; the first where none has it, or it can't be told."""
    claim = claim_of(jobs[0]) if len(jobs) > 1 else ""
    try:
        number = _holder(_text(storage, claim)) if claim else ""
    except CloudError:
        number = ""
    return next((job for job in jobs if number and number in _numbers(job)), jobs[0])


def has_claim(storage: Storage, job: VertexJob) -> bool:
    """Tell whether the launcher of a job has its claim; False where that can't be told."""
    claim = claim_of(job)
    try:
        return bool(claim) and _holder(_text(storage, claim)) in _numbers(job)
    except CloudError:
        return False


def holder(vertex: Vertex, storage: Storage, claim: str, kind: JobKind, request_id: str) -> VertexJob | None:
    """Return the job whose launcher has taken `claim`; None for a job that has been deleted since, or is not listed
    yet. Raises CloudError."""
    return _named(vertex, _holder(_text(storage, claim)), kind, request_id)


def original(vertex: Vertex, storage: Storage, job: VertexJob) -> VertexJob | None:
    """Return the job that has the claim of a succeeded `job`, which was its copy. None for the job itself, and where
    that can't be told: without a launcher, or for a caller who may not read claims.

    Raises JobGoneError for a job that has been deleted since, as nothing then tells how it ended, OtherJobError for a
    different request, and Cancelled for an attempt that was given up or cancelled: then neither `job` nor any copy of
    it has run.
    """
    claim = claim_of(job)
    if job.state != "JOB_STATE_SUCCEEDED" or job.kind.has_trials or not claim:
        return None
    try:
        found = _text(storage, claim)
        number = _holder(found)
        if not number or number in _numbers(job) or not (job.kind.runs_itself or job.backing):
            return None
        owner = _named(vertex, number, job.kind, job.request_id) if number.isdecimal() else None
    except CloudError:
        return None
    if number in _ENDS:
        raise Cancelled(
            f"{job.called} has not run",
            why=f"its submission {'moved on' if number == GIVEN_UP else 'was cancelled'} before it began",
            fix=f"slipway jobs list --template {job.template}" if job.template else "slipway jobs list",
        )
    if not number.isdecimal() or (owner and other_run(job, owner)):
        of_owner = owner and f"{owner.numbered} at the same time for something else, ran: {other_run(job, owner)}"
        raise OtherJobError(
            f"{job.typed}, {job.numbered}, has not run: another job has its request id",
            why=of_owner or f"{found} was sent by it at the same time",
            fix="submit it by another request id",
        )
    if owner:
        return owner
    raise JobGoneError(
        f"{job.called} was a copy of {number}, which is gone",
        why=f"{number} ran the submission, and is no longer in {join(vertex.regions, 'or')}: nobody can tell how it "
        f"ended; {job.id} ended by itself and ran nothing",
    )


def other_run(job: VertexJob, other: VertexJob) -> str:
    """Describe how two jobs of one request id differ; empty for two jobs of equal requests."""
    labels = (("template", TEMPLATE_LABEL), ("code", CODE_LABEL))
    facts: list[tuple[str, object, object]] = [
        (name, job.labels.get(key, ""), other.labels.get(key, "")) for name, key in labels
    ]
    facts.append(("kind", job.kind.words, other.kind.words))
    ours, theirs = job.parameters or {}, other.parameters or {}
    facts += [(name, ours.get(name), theirs.get(name)) for name in sorted({*ours, *theirs})]
    return ", ".join(f"{name} is {there}, here {here}" for name, here, there in facts if here != there)


def _named(vertex: Vertex, number: str, kind: JobKind, request_id: str) -> VertexJob | None:
    if not kind.runs_itself:
        # The launcher of a pipeline writes the number of the job behind it, by which no pipeline can be asked for.
        copies = vertex.jobs(kind, label_filter({REQUEST_LABEL: request_id}))
        if copy := next((job for job in copies if number in _numbers(job)), None):
            return copy
    if not number.isdecimal():
        return None
    # The copies of a request may be in several regions, and of several kinds.
    places = (f"projects/{vertex.project}/locations/{region}" for region in vertex.regions)
    return next(filter(None, (vertex.found(f"{place}/{CUSTOM_JOB.collection}/{number}") for place in places)), None)


def _text(storage: Storage, at: str) -> str:
    """Return the text of an object, empty where there is none. Raises CloudError."""
    try:
        return storage.read(Location.parse(at)).decode(errors="replace").strip()
    except NotFound:
        return ""


def _holder(found: str) -> str:
    """Return the number of the job that has a claim with this text, or the end of its attempt."""
    return found.rsplit("/", 1)[-1]


def _is_senders(found: str) -> bool:
    """Tell whether a sender has a claim: it writes `pipelineJobs/ID`, and a launcher its job's number."""
    return "/" in found and not found.startswith("projects/")


def _numbers(job: VertexJob) -> tuple[str, str]:
    """Return the ids that a job's launcher may have written: the job's own, or that of the job behind a pipeline."""
    return job.id, last_part(job.backing)

"""The claim: the object that decides which job of a submission runs. Each replica's launcher tries to create it, and a
launcher that finds another job's number in it ends at once."""

from __future__ import annotations

from enum import Enum, auto

from slipway.base.errors import ConfigError, ResourceError
from slipway.base.formatting import join, last_part
from slipway.google.catalog.lookup import bucket_in
from slipway.google.failures import CloudError, NotFound
from slipway.google.jobs import VertexJob
from slipway.google.storage import Location, Storage
from slipway.google.vertex import Vertex
from slipway.model.catalog.model import Catalog
from slipway.model.kinds import JobKind
from slipway.model.labels import CODE_LABEL, REQUEST_LABEL, TEMPLATE_LABEL, label_filter

GIVEN_UP = "moved"
"""The content of the claim of an attempt that was given up; any other content is a job's."""


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
    STARTED = auto()


def read_claim(storage: Storage, claim: str) -> Claim:
    """Return the holder of a claim. Raises CloudError when it can't be told."""
    try:
        return Claim.GIVEN_UP if _holder(storage, claim) == GIVEN_UP else Claim.STARTED
    except NotFound:
        return Claim.FREE


def take_claim(storage: Storage, claim: str) -> Claim:
    """Give up an attempt whose claim no launcher has; return the claim's holder. Raises CloudError."""
    try:
        if storage.create(Location.parse(claim), GIVEN_UP.encode(), "text/plain"):
            return Claim.GIVEN_UP
    except CloudError as problem:
        if problem.not_accepted:
            raise
    return read_claim(storage, claim)


def claim_of(job: VertexJob) -> str:
    """Return the object that the launchers of a job, or of a request for one, race for; empty where none is named."""
    for pool in job.worker_pools:
        # A job may be anybody's, and its last argument the flag alone.
        if "--claim" in pool.args[:-1]:
            return pool.args[pool.args.index("--claim") + 1]
    return ""


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
        number = _holder(storage, claim) if claim else ""
    except CloudError:
        number = ""
    return next((job for job in jobs if number and number in _numbers(job)), jobs[0])


def has_claim(storage: Storage, job: VertexJob) -> bool:
    """Tell whether the launcher of a job has its claim; False where that can't be told."""
    claim = claim_of(job)
    try:
        return bool(claim) and _holder(storage, claim) in _numbers(job)
    except CloudError:
        return False


def holder(vertex: Vertex, storage: Storage, claim: str, kind: JobKind, request_id: str) -> VertexJob | None:
    """Return the job whose launcher has taken `claim`; None for a job that has been deleted since, or is not listed
    yet. Raises CloudError."""
    return _named(vertex, _holder(storage, claim), kind, request_id)


def original(vertex: Vertex, storage: Storage, job: VertexJob) -> VertexJob | None:
    """Return the job that has the claim of a succeeded `job`, which was its copy. None for the job itself, and where
    that can't be told: without a launcher, or for a caller who may not read claims.

    Raises JobGoneError for a job that has been deleted since, as nothing then tells how it ended, and OtherJobError for
    a different request: then neither `job` nor any copy of it has run.
    """
    claim = claim_of(job)
    if job.state != "JOB_STATE_SUCCEEDED" or job.kind.has_trials or not claim:
        return None
    try:
        number = _holder(storage, claim)
        if not number.isdecimal() or number in _numbers(job) or not (job.kind.runs_itself or job.backing):
            return None
        owner = _named(vertex, number, job.kind, job.request_id)
    except CloudError:
        return None
    if owner and (why := other_run(job, owner)):
        raise OtherJobError(
            f"{job.typed}, {job.numbered}, has not run: another job has its request id",
            why=f"{owner.numbered} at the same time for something else, ran: {why}",
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
    ours, theirs = job.parameters or {}, other.parameters or {}
    facts += [(name, ours.get(name), theirs.get(name)) for name in sorted({*ours, *theirs})]
    return ", ".join(f"{name} is {there}, here {here}" for name, here, there in facts if here != there)


def _named(vertex: Vertex, number: str, kind: JobKind, request_id: str) -> VertexJob | None:
    if kind.runs_itself and number.isdecimal():
        # The copies of a request may be in several regions.
        places = (f"projects/{vertex.project}/locations/{region}" for region in vertex.regions)
        return next(filter(None, (vertex.found(f"{place}/{kind.collection}/{number}") for place in places)), None)
    # The launcher of a pipeline writes the number of the job behind it, by which no pipeline can be asked for.
    copies = vertex.jobs(kind, label_filter({REQUEST_LABEL: request_id}))
    return next((job for job in copies if number in _numbers(job)), None)


def _holder(storage: Storage, claim: str) -> str:
    """Return the number of the job that has the claim, or `GIVEN_UP`."""
    return storage.read(Location.parse(claim)).decode(errors="replace").strip().rsplit("/", 1)[-1]


def _numbers(job: VertexJob) -> tuple[str, str]:
    """Return the ids that a job's launcher may have written: the job's own, or that of the job behind a pipeline."""
    return job.id, last_part(job.backing)

"""The claimant: the job whose launcher has the claim of a request, among it and its copies."""

from __future__ import annotations

from slipway.base.errors import Cancelled, ConfigError, ResourceError
from slipway.base.formatting import join, last_part
from slipway.google.failures import CloudError
from slipway.google.jobs import VertexJob
from slipway.google.storage import Storage
from slipway.google.vertex import Vertex
from slipway.model.kinds import CUSTOM_JOB, JobKind
from slipway.model.labels import CODE_LABEL, REQUEST_LABEL, TEMPLATE_LABEL, label_filter
from slipway.using.jobs.claim import ENDS, GIVEN_UP, claim_number, claim_of, claim_text
from slipway.using.jobs.room import round_of


class JobGoneError(ResourceError):
    """The job that ran a submission no longer exists, most likely because somebody has deleted it."""

    def __init__(self, what: str, *, why: str) -> None:
        super().__init__(what, why=why, fix="use another request id to run it again")


class OtherJobError(ConfigError):
    """The id of a request belongs to another job."""


def claimant(storage: Storage, jobs: list[VertexJob]) -> VertexJob:
    """Return the job of an attempt whose launcher has its claim; the first where none has it, or it can't be told."""
    claim = claim_of(jobs[0]) if len(jobs) > 1 else ""
    try:
        number = claim_number(claim_text(storage, claim)) if claim else ""
    except CloudError:
        number = ""
    return next((job for job in jobs if number and number in _numbers(job)), jobs[0])


def has_claim(storage: Storage, job: VertexJob) -> bool:
    """Tell whether the launcher of a job has its claim; False where that can't be told."""
    claim = claim_of(job)
    try:
        return bool(claim) and claim_number(claim_text(storage, claim)) in _numbers(job)
    except CloudError:
        return False


def holder(vertex: Vertex, storage: Storage, claim: str, kind: JobKind, request_id: str) -> VertexJob | None:
    """Return the job whose launcher has taken `claim`; None for a job that has been deleted since, or is not listed
    yet. Raises CloudError."""
    return _named(vertex, claim_number(claim_text(storage, claim)), kind, request_id)


def rival(job: VertexJob, found: str) -> str:
    """Return the number of the job that ran in place of an ended `job` whose claim has the text `found`, or the end of
    its attempt; empty for a job that ran itself, and where that can't be told."""
    number = claim_number(found)
    if not claim_of(job) or job.kind.has_trials or not job.kind.runs_itself or number in ("", *_numbers(job)):
        return ""
    return number if number in ENDS or number.isdecimal() else ""


def original(vertex: Vertex, storage: Storage, job: VertexJob) -> VertexJob | None:
    """Return the job that has the claim of a succeeded `job`, which was its copy, or the one that goes on where it has
    made room. None for the job itself, and where that can't be told: without a launcher, or for a caller who may not
    read claims.

    Raises JobGoneError for a job that has been deleted since, as nothing then tells how it ended, OtherJobError for a
    different request, and Cancelled for an attempt that was given up or cancelled: then neither `job` nor any copy of
    it has run.
    """
    claim = claim_of(job)
    if job.state != "JOB_STATE_SUCCEEDED" or job.kind.has_trials or not claim:
        return None
    try:
        found = claim_text(storage, claim)
        number = claim_number(found)
        if job.yields and number in _numbers(job):
            return _behind(vertex, storage, job)
        if not number or number in _numbers(job) or not (job.kind.runs_itself or job.backing):
            return None
        owner = _named(vertex, number, job.kind, job.request_id) if number.isdecimal() else None
    except CloudError:
        return None
    if number in ENDS:
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


def about_original(job: VertexJob, other: VertexJob) -> str:
    """Return the clause that tells what a succeeded job was beside its `original`."""
    begun = other.create_time and job.create_time and other.create_time > job.create_time
    if begun and other.request_id != job.request_id:
        return f"made room, and goes on as {other.id}"
    return f"was a copy of {other.id}, which runs this submission"


def _behind(vertex: Vertex, storage: Storage, job: VertexJob) -> VertexJob | None:
    """Return the job that goes on where `job` has made room; None where it has not. Raises JobGoneError and
    CloudError."""
    round_ = round_of(storage, job)
    if not (round_.made and round_.asked):
        return None
    copies = list(vertex.jobs(job.kind, label_filter({REQUEST_LABEL: round_.asked.behind})))
    if copies:
        return claimant(storage, copies)
    raise JobGoneError(
        f"{job.called} made room for {round_.asked.whom}, and the job that goes on behind it is gone",
        why=f"no job of request {round_.asked.behind} is in {join(vertex.regions, 'or')}",
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
    return job_of_number(vertex, number)


def job_of_number(vertex: Vertex, number: str) -> VertexJob | None:
    """Return the custom job of this number in any region; None where it was deleted. Raises CloudError."""
    if not number.isdecimal():
        return None
    # The copies of a request may be in several regions, and of several kinds.
    places = (f"projects/{vertex.project}/locations/{region}" for region in vertex.regions)
    return next(filter(None, (vertex.found(f"{place}/{CUSTOM_JOB.collection}/{number}") for place in places)), None)


def _numbers(job: VertexJob) -> tuple[str, str]:
    """Return the ids that a job's launcher may have written: the job's own, or that of the job behind a pipeline."""
    return job.id, last_part(job.backing)

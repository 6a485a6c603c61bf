"""What is said of a job that waits on a cluster that was replaced since: it stays there, however idle the new one is.
Pure."""

from __future__ import annotations

from slipway.catalog.model import Catalog
from slipway.cloud.jobs import VertexJob
from slipway.submission.candidates import Candidate
from slipway.submission.choice import JudgedCandidate


def replaced(catalog: Catalog, job: VertexJob, candidate: Candidate) -> bool:
    """Whether the job waits on another cluster than its `candidate` has now."""
    old, name = job.persistent_resource_id, candidate.offer.cluster
    waits = job.start_time is None and not job.ended
    return waits and bool(old and name) and catalog.clusters[name].id != old


def words(catalog: Catalog, job: VertexJob, there: JudgedCandidate) -> str:
    """`there`: its candidate as it is now. How to move it is said where it can run on the new one."""
    name = there.candidate.offer.cluster
    text = (
        f"cluster {name} was replaced: {job.display_name} waits on the old one, {job.persistent_resource_id}; "
        f"on the new one, {catalog.clusters[name].id}: {'; '.join(there.reasons)}"
    )
    if not there.can or there.unsure:
        return text
    return (
        f"{text}\n  to move it there, cancel it (slipway jobs cancel {job.typed}), and once it has ended submit it "
        "again, by another request id where you have chosen one"
    )

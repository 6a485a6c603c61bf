"""The rejection of a destruction that would leave clusters: the jobs on them, and the ways on. Pure.

Deleting a cluster cancels its jobs. So a command that deletes one is printed only if no job uses that cluster.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from slipway.base.errors import PolicyError
from slipway.base.formatting import few, join
from slipway.google.clusters import PersistentResource
from slipway.google.jobs import VertexJob, distinct
from slipway.google.live import InUse, Unknown
from slipway.google.unfinished_jobs import ways_out
from slipway.model.origin import Origin

_MOST_NAMED = 10


@dataclass(frozen=True)
class UnknownCluster:
    """A cluster of the stack that the state does not have, with its full name."""

    cluster: PersistentResource
    use: InUse | Unknown

    @property
    def jobs(self) -> tuple[VertexJob, ...]:
        """The jobs that run on the cluster or wait for it; none if they can't be read."""
        return () if isinstance(self.use, Unknown) else distinct(self.use.jobs)

    @property
    def is_busy_without_job(self) -> bool:
        """Return whether machines are in use by a job that no list has yet."""
        return not isinstance(self.use, Unknown) and bool(self.use.busy_without_job)

    @property
    def is_idle(self) -> bool:
        return not (isinstance(self.use, Unknown) or self.jobs or self.is_busy_without_job)

    def __str__(self) -> str:
        """Return `cpu-1a2b3c4 (cluster state RUNNING, used by 2 jobs)`."""
        return f"{self.cluster.id} (cluster state {self.cluster.state}, {self._use_in_headline()})"

    def _use_in_headline(self) -> str:
        if isinstance(self.use, Unknown):
            return "jobs unknown"
        if self.jobs:
            return f"used by {_count(self.jobs)}"
        return "machines in use" if self.use.busy_without_job else "no jobs"

    def describe_use(self) -> str:
        """Return the jobs of the cluster, or the reason why they are unknown; empty if no job uses it."""
        id_ = self.cluster.id
        if isinstance(self.use, Unknown):
            return f"can't tell whether jobs use cluster {id_}: {self.use}"
        if self.jobs:
            return f"cluster {id_} has {_count(self.jobs)}: {few(map(_describe_job, self.jobs), _MOST_NAMED)}"
        return (
            f"machines of cluster {id_} are in use by a job that no list shows yet" if self.is_busy_without_job else ""
        )

    def deletion(self) -> str:
        """Return the command that deletes the cluster."""
        _, project, _, region, *_ = self.cluster.name.split("/")
        return f"gcloud ai persistent-resources delete {self.cluster.id} --project={project} --region={region}"


def would_leave(clusters: Sequence[UnknownCluster], origin: Origin, back: str) -> PolicyError:
    """Return the rejection. `back`: the command that lets the state have the clusters."""
    noun, them = ("cluster", "it") if len(clusters) == 1 else ("clusters", "them")
    why = (
        f"the state of this run does not have {them}: an up was killed or failed, `pulumi state move` moved the entry, "
        "or another backend has the newer state. Pulumi deletes only what the state has, and the rest is billed"
    )
    uses = filter(None, (cluster.describe_use() for cluster in clusters))
    return PolicyError(
        f"{origin.whole()} is not taken down: {noun} {join(map(str, clusters))} would be left",
        why="\n".join((why, *uses)),
        fix="\n".join(_ways_on(clusters, origin, f"{back}, which takes {them} over")),
    )


def _ways_on(clusters: Sequence[UnknownCluster], origin: Origin, back: str) -> Iterator[str]:
    """Yield the lines of the fix: to recover the state, to end the jobs, and to delete the idle clusters."""
    destroy = origin.command("destroy")
    jobs = [job for cluster in clusters for job in cluster.jobs]
    yield f"{back}{' and cancels no job' if jobs else ''}; then {destroy}"
    if jobs:
        yield "before a deletion, wait for the jobs, or cancel them:"
        yield ways_out(jobs, f"then {destroy}")
    if any(cluster.is_busy_without_job for cluster in clusters):
        yield f"before a deletion, wait until `slipway pools` shows no machine in use; then {destroy}"
    for unread in dict.fromkeys(cluster.use for cluster in clusters if isinstance(cluster.use, Unknown)):
        yield f"before a deletion, let Slipway read the jobs: {unread.fix}"
    idle = [cluster for cluster in clusters if cluster.is_idle]
    if idle:
        ids = join(cluster.cluster.id for cluster in idle)
        yield f"or delete {ids}, which no job uses now, after `slipway jobs list` shows no new job there:"
        yield from (cluster.deletion() for cluster in idle)


def _count(jobs: Sequence[VertexJob]) -> str:
    return f"{len(jobs)} {'job' if len(jobs) == 1 else 'jobs'}"


def _describe_job(job: VertexJob) -> str:
    """Return `train (4711, running, sent by ada)`."""
    sender = f", sent by {job.user}" if job.user else ""
    return f"{job.called} ({job.id}, {job.job_state}{sender})"

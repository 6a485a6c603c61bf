"""What is said of jobs that a deletion would harm: what each sort would lose, and how to end them. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from slipway.cloud.jobs import VertexJob
from slipway.live import Use

_MOST_COMMANDS = 20


def losses_of_stack(use: Use) -> str:
    """Why jobs keep a whole stack. Those on a cluster of its own would be cancelled; those on an adopted one, or on
    machines of their own, would lose its account or buckets."""
    on = [job for job in use.jobs if _on_cluster(job, use)]
    off = [job for job in use.jobs if not _on_cluster(job, use)]
    losses = [cancelled(map(_where, on))] if on else []
    if off:
        names = ", ".join(map(_where, off))
        losses.append(f"{names}: they run elsewhere, and taking the stack down would take away what they need")
    return "; ".join(losses)


def cancelled(names: Iterable[str]) -> str:
    """Why jobs keep the cluster that they are on."""
    return f"{', '.join(names)}: deleting the cluster would cancel what runs on it"


def ways_out(jobs: Sequence[VertexJob], then: str = "then again") -> str:
    """The commands for all of them, a line for each job: either verb takes one. `then`: what to do after that."""
    lines = [f"slipway jobs wait {job.typed}, or slipway jobs cancel {job.typed}" for job in jobs[:_MOST_COMMANDS]]
    more = len(jobs) - len(lines)
    lines += [f"and so on for {more:,} more: slipway jobs list"] if more else []
    return "\n".join(lines) + f"; {then}"


def _on_cluster(job: VertexJob, use: Use) -> bool:
    """Where nobody asked for the stack's clusters, any is taken for one of them."""
    on = job.persistent_resource_id
    return bool(on) if use.clusters is None else on in use.clusters


def _where(job: VertexJob) -> str:
    on = job.persistent_resource_id
    return f"{job.display_name} on {on}" if on else job.display_name

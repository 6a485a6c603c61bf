"""Jobs that a deletion would harm: whether there are any, what each sort would lose, and how to end them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from slipway.cloud.jobs import VertexJob
from slipway.errors import PolicyError, ResourceError
from slipway.formatting import join
from slipway.live import Unknown, Use

UNLISTED = "machines are in use by a job that the lists do not show yet"
_MOST_COMMANDS = 20


def losses_of_cluster(use: Use) -> str:
    """Why jobs keep the cluster that they are on."""
    return _cancelled(job.display_name for job in use.jobs)


def losses_of_stack(use: Use) -> str:
    """Why jobs keep a whole stack. Those on a cluster of its own would be cancelled; those on an adopted one, or on
    machines of their own, would lose its account or buckets."""
    on = [job for job in use.jobs if _on_cluster(job, use)]
    off = [job for job in use.jobs if not _on_cluster(job, use)]
    losses = [_cancelled(map(_where, on))] if on else []
    if off:
        names = ", ".join(map(_where, off))
        losses.append(f"{names}: they run elsewhere, and taking the stack down would take away what they need")
    return "; ".join(losses)


def must_be_idle(
    use: Use | Unknown,
    stays: str,
    losses: Callable[[Use], str] = losses_of_cluster,
    *,
    then: str = "then again",
    instead: str = "",
    rest: str = "",
) -> Use:
    """What lives of something that is to be deleted, when no job needs it.

    `stays` says in words that it is not deleted. `then`: what to do when the jobs have ended; `instead` of ending them,
    where something else does; `rest`: another way out. Raises PolicyError when a job needs it, ResourceError when that
    can't be told.
    """
    also = f"\n{rest}" if rest else ""
    if isinstance(use, Unknown):
        what = f"{stays}: can't tell whether jobs run on it"
        raise ResourceError(what, why=str(use), fix=f"correct that, {then}{also}")
    if use.jobs:
        count = f"{len(use.jobs)} {'job has' if len(use.jobs) == 1 else 'jobs have'} not ended"
        fix = instead or ways_out(use.jobs, then)
        raise PolicyError(f"{stays}: {count}", why=losses(use), fix=f"{fix}{also}")
    if use.unlisted:
        fix = f"wait until slipway pools shows no machine in use, {then}; slipway jobs shows the job before long"
        raise PolicyError(
            f"{stays}: {UNLISTED}",
            why=f"the service says so of {join(use.unlisted)}; deleting it would cancel what runs on it",
            fix=f"{instead or fix}{also}",
        )
    return use


def ways_out(jobs: Sequence[VertexJob], then: str = "then again") -> str:
    """The commands for all of them, a line for each job: either verb takes one. `then`: what to do after that."""
    lines = [f"slipway jobs wait {job.typed}, or slipway jobs cancel {job.typed}" for job in jobs[:_MOST_COMMANDS]]
    more = len(jobs) - len(lines)
    lines += [f"and so on for {more:,} more: slipway jobs list"] if more else []
    return "\n".join(lines) + f"; {then}"


def _cancelled(names: Iterable[str]) -> str:
    return f"{', '.join(names)}: deleting the cluster would cancel what runs on it"


def _on_cluster(job: VertexJob, use: Use) -> bool:
    """Where nobody asked for the stack's clusters, any is taken for one of them."""
    on = job.persistent_resource_id
    return bool(on) if use.clusters is None else on in use.clusters


def _where(job: VertexJob) -> str:
    on = job.persistent_resource_id
    return f"{job.display_name} on {on}" if on else job.display_name

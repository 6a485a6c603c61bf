"""Jobs that a deletion would harm: whether there are any, what each sort would lose, and how to end them. Pure."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from slipway.cloud.jobs import VertexJob
from slipway.errors import PolicyError, ResourceError
from slipway.formatting import join
from slipway.live import Unknown, Use

UNLISTED = "machines are in use by a job that the lists do not show yet"
_CANCELLED = "deleting the cluster would cancel what runs on it"
_LOST = "they run elsewhere, and taking the stack down would take away what they need"
_MOST_COMMANDS = 20


def losses_of_cluster(use: Use) -> str:
    """Tell why jobs keep the cluster that they are on."""
    return f"{', '.join(job.display_name for job in use.jobs)}: {_CANCELLED}"


def losses_of_stack(use: Use) -> str:
    """Tell why jobs keep a whole stack. Those on a cluster of its own would be cancelled; those on an adopted one, or
    on machines of their own, would lose its account or buckets. Where nobody asked for the stack's clusters, any is
    taken for one of them."""
    losses: dict[str, list[str]] = {}
    for job in use.jobs:
        on = job.persistent_resource_id
        ours = bool(on) if use.clusters is None else on in use.clusters
        losses.setdefault(_CANCELLED if ours else _LOST, []).append(
            f"{job.display_name} on {on}" if on else job.display_name
        )
    return "; ".join(f"{', '.join(losses[why])}: {why}" for why in (_CANCELLED, _LOST) if why in losses)


def must_be_idle(
    use: Use | Unknown,
    stays: str,
    losses: Callable[[Use], str] = losses_of_cluster,
    *,
    then: str = "then again",
    instead: str = "",
    rest: str = "",
) -> Use:
    """Return the use of something that is to be deleted, when no job needs it.

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
        raise PolicyError(f"{stays}: {count}", why=losses(use), fix=f"{instead or ways_out(use.jobs, then)}{also}")
    if use.unlisted:
        fix = instead or f"wait until slipway pools shows no machine in use, {then}"
        why = f"the service says so of {join(use.unlisted)}; {_CANCELLED}"
        raise PolicyError(f"{stays}: {UNLISTED}", why=why, fix=f"{fix}{also}")
    return use


def ways_out(jobs: Sequence[VertexJob], then: str = "then again") -> str:
    """The commands for all of them, a line for each job: either verb takes one. `then`: what to do after that."""
    lines = [f"slipway jobs wait {job.typed}, or slipway jobs cancel {job.typed}" for job in jobs[:_MOST_COMMANDS]]
    more = len(jobs) - len(lines)
    lines += [f"and so on for {more:,} more: slipway jobs list"] if more else []
    return "\n".join(lines) + f"; {then}"

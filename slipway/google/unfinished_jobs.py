"""Jobs that a deletion would harm: whether there are any, the loss of each sort, and how to end them. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from slipway.base.errors import PolicyError, ResourceError
from slipway.base.formatting import join
from slipway.google.jobs import VertexJob
from slipway.google.live import InUse, Unknown
from slipway.model.identity import words_of
from slipway.model.labels import STACK_LABEL

UNLISTED = "machines are in use by a job that the lists do not show yet"
_CANCELLED = "deleting the cluster would cancel what runs on it"
_LOST = "they run elsewhere, and taking the stack down would take away what they need"
_MOST_COMMANDS = 20


def _losses(use: InUse) -> str:
    """Return why jobs keep a cluster or a whole stack.

    Those on a cluster of its own would be cancelled; those on an adopted one, or on machines of their own, would lose
    its account or buckets. Where the stack's clusters are not known, any counts as its own.
    """
    losses: dict[str, list[str]] = {}
    for job in use.jobs:
        cluster = job.persistent_resource_id
        is_ours = bool(cluster) if use.clusters is None else cluster in use.clusters
        name = f"{job.display_name} on {cluster}" if cluster else job.display_name
        if not is_ours and job.labels.get(STACK_LABEL):
            name = f"{name} of {words_of(job.labels[STACK_LABEL])}"
        losses.setdefault(_CANCELLED if is_ours else _LOST, []).append(name)
    return "; ".join(f"{', '.join(losses[why])}: {why}" for why in (_CANCELLED, _LOST) if why in losses)


def must_be_idle(
    use: InUse | Unknown,
    stays: str,
    *,
    losses: str = "",
    then: str = "then again",
    instead: str = "",
) -> InUse:
    """Return the use of a resource that is to be deleted, when no job needs it.

    `stays` is the phrase that it is not deleted, `losses` the loss of jobs with another resource than a cluster or a
    stack. `then`: what to do when the jobs have ended; `instead` of ending them, another way. Raises PolicyError when a
    job needs it, ResourceError when that can't be told.
    """
    if isinstance(use, Unknown):
        what = f"{stays}: can't tell whether jobs run on it"
        raise ResourceError(what, why=str(use), fix=f"correct that, {then}")
    if use.jobs:
        count = f"{len(use.jobs)} {'job has' if len(use.jobs) == 1 else 'jobs have'} not ended"
        raise PolicyError(f"{stays}: {count}", why=losses or _losses(use), fix=instead or ways_out(use.jobs, then))
    if use.busy_without_job:
        fix = instead or f"wait until slipway pools shows no machine in use, {then}"
        why = f"the service says so of {join(use.busy_without_job)}; {_CANCELLED}"
        raise PolicyError(f"{stays}: {UNLISTED}", why=why, fix=fix)
    return use


def ways_out(jobs: Sequence[VertexJob], then: str = "then again") -> str:
    """Return the commands for all jobs, a line for each: either verb takes one. `then`: what to do after that."""
    lines = [f"slipway jobs wait {job.typed}, or slipway jobs cancel {job.typed}" for job in jobs[:_MOST_COMMANDS]]
    more = len(jobs) - len(lines)
    if more:
        lines.append(f"and so on for {more:,} more: slipway jobs list")
    return "\n".join(lines) + f"; {then}"

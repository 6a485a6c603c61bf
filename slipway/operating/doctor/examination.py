"""`examine`: all faults of a stack, the worst first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from slipway.model.findings.finding import Finding
from slipway.operating.doctor.access import exposed, roles, unread
from slipway.operating.doctor.backend import backend, catalog, images, packages, submissions
from slipway.operating.doctor.budget import budget
from slipway.operating.doctor.clusters import clusters, not_made
from slipway.operating.doctor.picture import Picture
from slipway.operating.doctor.pools import idle_jobs, jobs, paused, pools, quota
from slipway.operating.doctor.roles_left import agent, roles_gone, roles_left

FAMILIES: tuple[Callable[[Picture], Iterator[Finding]], ...] = (
    unread,
    exposed,
    backend,
    catalog,
    images,
    clusters,
    not_made,
    paused,
    pools,
    jobs,
    idle_jobs,
    quota,
    budget,
    submissions,
    packages,
    roles_gone,
    agent,
    roles_left,
    roles,
)
"""The checks, in the order of their findings of one grade."""
OF_JOBS = (paused, jobs, idle_jobs)
"""The checks whose findings concern whoever submits jobs; the others take an operator."""


def examine(
    picture: Picture, families: Iterable[Callable[[Picture], Iterator[Finding]]] = FAMILIES
) -> tuple[Finding, ...]:
    """Return all findings. Pure. Unread parts are among them, and hide nothing else."""
    findings = [finding for family in families for finding in family(picture)]
    return tuple(sorted(findings, key=lambda finding: -finding.grade))

"""What lives and what to declare because of it: the shell between the live readers and the pure plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime

from slipway.cloud.connection import connect
from slipway.deployment import trainer
from slipway.deployment.quota_info import quota_info
from slipway.errors import ConfigError, ResourceError
from slipway.generations import Plan, plan
from slipway.live import Live, LiveJob, Unknown, Use
from slipway.live_reader import Wanted, read, settle, skipped, use_of_cluster, use_of_stack
from slipway.stack import Stack


def decide(
    stack: Stack,
    environ: Mapping[str, str],
    preview: bool,
    now: datetime,
    say: Callable[[str], None],
    warn: Callable[[str], None],
    metrics: frozenset[str],
) -> tuple[Live, Plan]:
    """Reads what lives, and the limits of some quota metrics, and plans.

    Outside of preview it waits for clusters that are still being made.

    Raises ResourceError when what lives can't be told or forbids the plan, AuthError without credentials.
    """

    def live() -> Live:
        return _live(stack, environ, metrics, preview=preview, warn=warn)

    def planned(found: Live) -> Plan:
        return plan(stack.clusters, found, stack=stack.name, project=stack.project, region=stack.region, now=now)

    found, decided = settle(live, planned, say, wait=not preview)
    problems = [*decided.problems, *_unread(found.buckets), *_unread(found.service_accounts)]
    if problems:
        raise ResourceError(
            "what to deploy can't be decided, so nothing was changed",
            why="\n".join(problems),
            fix="mend that and run it again (SLIPWAY_LIVE=skip pulumi preview reads nothing; "
            "SLIPWAY_PURPOSE=destroy pulumi destroy --run-program asks only what is in use)",
        )
    return found, decided


def guarded_use(
    environ: Mapping[str, str],
    where: tuple[tuple[str, str], ...],
    stack: str,
    spared: frozenset[str] = frozenset(),
) -> Callable[[str | None], Use | Unknown]:
    """What the guard asks before a deletion: what is on a cluster by its full name, or with None on all of a stack.

    `where`: the projects and regions that the stack lives in. `spared`: ids of clusters that stay whatever happens.
    """

    def ask(cluster: str | None) -> Use | Unknown:
        connection = connect(environ)
        if cluster:
            return use_of_cluster(connection, cluster)
        jobs: list[LiveJob] = []
        unlisted: list[str] = []
        for project, region in where:
            use = use_of_stack(connection, project, region, stack)
            if isinstance(use, Unknown):
                return use
            jobs += [job for job in use.jobs if job.cluster_id not in spared]
            unlisted += [id_ for id_ in use.unlisted if id_ not in spared]
        return Use(tuple(jobs), tuple(unlisted))

    return ask


def identity(environ: Mapping[str, str]) -> str:
    """Who asks, as far as the environment tells."""
    target = environ.get("GOOGLE_IMPERSONATE_SERVICE_ACCOUNT", "")
    if target:
        return target
    if environ.get("GOOGLE_OAUTH_ACCESS_TOKEN"):
        return "the identity of GOOGLE_OAUTH_ACCESS_TOKEN"
    return "the application default credentials"


def _live(
    stack: Stack, environ: Mapping[str, str], metrics: frozenset[str], *, preview: bool, warn: Callable[[str], None]
) -> Live:
    if environ.get("SLIPWAY_LIVE", "") == "skip":
        if preview:
            return skipped()
        raise ConfigError(
            "SLIPWAY_LIVE=skip is for preview alone",
            why="without knowing what lives, a deployment could delete what is in use",
            fix="unset SLIPWAY_LIVE",
        )
    wanted = Wanted(
        project=stack.project,
        region=stack.region,
        catalog_bucket=stack.workspace.catalog_bucket,
        work_bucket=stack.workspace.work_bucket,
        service_account=trainer.email(stack.workspace.trainer, stack.project),
        metrics=metrics,
        read_quota=quota_info,
    )
    live, warnings = read(connect(environ), wanted, identity=identity(environ), off_is_empty=preview)
    for warning in warnings:
        warn(warning)
    return live


def _unread(part: object) -> list[str]:
    if not isinstance(part, Unknown):
        return []
    return [f"can't tell what exists already: {part.api} as {part.identity}: {part.why}; it needs {part.role}"]

"""The clusters that a deployment makes, all of them at once. When one can't be made, the others are not waited for."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping, Sequence
from contextvars import copy_context

from slipway.cloud.connection import connect
from slipway.cluster import CurrentCluster
from slipway.creation.ahead import Ahead
from slipway.creation.cluster_creation import ClusterCreation
from slipway.creation.creation_context import CreationContext, CreationPolicy, NewCluster
from slipway.creation.in_place import InPlace, Published
from slipway.creation.quota_grant import WITHIN_S, await_grant
from slipway.deployment.plan import Plan
from slipway.errors import ConfigError, ResourceError, SlipwayError
from slipway.formatting import join, seconds
from slipway.generations.published_clusters import published_dormant
from slipway.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL
from slipway.live import Unknown, Use

PATIENCE = "SLIPWAY_CREATE_PATIENCE"
"""How long a refused creation is tried again, as in 15m; quota is waited for no longer than that either."""
_NONE: Mapping[str, int] = {}


def creator(
    plan: Plan,
    environ: Mapping[str, str],
    place: tuple[str, str, str],
    use: Callable[[str | None], Use | Unknown],
    say: Callable[[str], None],
    warn: Callable[[str], None],
    awaited: Mapping[str, int] = _NONE,
    published: Published | None = None,
) -> Callable[[Sequence[str]], Mapping[str, str]]:
    """A function that makes clusters of the plan, by id, once what nobody needs is gone, the limits of some metrics are
    what is `awaited`, and those that they replace in place are gone. It returns the ids of those that run: of the ones
    asked for, or of their alternatives.

    `place` is stack, project and region; `published` has the catalog that offers what goes first. Raises ConfigError.
    """
    policy, (stack, project, region) = _policy(environ), place
    insists = bool(environ.get(PATIENCE))
    asked = {item.id: _new(item, stack, plan, insists) for item in plan.current if not item.import_}

    def create(ids: Sequence[str]) -> Mapping[str, str]:
        if not ids:
            return {}
        connection = connect(environ)
        cloud = CreationContext(connection.vertex(project, region), use, say, warn)
        try:
            if published:
                dormant = {one.spec.name: published_dormant(one, region) for one in plan.dormant}
                Ahead(plan.ahead, published, connection.storage, cloud, dormant).run()
            patience = min(WITHIN_S, policy.refused)
            await_grant(connection.quotas(project), region, awaited, ids, say, within_s=patience)
            if published:
                InPlace(plan.replaced, published, connection.storage, cloud).run()
            return create_all([asked[id_] for id_ in ids], cloud, policy)
        except SlipwayError:  # A quota that Google has yet to grant, a job on what goes first, no machines: time helps.
            if published:
                published.mark_begun(connection.storage, warn)
            raise

    return create


def create_all(clusters: Sequence[NewCluster], cloud: CreationContext, policy: CreationPolicy) -> Mapping[str, str]:
    """The ids of those that run, by the ids that were asked for.

    Raises the error of the one that can't be made, or of several as one, when all have ended.
    """
    errors: list[tuple[NewCluster, Exception]] = []
    ran: dict[str, str] = {}

    def one(cluster: NewCluster) -> None:
        try:
            ran[cluster.id] = ClusterCreation(cluster, cloud, policy).run()
        except Exception as error:
            errors.append((cluster, error))
            cloud.stop.set()

    threads = [
        threading.Thread(target=copy_context().run, args=(one, cluster), name=cluster.id, daemon=True)
        for cluster in clusters
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    made = [ran[cluster.id] for cluster in clusters if cluster.id in ran]
    if errors and made:
        run, them = ("runs and is", "it") if len(made) == 1 else ("run and are", "them")
        cloud.warn(
            f"{join(made)} {run} billed although this deployment failed; the next pulumi up takes {them} over, and a "
            f"destruction deletes {them}"
        )
    if len(errors) == 1:
        raise errors[0][1]
    if errors:
        raise ResourceError(
            f"{len(errors)} clusters were not made or not waited for",
            why="\n".join(f"{cluster.id}: {_brief(error)}" for cluster, error in errors),
            fix="correct the first of them, then run pulumi up again: it finds those that are being made, and goes on",
        )
    return ran


def _new(item: CurrentCluster, stack: str, plan: Plan, insists: bool) -> NewCluster:
    """`insists`: the environment says how long it is tried again, whatever the stack file says."""
    labels, spec = item.labels(stack), item.spec
    within = None if insists or spec.create_within is None else spec.create_within.total_seconds()
    return NewCluster(
        item.id,
        item.request(stack),
        {key: labels[key] for key in (STACK_LABEL, NAME_LABEL, HASH_LABEL)},
        tuple(one.name for one in plan.cleared if one.labels[NAME_LABEL] == spec.name),
        join(f"{pool.replicas} {pool.machine}" for pool in spec.pools) + (f" in {spec.region}" if spec.region else ""),
        within,
        tuple(_new(other, stack, plan, insists) for other in item.alternatives),
        spec.alternative,
        _meanwhile(spec.name, plan),
        spec.region,
    )


def _meanwhile(name: str, plan: Plan) -> str:
    """What submitters have until it is made."""
    gone = [one.id for one in plan.replaced if one.labels[NAME_LABEL] == name]
    if gone:
        return f"until then there is no cluster {name}: {join(gone)}, which it replaces, went before"
    here = sorted(plan.old - {one.id for one in plan.ahead})
    stay = [id_ for id_ in here if re.fullmatch(rf"{re.escape(name)}-[0-9a-f]{{7}}(-[0-9]+)?", id_)]
    return f"until then {join(stay)} {'stays' if len(stay) == 1 else 'stay'} as before" if stay else ""


def _policy(environ: Mapping[str, str]) -> CreationPolicy:
    given = environ.get(PATIENCE, "")
    try:
        return CreationPolicy(refused=seconds(given)) if given else CreationPolicy()
    except ConfigError as error:
        raise ConfigError(
            f"invalid {PATIENCE}: {given!r}", why=error.why, fix="15m, for example, or unset it"
        ) from error


def _brief(error: Exception) -> str:
    return f"{error.what}: {error.why}" if isinstance(error, SlipwayError) else str(error)

"""The clusters that a deployment makes, all of them at once. None delays another, or the rest of the deployment."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Mapping, Sequence
from contextvars import copy_context

from slipway.base.errors import ConfigError, ResourceError, SlipwayError, WaitTimeout
from slipway.base.formatting import join, seconds
from slipway.deploying.creation.cluster_creation import ClusterCreation
from slipway.deploying.creation.creation_context import WITHIN_S, CreationContext, CreationPolicy, await_grant
from slipway.deploying.deployment.deletion_guard import StackGuard
from slipway.deploying.deployment.interim_catalog import DeploymentCatalogs, InterimCatalog
from slipway.deploying.deployment.patience import PASSING
from slipway.deploying.deployment.plan import Plan
from slipway.deploying.deployment.removal import GracePeriod
from slipway.deploying.generations.action import What, Why
from slipway.google.clusters import PersistentResource
from slipway.google.connection import connect
from slipway.google.failures import CloudError
from slipway.google.quota.usage import drawn

_AHEAD_S, _AHEAD_REFUSED_S = 30 * 60.0, 60.0
PATIENCE = "SLIPWAY_CREATE_PATIENCE"
"""The variable for how long a refused creation is tried again, and quota waited for at most, as in 15m."""


def make_clusters(
    plan: Plan,
    environ: Mapping[str, str],
    policy: CreationPolicy,
    guard: StackGuard,
    *,
    say: Callable[[str], None],
    warn: Callable[[str], None],
    awaited: Mapping[str, int],
    catalogs: DeploymentCatalogs,
) -> Mapping[str, str]:
    """Make the missing clusters of a plan, and return the ids of those that run, by the first ids: an alternative has
    an id of its own. A cluster that its season brings may be missing.

    It begins when everything else is offered and unneeded clusters are gone. Each cluster is made when its limits in
    `awaited`, by metric, are in force and the one that it replaces in place is gone.
    """
    asked = {item.id: item for item in plan.current if not item.import_}
    if not asked:
        return {}
    needs = {id_: drawn([item.spec], ()) for id_, item in asked.items()}
    of_all = awaited.keys() - frozenset().union(*needs.values())
    connection, (project, region) = connect(environ), guard.place
    cloud = CreationContext.of(environ, guard, say, warn)
    quotas, within = connection.quotas(project), min(WITHIN_S, policy.refused)
    catalog = InterimCatalog(catalogs, connection.storage, warn)

    def make(id_: str) -> str:
        limits = {metric: limit for metric, limit in awaited.items() if metric in needs[id_] | of_all}
        await_grant(quotas, region, limits, [id_], say, within_s=within)
        cluster, name = asked[id_], asked[id_].spec.name
        why = "it is replaced in place, and its successor is made when it is gone"
        replaced = _living(plan, Why.IN_PLACE, name)
        cloud.removal(replaced, why=why, grace=guard.grace, catalog=catalog).run()
        failed = [living.name for living in _living(plan, Why.FAILED, name)]
        return ClusterCreation(cluster, cloud, policy, failed, _meanwhile(name, plan)).run()

    catalog.publish()
    remove_ahead(_living(plan, Why.IDLE), cloud, guard.grace)
    made = create_all([*asked], make, catalog.publish, warn, plan.seasons)
    catalog.end()
    return made


def remove_ahead(clusters: Sequence[PersistentResource], cloud: CreationContext, grace: GracePeriod) -> None:
    """Remove unneeded clusters before others are made: those may not be had for days, and the engine deletes last, and
    not at all when a creation failed. The interim catalog does not offer them."""
    why = "it is not asked for any more, and nothing is made before it is gone"
    instead = "deploy again: it keeps the cluster until nothing runs on it"
    how = {"grace": grace, "within": _AHEAD_S, "refused": _AHEAD_REFUSED_S}
    try:
        cloud.removal(clusters, why=why, instead=instead, **how).run()
    except (WaitTimeout, *PASSING) as slow:
        reason = f": {slow.message}" if isinstance(slow, CloudError) else ""
        cloud.warn(f"{slow.what}{reason}; what is to be made is asked for all the same")


def create_all(
    ids: Sequence[str],
    make: Callable[[str], str],
    runs: Callable[[Mapping[str, str]], None],
    warn: Callable[[str], None],
    seasons: Collection[str] = (),
) -> Mapping[str, str]:
    """Return the ids of the running clusters, by the first ids. `make` returns when one runs; `runs` is told of those
    that run, while others do not. A failed one of the `seasons` is reported, and missing.

    Raises the error of another failed one, or of several as one, when all have ended.
    """
    errors: dict[str, Exception] = {}
    made: dict[str, str] = {}

    def make_one(id_: str) -> None:
        try:
            made[id_] = make(id_)
            if len(made) < len(ids):
                runs(dict(made))
        except Exception as error:
            if id_ in seasons and isinstance(error, SlipwayError):
                then = "its season has begun, all else is deployed, and each later deployment tries again"
                warn(str(SlipwayError(f"{error.what}; {then}", why=error.why, fix=error.fix)))
                return
            errors[id_] = error
            if len(errors) + len(made) < len(ids):
                warn(f"{_brief(error)}; the others are waited for")

    threads = [threading.Thread(target=copy_context().run, args=(make_one, id_), name=id_, daemon=True) for id_ in ids]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors and made:
        run, them = ("runs and is", "it") if len(made) == 1 else ("run and are", "them")
        warn(
            f"{join(made.values())} {run} offered and billed although this deployment failed; the next deployment "
            f"takes {them} over, and a destruction deletes {them}"
        )
    if len(errors) == 1:
        raise next(iter(errors.values()))
    if errors:
        raise ResourceError(
            f"{len(errors)} clusters were not made or not waited for",
            why="\n".join(f"{id_}: {_brief(error)}" for id_, error in errors.items()),
            fix="correct the first of them, then deploy again: it finds those that are being made, and goes on",
        )
    return made


def _meanwhile(name: str, plan: Plan) -> str:
    gone = [action.id for action in plan.of(What.DELETE_FIRST) if action.cluster == name and action.why is Why.IN_PLACE]
    if gone:
        return (
            f"all else is published; until then there is no cluster {name}: {join(gone)}, which it replaces, "
            "went before"
        )
    stay = sorted(action.id for action in plan.of(What.RETIRE, What.DELETE_LAST) if action.cluster == name)
    if stay:
        stays = "stays" if len(stay) == 1 else "stay"
        return f"all else is published; until then {join(stay)} {stays} as before"
    return "all else is published"


def _living(plan: Plan, why: Why, name: str = "") -> tuple[PersistentResource, ...]:
    """Return clusters that go before anything is made, of one name or, without one, of all."""
    first = (action for action in plan.of(What.CLEAR, What.DELETE_FIRST) if action.why is why)
    return tuple(action.living for action in first if action.living and name in ("", action.cluster))


def creation_policy(environ: Mapping[str, str]) -> CreationPolicy:
    given = environ.get(PATIENCE, "")
    try:
        return CreationPolicy(refused=seconds(given), insists=True) if given else CreationPolicy()
    except ConfigError as error:
        raise ConfigError(
            f"invalid {PATIENCE}: {given!r}", why=error.why, fix="15m, for example, or unset it"
        ) from error


def _brief(error: Exception) -> str:
    return f"{error.what}: {error.why}" if isinstance(error, SlipwayError) else str(error)

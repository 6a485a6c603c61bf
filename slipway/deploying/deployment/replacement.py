"""The rejection of a replacement by the engine, of a resource that exists once under its name."""

from __future__ import annotations

from collections.abc import Iterator

from slipway.base.errors import PolicyError
from slipway.deploying.deployment.plan import Plan
from slipway.deploying.generations.action import Action, What
from slipway.model.cluster import CurrentCluster
from slipway.model.origin import Origin
from slipway.model.state import ACCOUNT, BUCKET, CLUSTER, OBJECT

_KINDS = {CLUSTER: "cluster", BUCKET: "bucket", ACCOUNT: "service account", OBJECT: "catalog"}
_LOSSES = {
    CLUSTER: "its running jobs would end",
    BUCKET: "its objects would be lost",
    ACCOUNT: "jobs that run as the account would lose their permissions",
    OBJECT: "the deletion of the old object would delete the new one, and submitters would have no catalog",
}
_NEW_CLUSTER = (
    "then, for a new cluster, raise `generation` of its PersistentResource: new jobs go to the new cluster, and the "
    "old one is deleted after its last job"
)
_TRANSFORM = "if a transform of the program causes the replacement: leave this resource as it is in the transform"


def replacement_rejected(urn: str, type_: str, name: str, stack: str) -> PolicyError:
    """Return the error of a resource that the engine was told to replace, by its URN."""
    kind = _KINDS.get(type_, "resource")
    fixes = [*_undo(urn, stack), _TRANSFORM]
    if type_ == CLUSTER:
        fixes.append(_NEW_CLUSTER)
    return PolicyError(
        f"{kind} {name} can't be replaced by Pulumi, so nothing of it was changed",
        why=f"a replacement needs the same name, and {_LOSSES.get(type_, 'what depends on it would fail')}",
        fix="\n".join(fixes),
    )


def _undo(urn: str, stack: str) -> list[str]:
    """Return how a person undoes the request for a replacement."""
    return [
        "leave out --replace and --target-replace; after `pulumi state taint`:",
        f"pulumi state untaint --stack {stack} '{urn}'",
    ]


def lent_replacement_rejected(urn: str, type_: str, name: str, stack: str) -> PolicyError:
    """Return the error of a resource of the program that a workspace uses, and that the engine would replace.

    `name`: the bucket's name, or the account's address.
    """
    kind = _KINDS[type_]
    shown = f"gs://{name}" if type_ == BUCKET else name
    edited = (
        f"after an edit of its name or its place: undo the edit; for another {kind}, declare another resource, and a "
        "Workspace of its own for it"
    )
    return PolicyError(
        f"{kind} {shown} can't be replaced by Pulumi, so nothing of it was changed",
        why=f"a Workspace uses resource {urn.rpartition('::')[2]}, and Pulumi would delete the old {kind}: "
        f"{_LOSSES[type_]}",
        fix="\n".join((*_undo(urn, stack), edited, _TRANSFORM)),
    )


def rename_hints(plan: Plan, origin: Origin) -> Iterator[str]:
    """Yield how a cluster keeps its name, for each cluster that is removed while a new one has the same pools."""
    created = [action.current for action in plan.of(What.CREATE) if action.current]
    declared = {cluster.spec.name for cluster in plan.current}
    for action in plan.of(What.RETIRE, What.DELETE_FIRST, What.DELETE_LAST):
        new = next((cluster for cluster in created if _has_same_pools(action, cluster)), None)
        if new is not None and action.cluster not in declared:
            yield (
                f"cluster {action.cluster} is removed and cluster {new.spec.name} is created with the same pools; if "
                f"you renamed it: {origin.keep(action.cluster)}"
            )


def _has_same_pools(action: Action, cluster: CurrentCluster) -> bool:
    living = action.living
    return living is not None and [pool.machine for pool in living.spec.pools] == [
        pool.machine for pool in cluster.spec.pools
    ]

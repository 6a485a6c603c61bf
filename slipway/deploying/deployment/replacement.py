"""The rejection of a replacement by the engine, of a resource that exists once under its name."""

from __future__ import annotations

from slipway.base.errors import PolicyError
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


def replacement_rejected(urn: str, type_: str, name: str, stack: str) -> PolicyError:
    """Return the error of a resource that the engine was told to replace, by its URN."""
    kind = _KINDS.get(type_, "resource")
    fixes = [
        "leave out --replace and --target-replace; after `pulumi state taint`:",
        f"pulumi state untaint --stack {stack} '{urn}'",
    ]
    if type_ == CLUSTER:
        fixes.append(_NEW_CLUSTER)
    return PolicyError(
        f"{kind} {name} can't be replaced by Pulumi, so nothing of it was changed",
        why=f"a replacement needs the same name, and {_LOSSES.get(type_, 'what depends on it would fail')}",
        fix="\n".join(fixes),
    )

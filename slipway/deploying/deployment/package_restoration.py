"""The upload of packages that were deleted outside of Pulumi, before the catalog that names them is written."""

from __future__ import annotations

from collections.abc import Mapping

from slipway.base.errors import ResourceError
from slipway.deploying.deployment.deletion_guard import StackGuard
from slipway.deploying.deployment.deployment import Packages, by_path
from slipway.deploying.deployment.restoration import Restoration, describe
from slipway.google.connection import connect
from slipway.google.live import Unknown
from slipway.google.storage import Location


def restore_for_catalog(found: Restoration, packages: Packages, guard: StackGuard) -> None:
    """Upload the missing ones of these packages again.

    Raises ResourceError if a bucket or an account that `found` names does not exist by now: a refresh of the state
    creates it again before the catalog.
    """
    still_deleted = _still_deleted(found, guard)
    if still_deleted:
        raise ResourceError(
            f"the catalog is not published: {still_deleted} was deleted outside of Pulumi",
            why="Pulumi's state still has it, so without a refresh Pulumi takes it as unchanged",
            fix=f"{guard.origin.command('up', '--refresh')}, which creates it again",
        )
    storage = connect(guard.environ).storage
    built = by_path(packages)
    for path in found.packages:
        package = built[path]
        media = "application/gzip" if package.name.endswith(".gz") else "application/zip"
        # Another run may have uploaded it: the name contains a hash of its contents.
        storage.create(Location(found.bucket, path), package.content, media, again=True)


def _still_deleted(found: Restoration, guard: StackGuard) -> str:
    reader = guard.reader(guard.place)
    buckets = [name for name in found.buckets if _is_missing(name, reader.bucket(name))]
    accounts = [name for name in found.accounts if _is_missing(name, reader.service_account(name))]
    return describe(buckets, accounts)


def _is_missing(name: str, answer: Mapping[str, object] | Unknown) -> bool:
    """Return whether an answer has no resource of this name. An unreadable one is not missing: Pulumi writes to it."""
    return not isinstance(answer, Unknown) and name not in answer

"""Buckets and accounts that the program itself declares, of which a destruction would delete those that another
deployment needs."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from slipway.base.errors import PolicyError, ResourceError
from slipway.base.formatting import join
from slipway.deploying.deployment.deletion_guard import StackGuard
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.live import Unknown
from slipway.google.snapshot import neighbours
from slipway.model.identity import words_of
from slipway.model.state import ACCOUNT, BUCKET


def must_keep_own(guard: StackGuard) -> None:
    """Raise PolicyError where the destruction of a stack would delete a bucket or an account of the program that
    another deployment needs; ResourceError where that can't be read."""
    own = {} if isinstance(guard.state, Unknown) else guard.state.others
    goes = {name: logical for name, logical in own.items() if name and (_type(name), logical) not in guard.retained}
    if not goes:
        return
    catalogs = neighbours(guard.reader(guard.place))
    subject = _subject(goes)
    if isinstance(catalogs, Unknown):
        raise ResourceError(
            f"{guard.origin.whole()} is not taken down: can't tell whether another deployment needs {subject}",
            why=str(catalogs),
            fix="correct that and run it again",
        )
    ours = {guard.stack, *guard.together}
    needed = _needed(goes, {bucket: each for bucket, each in catalogs.items() if not _is_of(each, ours)})
    if needed:
        raise _needed_elsewhere(guard, needed, goes)


def _type(name: str) -> str:
    return ACCOUNT if "@" in name else BUCKET


def _is_of(catalog: PublishedCatalog | Unknown, labels: Collection[str]) -> bool:
    return isinstance(catalog, PublishedCatalog) and catalog.owner in labels


def _needed(names: Collection[str], catalogs: Mapping[str, PublishedCatalog | Unknown]) -> dict[str, list[str]]:
    """Return the labels of the deployments that need each of these buckets and accounts."""
    needed: dict[str, list[str]] = {}
    for name in sorted(names):
        published = [each for each in catalogs.values() if isinstance(each, PublishedCatalog)]
        owners = sorted({each.owner for each in published if each.offers(name)})
        if owners:
            needed[name] = owners
    return needed


def _needed_elsewhere(guard: StackGuard, needed: Mapping[str, list[str]], own: Mapping[str, str]) -> PolicyError:
    labels = sorted({label for owners in needed.values() for label in owners})
    others = join(words_of(label) if label else "another deployment" for label in labels)
    several = len(needed) > 1
    them = "them" if several else "it"
    resources = join(own[name] for name in needed)
    verb = "need" if len(labels) > 1 else "needs"
    return PolicyError(
        f"{guard.origin.whole()} is not taken down: {_subject(needed)} would be deleted, and {others} {verb} {them}",
        why=f"the program declares {them} itself, as {resources}, so Pulumi deletes {them} with the rest; "
        f"jobs of {others} would fail",
        fix=f"take down {others} first\n"
        f"or keep {them}: give {resources} `opts=pulumi.ResourceOptions(retain_on_delete=True)`, {guard.origin.up}, "
        f"then {guard.origin.command('destroy')}",
    )


def _subject(names: Collection[str]) -> str:
    return join(f"account {name}" if _type(name) == ACCOUNT else f"bucket gs://{name}" for name in sorted(names))

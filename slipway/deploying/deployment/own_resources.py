"""Resources that the program itself declares, of which a destruction would delete those that another deployment needs:
buckets and accounts above all, also roles, reservations and clusters."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from slipway.base.errors import PolicyError, ResourceError
from slipway.base.formatting import join
from slipway.deploying.deployment.deletion_guard import StackGuard
from slipway.deploying.deployment.strays import ROLES, describe_entries
from slipway.deploying.deployment.undeclared import is_needed_by
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.live import Unknown
from slipway.google.snapshot import neighbours
from slipway.model.identity import words_of
from slipway.model.state import ACCOUNT, BUCKET, State, StateEntry


def must_keep_own(guard: StackGuard) -> None:
    """Raise PolicyError where the destruction of a stack would delete a resource of the program that another deployment
    needs; ResourceError where that can't be read."""
    known = State() if isinstance(guard.state, Unknown) else guard.state
    going = [entry for entry in _own(known) if (entry.type, entry.logical) not in guard.retained]
    if not going:
        return
    catalogs = neighbours(guard.reader(guard.place))
    if isinstance(catalogs, Unknown):
        raise ResourceError(
            f"{guard.origin.whole()} is not taken down: can't tell whether another deployment needs "
            f"{describe_entries(going)}",
            why=str(catalogs),
            fix="correct that and run it again",
        )
    ours = {guard.stack, *guard.together}
    others = {bucket: each for bucket, each in catalogs.items() if _is_of_another(each, ours)}
    needed = [entry for entry in going if _labels([entry], others, guard.place[0])]
    if needed:
        raise _needed_elsewhere(guard, needed, _labels(needed, others, guard.place[0]))


def _own(known: State) -> Iterator[StateEntry]:
    """Yield the entries of the program's own resources, those in components of its own as well."""
    for entry in known.entries:
        is_other_role = entry.grant is not None and entry.grant.role not in ROLES
        if not entry.parent and not is_other_role:
            yield entry
    named = {entry.name for entry in known.entries}
    for name, logical in known.others.items():
        if name and name not in named:
            yield StateEntry("", ACCOUNT if "@" in name else BUCKET, "", logical, name)


def _is_of_another(catalog: PublishedCatalog | Unknown, labels: Collection[str]) -> bool:
    return isinstance(catalog, PublishedCatalog) and catalog.owner not in labels


def _labels(
    entries: Sequence[StateEntry], catalogs: Mapping[str, PublishedCatalog | Unknown], project: str
) -> list[str]:
    """Return the labels of the deployments that need one of these entries."""
    labels: set[str] = set()
    for bucket, catalog in catalogs.items():
        if isinstance(catalog, PublishedCatalog) and any(
            is_needed_by(bucket, catalog, entry, entry.project or project) for entry in entries
        ):
            labels.add(catalog.owner)
    return sorted(labels)


def _needed_elsewhere(guard: StackGuard, needed: Sequence[StateEntry], labels: Sequence[str]) -> PolicyError:
    others = join(words_of(label) if label else "another deployment" for label in labels)
    them = "them" if len(needed) > 1 else "it"
    resources = join(entry.logical for entry in needed)
    verb = "need" if len(labels) > 1 else "needs"
    return PolicyError(
        f"{guard.origin.whole()} is not taken down: {describe_entries(needed)} would be deleted, and {others} {verb} "
        f"{them}",
        why=f"the program declares {them} itself, as {resources}, so Pulumi deletes {them} with the rest; "
        f"jobs of {others} would fail",
        fix=f"take down {others} first\n"
        f"or keep {them}: give {resources} `opts=pulumi.ResourceOptions(retain_on_delete=True)`, {guard.origin.up}, "
        f"then {guard.origin.command('destroy')}",
    )

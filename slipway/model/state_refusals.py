"""Rejections of a run by the state of its stack: a moved or renamed stack, and entries that Pulumi would delete though
somebody needs what they stand for. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from slipway.base.errors import ConfigError
from slipway.base.formatting import join
from slipway.model.facts import CATALOG, WORKSPACE
from slipway.model.identity import identity_in, words_of
from slipway.model.origin import Origin
from slipway.model.state import GENERATION, State

_MOVED_TOGETHER = (CATALOG, GENERATION, WORKSPACE)
"""The components that have resources in the cloud: those that need others come first."""


def refuse_move(
    known: State, *, stack: str, project: str, region: str, others: Collection[str] = (), component: str = ""
) -> None:
    """Raise ConfigError when the stack has resources in another project or region than its declared ones. `component`:
    the one of a program that names the place, where no stack file does.

    Clusters may have been made as alternatives in other regions: in one of `others`, or as the state tells. Buckets
    that the stack made are in its own, and so tell that it did not move.
    """
    elsewhere = _elsewhere(known, project, region, {*others, *known.other_regions})
    if not elsewhere:
        return
    # An account has no region: a resource that tells the old one comes first.
    old = max(elsewhere.values(), key=lambda place: place[1] != region)
    keys = {"gcp:project": (old[0], project), "gcp:region": (old[1], region)}
    edited = {key: (was, now) for key, (was, now) in keys.items() if was != now}
    was, now = (join(places) for places in zip(*edited.values(), strict=True))
    before = {key: was for key, (was, _) in edited.items()}
    raise ConfigError(
        f"{component or f'stack {stack}'} lives in {was} and can't move to {now}, so nothing was changed",
        why=f"it has {join(elsewhere)} there; moving would delete them, and stop the jobs that run on them",
        fix=_back_in_program(before, now) if component else _back_in_file(before, now, Origin(stack)),
    )


def _elsewhere(known: State, project: str, region: str, permitted: Collection[str]) -> dict[str, tuple[str, str]]:
    """Return the project and the region of each resource that is not in the declared ones, by kind and name.
    `permitted`: the other regions in which clusters may be."""
    stays = any(bucket.region == region for bucket in known.buckets)
    elsewhere: dict[str, tuple[str, str]] = {}
    for kind, resources in {"cluster": known.clusters, "bucket": known.buckets, "account": known.accounts}.items():
        for resource in resources:
            may_be = stays or resource.region in permitted or resource.logical in known.elsewhere
            there = region if kind == "cluster" and may_be else resource.region
            # A part of a place that the state lacks is taken to be as configured.
            place = resource.project or project, there or region
            if place != (project, region):
                elsewhere[f"{kind} {resource.name}"] = place
    return elsewhere


def _back_in_file(before: Mapping[str, str], now: str, origin: Origin) -> str:
    """Return what to do about the keys of a stack file. `before`: their former values."""
    back = join(f"{key}: {was}" for key, was in before.items())
    return (
        f"put {back} back into {origin.file}, and give {now} a stack of its own\n"
        f"or, with {back} put back, take this one down before it is made anew:\n{origin.command('destroy')}"
    )


def _back_in_program(before: Mapping[str, str], now: str) -> str:
    """Return what to do about the arguments of a component. `before`: the former values of the keys that they have in
    a stack file."""
    arguments = {key.removeprefix("gcp:"): was for key, was in before.items()}
    assigned = ", ".join(f"{argument}={place!r}" for argument, place in arguments.items())
    commands = " and ".join(f"`pulumi config set gcp:{argument} {place}`" for argument, place in arguments.items())
    return f"`{assigned}` among its arguments, or {commands}; and a component of another name for {now}"


def refuse_rename(known: State, alive: Mapping[str, str], stack: str, origin: Origin, published: str = "") -> None:
    """Raise ConfigError when the state has clusters that are another stack's.

    `alive`: by id, the stack in its label. `published`: the stack in the published catalog. Clusters in addition to
    those of the stack itself were moved here, as were clusters without a workspace's buckets, accounts and catalog. If
    all clusters are another stack's, and the state has those as well, the stack was renamed.
    """
    labels = {cluster.name: alive.get(cluster.name, "") for cluster in known.clusters}
    foreign = {id_: label for id_, label in labels.items() if label not in ("", stack)}
    if not foreign:
        return
    owner = min(foreign.values())
    if stack in (published, *labels.values()) or _is_moved(known, owner, stack):
        several = len(foreign) > 1
        subject = f"cluster{'s' if several else ''} {join(sorted(foreign))}"
        raise belongs_elsewhere(subject, owner, origin, sorted(_urns_of(known, foreign)), several=several)
    raise renamed(owner, stack, origin, known)


def refuse_doubles(known: State, clusters: Collection[str], origin: Origin) -> None:
    """Raise ConfigError where the state has one of the stack's own `clusters` (ids) a second time, as after `pulumi
    import`: Pulumi would delete the cluster as one that no program declares, and no guard would ask for its jobs."""
    doubles = {id_: urn for id_, urn in known.stray_clusters.items() if id_ in clusters}
    if not doubles:
        return
    ids = sorted(doubles)
    raise second_entries(
        f"cluster{'s' if len(ids) > 1 else ''} {join(ids)}", origin, list(doubles.values()), several=len(ids) > 1
    )


def belongs_elsewhere(
    subject: str, owner: str, origin: Origin, urns: Collection[str] = (), *, several: bool = False
) -> ConfigError:
    """Return the error of what another stack made, and what the state of this one has, as Pulumi would delete it.

    `owner`: that stack, as labels have it; empty if unknown. `urns`: in the order in which they can be removed.
    `several`: the subject is plural.
    """
    owning = words_of(owner) if owner else "another stack"
    them = "them" if several else "it"
    return ConfigError(
        f"{subject} {'belong' if several else 'belongs'} to {owning}, so nothing was changed",
        why=f"the state of {_address(urns, origin)} has {them}, as after `pulumi import` or `pulumi state move`; "
        f"Pulumi would delete {them}, because the program does not declare {them}",
        fix="\n".join(
            (
                f"remove {them} from the state, which deletes nothing:",
                *_removals(urns, origin),
                f"then deploy {owning} if `pulumi state move` took {them} from its state",
            )
        ),
    )


def second_entries(
    subject: str, origin: Origin, urns: Collection[str], others: Collection[str] = (), *, several: bool = False
) -> ConfigError:
    """Return the error of what the state has by an entry of the stack and by one that no program declares.

    `others`: the URNs of the entries by which the program itself declares the same. Other resources may depend on each
    of both, and then leave the state together with it.
    """
    removals = _removals(urns, origin)
    if others:
        instead = (
            "if Pulumi says that other resources depend on it, as after a rename in the program, remove the other "
        )
        removals = [
            *(_forgetting_alone(origin.stack, urn) for urn in urns),
            f"{instead}entry in its place, and do what the next preview says:",
            *(_forgetting_alone(origin.stack, urn) for urn in others),
        ]
    return ConfigError(
        f"{subject} {'are' if several else 'is'} in the state a second time, so nothing was changed",
        why="`pulumi import` or `pulumi state move` added the entry, or the program declared the same and no longer "
        "does; Pulumi would delete what the stack needs, because the program does not declare that entry",
        fix="\n".join(("remove the entry from the state, which deletes nothing, and deploy again:", *removals)),
    )


def _forgetting_alone(stack: str, urn: str) -> str:
    """Return the command that removes an entry on which no other one depends; Pulumi rejects it for another entry."""
    return f"pulumi state delete --stack {stack} '{urn}' --force"


def _removals(urns: Collection[str], origin: Origin) -> list[str]:
    return [forgetting(origin.stack, urn) for urn in urns or ["URN"]]


def _address(urns: Iterable[str], origin: Origin) -> str:
    """Return `PROJECT/STACK` of the state that has the entries."""
    for urn in urns:
        _, _, rest = urn.partition("urn:pulumi:")
        stack, _, rest = rest.partition("::")
        return f"{rest.partition('::')[0]}/{stack}"
    return f"stack {origin.stack}"


def forgetting(stack: str, urn: str) -> str:
    """Return the command that removes a resource from a state, with its children, and deletes nothing. A protected
    entry needs `--force`: `pulumi import` protects by default, and the state that a program can read does not tell."""
    quoted = urn if urn == "URN" else f"'{urn}'"
    return f"pulumi state delete --stack {stack} --target-dependents {quoted} --force"


def _urns_of(known: State, clusters: Collection[str]) -> list[str]:
    return [urn for (type_, name), urn in known.urns.items() if type_ == GENERATION and name in clusters]


def _is_moved(known: State, owner: str, stack: str) -> bool:
    """Return whether `pulumi state move` brought another stack's clusters into a state that has nothing else: a renamed
    stack has its buckets, accounts and catalog as well. A workspace that has another name now is in the same stack."""
    before, now = identity_in(owner), identity_in(stack)
    if before and now and (before.project, before.stack) == (now.project, now.stack):
        return False
    return not (known.buckets or known.accounts or known.catalogs or known.lent)


def renamed(old: str, new: str, origin: Origin, known: State) -> ConfigError:
    """Return the error of a stack that was deployed under another name: its resources can't be renamed. Both names are
    those in labels."""
    return ConfigError(
        f"{_was_called(old, new)} and can't be renamed, so nothing was changed",
        why=f"what it made bears the name {old} for good: under another one protected clusters too would be made anew",
        fix="\n".join((origin.back_to(old, new), *_removals_after_move(old, origin, known))),
    )


def _was_called(old: str, new: str) -> str:
    """Return both names of a stack; of a workspace in the same stack only the names of the workspace."""
    before, now = identity_in(old), identity_in(new)
    is_same_stack = before and now and (before.project, before.stack) == (now.project, now.stack)
    if before and now and is_same_stack and before.workspace and now.workspace:
        return f"workspace {now.workspace} was called {before.workspace}"
    return f"{words_of(new)} was called {words_of(old).removeprefix('stack ')}"


def _removals_after_move(old: str, origin: Origin, known: State) -> list[str]:
    """Return how to remove all of a former stack from the state, if that stack may still exist; the parts that need
    others come first."""
    before = identity_in(old)
    if before is not None and before.stack == origin.stack:
        return []
    urns = [urn for type_ in _MOVED_TOGETHER for (found, _), urn in sorted(known.urns.items()) if found == type_]
    if not urns:
        return []
    former = words_of(old)
    return [
        f"or, if {former} still exists, as after `pulumi state move`, remove its entries, which deletes nothing:",
        *_removals(urns, origin),
        f"then deploy {former}",
    ]

"""Entries of Pulumi's state that the program does not declare, whose names do not tell whether they are in use.

`pulumi import` adds such entries by any name, and a program that drops a resource of its own leaves one. Pulumi deletes
what they stand for. So the published catalogs of the project and the cluster itself tell who needs it.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from slipway.base.errors import ResourceError, SlipwayError
from slipway.base.formatting import join
from slipway.deploying.deployment.deletion_guard import use_of_cluster
from slipway.deploying.deployment.shared_grants import needs_of, right_of
from slipway.deploying.deployment.strays import ROLES, OwnNames, describe_entries
from slipway.deploying.deployment.workspace_plan import CATALOG, WORK
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.clusters import PersistentResource
from slipway.google.connection import Connection
from slipway.google.live import InUse, Neighbours, Unknown
from slipway.google.live_reader import LiveScope, Reader
from slipway.google.snapshot import neighbours
from slipway.google.unfinished_jobs import must_be_idle, ways_out
from slipway.model.labels import STACK_LABEL
from slipway.model.origin import Origin
from slipway.model.state import CLUSTER, OBJECT, RESERVATION, State, StateEntry
from slipway.model.state_refusals import belongs_elsewhere, forgetting, second_entries

_DEFAULT_NAME = re.compile(rf"(?P<label>.+--.+)-({CATALOG}|{WORK})(-[a-z]+-[a-z]+[0-9]+)?")


@dataclass(frozen=True)
class Owners:
    """Facts from the cloud about undeclared entries."""

    #: The published catalogs, by Google Cloud project.
    catalogs: Mapping[str, Neighbours] = field(default_factory=dict)
    #: Clusters by the URNs of their entries; None if a cluster does not exist.
    clusters: Mapping[str, PersistentResource | Unknown | None] = field(default_factory=dict)
    #: The use of clusters without a label, by the URNs of their entries.
    uses: Mapping[str, InUse | Unknown] = field(default_factory=dict)


def undeclared_entries(known: State, own: OwnNames) -> tuple[StateEntry, ...]:
    """Return the entries that Pulumi would delete, and that another deployment or a job may need."""
    if own.declared is None:
        return ()
    return tuple(
        entry
        for entry in known.entries
        if not entry.parent
        and (entry.type, entry.logical) not in own.declared
        and not (entry.grant and entry.grant.role not in ROLES)
    )


def own_second_entries(known: State, own: OwnNames) -> list[StateEntry]:
    """Return the entries of what the program itself has by its present name as well: those by a former name, and those
    of a former parent. Pulumi would delete it by them, also where an alias tells the former name."""
    present = [entry for entry in known.outside if (entry.type, entry.logical, entry.parent) in own.present]
    names = {(entry.type, entry.name) for entry in present if not entry.grant}
    return [entry for entry in known.outside if entry not in present and (entry.type, entry.name) in names]


def second_entries_of(entries: Collection[StateEntry], known: State) -> list[StateEntry]:
    """Return those of these entries whose resource the program has by another entry, in a component or not."""
    urns = {entry.urn for entry in entries}
    declared = [entry for entry in (*known.entries, *known.nested) if entry.urn not in urns]
    names = {(entry.type, entry.name) for entry in declared if not entry.grant}
    rights = {right_of(entry.grant) for entry in declared if entry.grant}
    return [
        entry
        for entry in entries
        if (entry.type, entry.name) in names or (entry.grant and right_of(entry.grant) in rights)
    ]


def refuse_second_entries(entries: Collection[StateEntry], known: State, origin: Origin) -> None:
    """Raise ConfigError for those of these entries whose resource the program has by another entry."""
    doubles = second_entries_of(entries, known)
    if doubles:
        urns = [entry.urn for entry in doubles]
        names = {(entry.type, entry.name) for entry in doubles if not entry.grant}
        same = [entry for entry in known.outside if (entry.type, entry.name) in names and entry not in doubles]
        others = [entry.urn for entry in same]
        raise second_entries(describe_entries(doubles), origin, urns, others, several=len(doubles) > 1)


def read_owners(connection: Connection, entries: Collection[StateEntry], place: tuple[str, str]) -> Owners:
    """Read what the cloud tells of undeclared entries. `place`: the project and the region of the run."""
    catalogs = {
        project: neighbours(Reader(connection, LiveScope(project, place[1])))
        for project in sorted({entry.project or place[0] for entry in entries} - {""})
    }
    clusters: dict[str, PersistentResource | Unknown | None] = {}
    uses: dict[str, InUse | Unknown] = {}
    for entry in entries:
        if entry.type != CLUSTER or entry.marked:
            continue
        project, region = entry.project or place[0], entry.region or place[1]
        cluster = Reader(connection, LiveScope(project, region), where=f" in {region}").cluster(entry.name)
        clusters[entry.urn] = cluster
        if isinstance(cluster, PersistentResource) and STACK_LABEL not in cluster.labels:
            full = f"projects/{project}/locations/{region}/persistentResources/{entry.name}"
            uses[entry.urn] = use_of_cluster(connection, full)
    return Owners(catalogs, clusters, uses)


def refuse_needed(
    entries: Collection[StateEntry], owners: Owners, labels: Collection[str], project: str, origin: Origin
) -> None:
    """Raise ConfigError for entries that another deployment needs, PolicyError for a cluster with jobs, ResourceError
    if that is unknown. `labels`: those of the program's stacks. `project`: the Google Cloud project of the run."""
    by_owner: dict[str, list[StateEntry]] = {}
    for entry in entries:
        owner = _owner(entry, owners, labels, project)
        if owner is not None:
            by_owner.setdefault(owner, []).append(entry)
    raise_together([_needed(owner, found, labels, origin) for owner, found in by_owner.items()])
    for entry in entries:
        _refuse_unknown(entry, owners, project, origin)
        if entry.urn in owners.uses:
            _refuse_busy(entry, owners.uses[entry.urn], origin)


def _needed(owner: str, found: Collection[StateEntry], labels: Collection[str], origin: Origin) -> SlipwayError:
    urns = [entry.urn for entry in found]
    subject, several = describe_entries(found), len(found) > 1
    if owner in labels:
        return second_entries(subject, origin, urns, several=several)
    return belongs_elsewhere(subject, owner, origin, urns, several=several)


def raise_together(errors: Sequence[SlipwayError]) -> None:
    """Raise the only error as it is, and several as one, so that a person fixes all of them in one round."""
    if not errors:
        return
    first, *others = errors
    if not others:
        raise first
    raise type(first)(
        f"Pulumi's state has {len(errors)} faults, so nothing was changed",
        why="\n".join(f"{error.what}: {error.why}" for error in errors),
        fix="\n".join(error.fix for error in errors),
    )


def _owner(entry: StateEntry, owners: Owners, labels: Collection[str], project: str) -> str | None:
    """Return the label of the deployment that needs what an entry stands for; empty if its label is unknown, None if no
    deployment needs it."""
    cluster = owners.clusters.get(entry.urn)
    if isinstance(cluster, PersistentResource) and STACK_LABEL in cluster.labels:
        return cluster.labels[STACK_LABEL]
    for catalogs in owners.catalogs.values():
        for bucket, catalog in {} if isinstance(catalogs, Unknown) else catalogs.items():
            if not isinstance(catalog, PublishedCatalog) or catalog.owner in labels:
                continue
            if is_needed_by(bucket, catalog, entry, entry.project or project):
                return catalog.owner
    return owner_in_name(entry.name, entry.project or project) if entry.made else None


def owner_in_name(bucket: str, project: str) -> str:
    """Return the label in the default name of a bucket; empty for another name."""
    base = project.split(":")[-1]  # The projects of a domain have a colon, which buckets can't have.
    match = _DEFAULT_NAME.fullmatch(bucket.removeprefix(f"{base}-"))
    return match["label"] if match else ""


def is_needed_by(bucket: str, catalog: PublishedCatalog, entry: StateEntry, project: str) -> bool:
    """Return whether a catalog, which is in this bucket, needs what an entry stands for. `project`: the entry's."""
    whole = catalog.whole
    is_elsewhere = whole is not None and whole.project != project
    if entry.grant:
        return whole is not None and not is_elsewhere and right_of(entry.grant) in needs_of(whole, bucket)
    if entry.type == RESERVATION:
        return whole is not None and any(entry.name == held.path for held in whole.reservations.values())
    if entry.type == OBJECT:
        holder = entry.name.removeprefix("gs://").partition("/")[0]
        return holder == bucket or catalog.offers(holder)
    if entry.type == CLUSTER and is_elsewhere:
        return False
    return entry.name == bucket or catalog.offers(entry.name)


def _refuse_unknown(entry: StateEntry, owners: Owners, project: str, origin: Origin) -> None:
    """Raise ResourceError if it can't be read whether a deployment needs what an entry stands for."""
    catalogs = owners.catalogs.get(entry.project or project, {})
    unread = [part for part in (owners.clusters.get(entry.urn), catalogs) if isinstance(part, Unknown)]
    if unread:
        question = f"whether another deployment needs {describe_entries([entry])}"
        raise _unreadable(entry, question, join(map(str, unread)), origin)


def _unreadable(entry: StateEntry, question: str, why: str, origin: Origin) -> ResourceError:
    return ResourceError(
        f"can't tell {question}, so nothing was changed",
        why=f"the program does not declare {entry.urn}, so Pulumi would delete it; {why}",
        fix="deploy again when that can be read\n"
        f"or remove it from the state, which deletes nothing:\n{forgetting(origin.stack, entry.urn)}",
    )


def _refuse_busy(entry: StateEntry, use: InUse | Unknown, origin: Origin) -> None:
    """Raise PolicyError if a cluster of no deployment has jobs, ResourceError if that can't be read."""
    if isinstance(use, Unknown):
        raise _unreadable(entry, f"whether jobs run on cluster {entry.name}", str(use), origin)
    forget = forgetting(origin.stack, entry.urn)
    keep = f"to keep the cluster, remove it from the state, which deletes nothing:\n{forget}"
    end = f"\nor, to delete it, end its jobs:\n{ways_out(use.jobs)}" if use.jobs else ""
    must_be_idle(
        use,
        f"the program does not declare cluster {entry.name}, and it is not deleted, so nothing was changed",
        instead=f"{keep}{end}",
    )

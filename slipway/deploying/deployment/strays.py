"""Entries of Pulumi's state that the deployment would not declare again, though what they stand for is in use.

`pulumi state move` brings entries of another stack, and `pulumi state rename` gives entries other names. Pulumi would
delete what they stand for, as the program declares no such entry. The names of what components declare follow rules,
so the entries' names tell. Pure.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from slipway.base.errors import ConfigError
from slipway.base.formatting import join
from slipway.deploying.deployment.workspace_plan import (
    ACT_AS,
    CATALOG,
    CREATES,
    READS,
    SUBMITTER_ROLES,
    TRAINER,
    WORK,
    WRITES,
    other_logical,
    trainer_owner,
)
from slipway.model.catalog.model import NAME as CATALOG_FILE
from slipway.model.facts import CATALOG as CATALOG_COMPONENT
from slipway.model.facts import WORKSPACE
from slipway.model.origin import Origin
from slipway.model.state import (
    ACCOUNT,
    BUCKET,
    BUCKETS_ELSEWHERE,
    CLUSTER,
    GENERATION,
    OBJECT,
    RESERVATION,
    State,
    StateEntry,
    StateGrant,
)
from slipway.model.state_refusals import belongs_elsewhere, forgetting

CREATION = "creation"
"""The engine's name of the object that lists the clusters that were created last. Frozen."""
_OBJECT_NAMES = {CATALOG_COMPONENT: frozenset({CATALOG}), WORKSPACE: frozenset({CREATION})}
_NOUNS = {CLUSTER: "cluster", ACCOUNT: "account", OBJECT: "object", RESERVATION: "reservation"}
_SUBMITTERS = re.compile(r"(reads-(catalog|work)|creates-work|act-as-trainer)\b")
_OBJECTS = ("/clusters/asked-for.json", f"/{CATALOG_FILE}")
_DEFAULT_BUCKET = re.compile(rf"--.*-({CATALOG}|{WORK})(-[a-z0-9-]+)?$")
ROLES = frozenset({*SUBMITTER_ROLES.values(), ACT_AS, READS, CREATES, WRITES})
_TRAINERS = re.compile(r"-(reads-catalog|writes-work)\b")
"""The names of grants: those of submitters on buckets and accounts, those of trainers on buckets."""


@dataclass(frozen=True)
class OwnNames:
    """The names of a program's stacks."""

    #: The beginnings of the engine's names, of all workspaces that the program or the state has.
    prefixes: Collection[str]
    #: Those of the catalogs.
    catalogs: Collection[str]
    #: The values of the stacks' labels.
    labels: Collection[str]
    #: The types and the engine's names of resources that the program itself declares; None if these are unknown, as for
    #: a program in another language.
    declared: Collection[tuple[str, str]] | None = ()
    #: Their types and present names, each with the type of the component around it; empty without one.
    present: Collection[tuple[str, str, str]] = ()


@dataclass(frozen=True)
class Strays:
    """Entries that the program would not declare again."""

    #: Entries of other stacks, in the order in which they can be removed.
    foreign: tuple[StateEntry, ...] = ()
    #: The stack's own entries under other names.
    misnamed: tuple[StateEntry, ...] = ()

    @property
    def urns(self) -> frozenset[str]:
        return frozenset(entry.urn for entry in (*self.foreign, *self.misnamed))


def strays(known: State, own: OwnNames) -> Strays:
    """Return the entries of other stacks, or else the entries that have been renamed."""
    inside = [entry for entry in known.entries if entry.parent]
    loose = [entry for entry in known.entries if not entry.parent and _is_ours(entry, own)]
    misnamed = [entry for entry in inside if not _is_named_well(entry, own, known)]
    moved = [entry for entry in [*misnamed, *loose] if _is_of_another(entry, own)]
    foreign = list(dict.fromkeys([*moved, *_labelled_otherwise(inside, own)]))
    if not foreign:
        return Strays(misnamed=tuple(sorted([*misnamed, *loose], key=_turn)))
    foreign += [entry for entry in loose if entry not in foreign]
    return Strays(foreign=tuple(sorted(foreign, key=_turn)))


def refuse_strays(known: State, own: OwnNames, origin: Origin) -> None:
    """Raise ConfigError for entries of other stacks, and for entries that have been renamed."""
    found = strays(known, own)
    if found.foreign:
        owner = next(filter(None, map(_owner, found.foreign)), "")
        urns = [_whole(entry, known) for entry in found.foreign]
        several = len(found.foreign) > 1
        raise belongs_elsewhere(describe_entries(found.foreign), owner, origin, urns, several=several)
    if found.misnamed:
        raise _renamed(found.misnamed, own, known, origin)


def _renamed(entries: Collection[StateEntry], own: OwnNames, known: State, origin: Origin) -> ConfigError:
    former = {entry.urn: _former(entry, own, known) for entry in entries if entry.parent}
    back = [f"pulumi state rename --stack {origin.stack} '{urn}' {name}" for urn, name in former.items() if name]
    back = ["give it back its former name:", *back, "or:"] if back else []
    forget = [forgetting(origin.stack, entry.urn) for entry in entries]
    names = join(entry.logical for entry in entries)
    return ConfigError(
        f"Pulumi's state has {describe_entries(entries)} under the name {names}, so nothing was changed",
        why="`pulumi state rename`, `pulumi state move` or `pulumi import` wrote this entry; the program declares the "
        "same by another entry, and Pulumi would delete it by this one",
        fix="\n".join((*back, "remove it from the state, which deletes nothing, and deploy again:", *forget)),
    )


def _turn(entry: StateEntry) -> int:
    """Return a number by which entries are sorted that depend on others, and are removed together with these: the
    dependent ones first."""
    if entry.type == OBJECT:
        return 0 if entry.name.endswith(f"/{CATALOG_FILE}") else 2
    if entry.type == CLUSTER:
        return 1
    return 3 if entry.grant else 4


def _is_named_well(entry: StateEntry, own: OwnNames, known: State) -> bool:
    """Tell whether a component of the program may have declared an entry under its name."""
    if entry.type == CLUSTER:
        return entry.logical == entry.name
    if entry.parent == CATALOG_COMPONENT:
        return _follows(entry, own.catalogs) or (_is_in_known_bucket(entry, known) and _follows(entry, _ends(entry)))
    return _follows(entry, own.prefixes)


def _is_of_another(entry: StateEntry, own: OwnNames) -> bool:
    """Tell whether an entry that no component of the program declares has a name that another program gave it."""
    if _owner(entry):
        return _owner(entry) not in own.labels
    return _follows(entry, _ends(entry)) and not _follows(entry, own.prefixes)


def _is_ours(entry: StateEntry, own: OwnNames) -> bool:
    """Tell whether a component declared an entry that has no component around it. A program may have resources of its
    own; and a cluster of the stack itself is told elsewhere."""
    if (entry.type, entry.logical) in (own.declared or ()) or entry.type == RESERVATION:
        return False
    if entry.type == CLUSTER:
        return entry.marked not in ("", *own.labels)
    if entry.type == ACCOUNT:
        return bool(_owner(entry))
    if entry.type == OBJECT and not entry.name.endswith(_OBJECTS):
        return False
    if entry.type == BUCKET and not _DEFAULT_BUCKET.search(entry.name):
        return False
    if entry.grant and entry.grant.role not in ROLES:
        return False
    return _follows(entry, _ends(entry))


def _labelled_otherwise(entries: Collection[StateEntry], own: OwnNames) -> Iterator[StateEntry]:
    """Yield the clusters, and the accounts of named trainers, that tell another stack as their owner. None where all
    tell that: then the stack itself was renamed, which is told elsewhere."""
    owners = {_owner(entry) for entry in entries}
    if owners.isdisjoint(own.labels):
        return
    for entry in entries:
        is_whole_workspace = entry.type == ACCOUNT and any(entry.logical == f"{each}{TRAINER}" for each in own.prefixes)
        if _owner(entry) not in ("", *own.labels) and entry.logical and not is_whole_workspace:
            yield entry


def _is_in_known_bucket(entry: StateEntry, known: State) -> bool:
    bucket = entry.name.removeprefix("gs://").partition("/")[0]
    return bucket in known.others or any(bucket == each.name for each in known.buckets)


def _ends(entry: StateEntry) -> list[str]:
    """Return every beginning that a component's name may give to the name of an entry."""
    parts = entry.logical.split("-")
    return [f"{'-'.join(parts[:count])}-" if count else "" for count in range(len(parts))]


def _follows(entry: StateEntry, prefixes: Iterable[str]) -> bool:
    """Tell whether an entry has a name that a component would give it, behind one of these beginnings."""
    rests = [entry.logical.removeprefix(prefix) for prefix in prefixes if entry.logical.startswith(prefix)]
    if entry.grant:
        grant = entry.grant
        return any(_is_name_of_grant(rest, grant) for rest in rests)
    return not _names(entry).isdisjoint(rests)


def _names(entry: StateEntry) -> frozenset[str]:
    """Return the names that a workspace or a catalog may give what it declares."""
    name = entry.name
    if entry.type == BUCKET:
        return frozenset({CATALOG, f"{CATALOG}.{name}", WORK, f"{WORK}.{name}", f"{BUCKETS_ELSEWHERE}{name}"})
    if entry.type == ACCOUNT:
        return frozenset({TRAINER, other_logical(name)})
    if entry.type == OBJECT:
        return _OBJECT_NAMES.get(entry.parent, frozenset({CATALOG, CREATION}))
    return frozenset({name})


def _is_name_of_grant(name: str, grant: StateGrant) -> bool:
    """Tell whether a workspace may give a grant this name. IAM writes members in lower case, and marks deleted ones."""
    if name.startswith(TRAINER):
        return name.endswith(f"-{grant.role.removeprefix('roles/')}") or bool(_TRAINERS.search(name))
    purpose = name.partition("-")[0]
    if SUBMITTER_ROLES.get(purpose) != grant.role and not _SUBMITTERS.match(name):
        return False
    return grant.member.startswith("deleted:") or name.lower().endswith(f"-{grant.member.lower()}")


def _whole(entry: StateEntry, known: State) -> str:
    """Return the URN of an entry; that of its component for a cluster that has one, with which the cluster goes."""
    component = known.urns.get((GENERATION, entry.name)) if entry.type == CLUSTER else None
    return component or entry.urn


def _owner(entry: StateEntry) -> str:
    """Return the stack that an entry tells as its owner; empty if it tells none."""
    return trainer_owner(entry.marked) if entry.type == ACCOUNT else entry.marked


def _former(entry: StateEntry, own: OwnNames, known: State) -> str:
    """Return the name that an entry must have; empty where it may be one of several."""
    if entry.type == CLUSTER:
        return entry.name
    prefixes = own.catalogs if entry.parent == CATALOG_COMPONENT else own.prefixes
    names: set[str] = set()
    for prefix in prefixes:
        rest = _former_name_of_grant(entry.grant, _named(known, prefix)) if entry.grant else _former_rest(entry)
        if rest:
            names.add(f"'{prefix}{rest}'")
    return names.pop() if len(names) == 1 else ""


def _named(known: State, prefix: str) -> dict[str, str]:
    """Return the engine's names of a workspace's buckets (`gs://NAME`) and accounts, without their beginning."""
    named: dict[str, str] = {}
    for entry in known.entries:
        if entry.type in (BUCKET, ACCOUNT) and entry.parent and _follows(entry, [prefix]):
            address = f"gs://{entry.name}" if entry.type == BUCKET else entry.name
            named[address] = entry.logical.removeprefix(prefix)
    return named


def _former_name_of_grant(grant: StateGrant, named: Mapping[str, str]) -> str:
    """Return the name that a workspace gives a grant, without its beginning; empty if that is unknown. `named`: the
    names of its buckets and accounts."""
    trainer = named.get(grant.member.removeprefix("serviceAccount:"), "")
    if not grant.on:
        return _name_on_project(grant, trainer)
    on = named.get(grant.on, "")
    if not on:
        return ""
    of_trainer = {READS: f"{trainer}-reads-{on}", WRITES: f"{trainer}-writes-{on}"}
    of_submitter = {
        READS: f"reads-{on}-{grant.member}",
        CREATES: f"creates-{on}-{grant.member}",
        ACT_AS: f"act-as-{on}-{grant.member}",
    }
    names = of_trainer if trainer else of_submitter
    return names.get(grant.role, "")


def _name_on_project(grant: StateGrant, trainer: str) -> str:
    """Return the name of a grant on the project. `trainer`: the name of the account that has it, if it is one."""
    if trainer:
        return f"{trainer}-{grant.role.removeprefix('roles/')}"
    purposes = [purpose for purpose, role in SUBMITTER_ROLES.items() if role == grant.role]
    return f"{purposes[0]}-{grant.member}" if purposes else ""


def _former_rest(entry: StateEntry) -> str:
    if entry.type == BUCKET:
        return next((role for role in (CATALOG, WORK) if entry.name.endswith(f"-{role}")), "")
    if entry.type == ACCOUNT:
        return TRAINER if entry.name.partition("@")[0].endswith(f"-{TRAINER}") else ""
    return next(iter(_names(entry)))


def describe_entries(entries: Iterable[StateEntry]) -> str:
    """Return `cluster a and bucket gs://b`."""
    return join(dict.fromkeys(map(_word, entries)))


def _word(entry: StateEntry) -> str:
    grant = entry.grant
    if grant:
        return f"{grant.role} of {grant.member}{f' on {grant.on}' if grant.on else ''}"
    if entry.type == BUCKET:
        return f"bucket gs://{entry.name}"
    return f"{_NOUNS[entry.type]} {entry.name}"

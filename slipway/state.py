"""What the engine knows of a stack before anything is declared: its state, as it was when the command began.

Types, what they are read from, and where a stack is: a cluster, a bucket and an account never move, so neither does a
stack that has any. Asking the engine is somebody else's; where that fails there is an `Unknown`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from slipway.errors import ConfigError
from slipway.formatting import join

COMPONENT = "slipway:components:PersistentResource"
_CLUSTER = "gcp:vertex/aiPersistentResource:AiPersistentResource"
_BUCKET = "gcp:storage/bucket:Bucket"
_OBJECT = "gcp:storage/bucketObject:BucketObject"
_ACCOUNT = "gcp:serviceaccount/account:Account"
_PROJECT_GRANT = "gcp:projects/iAMMember:IAMMember"
_TEMPLATE, _CATALOG = "slipway:components:JobTemplate", "slipway:components:Catalog"
_WORKSPACE = "slipway:components:Workspace"


@dataclass(frozen=True)
class StateCluster:
    """A cluster by its logical `name` (which is its id, unless a person gave another) and the place it is in."""

    name: str
    id: str
    project: str
    region: str


@dataclass(frozen=True)
class StateBucket:
    """`role` is the logical name (`catalog`, `work`), `name` the bucket's own."""

    role: str
    name: str
    project: str
    region: str


@dataclass(frozen=True)
class StateAccount:
    """A service account. `role` is the logical name (`trainer`)."""

    role: str
    email: str
    project: str


@dataclass(frozen=True)
class StateGrant:
    """A role that a member has on the project. `name` is the logical one."""

    name: str
    role: str
    member: str


@dataclass(frozen=True)
class StateObject:
    """An object in a bucket. `role` is the logical name."""

    role: str
    bucket: str
    name: str


@dataclass(frozen=True)
class State:
    """A stack's resources as its last command left them; all empty before the first one.

    What waits for its deletion (the old half of a replacement) is not in it: the engine does not tell. `components` are
    the logical names of the components around clusters, `packages` the code of templates, `creation` the object that
    lists the clusters made last.
    """

    clusters: tuple[StateCluster, ...] = ()
    components: frozenset[str] = frozenset()
    buckets: tuple[StateBucket, ...] = ()
    accounts: tuple[StateAccount, ...] = ()
    packages: tuple[StateObject, ...] = ()
    catalog: StateObject | None = None
    creation: StateObject | None = None
    grants: tuple[StateGrant, ...] = ()

    def has(self, project: str, region: str, cluster: str) -> bool:
        """Whether it knows a cluster by its id."""
        return any((one.project, one.region, one.id) == (project, region, cluster) for one in self.clusters)


def read(resources: Mapping[str, Mapping[str, Any]]) -> State:
    """From what the engine answers: for each URN its `type` and `outputs`. Outputs that are missing become ""."""
    found = [_Resource.read(urn, body) for urn, body in sorted(resources.items())]
    objects = [(one.parent, StateObject(one.name, one.text("bucket"), one.text("name"))) for one in _of(found, _OBJECT)]
    return State(
        clusters=tuple(
            StateCluster(one.name, one.text("name") or one.name, one.text("project"), one.text("location"))
            for one in _of(found, _CLUSTER)
        ),
        components=frozenset(one.name for one in _of(found, COMPONENT)),
        buckets=tuple(
            StateBucket(one.name, one.text("name"), one.text("project"), one.text("location").lower())
            for one in _of(found, _BUCKET)
        ),
        accounts=tuple(StateAccount(one.name, one.text("email"), one.text("project")) for one in _of(found, _ACCOUNT)),
        packages=tuple(one for parent, one in objects if parent == _TEMPLATE),
        catalog=next((one for parent, one in objects if parent == _CATALOG), None),
        creation=next((one for parent, one in objects if parent == _WORKSPACE), None),
        grants=tuple(
            StateGrant(one.name, one.text("role"), one.text("member"))
            for one in _of(found, _PROJECT_GRANT)
            if one.text("member").startswith("serviceAccount:")
        ),
    )


@dataclass(frozen=True)
class _Resource:
    """`name` is the logical one, `parent` the type of the component around it, empty without one."""

    type: str
    parent: str
    name: str
    outputs: Mapping[str, Any]

    @classmethod
    def read(cls, urn: str, body: Mapping[str, Any]) -> _Resource:
        """`urn:pulumi:STACK::PROJECT::PARENT$TYPE::NAME`, where a name may have anything in it."""
        _, _, types, name = urn.split("::", 3)
        parents, _, own = types.rpartition("$")
        return cls(own, parents.rpartition("$")[2], name, body.get("outputs") or {})

    def text(self, key: str) -> str:
        value = self.outputs.get(key)
        return value if isinstance(value, str) else ""


def _of(resources: Iterable[_Resource], type_: str) -> Iterator[_Resource]:
    return (one for one in resources if one.type == type_)


def refuse_move(known: State, *, stack: str, project: str, region: str) -> None:
    """Raises ConfigError when the stack has something in another project or region than it is to be deployed to."""
    elsewhere = [one for one in _placed(known, project, region) if one.project != project or one.region != region]
    if not elsewhere:
        return
    old = max(elsewhere, key=lambda one: one.region != region)  # the region too, where that was edited
    keys = (("gcp:project", old.project, project), ("gcp:region", old.region, region))
    edited = [(key, was, now) for key, was, now in keys if was != now]
    was, now = join(was for _, was, _ in edited), join(now for _, _, now in edited)
    back = join(f"{key}: {was}" for key, was, _ in edited)
    raise ConfigError(
        f"stack {stack} lives in {was} and can't move to {now}, so nothing was changed",
        why=f"it has {join(one.words for one in elsewhere)} there; moving would delete them, and stop the jobs that "
        "run on them",
        fix=f"put {back} back into stacks/Pulumi.{stack}.yaml\n"
        f"or give {now} a stack of its own: a file stacks/Pulumi.NAME.yaml, then pulumi stack init NAME and pulumi up\n"
        f"or, with {back} put back, take this one down before it is made anew:\n"
        f"SLIPWAY_PURPOSE=destroy pulumi destroy --run-program --stack {stack}",
    )


def stack_locations(known: State, project: str, region: str) -> tuple[tuple[str, str], ...]:
    """Projects and regions where clusters of the stack may be: where it is configured to be, and where it has any."""
    others = {(one.project, one.region) for one in known.clusters if one.project and one.region}
    return ((project, region), *sorted(others - {(project, region)}))


@dataclass(frozen=True)
class _Placed:
    words: str
    project: str
    region: str


def _placed(known: State, project: str, region: str) -> list[_Placed]:
    """All that is somewhere. What the state does not say of a place is taken to be as configured."""
    return [
        _Placed(words, where or project, at or region)
        for words, where, at in (
            *((f"cluster {one.id}", one.project, one.region) for one in known.clusters),
            *((f"bucket {one.name}", one.project, one.region) for one in known.buckets),
            *((f"account {one.email}", one.project, "") for one in known.accounts),
        )
    ]

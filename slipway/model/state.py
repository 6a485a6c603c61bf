"""The state of a stack: the engine's knowledge of it when a command begins.

Types, their sources, and the place of a stack: a cluster, a bucket and an account never move, so neither does a stack
that has any. Another module asks the engine; where that fails there is an `Unknown`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from slipway.base.errors import ConfigError
from slipway.base.formatting import join, last_part

_CLUSTER = "gcp:vertex/aiPersistentResource:AiPersistentResource"
_BUCKET = "gcp:storage/bucket:Bucket"
_OBJECT = "gcp:storage/bucketObject:BucketObject"
_ACCOUNT = "gcp:serviceaccount/account:Account"
_PREFERENCE = "gcp:cloudquota/sQuotaPreference:SQuotaPreference"
_PROJECT_GRANT = "gcp:projects/iAMMember:IAMMember"
_BUCKET_GRANT = "gcp:storage/bucketIAMMember:BucketIAMMember"
_ACCOUNT_GRANT = "gcp:serviceaccount/iAMMember:IAMMember"
_SUBMITS = "submit-"
_ADOPTED_BUCKETS = ("catalog.", "work.")
BUCKETS_ELSEWHERE = "work@"
"""The beginning of the logical names of work buckets in other regions than the stack's."""
_CATALOG, _WORKSPACE = "slipway:components:Catalog", "slipway:components:Workspace"
_GENERATION = "slipway:components:PersistentResource"
_REGIONS = "slipway:components:OtherRegions"


@dataclass(frozen=True)
class StateResource:
    """A cluster, a bucket or an account, and its place; an account has no region, nor has a work bucket that is
    elsewhere than the stack, and an adopted bucket no place: it is wherever its owner has it.

    `logical` is the engine's name for it: `catalog`, `work`, `trainer`, and for a cluster its id, unless a person gave
    another. `name` is the cloud's: an id, a bucket's name, an address.
    """

    logical: str
    name: str
    project: str
    region: str = ""


@dataclass(frozen=True)
class StateGrant:
    """A role that a member has on the project, or on `on`: `gs://BUCKET`, or an account by its address. `name` is the
    logical one."""

    name: str
    role: str
    member: str
    on: str = ""


@dataclass(frozen=True)
class StatePreference:
    """A quota preference of the stack: its id within the project, and the limit that it asks for."""

    id: str
    quota_id: str
    region: str
    preferred: int


@dataclass(frozen=True)
class State:
    """A stack's resources as its last command left them; all empty before the first one.

    Resources that wait for their deletion (the old half of a replacement) are not in it: the engine does not tell.
    `catalog_bucket` has the catalog that it published; `creation`: it has the object that lists the clusters made last.
    `submitters`: members, as the stack file names them. `spared`: buckets that the engine may not empty. `adopted`: ids
    of clusters that somebody else made, which is all that the engine knows of them. `protected`: the names of clusters
    that may not be changed, by id, as of the last deployment. `called`: by an account's address its display name, which
    tells who made it. `elsewhere`: ids of clusters that were made in another region than the stack's, as an
    alternative. `other_regions`: regions where one may have been asked for, also by a command that was killed before it
    had one.
    """

    clusters: tuple[StateResource, ...] = ()
    buckets: tuple[StateResource, ...] = ()
    accounts: tuple[StateResource, ...] = ()
    catalog_bucket: str = ""
    creation: bool = False
    grants: tuple[StateGrant, ...] = ()
    submitters: tuple[str, ...] = ()
    preferences: tuple[StatePreference, ...] = ()
    spared: frozenset[str] = frozenset()
    adopted: tuple[str, ...] = ()
    protected: Mapping[str, str] = field(default_factory=dict)
    called: Mapping[str, str] = field(default_factory=dict)
    elsewhere: frozenset[str] = frozenset()
    other_regions: frozenset[str] = frozenset()

    def regions_beside(self, region: str) -> tuple[str, ...]:
        """Return the other regions than the stack's where its clusters are, or may be."""
        return tuple(sorted({*(one.region for one in self.clusters), *self.other_regions} - {"", region}))

    def has(self, project: str, region: str, cluster: str) -> bool:
        """Tell whether it knows a cluster by its id."""
        return any((one.project, one.region, one.name) == (project, region, cluster) for one in self.clusters)


def is_adopted_bucket(logical: str) -> bool:
    """Tell by its logical name whether somebody else made a bucket."""
    return logical.startswith(_ADOPTED_BUCKETS)


def read(resources: Mapping[str, Mapping[str, Any]]) -> State:
    """Read the engine's answer: for each URN its `type` and `outputs`. Missing outputs become ""."""
    found = [_Resource.read(urn, body) for urn, body in sorted(resources.items())]
    objects = {one.parent: one for one in _of(found, _OBJECT)}
    return State(
        clusters=tuple(replace(one, name=one.name or one.logical) for one in _placed(found, _CLUSTER, "name")),
        buckets=tuple(
            replace(one, project="", region="")
            if is_adopted_bucket(one.logical)
            else replace(one, region="")
            if one.logical.startswith(BUCKETS_ELSEWHERE)
            else one
            for one in _placed(found, _BUCKET, "name")
        ),
        accounts=tuple(_placed(found, _ACCOUNT, "email")),
        catalog_bucket=objects[_CATALOG].text("bucket") if _CATALOG in objects else "",
        creation=_WORKSPACE in objects,
        grants=tuple(
            StateGrant(one.name, one.text("role"), one.text("member"), on(one))
            for type_, on in _GRANTED_ON.items()
            for one in _of(found, type_)
            if one.text("member")
        ),
        submitters=tuple(
            one.name.removeprefix(_SUBMITS) for one in _of(found, _PROJECT_GRANT) if one.name.startswith(_SUBMITS)
        ),
        preferences=tuple(_preference(one) for one in _of(found, _PREFERENCE)),
        adopted=tuple(one.name for one in _of(found, _GENERATION) if one.outputs.get("adopted") is True),
        spared=frozenset(one.text("name") for one in _of(found, _BUCKET) if one.outputs.get("forceDestroy") is False),
        called={one.text("email"): one.text("displayName") for one in _of(found, _ACCOUNT)},
        elsewhere=frozenset(one.name for one in _of(found, _GENERATION) if one.text("region")),
        protected={one.name: name for one in _of(found, _GENERATION) if (name := one.text("protected"))},
        other_regions=frozenset(
            region for one in _of(found, _REGIONS) for region in one.outputs.get("regions") or () if region
        ),
    )


def grant_of(urn: str, type_: str, outputs: Mapping[str, Any]) -> StateGrant | None:
    """Return the grant that a resource of the engine is; None for another resource."""
    return next(iter(read({urn: {"type": type_, "outputs": outputs}}).grants), None)


@dataclass(frozen=True)
class _Resource:
    """A resource of the engine. `name` is the logical one, `parent` the type of the component around it, empty without
    one."""

    type: str
    parent: str
    name: str
    outputs: Mapping[str, Any]

    @classmethod
    def read(cls, urn: str, body: Mapping[str, Any]) -> _Resource:
        """Read `urn:pulumi:STACK::PROJECT::PARENT$TYPE::NAME`, where a name may contain anything."""
        _, _, types, name = urn.split("::", 3)
        parents, _, own = types.rpartition("$")
        return cls(own, parents.rpartition("$")[2], name, body.get("outputs") or {})

    def text(self, key: str) -> str:
        value = self.outputs.get(key)
        return value if isinstance(value, str) else ""


_GRANTED_ON: Mapping[str, Callable[[_Resource], str]] = {
    _PROJECT_GRANT: lambda one: "",
    _BUCKET_GRANT: lambda one: f"gs://{one.text('bucket').removeprefix('b/')}",
    _ACCOUNT_GRANT: lambda one: last_part(one.text("serviceAccountId")),
}


def _of(resources: Iterable[_Resource], type_: str) -> Iterator[_Resource]:
    return (one for one in resources if one.type == type_)


def _preference(one: _Resource) -> StatePreference:
    dimensions, config = (one.outputs.get(key) or {} for key in ("dimensions", "quotaConfig"))
    return StatePreference(
        id=last_part(one.text("name")),
        quota_id=one.text("quotaId"),
        region=str(dimensions.get("region", "")),
        preferred=int(config.get("preferredValue", 0)),
    )


def _placed(resources: Iterable[_Resource], type_: str, name: str) -> Iterator[StateResource]:
    """Yield resources with their places. `name` is the output that has the resource's own name."""
    for one in _of(resources, type_):
        yield StateResource(one.name, one.text(name), one.text("project"), one.text("location").lower())


def refuse_move(known: State, *, stack: str, project: str, region: str, others: Collection[str] = ()) -> None:
    """Raise ConfigError when the stack has resources in another project or region than its declared ones.

    Clusters may have been made as alternatives in other regions: in one of `others`, or as the state tells. Buckets
    that the stack made are in its own, and so tell that it did not move.
    """
    stays, meant = any(one.region == region for one in known.buckets), {*others, *known.other_regions}
    clusters = tuple(
        replace(one, region=region) if stays or one.region in meant or one.logical in known.elsewhere else one
        for one in known.clusters
    )
    kinds = {"cluster": clusters, "bucket": known.buckets, "account": known.accounts}
    elsewhere = {
        f"{kind} {one.name}": place
        for kind, some in kinds.items()
        for one in some
        # A part of a place that the state lacks is taken to be as configured.
        if (place := (one.project or project, one.region or region)) != (project, region)
    }
    if not elsewhere:
        return
    old = max(elsewhere.values(), key=lambda place: place[1] != region)  # the region too, where that was edited
    edited = {"gcp:project": (old[0], project), "gcp:region": (old[1], region)}
    edited = {key: (was, now) for key, (was, now) in edited.items() if was != now}
    was, now = (join(places) for places in zip(*edited.values(), strict=True))
    back = join(f"{key}: {was}" for key, (was, _) in edited.items())
    raise ConfigError(
        f"stack {stack} lives in {was} and can't move to {now}, so nothing was changed",
        why=f"it has {join(elsewhere)} there; moving would delete them, and stop the jobs that run on them",
        fix=f"put {back} back into stacks/Pulumi.{stack}.yaml, and give {now} a stack of its own\n"
        f"or, with {back} put back, take this one down before it is made anew:\n"
        f"SLIPWAY_PURPOSE=destroy pulumi destroy --run-program --stack {stack}",
    )


def refuse_rename(known: State, alive: Mapping[str, str], stack: str) -> None:
    """Raise ConfigError when clusters of the stack bear another's name. `alive`: by id the stack in a cluster's label,
    "" without one; its labels never change."""
    if called := {alive.get(one.name, "") for one in known.clusters} - {"", stack}:
        raise renamed(min(called), stack)


def renamed(old: str, new: str) -> ConfigError:
    """Return the error of a stack that was deployed under another name: a state can be renamed, and its resources
    can't."""
    return ConfigError(
        f"stack {new} was called {old} and can't be renamed, so nothing was changed",
        why=f"what it made bears the name {old} for good: as {new} protected clusters too would be made anew",
        fix=f"pulumi stack rename {old} --stack {new}, with the stack file called stacks/Pulumi.{old}.yaml again; "
        f"after that {new} may be a stack of its own",
    )


def stack_locations(
    known: State | None, project: str, region: str, others: Iterable[str] = ()
) -> tuple[tuple[str, str], ...]:
    """Return the projects and regions where clusters of the stack may be: its configured ones (in `others` as an
    alternative), and those of its known and possible clusters. `known` is None if unknown."""
    clusters, asked = (known.clusters, known.other_regions) if known else ((), frozenset())
    places = {(one.project, one.region) for one in clusters if one.project and one.region}
    known_places = sorted(places | {(project, one) for one in asked})
    return tuple(dict.fromkeys(((project, region), *((project, one) for one in others), *known_places)))

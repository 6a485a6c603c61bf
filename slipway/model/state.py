"""The state of a stack: the engine's knowledge of it when a command begins.

Types, their sources, and the place of a stack: a cluster, a bucket and an account never move, so neither does a stack
that has any. Another module asks the engine; where that fails there is an `Unknown`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from slipway.base.formatting import last_part
from slipway.model.labels import STACK_LABEL

CLUSTER = "gcp:vertex/aiPersistentResource:AiPersistentResource"
BUCKET = "gcp:storage/bucket:Bucket"
OBJECT = "gcp:storage/bucketObject:BucketObject"
ACCOUNT = "gcp:serviceaccount/account:Account"
RESERVATION = "gcp:compute/reservation:Reservation"
_PREFERENCE = "gcp:cloudquota/sQuotaPreference:SQuotaPreference"
_PROJECT_GRANT = "gcp:projects/iAMMember:IAMMember"
_BUCKET_GRANT = "gcp:storage/bucketIAMMember:BucketIAMMember"
_ACCOUNT_GRANT = "gcp:serviceaccount/iAMMember:IAMMember"
_SUBMITS = "submit-"
_JOBS_READ_CATALOG = "trainer-reads-catalog"
_ADOPTED_BUCKETS = ("catalog.", "work.")
BUCKETS_ELSEWHERE = "work@"
"""The beginning of the logical names of work buckets in other regions than the stack's."""
_CATALOG, _WORKSPACE = "slipway:index:Catalog", "slipway:index:Workspace"
_TEMPLATE = "slipway:index:JobTemplate"
GENERATION = "slipway:index:Generation"
REGIONS = "slipway:index:OtherRegions"


Named = TypeVar("Named", bound="StateResource")


@dataclass(frozen=True)
class StateResource:
    """A cluster, a bucket or an account, and its place."""

    #: The engine's name: `catalog`, `work`, `trainer`, and for a cluster its id, unless a person gave another.
    logical: str
    name: str
    #: Empty for an adopted bucket, which is wherever its owner has it.
    project: str
    #: Empty for an account, an adopted bucket, and a work bucket that is elsewhere than the stack.
    region: str = ""
    #: The stack in the label of a workspace's cluster; empty for others.
    stack: str = ""


@dataclass(frozen=True)
class StateGrant:
    """A role of a member."""

    #: The engine's.
    name: str
    role: str
    member: str
    #: `gs://BUCKET`, or an account's address; empty for the project.
    on: str = ""


@dataclass(frozen=True)
class StateEntry:
    """An entry of the state, of a resource in the cloud that a component of Slipway declares, or that has no component
    around it: `pulumi state move` leaves it without one."""

    urn: str
    type: str
    #: The type of the component; empty without one.
    parent: str
    #: The engine's name.
    logical: str
    #: The cluster's id, the bucket's name, the account's address, the object's address, or the reservation's full name.
    name: str = ""
    grant: StateGrant | None = None
    #: The display name of an account; the stack in the label of a cluster.
    marked: str = ""
    #: The Google Cloud project, as far as the state has it.
    project: str = ""
    region: str = ""
    #: The lifecycle rules of a bucket are those of Slipway's buckets.
    made: bool = False


@dataclass(frozen=True)
class StatePreference:
    """A quota preference of the stack."""

    #: The id within the project.
    id: str
    quota_id: str
    region: str
    preferred: int


@dataclass(frozen=True)
class WorkspacePlace:
    """The place of a workspace of a program, which it publishes."""

    #: The one in the names of what it made.
    name: str
    project: str = ""
    region: str = ""
    #: The engine's name of the provider that made it; empty for the default one.
    provider: str = ""
    #: It is taken out, but for roles that the engine leaves in the cloud.
    left: bool = False

    @classmethod
    def read(cls, name: str, outputs: Mapping[str, Any]) -> WorkspacePlace:
        """Read the outputs of its component, whose name counts where they lack it."""
        written = outputs.get("place") or {}
        return cls(**{"name": name, **{key: value for key, value in written.items() if key in cls.__annotations__}})

    @property
    def written(self) -> Mapping[str, Any]:
        return {key: value for key, value in vars(self).items() if value}


@dataclass(frozen=True)
class State:
    """A stack's resources as its last command left them; all empty before the first one.

    Resources that wait for their deletion (the old half of a replacement) are not in it: the engine does not tell.
    """

    clusters: tuple[StateResource, ...] = ()
    buckets: tuple[StateResource, ...] = ()
    accounts: tuple[StateResource, ...] = ()
    catalog_bucket: str = ""
    #: The MD5 digests of the published catalogs, as Cloud Storage has them, by bucket.
    digests: Mapping[str, str] = field(default_factory=dict)
    #: By bucket, `Catalog.restored` of the last deployment.
    restored: Mapping[str, int] = field(default_factory=dict)
    #: The addresses of packages.
    packages: frozenset[str] = frozenset()
    #: The logical names of the objects that list the clusters made last.
    creations: frozenset[str] = frozenset()
    grants: tuple[StateGrant, ...] = ()
    #: Members, as the stack file names them.
    submitters: tuple[str, ...] = ()
    preferences: tuple[StatePreference, ...] = ()
    #: Ids of clusters that somebody else made; the engine knows nothing else of them.
    adopted: tuple[str, ...] = ()
    #: Names of clusters that may not be changed, by id, as of the last deployment.
    protected: Mapping[str, str] = field(default_factory=dict)
    #: Display names by account's address: they tell who made it.
    called: Mapping[str, str] = field(default_factory=dict)
    #: Ids of clusters that were made in another region than the stack's, as an alternative.
    elsewhere: frozenset[str] = frozenset()
    #: The buckets of all catalogs: several, for a program with several workspaces.
    catalogs: tuple[str, ...] = ()
    #: The engine's names of components, whoever is their parent, by their types and names; those of a generation of a
    #: cluster by its id. None of two that are alike.
    urns: Mapping[tuple[str, str], str] = field(default_factory=dict)
    #: Buckets (by name) and accounts (by address) of the program itself, with their logical names.
    others: Mapping[str, str] = field(default_factory=dict)
    #: Those of `others` that a workspace uses: their names or addresses, by their URNs.
    lent: Mapping[str, str] = field(default_factory=dict)
    #: The engine's names of clusters that no component of Slipway declares, by the clusters' ids.
    stray_clusters: Mapping[str, str] = field(default_factory=dict)
    #: The workspaces, by the engine's names.
    workspaces: Mapping[str, WorkspacePlace] = field(default_factory=dict)
    #: The facts that the workspace published; empty in a state of 0.1.0.
    workspace: Mapping[str, Any] = field(default_factory=dict)
    #: The `Facts.checks` of the last deployment; empty where it had none yet, and for several workspaces.
    checks: Mapping[str, Any] = field(default_factory=dict)
    #: Regions where such a cluster may have been asked for, also by a command that was killed before it had one.
    other_regions: frozenset[str] = frozenset()
    #: The entries of what workspaces, catalogs and clusters have in the cloud, whatever the entries are called. All
    #: of the program, also in a part. Not compared, as the fields above are made of the same.
    entries: tuple[StateEntry, ...] = field(default=(), compare=False)
    #: The entries of buckets and accounts in components of the program itself; not compared either.
    nested: tuple[StateEntry, ...] = field(default=(), compare=False)
    #: The types and logical names of all that the program has in the state; not compared either.
    names: frozenset[tuple[str, str]] = field(default=frozenset(), compare=False)

    @property
    def creation(self) -> bool:
        """Return whether the stack has the object that lists the clusters made last."""
        return bool(self.creations)

    @property
    def outside(self) -> tuple[StateEntry, ...]:
        """The entries of the program's own resources, which no component of Slipway's declares."""
        return (*(entry for entry in self.entries if not entry.parent), *self.nested)

    def regions_beside(self, region: str) -> tuple[str, ...]:
        """Return the other regions than the stack's where its clusters are, or may be."""
        return tuple(sorted({*(cluster.region for cluster in self.clusters), *self.other_regions} - {"", region}))

    def part(
        self, prefix: str, others: Collection[str], places: Collection[tuple[str, str]], stacks: Collection[str]
    ) -> State:
        """Return the state of one workspace of a program that has several.

        `prefix`: the beginning of its resources' logical names. `others`: those of the other workspaces. `places`: the
        projects and regions of clusters that are not its own. `stacks`: the others' names in labels.
        """

        def own(logical: str) -> bool:
            return _prefix_of(logical, (prefix, *others)) == prefix

        def named(resources: Iterable[Named]) -> tuple[Named, ...]:
            return tuple(
                replace(each, logical=each.logical.removeprefix(prefix)) for each in resources if own(each.logical)
            )

        buckets = named(self.buckets)
        names = {bucket.name for bucket in buckets}
        catalog = self.catalog_bucket
        if prefix or others:
            catalog = next((bucket for bucket in self.catalogs if bucket in names), "")
        clusters = tuple(
            cluster
            for cluster in self.clusters
            if (cluster.project, cluster.region) not in places and cluster.stack not in stacks
        )
        grants = tuple(replace(grant, name=grant.name.removeprefix(prefix)) for grant in self.grants if own(grant.name))
        return replace(
            self,
            buckets=buckets,
            accounts=named(self.accounts),
            catalog_bucket=catalog,
            clusters=clusters,
            creations=_creations_beside(self.creations, prefix, others),
            grants=grants,
            submitters=_submitters(grant.name for grant in grants if not grant.on),
        )

    def has(self, project: str, region: str, cluster: str) -> bool:
        """Tell whether the state has a cluster, by its id."""
        place = (project, region, cluster)
        return any((known.project, known.region, known.name) == place for known in self.clusters)


def _prefix_of(logical: str, prefixes: Iterable[str]) -> str:
    """Return the prefix of a logical name: of `ml-` and `ml-eu-`, which both begin a name, the longer one."""
    return max((each for each in ("", *prefixes) if logical.startswith(each)), key=len)


def _creations_beside(creations: Iterable[str], prefix: str, others: Collection[str]) -> frozenset[str]:
    """Return the objects that are not those of other workspaces; that of a renamed workspace has its former name."""
    return frozenset(name for name in creations if _prefix_of(name, (prefix, *others)) not in others)


def is_adopted_bucket(logical: str) -> bool:
    """Tell by its logical name whether somebody else made a bucket."""
    return logical.startswith(_ADOPTED_BUCKETS)


def read(resources: Mapping[str, Mapping[str, Any]]) -> State:
    """Read the engine's answer: for each URN its `type` and `outputs`. Missing outputs become ""."""
    parsed = [_Resource.read(urn, body) for urn, body in sorted(resources.items())]
    published = list(_own(_of(parsed, OBJECT), _CATALOG))
    catalogs = tuple(resource.text("bucket") for resource in published)
    accounts = tuple(_own(_of(parsed, ACCOUNT), _WORKSPACE))
    generations = tuple(_of(parsed, GENERATION))
    grants = _grants(parsed)
    components = tuple(_of(parsed, _WORKSPACE))
    return State(
        clusters=_clusters(parsed, generations),
        buckets=tuple(_placed(parsed, BUCKET, "name")),
        accounts=tuple(_placed(accounts, ACCOUNT, "email")),
        catalog_bucket=catalogs[0] if catalogs else "",
        digests=_digests(published),
        restored=_restored(_of(parsed, _CATALOG)),
        packages=_packages(parsed),
        creations=_creations(parsed),
        catalogs=catalogs,
        grants=grants,
        submitters=_submitters(resource.name for resource in _own(_of(parsed, _PROJECT_GRANT), _WORKSPACE)),
        urns=_components(parsed),
        others=_others(parsed),
        lent=_lent(parsed, grants),
        stray_clusters=_stray_clusters(parsed),
        preferences=tuple(map(_preference, _of(parsed, _PREFERENCE))),
        adopted=_adopted(generations),
        called={account.text("email"): account.text("displayName") for account in accounts},
        elsewhere=_elsewhere(generations),
        protected=_protected(generations),
        workspaces={component.name: WorkspacePlace.read(component.name, component.outputs) for component in components},
        workspace=_facts(components),
        checks=_checks(parsed),
        other_regions=_other_regions(parsed),
        entries=tuple(_entries(filter(_is_declared, parsed), generations)),
        nested=tuple(_entries(filter(_is_nested, parsed), ())),
        names=frozenset((resource.type, resource.name) for resource in parsed),
    )


def _entries(resources: Iterable[_Resource], generations: Iterable[_Resource]) -> Iterator[StateEntry]:
    """Yield the entries. One without a name of the cloud's was never made."""
    stacks = {generation.name: generation.text("stack") for generation in generations}
    for resource in resources:
        grant = _grant(resource)
        name = _name_in_cloud(resource)
        if not name and not grant:
            continue
        yield StateEntry(
            urn=resource.urn,
            type=resource.type,
            parent=resource.parent,
            logical=resource.name,
            name=name,
            grant=grant,
            marked=_mark(resource, stacks),
            project=resource.text("project"),
            region=resource.text("location"),
            made=resource.type == BUCKET and _has_own_rules(resource),
        )


def _is_declared(resource: _Resource) -> bool:
    """Return whether a component of Slipway's declares a resource, or none does."""
    return resource.parent in _DECLARED_BY.get(resource.type, ())


def _is_nested(resource: _Resource) -> bool:
    """Return whether a component of the program itself declares a bucket or an account."""
    is_own = resource.parent != "" and not resource.parent.startswith("slipway:")
    return is_own and resource.type in (BUCKET, ACCOUNT)


def _has_own_rules(bucket: _Resource) -> bool:
    """Return whether a bucket has the rule for old packages, of a catalog's, or the one for old claims."""
    rules = bucket.outputs.get("lifecycleRules") or ()
    prefixes = [prefix for rule in rules for prefix in (rule.get("condition") or {}).get("matchesPrefixes") or ()]
    return not {"packages/", "claims/"}.isdisjoint(prefixes)


def _mark(resource: _Resource, stacks: Mapping[str, str]) -> str:
    """Return what tells the owner. `stacks`: the stacks of the components of clusters, by the clusters' ids."""
    if resource.type == ACCOUNT:
        return resource.text("displayName")
    return stacks.get(resource.text("name")) or _label(resource)


def _label(resource: _Resource) -> str:
    """Return the stack in the label of a resource; empty for none. Of a resource that Pulumi imported, only the
    effective labels have it."""
    for key in ("labels", "effectiveLabels"):
        labels = resource.outputs.get(key)
        if isinstance(labels, Mapping) and labels.get(STACK_LABEL):
            return str(labels[STACK_LABEL])
    return ""


def _name_in_cloud(resource: _Resource) -> str:
    if resource.type == ACCOUNT:
        return resource.text("email")
    if resource.type == RESERVATION:
        return resource.text("id")
    name = resource.text("name")
    if resource.type == OBJECT and name:
        return f"gs://{resource.text('bucket')}/{name}"
    return name


def _grant(resource: _Resource) -> StateGrant | None:
    on, member = _GRANTED_ON.get(resource.type), resource.text("member")
    return StateGrant(resource.name, resource.text("role"), member, on(resource)) if on and member else None


def _clusters(resources: Iterable[_Resource], generations: Iterable[_Resource]) -> tuple[StateResource, ...]:
    """Return the clusters. One that has no name of its own yet has that of its component; one whose component has no
    outputs yet, as after a kill, is of the stack in its label."""
    stacks = {resource.name: _label(resource) for resource in _of(resources, CLUSTER)}
    stacks |= {resource.name: stack for resource in generations if (stack := resource.text("stack"))}
    return tuple(
        replace(cluster, name=cluster.name or cluster.logical, stack=stacks.get(cluster.logical, ""))
        for cluster in _placed(resources, CLUSTER, "name")
    )


def _digests(catalogs: Iterable[_Resource]) -> dict[str, str]:
    """Return the digests of published catalogs that have one, by bucket."""
    digests: dict[str, str] = {}
    for catalog in catalogs:
        digest = catalog.text("md5hash")
        if digest:
            digests[catalog.text("bucket")] = digest
    return digests


def _restored(catalogs: Iterable[_Resource]) -> dict[str, int]:
    """Return how often each catalog was restored, by its bucket."""
    times: dict[str, int] = {}
    for catalog in catalogs:
        for bucket, number in (catalog.outputs.get("restored") or {}).items():
            times[bucket] = int(number)
    return times


def _packages(resources: Iterable[_Resource]) -> frozenset[str]:
    """Return the addresses of the templates' packages."""
    packages = _own(_of(resources, OBJECT), _TEMPLATE)
    return frozenset(f"gs://{package.text('bucket')}/{package.text('name')}" for package in packages)


def _creations(resources: Iterable[_Resource]) -> frozenset[str]:
    """Return the logical names of the workspaces' objects that list the clusters that were created last."""
    return frozenset(resource.name for resource in _own(_of(resources, OBJECT), _WORKSPACE))


def _grants(resources: Collection[_Resource]) -> tuple[StateGrant, ...]:
    """Return the grants of the workspace, by type."""
    grants: list[StateGrant] = []
    for type_ in _GRANTED_ON:
        for resource in _own(_of(resources, type_), _WORKSPACE):
            grant = _grant(resource)
            if grant:
                grants.append(grant)
    return tuple(grants)


def _others(resources: Collection[_Resource]) -> dict[str, str]:
    """Return the buckets and accounts that no workspace declares, with their logical names."""
    others: dict[str, str] = {}
    for type_, key in ((BUCKET, "name"), (ACCOUNT, "email")):
        for resource in _of(resources, type_):
            if resource.parent != _WORKSPACE:
                others[resource.text(key)] = resource.name
    return others


def _lent(resources: Collection[_Resource], grants: Collection[StateGrant]) -> dict[str, str]:
    """Return the buckets and accounts of the program that a workspace uses: it grants roles on them, and on the catalog
    to the account that jobs run as."""
    used = {grant.on.removeprefix("gs://") for grant in grants}
    used |= {grant.member.partition(":")[2] for grant in grants if grant.name.endswith(_JOBS_READ_CATALOG)}
    own = [each for type_ in (BUCKET, ACCOUNT) for each in _of(resources, type_) if each.parent != _WORKSPACE]
    return {each.urn: _name_in_cloud(each) for each in own if _name_in_cloud(each) in used}


def _stray_clusters(resources: Iterable[_Resource]) -> dict[str, str]:
    clusters = _of(resources, CLUSTER)
    return {cluster.text("name"): cluster.urn for cluster in clusters if cluster.parent != GENERATION}


def _adopted(generations: Iterable[_Resource]) -> tuple[str, ...]:
    return tuple(cluster.name for cluster in generations if cluster.outputs.get("adopted") is True)


def _elsewhere(generations: Iterable[_Resource]) -> frozenset[str]:
    return frozenset(cluster.name for cluster in generations if cluster.text("region"))


def _protected(generations: Iterable[_Resource]) -> dict[str, str]:
    names: dict[str, str] = {}
    for cluster in generations:
        name = cluster.text("protected")
        if name:
            names[cluster.name] = name
    return names


def _facts(workspaces: Sequence[_Resource]) -> Mapping[str, Any]:
    """Return the facts that the first workspace published; empty without any."""
    if not workspaces:
        return {}
    facts: Mapping[str, Any] = workspaces[0].outputs.get("facts") or {}
    return facts


def _checks(resources: Iterable[_Resource]) -> Mapping[str, Any]:
    """Return the checks of the only catalog; empty for several catalogs."""
    catalogs = list(_of(resources, _CATALOG))
    if len(catalogs) != 1:
        return {}
    checks: Mapping[str, Any] = catalogs[0].outputs.get("checks") or {}
    return checks


def _other_regions(resources: Iterable[_Resource]) -> frozenset[str]:
    regions: set[str] = set()
    for component in _of(resources, REGIONS):
        regions.update(component.outputs.get("regions") or ())
    return frozenset(region for region in regions if region)


def grant_of(urn: str, type_: str, outputs: Mapping[str, Any]) -> StateGrant | None:
    """Return the grant that a resource of the engine is; None for another resource."""
    return next(iter(read({urn: {"type": type_, "outputs": outputs}}).grants), None)


@dataclass(frozen=True)
class _Resource:
    type: str
    #: The type of the component around it, empty without one.
    parent: str
    #: The engine's.
    name: str
    outputs: Mapping[str, Any]
    urn: str = ""

    @classmethod
    def read(cls, urn: str, body: Mapping[str, Any]) -> _Resource:
        """Read `urn:pulumi:STACK::PROJECT::PARENT$TYPE::NAME`, where a name may contain anything."""
        _, _, types, name = urn.split("::", 3)
        parents, _, own = types.rpartition("$")
        return cls(type=own, parent=parents.rpartition("$")[2], name=name, outputs=body.get("outputs") or {}, urn=urn)

    def text(self, key: str) -> str:
        value = self.outputs.get(key)
        return value if isinstance(value, str) else ""


_GRANTED_ON: Mapping[str, Callable[[_Resource], str]] = {
    _PROJECT_GRANT: lambda grant: "",
    _BUCKET_GRANT: lambda grant: f"gs://{grant.text('bucket').removeprefix('b/')}",
    _ACCOUNT_GRANT: lambda grant: last_part(grant.text("serviceAccountId")),
}

_DECLARED_BY: Mapping[str, Collection[str]] = {
    **dict.fromkeys((BUCKET, ACCOUNT, *_GRANTED_ON), (_WORKSPACE, "")),
    OBJECT: (_WORKSPACE, _CATALOG, ""),
    CLUSTER: (GENERATION, ""),
    RESERVATION: ("",),
}
"""The components that declare each type, and the lack of one. Packages and requests for quota outlive their entries."""


def _of(resources: Iterable[_Resource], type_: str) -> Iterator[_Resource]:
    return (resource for resource in resources if resource.type == type_)


def _components(resources: Iterable[_Resource]) -> dict[tuple[str, str], str]:
    ours = [each for each in resources if each.type.startswith("slipway:")]
    count = Counter((each.type, each.name) for each in ours)
    return {named: each.urn for each in ours if count[named := (each.type, each.name)] == 1}


def _own(resources: Iterable[_Resource], parent: str) -> Iterator[_Resource]:
    """Yield those that a component of Slipway's declares: a program may have resources of its own beside them."""
    return (resource for resource in resources if resource.parent == parent)


def _submitters(grants: Iterable[str]) -> tuple[str, ...]:
    """Return the members among whose grants on the project these are, by the grants' names."""
    return tuple(name.removeprefix(_SUBMITS) for name in grants if name.startswith(_SUBMITS))


def _preference(resource: _Resource) -> StatePreference:
    dimensions, config = (resource.outputs.get(key) or {} for key in ("dimensions", "quotaConfig"))
    return StatePreference(
        id=last_part(resource.text("name")),
        quota_id=resource.text("quotaId"),
        region=str(dimensions.get("region", "")),
        preferred=int(config.get("preferredValue", 0)),
    )


def _placed(resources: Iterable[_Resource], type_: str, name: str) -> Iterator[StateResource]:
    """Yield resources with their places. `name` is the output that has the resource's own name."""
    for resource in _own(_of(resources, type_), GENERATION if type_ == CLUSTER else _WORKSPACE):
        adopted = is_adopted_bucket(resource.name)
        elsewhere = adopted or resource.name.startswith(BUCKETS_ELSEWHERE)
        yield StateResource(
            logical=resource.name,
            name=resource.text(name),
            project="" if adopted else resource.text("project"),
            region="" if elsewhere else resource.text("location").lower(),
        )


def stack_locations(
    known: State | None, project: str, region: str, others: Iterable[str] = ()
) -> tuple[tuple[str, str], ...]:
    """Return the projects and regions where clusters of the stack may be: the configured ones (in `others` as an
    alternative), and those of known and possible clusters. `known` is None if unknown."""
    state = known or State()
    places = {(cluster.project, cluster.region) for cluster in state.clusters if cluster.project and cluster.region}
    known_places = sorted(places | {(project, other) for other in state.other_regions})
    return tuple(dict.fromkeys(((project, region), *((project, other) for other in others), *known_places)))

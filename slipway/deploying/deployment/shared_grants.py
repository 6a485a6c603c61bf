"""Grants of a stack, and those that another stack of the project needs as well: a deployment that drops one of these,
and a destruction, leave it.

A role has a member once, however many stacks ask for it, and its removal takes it from all of them. So whoever lets go
of one first publishes a catalog without the member, or deletes its catalog, and looks at the others' catalogs after
that: of stacks that let go at once, at least the last one sees that nobody needs it. While another stack's catalog
names it, it stays declared to the engine, and outlives a destroyed stack. Where that can't be told it stays too, which
is reported. Pure.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from slipway.base.errors import ConfigError, Fault, PolicyError
from slipway.base.formatting import counted, few, join
from slipway.deploying.deployment.workspace_plan import (
    ACT_AS,
    CREATES,
    READS,
    SUBMITTER_ROLES,
    WORK,
    WRITES,
    WRITES_METRICS,
    SharedGrant,
    others_accounts,
    trainer_email,
)
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.clusters import PersistentResource
from slipway.google.live import Live, Neighbours, Unknown
from slipway.google.permissions import DOMAINS, MOST_GROUPS, MOST_PRINCIPALS, Bound, groups_and_domains
from slipway.google.provider_errors import Places
from slipway.model.catalog.model import NAME, Catalog
from slipway.model.identity import words_of
from slipway.model.labels import STACK_LABEL
from slipway.model.origin import Origin
from slipway.model.state import State, StateGrant, is_adopted_bucket

if TYPE_CHECKING:
    from slipway.authoring.stack.stack import Stack  # pydantic, which a review alone lacks

Right = tuple[str, str, str]
"""Role, member (as IAM compares it), and the resource, as in StateGrant."""


def grants(
    named: Mapping[str, str],
    catalog: str,
    works: Sequence[str],
    accounts: Mapping[str, Mapping[str, str]],
    submitters: Mapping[str, Iterable[str]],
) -> Iterator[StateGrant]:
    """Yield exactly the roles that the verbs need.

    `named`: the logical names of accounts, by their addresses, and of buckets, by `gs://BUCKET`, as the others are.
    `works`: the work buckets, that of the stack's own region first.
    `accounts`: the trainers' roles on the project, by the grants' names. `submitters`: by the trainer that they submit
    as.
    """
    for account, roles in accounts.items():
        trainer = f"serviceAccount:{account}"
        yield from (StateGrant(name, role, trainer) for name, role in roles.items())
        yield StateGrant(f"{named[account]}-reads-{named[catalog]}", READS, trainer, catalog)
        yield from (StateGrant(f"{named[account]}-writes-{named[work]}", WRITES, trainer, work) for work in works)
    for member in dict.fromkeys(member for members in submitters.values() for member in members):
        yield from (StateGrant(f"{purpose}-{member}", role, member) for purpose, role in SUBMITTER_ROLES.items())
        yield from (StateGrant(f"reads-{named[on]}-{member}", READS, member, on) for on in (catalog, *works))
        yield StateGrant(f"creates-{named[works[0]]}-{member}", CREATES, member, works[0])
    for account, members in submitters.items():
        yield from (StateGrant(f"act-as-{named[account]}-{member}", ACT_AS, member, account) for member in members)


def rights(
    submitters: Mapping[str, Iterable[str]],
    works: Sequence[str],
    accounts: Iterable[str],
    writers: Iterable[str],
    catalog: str = "",
) -> frozenset[Right]:
    """Return the rights on the resources that two stacks can share: the project, work buckets, and accounts that
    somebody else made. With the bucket of the `catalog`, also those on it, which are one stack's.

    `works` are names, the rest is as for `grants`; `writers` are trainers that write metrics.
    """
    roles: dict[str, dict[str, str]] = {account: {} for account in accounts}
    roles |= {account: {"": WRITES_METRICS} for account in writers}
    on_catalog = f"gs://{catalog}" if catalog else ""
    of_stack = grants(defaultdict(str), on_catalog, [f"gs://{work}" for work in works], roles, submitters)
    return frozenset(right_of(grant) for grant in of_stack if grant.on or grant.role != READS)


def submitters_of(stack: Stack) -> dict[str, tuple[str, ...]]:
    """Return members by the address of the trainer that they may submit as."""
    of = {stack.workspace.trainer: stack.workspace.submitters}
    of |= {trainer.account: trainer.submitters for trainer in stack.trainers.values()}
    return {trainer_email(account, stack.project): tuple(sorted(members)) for account, members in of.items()}


def asked_of(stack: Stack, writers: Collection[str]) -> frozenset[Right]:
    """Return the rights that a stack asks for. `writers`: as `metric_writers` returns them."""
    named = {"": stack.workspace.trainer, **{name: trainer.account for name, trainer in stack.trainers.items()}}
    accounts = {name: trainer_email(account, stack.project) for name, account in named.items()}
    metrics = (accounts[name] for name in writers)
    works = (stack.workspace.work_bucket, *stack.work_elsewhere.values())
    return rights(submitters_of(stack), works, accounts.values(), metrics)


def new_on_project(known: State, asked: Iterable[Right]) -> frozenset[Right]:
    """Return the rights on the project that the stack asks for and the engine has not granted."""
    return frozenset(right for right in asked if not right[2]) - {right_of(grant) for grant in known.grants}


def refuse_crowd(new: Collection[Right], policy: frozenset[Bound] | Unknown, project: str, origin: Origin) -> None:
    """Raise ConfigError where a project's policy has no room for new rights. One that can't be read may have."""
    if isinstance(policy, Unknown):
        return
    added = {(role, member) for role, member, _ in new} - {
        (bound.role, bound.member.lower()) for bound in policy if not bound.condition
    }
    if added and len(policy) + len(added) > MOST_PRINCIPALS:
        people = len({member for _, member in added})
        raise ConfigError(
            f"the policy of project {project} would name {len(policy) + len(added):,} principals, and Google takes "
            f"{MOST_PRINCIPALS:,}",
            why=f"it names {len(policy):,}, each once for every role, and {origin.file} adds "
            f"{len(added):,}, for {counted(people, 'submitters')}",
            fix="take a group in place of its people, under `submitters`: group:ml-engineers@acme.example",
        )
    already = [bound.member for bound in policy]
    groups = groups_and_domains([*already, *(member for _, member in added)])
    if added and groups > MOST_GROUPS:
        raise ConfigError(
            f"the policy of project {project} would name {groups} groups and domains, and Google takes {MOST_GROUPS}",
            why=f"it names {groups_and_domains(already)}, a domain once for every role; the others are of "
            f"{origin.file}",
            fix="take one group that has the others as its members, under `submitters`",
        )


def warn_of_domains(new: Iterable[Right], live: Live, places: Places) -> Iterator[Fault]:
    """Yield a warning where an organisation permits some domains alone, and new members are the first of theirs in the
    project. Which domains it permits is not told to a project."""
    if isinstance(live.policy, Unknown) or isinstance(live.permitted, Unknown) or not live.permitted:
        return
    here = {_domain(bound.member) for bound in live.policy}
    strange = sorted({member for _, member, _ in new if _domain(member) not in here and _domain(member)})
    if strange:
        customers = join(live.permitted)
        where = few(places({member.partition(":")[2] for member in strange}), most=6)
        yield Fault(
            f"the organisation may not permit {few(strange, most=6)}{f' ({where})' if where else ''}",
            f"it permits members of {customers} alone ({DOMAINS}), and nobody else here is of "
            f"{few(sorted({_domain(member) for member in strange}))}",
            "gcloud organizations list shows the domains of customers; docs/organisation.md#members has the ways out",
        )


def _domain(member: str) -> str:
    """Return the domain of a person or group, lower-case; empty for accounts and pools, which are of a project."""
    kind, _, name = member.lower().partition(":")
    return name.rpartition("@")[2] if kind in ("user", "group", "domain") else ""


def stacks_of(clusters: Iterable[PersistentResource] | Unknown) -> frozenset[str]:
    """Return the stacks that made the clusters; empty where they can't be read. A cluster that is being deleted may be
    the last of a stack that is taken down."""
    readable = () if isinstance(clusters, Unknown) else clusters
    living = (cluster for cluster in readable if cluster.state != "STOPPING")
    return frozenset(cluster.labels[STACK_LABEL] for cluster in living if STACK_LABEL in cluster.labels)


def stacks_with_catalogs(neighbours: Neighbours) -> frozenset[str]:
    """Return the stacks whose catalogs were read."""
    catalogs = () if isinstance(neighbours, Unknown) else neighbours.values()
    return frozenset(catalog.owner for catalog in catalogs if isinstance(catalog, PublishedCatalog))


def dropped(known: State, asked: Collection[Right] = ()) -> tuple[StateGrant, ...]:
    """Return the grants that the stack has and no longer declares, and that another stack may need. A catalog's bucket
    and an account that the stack made itself are no other stack's, and neither are such an account's rights; a work
    bucket may be, whoever made it."""
    theirs = others_accounts(known)
    accounts = {account.name for account in known.accounts} - {*theirs}
    members = {f"serviceAccount:{account}" for account in accounts}
    # A failed destruction may have taken a bucket or an account out of the state before the grants on it.
    catalogs = (bucket for bucket in known.buckets if not bucket.logical.startswith(WORK))
    own = accounts | {f"gs://{bucket.name}" for bucket in catalogs if not is_adopted_bucket(bucket.logical)}
    return tuple(
        grant
        for grant in known.grants
        if grant.on not in own and grant.member not in members and right_of(grant) not in asked
    )


def shared(
    grants: Iterable[StateGrant],
    neighbours: Neighbours,
    known: State,
    *,
    stack: str,
    project: str,
    seen: Iterable[str] = (),
    leaving: Collection[str] = (),
) -> tuple[SharedGrant, ...]:
    """Return the grants that stay.

    `stack`: the label of the stack that drops them, and `known` its state.
    `seen`: the labels of the stacks that have clusters in the project; where one of them has no catalog, its needs are
    unknown.
    `leaving`: stacks whose catalogs were there a moment ago; one of them without a catalog is being taken down, and
    needs nothing.
    """
    if isinstance(neighbours, Unknown):
        return tuple(SharedGrant(grant, unread=(str(neighbours),), passing=neighbours.passing) for grant in grants)
    own = {known.catalog_bucket, *(bucket.name for bucket in known.buckets)}
    foreign = ((bucket, catalog) for bucket, catalog in neighbours.items() if bucket not in own)
    catalogs = {
        bucket: catalog for bucket, catalog in foreign if isinstance(catalog, Unknown) or catalog.owner != stack
    }
    named = stacks_with_catalogs(catalogs)
    passing = any(isinstance(catalog, Unknown) and catalog.passing for catalog in catalogs.values())
    unread = [why for bucket, catalog in catalogs.items() if (why := _unread(f"gs://{bucket}/{NAME}", catalog))]
    unpublished = tuple(sorted({*seen} - {"", stack, *leaving} - named))
    awaited = () if unread else unpublished
    unread += (f"{words_of(label)} has clusters here, and no catalog in a bucket that it made" for label in unpublished)
    readable = (catalog.whole for catalog in catalogs.values() if isinstance(catalog, PublishedCatalog))
    needs = {whole.identity.called: needs_of(whole) for whole in readable if whole and whole.project == project}
    staying = []
    for grant in grants:
        stacks = tuple(sorted(name for name, needed in needs.items() if right_of(grant) in needed))
        if stacks:
            staying.append(SharedGrant(grant, stacks=stacks))
        elif unread:
            staying.append(SharedGrant(grant, unread=tuple(unread), passing=passing, unpublished=awaited))
    return tuple(staying)


def must_be_unneeded(grant: StateGrant, stays: SharedGrant | None) -> None:
    """Raise PolicyError for a grant that another stack needs by now, or may need, right before it would go."""
    if stays is None:
        return
    what = f"{grant.role} of {grant.member} {f'on {grant.on} ' if grant.on else ''}is not taken"
    if stays.stacks:
        raise PolicyError(
            f"{what}: {who_needs(stays.stacks)} it by now", fix="the same command again: it leaves what others need"
        )
    raise PolicyError(
        f"{what}: nobody can tell whether another stack needs it",
        why="\n".join(stays.unread),
        fix="correct that, then the same command again, which leaves what others need",
    )


def by_member(staying: Iterable[SharedGrant]) -> dict[str, tuple[str, ...]]:
    """Return the stacks that need the remaining grants, by member; none where that is not known."""
    stacks_by_member: dict[str, set[str]] = {}
    for stays in staying:
        stacks_by_member.setdefault(stays.grant.member, set()).update(stays.stacks)
    return {member: tuple(sorted(stacks)) for member, stacks in sorted(stacks_by_member.items())}


def who_needs(stacks: Sequence[str], quote: str = "") -> str:
    """Return `stack prod needs`, `stacks dev and prod need`."""
    names = join(f"{quote}{stack}{quote}" for stack in stacks)
    return f"stack {names} needs" if len(stacks) == 1 else f"stacks {names} need"


def right_of(grant: StateGrant) -> Right:
    return grant.role, grant.member.lower(), grant.on


def _unread(at: str, catalog: PublishedCatalog | Unknown) -> str:
    """Return the reason why the members in the catalog at an address are unknown; empty where they are known."""
    if isinstance(catalog, Unknown):
        return str(catalog)
    return "" if catalog.whole else catalog.damage or f"{at}: another version published it"


def needs_of(catalog: Catalog, bucket: str = "") -> frozenset[Right]:
    """Return the rights that a catalog needs; with its `bucket`, also those there. Jobs of any of its accounts may
    write metrics."""
    accounts = (catalog.trainer, *catalog.trainers.values())
    return rights(catalog.submitters, catalog.work_buckets, accounts, accounts, bucket)

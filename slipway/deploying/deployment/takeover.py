"""A deployment whose state is empty, under a name that is in use: another repository or backend has deployed it.

Without a state nothing tells whether the owner has lost it, or another team has the same names by chance. So such a
deployment is rejected before it changes anything, unless the person says that it recovers its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from slipway.authoring.stack.stack import Stack
from slipway.base.errors import ConfigError, PolicyError, ResourceError
from slipway.base.formatting import join, quoted, span
from slipway.deploying.deployment.workspace_plan import CATALOG, TRAINER, WORK, lent_to, trainer_owner
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.live import Live, Unknown
from slipway.model.identity import Identity
from slipway.model.labels import UNKNOWN_COMMIT
from slipway.model.state import State, StateResource

VARIABLE = "SLIPWAY_RECOVER"
"""The environment variable by which a person recovers a deployment for one run: PROJECT/STACK. No file may set it, as
a copy of the repository would have it as well."""


class NameTakenError(PolicyError):
    """The rejection of a deployment whose state is empty, under a name that is in use."""


def is_recovered(environ: Mapping[str, str], identity: Identity) -> bool:
    """Return whether the person recovers the deployment. Raises ConfigError for the name of another one."""
    given = environ.get(VARIABLE, "").strip()
    if given in ("", identity.address):
        return bool(given)
    raise ConfigError(
        f"{VARIABLE}={quoted(given)} is not this deployment, so nothing was changed",
        why=f"this is {identity.words}",
        fix=f"{VARIABLE}={identity.address} if its state is lost; otherwise unset {VARIABLE}",
    )


def refuse_takeover(stack: Stack, live: Live, environ: Mapping[str, str]) -> None:
    """Raise PolicyError when something of the stack exists, of which its state has nothing; ResourceError when the
    catalog can't be read, so that nothing tells; ConfigError for a wrong value of the variable."""
    identity = stack.identity
    if is_recovered(environ, identity) or live.skipped:
        return
    if isinstance(live.catalog, Unknown):
        raise ResourceError(
            f"can't determine whether {identity.words} exists already, so nothing was changed",
            why=f"the state of this run has nothing of it, and its catalog can't be read: {live.catalog}",
            fix="deploy again when the catalog can be read\n"
            "if another team has the bucket: choose another stack name, or another `name` in Pulumi.yaml",
        )
    if found := list(_found(stack, live)):
        raise taken(identity, found, stack.origin.up)


def as_it_was(identity: Identity, live: Live, imported: Mapping[str, str], own: Collection[str]) -> State:
    """Return what is known of a workspace whose state is lost, as the state had it.

    `imported`: by role, the names of the program's own resources that the state has again; `own`: the roles of all of
    them. The published catalog, if it is the deployment's, tells the others.
    """
    names = {**_published(identity, live), **imported}
    buckets = tuple(
        StateResource(role, names[role], "") for role in (CATALOG, WORK) if role in names and role not in own
    )
    accounts = (StateResource(TRAINER, names[TRAINER], ""),) if TRAINER in names and TRAINER not in own else ()
    grants = tuple(lent_to(role, names[role]) for role in own if role in names)
    return State(buckets=buckets, accounts=accounts, grants=grants)


def _published(identity: Identity, live: Live) -> dict[str, str]:
    """Return the names in the deployment's published catalog, by role."""
    catalog = live.deployed
    if catalog is None or catalog.identity != identity:
        return {}
    names = {CATALOG: catalog.catalog_bucket, WORK: catalog.work_bucket, TRAINER: catalog.trainer}
    return {role: name for role, name in names.items() if name}


def taken(identity: Identity, found: Iterable[str], command: str) -> NameTakenError:
    """Return the error of an empty state under a name in use. `found`: what exists, a sentence each; `command`: the one
    that recovers it."""
    ways = (
        "if another team has it: choose another stack name, or another `name` in Pulumi.yaml",
        "if you have it: set PULUMI_BACKEND_URL to the backend that has its state",
        f"if its state is lost: {recovery(identity, command)}",
    )
    return NameTakenError(
        f"{identity.words} exists already, and the state of this run has nothing of it, so Slipway changed nothing",
        why="\n".join(found),
        fix="\n".join(ways),
    )


def recovery(identity: Identity, command: str) -> str:
    """Return the command that recovers a deployment."""
    return f"{VARIABLE}={identity.address} {command}"


def _found(stack: Stack, live: Live) -> Iterator[str]:
    """Yield what exists of the stack, a sentence each."""
    label = stack.identity.label
    yield from _catalog_of(label, stack.workspace.catalog_bucket, live)
    clusters = _clusters_of(label, live)
    if clusters:
        yield clusters_found(clusters, stack.project)
    accounts = _accounts_of(label, live)
    if accounts:
        yield f"it has {_named('account', accounts)}"


def _catalog_of(label: str, bucket: str, live: Live) -> Iterator[str]:
    catalog = live.catalog
    if not isinstance(catalog, PublishedCatalog):
        return
    if catalog.owner == label:
        yield catalog_found(bucket, catalog)
    elif not catalog.owner:
        yield f"gs://{bucket} has a catalog that does not name its deployment{publication(catalog)}"


def catalog_found(bucket: str, catalog: PublishedCatalog) -> str:
    return f"gs://{bucket} has its catalog{publication(catalog)}"


def clusters_found(ids: list[str], project: str) -> str:
    return f"it has {_named('cluster', ids)} in {project}"


def _clusters_of(label: str, live: Live) -> list[str]:
    clusters = live.clusters
    if isinstance(clusters, Unknown):
        return []
    return sorted(cluster.id for cluster in clusters if cluster.made_by(label))


def _accounts_of(label: str, live: Live) -> list[str]:
    accounts = live.service_accounts
    if isinstance(accounts, Unknown):
        return []
    return sorted(address for address, display_name in accounts.items() if trainer_owner(display_name) == label)


def _named(role: str, names: list[str]) -> str:
    """Return `account a` or `accounts a and b`."""
    noun = role if len(names) == 1 else f"{role}s"
    return f"{noun} {join(names)}"


def publication(catalog: PublishedCatalog) -> str:
    """Return `, of commit 3f9c2e1, published 2 h ago`, as far as that is known."""
    text = ""
    if catalog.whole and catalog.whole.commit not in ("", UNKNOWN_COMMIT):
        text += f", of commit {catalog.whole.revision.short}"
    if catalog.age is not None:
        text += f", published {span(catalog.age.total_seconds())} ago"
    return text


def imports_first(commands: Sequence[str], nameless: Sequence[str] = ()) -> str:
    """Return what a person does before the recovery of a program with resources of its own. `commands`: those that
    import these resources; `nameless`: the resources to which the program gives no name. Only the program knows
    both."""
    first = (
        "before you recover it, import the program's own resources that exist: otherwise Pulumi creates them a second "
        "time, or fails, as their names are in use (409)"
    )
    if nameless:
        first += (
            f'\nbefore the import, write `name="…"`, the name that exists, into the program for {join(nameless)}: '
            "otherwise Pulumi replaces what you import by another one with a new name"
        )
    return "\n".join((first, *commands))


def import_replacement_rejected(type_: str, name: str) -> PolicyError:
    """Return the error of a recovery in which Pulumi would replace a resource of the program that was imported."""
    return PolicyError(
        f"{type_} {name} can't be replaced in a recovery, so nothing of it was changed",
        why="the resource that was imported has other values than the program declares: Pulumi would create another "
        "one, and delete the one that exists",
        fix="write the values of the resource that exists into the program, its name first: Pulumi's `diff` names the "
        f"arguments\nif the state is not lost: unset {VARIABLE}",
    )

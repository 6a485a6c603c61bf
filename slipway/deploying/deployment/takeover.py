"""A deployment whose state is empty, under a name that is in use: another repository or backend has deployed it.

Without a state nothing tells whether the owner has lost it, or another team has the same names by chance. So such a
deployment is rejected before it changes anything, unless the person says that it recovers its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slipway.authoring.stack.stack import Stack
from slipway.base.errors import ConfigError, PolicyError, ResourceError
from slipway.base.formatting import join, quoted, span
from slipway.deploying.deployment.workspace_plan import trainer_owner
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.live import Live, Unknown
from slipway.model.identity import Identity

VARIABLE = "SLIPWAY_RECOVER"
"""The environment variable by which a person recovers a deployment for one run: PROJECT/STACK. No file may set it, as
a copy of the repository would have it as well."""


def is_recovered(environ: Mapping[str, str], identity: Identity) -> bool:
    """Return whether the person recovers the deployment. Raises ConfigError for the name of another one."""
    given = environ.get(VARIABLE, "").strip()
    if given and given != identity.address:
        raise ConfigError(
            f"{VARIABLE}={quoted(given)} is not this deployment, so nothing was changed",
            why=f"this is {identity.words}",
            fix=f"{VARIABLE}={identity.address} if its state is lost; otherwise unset {VARIABLE}",
        )
    return bool(given)


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
            fix="\n".join(
                (
                    "deploy again when the catalog can be read",
                    "if another team has the bucket: choose another stack name, or another `name` in Pulumi.yaml",
                )
            ),
        )
    if found := "\n".join(_found(stack, live)):
        raise PolicyError(
            f"{identity.words} exists already, and the state of this run has nothing of it, so nothing was changed",
            why=found,
            fix="\n".join(
                (
                    "if another team has it: choose another stack name, or another `name` in Pulumi.yaml",
                    "if you have it: set PULUMI_BACKEND_URL to the backend that has its state",
                    f"if its state is lost: {recovery(identity, stack.origin.up)}",
                )
            ),
        )


def recovery(identity: Identity, command: str) -> str:
    """Return the command that recovers a deployment."""
    return f"{VARIABLE}={identity.address} {command}"


def _found(stack: Stack, live: Live) -> Iterator[str]:
    """Yield what exists of the stack, a sentence each."""
    label, bucket = stack.identity.label, stack.workspace.catalog_bucket
    if isinstance(live.catalog, PublishedCatalog):
        if live.catalog.owner == label:
            yield f"gs://{bucket} has its catalog{_publication(live.catalog)}"
        elif not live.catalog.owner:
            yield f"gs://{bucket} has a catalog that does not name its deployment{_publication(live.catalog)}"
    clusters = () if isinstance(live.clusters, Unknown) else live.clusters
    if ids := sorted(cluster.id for cluster in clusters if cluster.made_by(label)):
        yield f"it has {'cluster' if len(ids) == 1 else 'clusters'} {join(ids)} in {stack.project}"
    accounts = {} if isinstance(live.service_accounts, Unknown) else live.service_accounts
    if trainers := sorted(address for address, called in accounts.items() if trainer_owner(called) == label):
        yield f"it has {'account' if len(trainers) == 1 else 'accounts'} {join(trainers)}"


def _publication(catalog: PublishedCatalog) -> str:
    """Return `, of commit 3f9c2e1, published 2 h ago`, as far as that is known."""
    commit = f", of commit {catalog.whole.revision.short}" if catalog.whole and catalog.whole.commit else ""
    age = "" if catalog.age is None else f", published {span(catalog.age.total_seconds())} ago"
    return f"{commit}{age}"

"""The recovery of a program after its state was lost: Slipway imports what is its own, and a person the rest."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pulumi

from slipway.base.errors import SlipwayError
from slipway.deploying.deployment.takeover import NameTakenError, imports_first, is_recovered
from slipway.deploying.deployment.workspace_plan import trainer_email
from slipway.google.live import Unknown
from slipway.model.state import ACCOUNT, BUCKET

from .engine import EngineRun
from .member import Member
from .namesakes import noted


def add_imports(error: SlipwayError, run: EngineRun) -> None:
    """Add the imports of the program's own resources to the error of an empty state under a name in use."""
    commands = list(_imports(run))
    if isinstance(error, NameTakenError) and commands:
        error.fix = f"{error.fix}\n{imports_first(commands)}"


def warn_of_imports(run: EngineRun) -> None:
    """Warn at the beginning of a recovery of what Pulumi would create a second time."""
    if isinstance(run.state, Unknown) or run.is_deployed or not is_recovered(os.environ, run.identity()):
        return
    commands = list(_imports(run))
    if commands:
        pulumi.log.warn(imports_first(commands))


def _imports(run: EngineRun) -> Iterator[str]:
    """Yield the commands that import the program's own resources, as far as the state lacks them."""
    others = {} if isinstance(run.state, Unknown) else run.state.others
    for each in noted():
        is_own = isinstance(each.resource, pulumi.CustomResource) and not isinstance(each.opts.parent, Member)
        if not is_own or isinstance(each.resource, pulumi.ProviderResource) or each.name in others.values():
            continue
        yield f"pulumi import --stack {run.name} {each.type_} {each.name} {_id_of(each, run.project)}"


def _id_of(args: pulumi.ResourceTransformationArgs, project: str) -> str:
    """Return the id by which Pulumi imports a resource; the word ID if the type does not tell it."""
    name, account = args.props.get("name"), args.props.get("account_id")
    if args.type_ == BUCKET and isinstance(name, str):
        return name
    if args.type_ == ACCOUNT and isinstance(account, str):
        return f"projects/{project}/serviceAccounts/{trainer_email(account, project)}"
    return "ID"

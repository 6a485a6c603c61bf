"""Buckets and accounts of the program that exist, and that the state of a deployed stack does not have.

`pulumi state delete` removes such an entry. Pulumi would create the resource again, which fails (409) after other
changes. The import comes first.
"""

from __future__ import annotations

import pulumi

from slipway.base.errors import ConfigError
from slipway.deploying.deployment.workspace_plan import trainer_email
from slipway.google.live import Live, Unknown
from slipway.model.state import ACCOUNT, BUCKET, State

from .engine import destroys, fail, known
from .import_commands import import_command
from .live_reading import exists
from .world import mocked


def refuse_existing(args: pulumi.ResourceTransformationArgs) -> None:
    """End the program if a bucket or an account exists that the state of a deployed stack does not have."""
    if destroys() or args.type_ not in (BUCKET, ACCOUNT) or _has_other_source(args.opts) or _had_other_name(args.opts):
        return
    state = known()
    if not isinstance(state, State) or not state.catalogs or (args.type_, args.name) in state.names:
        return
    name = _name(args)
    world = mocked()
    if name and _exists(args, name, world.live if world else None):
        fail(_existing(args, name))


def _has_other_source(opts: pulumi.ResourceOptions) -> bool:
    """Return whether a resource is read or imported."""
    return bool(opts.id or opts.import_)


def _had_other_name(opts: pulumi.ResourceOptions) -> bool:
    """Return whether a resource may have another name in the state. The provider's own aliases give former types."""
    aliases = opts.aliases or ()
    return any(not isinstance(alias, pulumi.Alias) or isinstance(alias.name, str) for alias in aliases)


def _project(args: pulumi.ResourceTransformationArgs) -> str:
    given = args.props.get("project")
    return given if isinstance(given, str) else pulumi.Config("gcp").get("project") or ""


def _name(args: pulumi.ResourceTransformationArgs) -> str:
    """Return the name of a bucket or the address of an account; empty if the program does not give it as text."""
    given = args.props.get("name" if args.type_ == BUCKET else "account_id")
    if not isinstance(given, str):
        return ""
    return given if args.type_ == BUCKET else trainer_email(given, _project(args))


def _exists(args: pulumi.ResourceTransformationArgs, name: str, live: Live | None) -> bool:
    """Return whether a resource exists for sure. `live`: live state in a test with mocks."""
    if live is not None:
        found = live.buckets if args.type_ == BUCKET else live.service_accounts
        return not isinstance(found, Unknown) and name in found
    return exists(args.type_, name, _project(args)) is True


def _existing(args: pulumi.ResourceTransformationArgs, name: str) -> ConfigError:
    kind = f"bucket gs://{name}" if args.type_ == BUCKET else f"account {name}"
    stack = pulumi.get_stack()
    region = pulumi.Config("gcp").get("region") or ""
    return ConfigError(
        f"{kind} exists, and the state of {pulumi.get_project()}/{stack} does not have it, so Slipway changed nothing",
        why=f"the program declares {args.name}: Pulumi would create it, which fails, as its name is in use (409)",
        fix="if it is yours, as after `pulumi state delete`, import it, and deploy again:\n"
        f"{import_command(args, stack, _project(args), region)}\n"
        "if another team has it: choose another name in the program",
    )

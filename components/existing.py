"""Buckets and accounts of the program that exist, and that the state of the stack does not have.

`pulumi state delete` removes such an entry; the names of a new stack may be in use. Pulumi would create the resource
again, which fails (409) after other changes. The import, or another name, comes first.
"""

from __future__ import annotations

import os

import pulumi

from slipway.base.errors import ConfigError
from slipway.deploying.deployment.takeover import VARIABLE
from slipway.deploying.deployment.workspace_plan import trainer_email
from slipway.model.state import ACCOUNT, BUCKET, State

from .engine import destroys, fail, known
from .former_names import Declared, former_names, has_unknown_alias
from .import_commands import import_command
from .owned_elsewhere import Subject, existing, in_state, may_be_published, owner_of, rejected, used_elsewhere, user_of
from .second_names import has_entry


def refuse_existing(args: pulumi.ResourceTransformationArgs, declared: Declared) -> None:
    """End the program if it declares a bucket or an account that another deployment made or uses, or one that exists
    and that the state of the stack does not have, or has under another name. `declared`: what the program has declared
    so far."""
    # Asked in a destruction, Pulumi would note a provider in an empty state: `refuse_owned` checks the entries then.
    if destroys() or args.type_ not in (BUCKET, ACCOUNT) or args.opts.id:
        return
    state = known()
    if not isinstance(state, State):
        return
    entry, name = in_state(args, state), _name(args)
    if entry is not None:
        _refuse_owned(args, entry, state)
    if not name or has_entry(args, name, state, declared):
        return
    # Pulumi would replace the resource of an entry by one of the new name.
    if args.opts.import_ or entry is not None:
        _refuse_used(args, existing(args.type_, name, _project(args)), state)
    elif not (_had_other_name(args, declared) or (args.type_, args.name) in state.names or _recovers(state)):
        _refuse_created(args, existing(args.type_, name, _project(args)), state)


def _refuse_created(args: pulumi.ResourceTransformationArgs, found: Subject | None, state: State) -> None:
    """End the program if what Pulumi would create exists. A whole deployment whose state is lost has messages of its
    own."""
    _refuse_used(args, found, state)
    if found and (_has_part(state) or not may_be_published(found, state)):
        fail(_existing(args, found))


def _refuse_used(args: pulumi.ResourceTransformationArgs, found: Subject | None, state: State) -> None:
    """End the program if another deployment made or uses what exists."""
    _refuse_owned(args, found, state)
    user = user_of(found, state) if found else ""
    if found and user:
        fail(used_elsewhere(args.name, found, user))


def _refuse_owned(args: pulumi.ResourceTransformationArgs, subject: Subject | None, state: State) -> None:
    owner = owner_of(subject, state) if subject else ""
    if subject and owner:
        fail(rejected(args.name, subject, owner))


def _recovers(state: State) -> bool:
    return not state.catalogs and bool(os.environ.get(VARIABLE, "").strip())


def _has_part(state: State) -> bool:
    """Return whether the state has a deployment, or a part of one."""
    return bool(state.catalogs) or any(not type_.startswith("pulumi:") for type_, _ in state.names)


def _had_other_name(args: pulumi.ResourceTransformationArgs, declared: Declared) -> bool:
    """Return whether a resource may have another name in the state, or another parent there."""
    return has_unknown_alias(args) or bool(former_names(args, declared))


def _project(args: pulumi.ResourceTransformationArgs) -> str:
    given = args.props.get("project")
    return given if isinstance(given, str) else pulumi.Config("gcp").get("project") or ""


def _name(args: pulumi.ResourceTransformationArgs) -> str:
    """Return the name of a bucket or the address of an account; empty if the program does not give it as text."""
    given, imported = args.props.get("name" if args.type_ == BUCKET else "account_id"), args.opts.import_
    if not isinstance(given, str):
        return imported.rpartition("/")[2] if isinstance(imported, str) else ""
    return given if args.type_ == BUCKET else trainer_email(given, _project(args))


def _existing(args: pulumi.ResourceTransformationArgs, found: Subject) -> ConfigError:
    stack = pulumi.get_stack()
    region = pulumi.Config("gcp").get("region") or ""
    return ConfigError(
        f"{found.words} exists, and the state of {pulumi.get_project()}/{stack} does not have it, "
        "so Slipway changed nothing",
        why=f"the program declares {args.name}: Pulumi would create it, which fails, as its name is in use (409)",
        fix="if it is yours, as after `pulumi state delete`, import it, and deploy again:\n"
        f"{import_command(args, stack, _project(args), region)}\n"
        "if another team has it: choose another name in the program",
    )

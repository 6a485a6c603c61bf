"""Buckets and accounts of the program that its state has under another name or with another parent, as after a rename
without an alias.

Pulumi would create such a resource a second time, which fails. After an import it would delete the resource by the
former entry, which the program no longer declares.
"""

from __future__ import annotations

import pulumi

from slipway.base.errors import ConfigError
from slipway.model.state import BUCKET, State, StateEntry

from .engine import fail
from .former_names import Declared, is_entry_of, may_be_entry_of, parent_type


def has_entry(args: pulumi.ResourceTransformationArgs, name: str, state: State, declared: Declared) -> bool:
    """Return whether the state has a resource of the program, by its name or an alias. End the program if it has the
    resource only under another name, or with another parent, and no alias tells that.

    `name`: the bucket's name, or the account's address. `declared`: what the program has declared so far.
    """
    entries = [each for each in (*state.entries, *state.nested) if (each.type, each.name) == (args.type_, name)]
    managed = [entry for entry in entries if not _is_read(entry, declared)]
    known = [each for each in managed if is_entry_of(args, each) or may_be_entry_of(args, each, declared)]
    if managed and not known:
        fail(_second_name(args, name, managed[0], is_own=managed[0] in state.outside))
    return bool(known)


def _is_read(entry: StateEntry, declared: Declared) -> bool:
    """Return whether an entry is of what the program reads, as by `Bucket.get`: Pulumi never deletes that."""
    return any(each.opts.id is not None and is_entry_of(each, entry) for each in declared)


def _second_name(args: pulumi.ResourceTransformationArgs, name: str, entry: StateEntry, *, is_own: bool) -> ConfigError:
    subject = f"bucket gs://{name}" if args.type_ == BUCKET else f"account {name}"
    again = f"remove {args.name} from the program, or choose another name"
    place = f"under the name {entry.logical}"
    if entry.logical == args.name:
        place = f"below a component of type {entry.parent}" if entry.parent else "outside of any component"
    fix = again
    if is_own:
        fix = f"{_ways(args, entry)}\nif the program declares {entry.logical} as well: {again}"
    return ConfigError(
        f"{subject} is in the state {place}, so Slipway changed nothing",
        why=f"the program declares it as {args.name}: Pulumi would create it again, which fails, as its name is in use "
        "(409); after an import it would delete it by the former entry",
        fix=fix,
    )


def _ways(args: pulumi.ResourceTransformationArgs, entry: StateEntry) -> str:
    """Return how Pulumi is told of a former name, or of a former parent, which no command changes."""
    if entry.parent != parent_type(args):
        alias = f"opts=pulumi.ResourceOptions(aliases=[{entry.urn!r}])"
        return f"if you gave the resource another parent: give it `{alias}`, beside its other options"
    alias = f"opts=pulumi.ResourceOptions(aliases=[pulumi.Alias(name={entry.logical!r})])"
    rename = f"pulumi state rename --stack {pulumi.get_stack()} '{entry.urn}' {args.name}"
    return f"if you renamed the resource: give it `{alias}`\nor rename its entry:\n{rename}"

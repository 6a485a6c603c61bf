"""Buckets and accounts of the program that its state has under another name, as after a rename without an alias.

Pulumi would create such a resource a second time, which fails. After an import it would delete the resource by the
former entry, which the program no longer declares.
"""

from __future__ import annotations

from collections.abc import Iterator

import pulumi

from slipway.base.errors import ConfigError
from slipway.model.state import BUCKET, State

from .engine import fail


def refuse_second_name(args: pulumi.ResourceTransformationArgs, name: str, state: State) -> None:
    """End the program if the state has a resource of the program under another name. `name`: the bucket's name, or the
    account's address; empty if unknown."""
    if not name:
        return
    for urn, is_own in _entries(args.type_, name, state):
        if _logical(urn) != args.name:
            fail(_second_name(args, name, urn, is_own=is_own))


def _entries(type_: str, name: str, state: State) -> Iterator[tuple[str, bool]]:
    """Yield the URNs of what has this name in the cloud, and whether the program itself declared it."""
    for entry in state.entries:
        if (entry.type, entry.name) == (type_, name):
            yield entry.urn, not entry.parent
    for urn, lent in state.lent.items():
        if lent == name:
            yield urn, True


def _logical(urn: str) -> str:
    return urn.split("::", 3)[-1]


def _second_name(args: pulumi.ResourceTransformationArgs, name: str, urn: str, *, is_own: bool) -> ConfigError:
    former = _logical(urn)
    subject = f"bucket gs://{name}" if args.type_ == BUCKET else f"account {name}"
    again = f"remove {args.name} from the program, or choose another name"
    fix = again
    if is_own:
        alias = f"opts=pulumi.ResourceOptions(aliases=[pulumi.Alias(name={former!r})])"
        fix = (
            f"if you renamed the resource: give it `{alias}`"
            f"\nor rename its entry:\npulumi state rename --stack {pulumi.get_stack()} '{urn}' {args.name}"
            f"\nif the program declares {former} as well: {again}"
        )
    return ConfigError(
        f"{subject} is in the state under the name {former}, so Slipway changed nothing",
        why=f"the program declares it as {args.name}: Pulumi would create it again, which fails, as its name is in use "
        "(409); after an import it would delete it by the former entry",
        fix=fix,
    )

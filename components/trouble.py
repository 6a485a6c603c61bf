"""Trouble: what to do about an error of the provider, said where it happens.

The engine calls this hook when something could not be made, changed or deleted, and shows the provider's words, which
name no way out. Of what it can't read it tells nobody: that is what the stack's output `onError` is for.

The state keeps the hook's name with every resource, so it is registered always and its name never changes.
"""

from __future__ import annotations

from collections.abc import Mapping

import pulumi

from slipway.cloud.foreign_words import Meaning, meaning_of

NAME = "slipway-trouble-v1"
_DONE = {"create": "made", "update": "changed", "delete": "deleted"}


def explain_errors(environ: Mapping[str, str]) -> None:
    """From here on, whatever is declared has the hook. One way out is said once, however many errors lead to it."""
    said: set[str] = set()

    async def on_error(args: pulumi.ErrorHookArgs) -> bool:
        meaning = meaning_of(args.errors[0] if args.errors else "", environ)
        if meaning.fix not in said:
            said.add(meaning.fix)
            pulumi.log.error(words(args.name, args.type, args.failed_operation, meaning))
        return False  # The provider has tried for as long as it does.

    hook = pulumi.ErrorHook(NAME, on_error)

    def transformed(args: pulumi.ResourceTransformationArgs) -> pulumi.ResourceTransformationResult | None:
        if not isinstance(args.resource, pulumi.CustomResource):
            return None
        args.opts.hooks = with_hook(args.opts.hooks, hook)
        return pulumi.ResourceTransformationResult(args.props, args.opts)

    pulumi.runtime.register_stack_transformation(transformed)


def with_hook(bound: pulumi.ResourceHookBinding | None, hook: pulumi.ErrorHook) -> pulumi.ResourceHookBinding:
    """The same hooks and this one. Resources share a binding, so it stays as it is."""
    before = bound or pulumi.ResourceHookBinding()
    return pulumi.ResourceHookBinding(
        before_create=before.before_create,
        after_create=before.after_create,
        before_update=before.before_update,
        after_update=before.after_update,
        before_delete=before.before_delete,
        after_delete=before.after_delete,
        on_error=[*(before.on_error or ()), hook],
    )


def words(name: str, type_: str, operation: str, meaning: Meaning) -> str:
    """`type_` is the engine's token, `operation` create, update or delete."""
    done = _DONE.get(operation, operation)
    return (
        f"{type_.rsplit(':', 1)[-1]} {name} could not be {done}: {meaning.what}\n"
        f"  why: {meaning.why}\n"
        f"  fix: {meaning.fix}"
    )

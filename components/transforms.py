"""Changes by transforms of the program to the resources of components.

Slipway decides about these resources before Pulumi calls the transforms: the id of a cluster, the names in the catalog
and the guard of a deletion would no longer hold. Such a change is undone, and rejected at the end of the program.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

import pulumi
from pulumi.runtime._callbacks import _CallbackServicer
from pulumi.runtime.known_types import is_unknown
from pulumi.runtime.proto import resource_pb2
from pulumi.runtime.rpc import is_rpc_secret, unwrap_rpc_secret
from pulumi.runtime.settings import _get_callbacks, get_root_resource

from slipway.base.codec import camel
from slipway.base.formatting import join
from slipway.model.state import ACCOUNT, BUCKET, CLUSTER, GENERATION, OBJECT

from .entries import ArgumentError
from .namesakes import noted

ON_ALL = (
    *("deleted_with", "replacement_trigger", "replace_with", "replace_on_changes", "delete_before_replace"),
    *("id", "urn", "import_", "state_migrations", "provider", "hooks"),
)
"""The options that no transform can change on a resource of a component. Hooks can be added."""
ON_TYPES: Mapping[str, tuple[str, ...]] = {
    CLUSTER: ("ignore_changes", "retain_on_delete", "protect"),
    GENERATION: ("retain_on_delete", "protect"),
    OBJECT: ("ignore_changes",),
    "gcp:cloudquota/sQuotaPreference:SQuotaPreference": ("ignore_changes",),
}
"""Further options, by the types of the resources on which no transform can change them."""
PERMITTED = frozenset(
    {
        *("parent", "depends_on", "providers", "aliases", "transformations", "transforms", "hide_diffs"),
        *("custom_timeouts", "additional_secret_outputs", "version", "plugin_download_url", "env_var_mappings"),
    }
)
"""The options that a transform can change on every resource. Pulumi itself rejects another parent."""
_OF_A_GRANT = ("role", "member", "bucket", "service_account_id", "project")
_INPUTS: Mapping[str, tuple[str, ...]] = {
    BUCKET: ("name", "project", "location"),
    ACCOUNT: ("account_id", "project"),
    OBJECT: ("name", "bucket", "content", "source"),
    "gcp:projects/iAMMember:IAMMember": _OF_A_GRANT,
    "gcp:storage/bucketIAMMember:BucketIAMMember": _OF_A_GRANT,
    "gcp:serviceaccount/iAMMember:IAMMember": _OF_A_GRANT,
}
"""The inputs that no transform can change, by the types of the resources; all inputs of a cluster."""
_NOUNS = {CLUSTER: "cluster", GENERATION: "cluster", BUCKET: "bucket", ACCOUNT: "account", OBJECT: "object"}
_ARGUMENTS = {BUCKET: "`work_bucket` or `catalog_bucket`", ACCOUNT: "`trainer`"}
"""The arguments of a Workspace that set the name of a resource, by its type."""


@dataclass(frozen=True)
class Declared:
    """A resource of a component before any transform of the program: its inputs, and its options."""

    title: str
    inputs: Mapping[str, Any]
    options: Mapping[str, Any]


class TransformCheck:
    """The resources of a program's components, before and after its transforms."""

    def __init__(self) -> None:
        """Watch nothing yet."""
        #: By type and name, the inputs that transforms have changed.
        self.inputs: dict[tuple[str, str], list[str]] = {}
        #: By type and name, the options that transforms have changed.
        self.options: dict[tuple[str, str], list[str]] = {}
        self._declared: dict[tuple[str, str], Declared] = {}
        #: As Pulumi gives them to transforms in the engine.
        self._sent: dict[tuple[str, str], Declared] = {}
        self._resources: list[pulumi.Resource] = []
        #: Whether Pulumi calls transforms of the program, and so those of this class.
        self._has_transforms = False

    async def watch(self) -> None:
        """Have Pulumi call `_last_transform` after all transforms of the program, if it has any."""
        # A program in another language has transforms that this process does not know.
        may_have = get_root_resource() is None or _has_transforms()
        callbacks = await _get_callbacks() if may_have else None
        if callbacks is not None:
            self._has_transforms = True
            callbacks.register_stack_transform(self._last_transform)
            self._note_replace_with(callbacks)

    def watch_children(self, parent: pulumi.ComponentResource) -> None:
        """Watch all resources that are declared below a component."""
        own = (self._first_transformation, self._last_transformation)
        others = [each for each in parent._transformations if each not in own]
        parent._transformations = [self._first_transformation, *others, self._last_transformation]

    async def registered(self) -> None:
        """Wait until Pulumi has called the transforms in the engine for all resources."""
        if self._has_transforms:
            await asyncio.gather(*(each.urn.future() for each in self._resources), return_exceptions=True)

    def refuse(self, clusters: Collection[str], unchecked: Collection[str] = ()) -> None:
        """Raise ArgumentError for changes by a transform.

        `clusters`: the ids of the current clusters; the inputs of other ones have no effect. `unchecked`: the titles of
        components that are not deployed now.
        """
        errors = [*self._errors_of_options(), *self._errors_of_inputs(clusters)]
        found = {str(error): error for title, error in errors if title not in unchecked}
        if found:
            raise _together(list(found.values()))

    def _errors_of_options(self) -> Iterator[tuple[str, ArgumentError]]:
        for key, options in self.options.items():
            title = self._declared[key].title
            yield title, _option_error(title, key[0], options)

    def _errors_of_inputs(self, clusters: Collection[str]) -> Iterator[tuple[str, ArgumentError]]:
        for (type_, name), inputs in self.inputs.items():
            if type_ != CLUSTER or name in clusters:
                title = self._declared[type_, name].title
                yield title, _input_error(title, type_, inputs)

    # -- transformations, which Pulumi's SDK calls when a resource is constructed --

    def _first_transformation(
        self, args: pulumi.ResourceTransformationArgs
    ) -> pulumi.ResourceTransformationResult | None:
        title = getattr(args.opts.parent, "title", "")
        self._declared[args.type_, args.name] = _snapshot(title, args.type_, args.props, args.opts)
        self._resources.append(args.resource)
        if not self._has_transforms:
            return None
        args.opts.transforms = [*(args.opts.transforms or []), self._first_transform]
        return pulumi.ResourceTransformationResult(args.props, args.opts)

    def _last_transformation(
        self, args: pulumi.ResourceTransformationArgs
    ) -> pulumi.ResourceTransformationResult | None:
        key = args.type_, args.name
        declared = self._declared.get(key)
        if declared is None:  # It is no component's.
            return None
        edited = _edited(args.type_, declared.inputs, args.props)
        props = self._restored(key, declared, edited, args)
        return None if props is None else pulumi.ResourceTransformationResult(props, args.opts)

    # -- transforms, which the engine calls when a resource is registered --

    def _first_transform(self, args: pulumi.ResourceTransformArgs) -> None:
        self._sent[args.type_, args.name] = _snapshot("", args.type_, args.props, args.opts, camel)

    async def _last_transform(self, args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
        key = args.type_, args.name
        sent = self._sent.get(key)
        if sent is None:  # It is no component's.
            return None
        edited = _edited(args.type_, await _plain(sent.inputs), await _plain(args.props))
        props = self._restored(key, sent, edited, args)
        return None if props is None else pulumi.ResourceTransformResult(props, args.opts)

    def _note_replace_with(self, callbacks: _CallbackServicer) -> None:
        """Have the last transform see `replace_with`, which Pulumi's SDK leaves out of the options of a transform."""
        token = callbacks._transforms[self._last_transform]
        call = callbacks._callbacks[token]

        async def noted_call(request: bytes) -> Any:
            parsed = resource_pb2.TransformRequest.FromString(request)
            key = parsed.type, parsed.name
            if not parsed.options.replace_with or key not in self._sent:
                return await call(request)
            self._add(self.options, key, ["replace_with"])
            del parsed.options.replace_with[:]
            return await call(parsed.SerializeToString())

        callbacks._callbacks[token] = noted_call

    # -- both --

    def _restored(
        self,
        key: tuple[str, str],
        declared: Declared,
        edited: list[str],
        args: pulumi.ResourceTransformationArgs | pulumi.ResourceTransformArgs,
    ) -> dict[str, Any] | None:
        """Return the inputs of a resource without rejected changes, and undo those of its options; None if transforms
        have changed neither. `edited`: the changed inputs."""
        changed = [option for option, value in declared.options.items() if _is_changed(option, value, args.opts)]
        for option in changed:
            setattr(args.opts, option, declared.options[option])
        self._add(self.options, key, changed)
        self._add(self.inputs, key, edited)
        if not changed and not edited:
            return None
        inputs = dict(args.props)
        for name in edited:
            inputs[name] = declared.inputs.get(name)
        return inputs

    def _add(self, found: dict[tuple[str, str], list[str]], key: tuple[str, str], names: list[str]) -> None:
        if names:
            found[key] = list(dict.fromkeys([*found.get(key, []), *names]))


def _snapshot(
    title: str,
    type_: str,
    inputs: Mapping[str, Any],
    options: pulumi.ResourceOptions,
    spelled: Callable[[str], str] = str,
) -> Declared:
    """Return a copy of what a transform may change in place. `spelled`: the spelling of inputs."""
    names = [spelled(name) for name in _INPUTS.get(type_, ())]
    kept = {name: inputs.get(name) for name in names}
    if type_ == CLUSTER:
        kept = deepcopy(dict(inputs))
    checked = (*ON_ALL, *ON_TYPES.get(type_, ()))
    return Declared(title, kept, {name: _copied(getattr(options, name, None)) for name in checked})


def _copied(option: Any) -> Any:
    """Return the value of an option, which a transform may change in place. Resources stay the same."""
    if isinstance(option, list):
        return list(option)
    if isinstance(option, pulumi.ResourceHookBinding):
        copied = pulumi.ResourceHookBinding()
        copied.__dict__.update({moment: _copied(bound) for moment, bound in vars(option).items()})
        return copied
    return option


def _edited(type_: str, declared: Mapping[str, Any], given: Mapping[str, Any]) -> list[str]:
    """Return the inputs that transforms have changed."""
    names = given.keys() | declared.keys() if type_ == CLUSTER else declared.keys()
    return sorted(name for name in names if _differs(declared.get(name), given.get(name)))


def _differs(declared: Any, given: Any) -> bool:
    if isinstance(declared, pulumi.Output) or isinstance(given, pulumi.Output):
        return declared is not given
    if is_unknown(declared) or is_unknown(given):
        return False
    if isinstance(declared, pulumi.Asset) and isinstance(given, pulumi.Asset):
        return bool(vars(declared) != vars(given))
    return bool(declared != given)


async def _plain(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """Return inputs as the engine gives them to a transform, without Outputs and secrets: each call has its own."""
    return {name: await _plain_value(value) for name, value in inputs.items()}


async def _plain_value(value: Any) -> Any:
    if isinstance(value, pulumi.Output):
        return await value.future(with_unknowns=True)
    return unwrap_rpc_secret(value) if is_rpc_secret(value) else value


def _is_changed(option: str, declared: Any, options: pulumi.ResourceOptions) -> bool:
    given = getattr(options, option, None)
    if option == "hooks":
        return not _hook_names(declared) <= _hook_names(given)
    # Pulumi gives a transform no value for False.
    return bool(_comparable(declared or None) != _comparable(given or None))


def _comparable(value: Any) -> Any:
    if isinstance(value, pulumi.ProviderResource):
        return value.pulumi_resource_name
    if isinstance(value, pulumi.Resource):
        return "a resource"
    if isinstance(value, list | tuple):
        return frozenset(map(_comparable, value))
    return value


def _hook_names(hooks: pulumi.ResourceHookBinding | None) -> set[tuple[str, str]]:
    bindings = vars(hooks).items() if hooks else ()
    return {(moment, getattr(hook, "name", "")) for moment, bound in bindings for hook in bound or ()}


def _together(errors: list[ArgumentError]) -> ArgumentError:
    """Return the only error as it is, and several as one."""
    if len(errors) == 1:
        return errors[0]
    return ArgumentError(
        f"a transform changes {len(errors)} kinds of resources that Slipway declares, so the program is rejected",
        why="\n".join(f"{error.what}: {error.why}" for error in errors),
        fix="\n".join(dict.fromkeys(error.fix for error in errors)),
    )


def _option_error(title: str, type_: str, options: list[str]) -> ArgumentError:
    return ArgumentError(
        f"{title}: a transform changes {join(options)} of its {_noun(type_)}, so the program is rejected",
        why="Slipway could no longer update, protect or delete what it declares: clusters would stay billed, "
        "or the catalog out of date",
        fix=f"leave {join(options)} of resources of type {type_} as they are in the transform",
    )


def _input_error(title: str, type_: str, inputs: list[str]) -> ArgumentError:
    if type_ == CLUSTER:
        return ArgumentError(
            f"{title}: a transform changes {join(inputs)} of its cluster, which has no effect",
            why="a cluster is created before Pulumi registers it, from the arguments of its component",
            fix=f"set {join(inputs)} among the arguments of {title}, and leave resources of type {type_} "
            "as they are in the transform",
        )
    argument = _ARGUMENTS.get(type_)
    instead = f"set {argument} among the arguments of {title}, and " if argument else ""
    return ArgumentError(
        f"{title}: a transform changes {join(inputs)} of its {_noun(type_)}, so the program is rejected",
        why="the catalog, the roles and the settings of jobs have the declared values",
        fix=f"{instead}leave {join(inputs)} of resources of type {type_} as they are in the transform",
    )


def _noun(type_: str) -> str:
    return _NOUNS.get(type_) or type_.rpartition(":")[2]


def _has_transforms() -> bool:
    """Return whether the program has transforms: of the stack, or of a resource."""
    loop = asyncio.get_running_loop()
    servers = [server for server in _CallbackServicer._servicers if server._loop is loop]
    return any(server._transforms for server in servers) or any(args.opts.transforms for args in noted())

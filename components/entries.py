"""Components' arguments as a stack file has them, and the check of one component's at its construction."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, fields, is_dataclass
from typing import Any

import pulumi

from slipway.authoring.stack.bounds import NAME
from slipway.authoring.stack.consistency import LONGEST_STACK
from slipway.authoring.stack.stack import Stack, parse
from slipway.authoring.stack.yaml_file import Document, FileMistake, KeyPath, StackErrors
from slipway.base.codec import camel
from slipway.base.errors import ConfigError
from slipway.base.formatting import join
from slipway.model.cluster import PROTECT
from slipway.model.identity import Identity

from .args import key_of, paths, write
from .member import Member
from .namesakes import noted
from .options import OPTIONS, parent_with_deleted_with, rejected
from .resolution import Given

_NETWORK = re.compile(r"((.*/)?projects/(?P<project>[^/]+)/global/networks/)?(?P<name>[a-z][a-z0-9-]*)")
_CLUSTERS, _WORKSPACE, _QUOTA = (f"slipway:{key}" for key in ("persistentResources", "workspace", "quota"))
_KINDS = {"workspace": "workspace", "clusters": "cluster", "templates": "template", "quota": "quota"}
_SIGN_IN = ("impersonate_service_account", "billing_project", "access_token", "credentials")
A_NUMBER = "123456789012"
"""The number of any project, where none is read."""


class ArgumentError(ConfigError, pulumi.RunError):
    """Arguments that no component can have. As an error of Pulumi's own it is shown without a traceback."""


def config_of(given: Mapping[Member, Given], place: tuple[str, str]) -> dict[str, Any]:
    """Return the configuration of a stack that has these components, as its file would have it."""
    templates: list[str] = []
    clusters: dict[str, Any] = {}
    config: dict[str, Any] = {_CLUSTERS: clusters, "slipway:templates": templates, _QUOTA: {"mode": "warn"}}
    for component, arguments in given.items():
        if component.kind == "quota":
            config[_QUOTA] = {}
        if component.kind == "cluster":
            clusters[component.name] = {}
        write(config, component.args, arguments.values, _root(component))
        if component.kind == "template":
            templates.append(component.template)
        if component.kind == "cluster" and component.protected:  # An edit's old generation could never go.
            clusters[component.name]["replacement"] = PROTECT
    # No label of the provider ever reaches a cluster.
    return {**config, "gcp:project": place[0], "gcp:region": place[1], "gcp:addPulumiAttributionLabel": "false"}


def _root(component: Member) -> tuple[str, ...]:
    """Return where a stack's configuration has a component's entry."""
    if component.kind == "cluster":
        return _CLUSTERS, component.name
    return {"workspace": (_WORKSPACE,), "quota": (_QUOTA,)}.get(component.kind, ())


def number_networks(
    config: Mapping[str, Any], number: Callable[[str], str], changed: Collection[KeyPath] | None = None
) -> None:
    """Name the clusters' networks as Vertex AI takes them, by their projects' numbers: a resource of Compute Engine has
    the project's id, or a name alone. `changed`: the values that are not those of a stack file, if there is one, whose
    own networks are as Vertex AI takes them."""
    for name, entry in config[_CLUSTERS].items():
        if changed is not None and ("config", _CLUSTERS, name, "network") not in changed:
            continue
        network = entry.get("network")
        path = _NETWORK.fullmatch(network) if isinstance(network, str) else None
        if path and not (path["project"] or "").isdecimal():
            project = path["project"] or config["gcp:project"]
            entry["network"] = f"projects/{number(project)}/global/networks/{path['name']}"


def refuse_wrong(component: Member, identity: Identity, given: Given) -> None:
    """Raise ArgumentError for arguments of a component that are wrong whatever the program has besides. What is not
    known yet, and what depends on other components, is left out. `identity`: that of what belongs to its workspace."""
    who = component.title
    stack = identity.name
    if component.kind == "workspace" and (not re.fullmatch(NAME, stack) or len(stack) > LONGEST_STACK):
        raise ArgumentError(
            f"{who}: {stack!r} can't be in a label or an id",
            why="what belongs to a workspace is named after the stack and the workspace",
            fix=f"lowercase letters, digits and dashes for both, {LONGEST_STACK} characters in all",
        )
    config = config_of({component: given}, (str(given.values.get("project", "")), str(given.values.get("region", ""))))
    number_networks(config, lambda _: A_NUMBER)
    try:
        parse(Document("", {"config": config}), stack=stack, identity=identity)
    except StackErrors as error:
        own = [
            mistake
            for mistake in error.mistakes
            if (key := argument_of(component, given, mistake.key)) is not None
            # Which clusters there are is known at the program's end.
            and not re.match(r"teams\..+\.clusters\[|shares\.[^.]+$", key)
            and not any(path.startswith(key) or key.startswith(path) for path in given.unknown)
        ]
        if own:
            raise in_words(own, {component: given}) from None


def in_words(mistakes: Collection[FileMistake], given: Mapping[Member, Given]) -> ArgumentError:
    """Return mistakes of a stack's configuration as errors of the components that it comes from."""
    fixes: dict[str, str] = {}
    for mistake in mistakes:
        where, fix = mistake.key, mistake.fix
        for component, values in given.items():
            if (argument := argument_of(component, values, mistake.key)) is not None:
                where = f"{component.title}{f': {argument}' if argument else ''}"
                for name, path in paths(component.args, _root(component)).items():
                    fix = fix.replace(f"`{path[-1]}`", f"`{name}`")
                fix = fix.replace(f"{'.'.join(_root(component))}.", "")
                break
        fixes[f"{where}: {mistake.what}"] = fix
    return ArgumentError("\n".join(fixes), fix="\n".join(dict.fromkeys(fixes.values())))


def refuse_no_place(component: Member, given: Given, place: tuple[str, str]) -> None:
    """Raise ConfigError where neither a component nor the stack's configuration names project and region."""
    for key, value in zip(("project", "region"), place, strict=True):
        if not value:
            who = f"{component.title}: {key}"
            by_argument = f", or `{key}=` among its arguments" if hasattr(component.args, key) else ""
            if key in given.unknown:
                raise ConfigError(
                    f"{who} is not known yet",
                    why="what is there is read by it",
                    fix=f"`{key}=` as a text; if the program "
                    "creates the project under a random id, two programs: one for it, and one for what is in it",
                )
            raise ConfigError(f"{who} is not set", fix=f"`pulumi config set gcp:{key} {key.upper()}`{by_argument}")


async def refuse_sign_in(component: Member, provider: pulumi.ProviderResource | None) -> None:
    """Raise ArgumentError for a provider that signs in by itself: what a deployment reads, and what its hooks do, would
    be somebody else's view."""
    for argument in _SIGN_IN if provider is not None else ():
        if await pulumi.Output.from_input(vars(provider).get(argument)).future():
            raise ArgumentError(
                f"{component.title}: its provider has {argument}",
                why="a deployment has one identity, by which its components read what is there and delete as well",
                fix=f"leave it out, and set gcp:{camel(argument)} in the stack's configuration, or Google's variables",
            )


def refuse_unfit(kind: str, name: str, options: pulumi.ResourceOptions) -> None:
    """Raise ArgumentError for an option that would break a component's promise in silence. `kind`: the component's
    class."""
    for option_name, option in rejected(options, kind):
        raise ArgumentError(f"{kind} {name}: {option_name} is no option of a {kind}", why=option.why, fix=option.fix)
    if parent := parent_with_deleted_with(options, noted()):
        raise ArgumentError(
            f"{kind} {name}: its parent {parent} has deleted_with, which Pulumi passes to every child",
            why=OPTIONS["deleted_with"].why,
            fix=f"leave deleted_with of {parent} out, or declare {name} below another parent",
        )


def refuse_alternatives(stack: Stack) -> None:
    """Raise ConfigError where clusters without a workspace have alternatives."""
    if alone := [cluster.name for cluster in stack.clusters if cluster.alternatives]:
        raise ConfigError(
            f"PersistentResource {join(alone)}: alternatives need a Workspace",
            why="without one the provider makes the cluster, and makes no other in its place",
            fix="declare a Workspace, or leave alternatives out",
        )


def refuse_other(component: type[Member], name: str, args: Any) -> None:
    """Raise ArgumentError for arguments of another class, and where a component among them is none, or another one."""
    kind = component.__name__
    who = f"{kind} {name}"
    if f"{kind}Args" not in (each.__name__ for each in type(args).__mro__):
        raise ArgumentError(
            f"{who}: its arguments are of type {type(args).__name__}", fix=f"{kind}({name!r}, {kind}Args(…))"
        )
    for declared in fields(args):
        key, given = declared.name, getattr(args, declared.name)
        if key not in _KINDS:
            continue
        if given is None and declared.default is MISSING:
            raise ArgumentError(f"{who}: {key} is missing", fix=f"`{key}=` among its arguments")
        for part in given if isinstance(given, list | tuple) else [given]:
            if part is not None and not isinstance(part, Member):
                raise _not_a_component(f"{who}: {key}", part)
            if part is not None and part.kind != _KINDS[key]:
                raise ArgumentError(
                    f"{who}: {key}: {part.pulumi_resource_name} is a {type(part).__name__}",
                    fix=f"the variable of a {_KINDS[key]}",
                )


def _not_a_component(where: str, part: Any) -> ArgumentError:
    if not isinstance(part, pulumi.Output):
        return ArgumentError(
            f"{where}: {part!r} is no component", fix="the variable that has the component, not its name"
        )
    return ArgumentError(
        f"{where}: an Output is no component",
        why="components are named by their variables, and an Output is known later than they are",
        fix="the variables of the components; for a cluster of another stack, declare "
        "PersistentResource(NAME, pools=…, id=ID), whose id can be an Output",
    )


def argument_of(component: Member, given: Given, key: str) -> str | None:
    """Return the place among a component's arguments of a key of a stack's configuration, as the program spells it.
    Empty for the component itself, None for what it does not tell."""
    for name, path in paths(component.args, _root(component)).items():
        below = key.removeprefix(".".join(path))
        if below == key or below[:1] not in ("", ".", "[") or (key.startswith("gcp:") and name not in given.values):
            continue
        return name + _spelt(getattr(component.args, name), below)
    root = ".".join(_root(component))
    return "" if root and f"{key}.".startswith(f"{root}.") else None


def _spelt(value: Any, key: str) -> str:
    """Return a key below a value as the program spells it."""
    spelt = ""
    for part in re.findall(r"\[\d+\]|[^.\[]+", key):
        name = part
        if is_dataclass(value) and not isinstance(value, type):
            name = next((each.name for each in fields(value) if key_of(each) == part), part)
            value = getattr(value, name, None)
        elif isinstance(value, Mapping):
            value = value.get(part)
        elif isinstance(value, list | tuple):
            value = value[int(part[1:-1])]
        spelt += name if name.startswith("[") else f".{name}"
    return spelt

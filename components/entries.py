"""Components' arguments as a stack file has them, and the check of one component's at its construction."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import pulumi

from slipway.authoring.stack.stack import Stack, parse
from slipway.authoring.stack.yaml_file import Document, StackErrors
from slipway.base.codec import camel
from slipway.base.errors import ConfigError
from slipway.base.formatting import join
from slipway.deploying.deployment.live_plan import asked_for
from slipway.deploying.deployment.workspace_plan import FIELDS
from slipway.model.cluster import PROTECT
from slipway.model.state import State

from .args import key_of, paths, write
from .member import Member
from .resolution import Given, plain

_NETWORK = re.compile(r"((.*/)?projects/(?P<project>[^/]+)/global/networks/)?(?P<name>[a-z][a-z0-9-]*)")
_CLUSTERS, _WORKSPACE, _QUOTA = (f"slipway:{key}" for key in ("persistentResources", "workspace", "quota"))
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
        if component.kind == "cluster" and component.options.protect:  # An edit's old generation could never go.
            clusters[component.name]["replacement"] = PROTECT
    # No label of the provider ever reaches a cluster.
    return {**config, "gcp:project": place[0], "gcp:region": place[1], "gcp:addPulumiAttributionLabel": "false"}


def _root(component: Member) -> tuple[str, ...]:
    """Return where a stack's configuration has a component's entry."""
    if component.kind == "cluster":
        return _CLUSTERS, component.name
    return {"workspace": (_WORKSPACE,), "quota": (_QUOTA,)}.get(component.kind, ())


def number_networks(config: Mapping[str, Any], number: Callable[[str], str]) -> None:
    """Name the clusters' networks as Vertex AI takes them, by their projects' numbers: a resource of Compute Engine has
    the project's id, or a name alone."""
    for entry in config[_CLUSTERS].values():
        network = entry.get("network")
        path = _NETWORK.fullmatch(network) if isinstance(network, str) else None
        if path and not (path["project"] or "").isdecimal():
            project = path["project"] or config["gcp:project"]
            entry["network"] = f"projects/{number(project)}/global/networks/{path['name']}"


def refuse_wrong(component: Member, stack: str) -> None:
    """Raise ArgumentError for plain arguments of a component that are wrong whatever the program has besides. Outputs,
    and what depends on other components, are checked when all is decided."""
    given = plain(component.args)
    place = str(given.values.get("project", "")), str(given.values.get("region", ""))
    config = config_of({component: given}, place)
    number_networks(config, lambda _: A_NUMBER)
    try:
        parse(Document("", {"config": config}), stack=stack)
    except StackErrors as error:
        who = f"{type(component).__name__} {component.name}: "
        shown = {
            f"{who}{f'{key}: ' if key else ''}{mistake.what}": mistake.fix
            for mistake in error.mistakes
            if (key := _place_of(component, given, mistake.key)) is not None
            and not any(path.startswith(key) or key.startswith(path) for path in given.unknown)
        }
        if shown:
            raise ArgumentError("\n".join(shown), fix="\n".join(dict.fromkeys(shown.values()))) from None


async def refuse_sign_in(component: Member, provider: pulumi.ProviderResource | None) -> None:
    """Raise ArgumentError for a provider that signs in by itself: what a deployment reads, and what its hooks do, would
    be somebody else's view."""
    for argument in _SIGN_IN if provider is not None else ():
        if await pulumi.Output.from_input(vars(provider).get(argument)).future():
            raise ArgumentError(
                f"{type(component).__name__} {component.name}: its provider has {argument}",
                why="a deployment has one identity, by which its components read what is there and delete as well",
                fix=f"leave it out, and set gcp:{camel(argument)} in the stack's configuration, or Google's variables",
            )


def refuse_namesakes(workspace: str, stack: Stack, own: Collection[str], state: State) -> None:
    """Raise ConfigError where a workspace was given a resource of the program by its name alone, and so would declare
    it a second time. `own`: the roles of those that it was given as resources."""
    for role, name in asked_for(stack).items():
        if role in FIELDS and role not in own and (logical := state.others.get(name)):
            raise ConfigError(
                f"Workspace {workspace}: {FIELDS[role]}: {name} is the program's resource {logical}",
                why="by its name alone the workspace would declare it a second time, and nothing would wait for it",
                fix=f"{FIELDS[role]}=<the variable of resource {logical}>",
            )


def refuse_alternatives(stack: Stack) -> None:
    """Raise ConfigError where clusters without a workspace have alternatives."""
    if alone := [cluster.name for cluster in stack.clusters if cluster.alternatives]:
        raise ConfigError(
            f"PersistentResource {join(alone)}: alternatives need a Workspace",
            why="without one the provider makes the cluster, and makes no other in its place",
            fix="declare a Workspace, or leave alternatives out",
        )


def refuse_other(component: Member, args: Any) -> None:
    """Raise ArgumentError for arguments of another class, and where a component among them is none."""
    kind = type(component).__name__
    if f"{kind}Args" not in (each.__name__ for each in type(args).__mro__):
        raise ArgumentError(
            f"{kind} {component.name}: its arguments are of type {type(args).__name__}",
            fix=f"{kind}({component.name!r}, {kind}Args(…))",
        )
    for key in ("workspace", "clusters", "templates", "quota"):
        given = getattr(args, key, None)
        for part in given if isinstance(given, list | tuple) else [given]:
            if part is not None and not isinstance(part, Member):
                raise ArgumentError(
                    f"{kind} {component.name}: {key}: {part!r} is no component",
                    fix="the variable that has the component, not its name",
                )


def _place_of(component: Member, given: Given, key: str) -> str | None:
    """Return the place among a component's arguments of a key of a stack's configuration, as the program spells it.
    Empty for the component itself, None for what it does not tell."""
    for name, path in paths(component.args, _root(component)).items():
        below = key.removeprefix(".".join(path))
        if below == key or below[:1] not in ("", ".", "[") or (key.startswith("gcp:") and name not in given.values):
            continue
        # Which clusters there are is known at the program's end.
        return (
            None if name == "teams" and ".clusters[" in below else name + _spelt(getattr(component.args, name), below)
        )
    root = ".".join(_root(component))
    return "" if root and key.startswith(root) else None


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

"""Components' arguments as a stack file has them, and the check of one component's at its construction."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import pulumi

from slipway.authoring.stack.stack import Stack, parse
from slipway.authoring.stack.yaml_file import Document, FileMistake, StackErrors
from slipway.base.errors import ConfigError
from slipway.deploying.deployment.workspace_plan import trainer_email
from slipway.model.state import State

from .args import entry_of, key_of
from .member import Member
from .resolution import Given, plain

_NETWORK = re.compile(r"((.*/)?projects/(?P<project>[^/]+)/global/networks/)?(?P<name>[a-z][a-z0-9-]*)")
A_NUMBER = "123456789012"
"""The number of any project, where none is read."""
_OF_WORKSPACE = ("trainers", "teams", "machines", "reservations", "budget")
_PLACE = ("project", "region")


class ArgumentError(ConfigError, pulumi.RunError):
    """Arguments that no component can have. As an error of Pulumi's own it is shown without a traceback."""


def config_of(given: Mapping[Member, Given], place: tuple[str, str]) -> dict[str, Any]:
    """Return the configuration of a stack that has these components, as its file would have it."""
    config: dict[str, Any] = {
        "gcp:project": place[0],
        "gcp:region": place[1],
        "gcp:addPulumiAttributionLabel": "false",  # No label of the provider ever reaches a cluster.
        "slipway:persistentResources": {},
        "slipway:templates": [],
        "slipway:quota": {"mode": "warn"},
    }
    for component, arguments in given.items():
        member: Any = component
        values = arguments.values
        if component.kind == "workspace":
            config["slipway:workspace"] = entry_of(component.args, values)
            config |= {f"slipway:{key}": values[key] for key in _OF_WORKSPACE if key in values}
        elif component.kind == "cluster":
            entry = {**entry_of(component.args, values), **member.protection}
            config["slipway:persistentResources"][component.name] = entry
        elif component.kind == "template":
            config["slipway:templates"].append(member.template)
        elif component.kind == "quota":
            config["slipway:quota"] = entry_of(component.args, values)
        elif policy := values.get("policy"):
            config["slipway:policy"] = policy
    return config


def number_networks(config: Mapping[str, Any], number: Callable[[str], str]) -> None:
    """Name the clusters' networks as Vertex AI takes them, by their projects' numbers: a resource of Compute Engine has
    the project's id, or a name alone."""
    for entry in config["slipway:persistentResources"].values():
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
            for key, mistake in _own(component, given, error.mistakes)
            if not any(path.startswith(key) or key.startswith(path) for path in given.unknown)
        }
        if shown:
            raise ArgumentError("\n".join(shown), fix="\n".join(dict.fromkeys(shown.values()))) from None


def refuse_namesakes(workspace: str, stack: Stack, own: Collection[str], state: State) -> None:
    """Raise ConfigError where a workspace was given a resource of the program by its name alone, and so would declare
    it a second time. `own`: the arguments that are resources."""
    settings = stack.workspace
    named = {"catalog_bucket": settings.catalog_bucket, "work_bucket": settings.work_bucket}
    trainer = trainer_email(settings.trainer, stack.project)
    for argument, name in {**named, "trainer": trainer}.items():
        if argument not in own and (logical := state.others.get(name)):
            raise ConfigError(
                f"Workspace {workspace}: {argument}: {name} is the program's resource {logical}",
                why="by its name alone the workspace would declare it a second time, and nothing would wait for it",
                fix=f"{argument}=<the variable of resource {logical}>",
            )


def _own(component: Member, given: Given, mistakes: Iterable[FileMistake]) -> Iterator[tuple[str, FileMistake]]:
    """Yield the mistakes in the component's own arguments, and for each its place among them."""
    entry = {
        "workspace": "slipway:workspace",
        "cluster": f"slipway:persistentResources.{component.name}",
        "quota": "slipway:quota",
        "catalog": "slipway:policy",
    }
    roots = {entry[component.kind]: ""} if component.kind in entry else {}
    roots |= {f"gcp:{key}": key for key in _PLACE if key in given.values}
    if component.kind == "workspace":
        roots |= {f"slipway:{key}": key for key in _OF_WORKSPACE}
    for mistake in mistakes:
        for root, called in roots.items():
            if mistake.key == root or mistake.key.startswith((f"{root}.", f"{root}[")):
                key = f"{called}{mistake.key.removeprefix(root)}".removeprefix(".")
                # Which clusters there are is known at the program's end.
                if not (key.startswith("teams.") and ".clusters[" in key):
                    yield _in_python(component.args, key), mistake


def _in_python(args: Any, key: str) -> str:
    """Return a place among arguments as their program spells it."""
    here, written, parts = args, "", re.findall(r"\[\d+\]|[^.\[]+", key)
    while parts:
        spelt, count = parts[0], 1
        if is_dataclass(here) and not isinstance(here, type):
            for each in fields(here):
                path = key_of(each).split(".")
                if parts[: len(path)] == path:
                    spelt, count = each.name, len(path)
            here = getattr(here, spelt, None)
        elif isinstance(here, Mapping):
            here = here.get(spelt)
        elif isinstance(here, list | tuple):
            here = here[int(spelt[1:-1])]
        written += spelt if spelt.startswith("[") or not written else f".{spelt}"
        parts = parts[count:]
    return written

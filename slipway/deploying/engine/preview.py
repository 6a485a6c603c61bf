"""The engine's preview as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SECRET = "[secret]"
"""The stand-in for every value that the engine hides."""
UNKNOWN = "[known once deployed]"
"""The stand-in for a value that only the deployment will tell, such as the address of an account that it makes."""


@dataclass(frozen=True)
class Resource:
    """A resource in the state, or in the program's declaration. Inputs without the engine's own keys (`__…`); secrets
    are `SECRET`. `retained`: it stays in the cloud when it leaves the state; `protected`: it can't be deleted."""

    inputs: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    retained: bool = False
    protected: bool = False

    @property
    def stays(self) -> bool:
        """Tell whether the resource stays in the cloud when it leaves the state."""
        return self.retained or self.inputs.get("deletionPolicy") == "ABANDON"


@dataclass(frozen=True)
class EngineStep:
    """A step of the engine for one resource. `op` is the engine's word: same, create, update, delete, replace,
    create-replacement, delete-replaced, import, read, refresh, … `name` is the logical one, `parent` the type of the
    component around it, empty without one. `old` is None before there is one, `new` when it goes. `component`: it
    groups others, and is nothing in the cloud.

    `diffs` are the paths that differ, `replaces` those of them that make another resource of it. A step that replaces
    is one of several of the same URN.
    """

    op: str
    urn: str
    type: str
    name: str
    parent: str = ""
    old: Resource | None = None
    new: Resource | None = None
    diffs: tuple[str, ...] = ()
    replaces: tuple[str, ...] = ()
    component: bool = False


@dataclass(frozen=True, order=True)
class Objection:
    """A broken rule of a policy pack: `about` is the logical name of a resource, or the stack's; `mandatory`: the
    engine deploys nothing then."""

    pack: str
    rule: str
    about: str
    message: str
    mandatory: bool


@dataclass(frozen=True)
class Preview:
    """The preview. `steps` are the intended ones, without refreshes and without unchanged resources; a changed
    protection or retention counts as a change. `standing` are all components and resources that were refreshed, by URN:
    `old` as deployed, `new` as they are now, None for a resource deleted by hand.

    `errors` are the messages of engine and program about a failure, `warnings` their other messages. `why` tells the
    missing part of an incomplete one, with the reason. `hooks` are the names of those that the program registered; None
    where the events do not tell. `stack` is its name, empty where no event tells. `objections` are those of policy
    packs that the engine started beside it.
    """

    steps: tuple[EngineStep, ...] = ()
    standing: Mapping[str, EngineStep] = field(default_factory=dict)
    errors: tuple[str, ...] = ()
    why: str = ""
    warnings: tuple[str, ...] = ()
    hooks: frozenset[str] | None = None
    stack: str = ""
    objections: tuple[Objection, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether the engine ended by itself and computed everything, deletions too."""
        return not self.why

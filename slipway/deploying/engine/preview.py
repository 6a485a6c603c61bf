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
    """A resource in the state, or in the program's declaration."""

    #: The inputs without the engine's own keys (`__…`); secrets are `SECRET`.
    inputs: Mapping[str, Any] = field(default_factory=dict)
    outputs: Mapping[str, Any] = field(default_factory=dict)
    id: str = ""
    #: Whether the engine leaves it in the cloud when it leaves the state.
    retained: bool = False
    protected: bool = False

    @property
    def stays(self) -> bool:
        """Tell whether the resource stays in the cloud when it leaves the state."""
        return self.retained or self.inputs.get("deletionPolicy") == "ABANDON"


@dataclass(frozen=True)
class EngineStep:
    """A step of the engine for one resource. A replacement has several steps of the same URN."""

    #: The engine's word: same, create, update, delete, replace, create-replacement, delete-replaced, import, read, …
    op: str
    urn: str
    type: str
    name: str
    #: The type of the component around it, empty without one.
    parent: str = ""
    #: None before the resource exists.
    old: Resource | None = None
    #: None when the resource goes.
    new: Resource | None = None
    diffs: tuple[str, ...] = ()
    #: Those of them that make another resource of it.
    replaces: tuple[str, ...] = ()
    #: Whether it groups other resources, and is nothing in the cloud.
    component: bool = False


@dataclass(frozen=True, order=True)
class Objection:
    """A broken rule of a policy pack."""

    pack: str
    rule: str
    #: The logical name of a resource, or the stack's.
    about: str
    message: str
    #: Whether the engine then deploys nothing.
    mandatory: bool


REFUSED = "until this is fixed, this change and later ones wait; what is deployed stays as it is"
"""The reason why a refused preview is incomplete."""


@dataclass(frozen=True)
class Preview:
    #: The intended steps, without refreshes and without unchanged resources. A changed protection is a change.
    steps: tuple[EngineStep, ...] = ()
    #: All components and refreshed resources, by URN: `old` as deployed, `new` as now, None when deleted by hand.
    standing: Mapping[str, EngineStep] = field(default_factory=dict)
    #: The URNs of the resources that the program asked for; the engine refreshes others as well.
    asked_for: frozenset[str] = frozenset()
    #: The messages of engine and program about a failure.
    errors: tuple[str, ...] = ()
    #: The missing part of an incomplete preview, with the reason; empty for a complete one.
    why: str = ""
    #: The engine or the program refuses the deployment, and `why` begins with that.
    refused: bool = False
    warnings: tuple[str, ...] = ()
    #: The names of the hooks that the program registered; None where the events do not tell.
    hooks: frozenset[str] | None = None
    #: The stack's name, empty where no event tells.
    stack: str = ""
    #: The broken rules of policy packs that the engine started beside the program.
    objections: tuple[Objection, ...] = ()

    @property
    def complete(self) -> bool:
        """Tell whether the engine ended by itself and computed everything, deletions too."""
        return not self.why

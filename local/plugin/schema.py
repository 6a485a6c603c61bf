"""The properties of a resource type: kind, who sets them, and what their change means."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

FieldKind = Literal["string", "integer", "boolean", "object", "list", "map", "asset"]


@dataclass(frozen=True)
class Field:
    """A property.

    required: the program must give it. settable: the program may give it (else the cloud alone does).
    computed: the cloud fills it in where the program leaves it out, which is then no difference.
    replace: a change needs a new resource. default: the value in the inputs when the program leaves it out
    (of the official provider none that is false, 0 or "").
    api: its name in the API's JSON, where that differs. same: further values that count as equal.
    normal: the form in which the state has it; inputs keep the program's spelling, and spellings of one form are equal.
    null: is null in the state while it is empty. terraform: its name there, where it does not follow from ours.
    refusal: why the official provider refuses a string in preview; empty for one that it takes.
    """

    kind: FieldKind
    required: bool = False
    settable: bool = True
    computed: bool = False
    replace: bool = False
    default: Any = None
    secret: bool = False
    api: str = ""
    choices: tuple[str, ...] = ()
    fields: Mapping[str, "Field"] = field(default_factory=lambda: MappingProxyType({}))
    item: "Field | None" = None
    same: Callable[[Any, Any], bool] | None = None
    normal: Callable[[str], str] | None = None
    null: bool = False
    terraform: str = ""
    refusal: Callable[[str], str] | None = None


def text(**traits: Any) -> Field:
    """A string."""
    return Field("string", **traits)


def integer(**traits: Any) -> Field:
    """A whole number."""
    return Field("integer", **traits)


def boolean(**traits: Any) -> Field:
    """True or false."""
    return Field("boolean", **traits)


def mapping(**traits: Any) -> Field:
    """A map of strings under names of the program's choice."""
    return Field("map", item=text(), **traits)


def record(fields: Mapping[str, Field], **traits: Any) -> Field:
    """An object with the given properties."""
    return Field("object", fields=MappingProxyType(dict(fields)), **traits)


def many(item: Field, **traits: Any) -> Field:
    """A list of items."""
    return Field("list", item=item, **traits)


def output(kind: FieldKind = "string", **traits: Any) -> Field:
    """A property that the cloud alone fills in."""
    return Field(kind, settable=False, computed=True, **traits)


@dataclass(frozen=True)
class AutoName:
    """The property that gets a made-up name when the program gives none (`h100-d4964d7`)."""

    field: str
    longest: int


@dataclass(frozen=True)
class Schema:
    """A resource type."""

    token: str
    title: str
    """The name that error texts use, e.g. `VertexAIPersistentResource`."""
    fields: Mapping[str, Field]
    auto_name: AutoName | None = None
    delete_first: bool = False
    """Whether a replacement deletes the old one first, whatever its name."""
    default_timeout: float = 20 * 60.0
    """Seconds for a create, update or delete, unless the program says otherwise."""
    timeouts: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    """The time-outs that the official provider notes in the state: seconds by verb."""
    version: int = 0
    """The version of the type's schema, noted likewise."""

    @property
    def secrets(self) -> frozenset[str]:
        """The properties that are secret whatever the program says."""
        return frozenset(name for name, field in self.fields.items() if field.secret)


def labelled(*, replace: bool = False) -> dict[str, Field]:
    """Return the three properties of a type with labels: the declared labels, also the provider's, all in the cloud."""
    return {
        "labels": mapping(),
        "pulumiLabels": output("map", item=text(), secret=True, terraform="terraform_labels"),
        "effectiveLabels": output("map", item=text(), secret=True, replace=replace),
    }


def deletion_policy() -> Field:
    """The property that decides what a delete does; it is never sent to the cloud."""
    return text(computed=True, choices=("DELETE", "PREVENT", "ABANDON"))

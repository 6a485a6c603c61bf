"""A case of the corpus: a change of a small stack, the live resources, and the findings that are required.

A case requires resource, kind, severity and numbers of a finding, never its wording.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from slipway.deploying.engine.preview import EngineStep, Preview
from slipway.google.permissions import Bound
from slipway.model.catalog.model import Catalog
from slipway.model.findings.finding import Grade

STACK = "stacks/Pulumi.prod.yaml"


@dataclass(frozen=True)
class Edit:
    """An edit: `old` is in the file exactly once and becomes `new`. A file that does not exist is made of `new`;
    without `new` the whole file goes."""

    file: str
    old: str = ""
    new: str | None = None


def stack(old: str, new: str) -> Edit:
    return Edit(STACK, old, new)


def template(name: str, old: str, new: str) -> Edit:
    return Edit(f"templates/{name}.py", old, new)


def h100(*lines: str) -> Edit:
    """Return lines more of the entry of the H100 cluster."""
    return stack("retireWithin: 2w\n", "".join(f"{line}\n      " for line in ("retireWithin: 2w", *lines)).rstrip(" "))


def more(name: str, *fields: str) -> Edit:
    """Return fields more of a template."""
    first = "TEMPLATE = JobTemplate(\n"
    return template(name, first, first + "".join(f"    {field},\n" for field in fields))


def imports(name: str, more: str) -> Edit:
    return template(name, "from slipway.template import ", f"from slipway.template import {more}, ")


ENCRYPTED = h100("encryption:", "  kmsKey: projects/acme-ml/locations/us-central1/keyRings/r/cryptoKeys/k")
QUIET = stack("# The stack that the corpus edits:", "# Ours:")
"""A comment of the stack file, beside what comes by time and by the world alone."""


@dataclass(frozen=True)
class Job:
    """A job that was submitted from the deployed catalog."""

    name: str
    template: str = "lora"
    user: str = "ada"
    capacity_type: str = "pool"
    parameters: Mapping[str, int | float | str | bool] = field(default_factory=dict)
    #: Without its prefix.
    state: str = "RUNNING"
    #: Since then.
    hours: float = 3.2
    #: Empty for the template's default.
    kind: str = ""
    #: It was sent to the generation before the deployed one.
    earlier: bool = False
    #: It brought code of its own.
    code: bool = False


@dataclass(frozen=True, eq=False)
class World:
    """The live resources."""

    #: Unfinished ones and those of the last 30 days.
    jobs: tuple[Job, ...] = ()
    #: By metric without `custom_model_training_`, plenty by default.
    limits: Mapping[str, int] = field(default_factory=dict)
    #: Whether more of a metric can be had, as text.
    increase: Mapping[str, str] = field(default_factory=dict)
    #: The edits that lead back to the generation before the deployed one, which lives while jobs run on it.
    earlier: tuple[Edit, ...] = ()
    #: Of clusters by name, by default RUNNING.
    states: Mapping[str, str] = field(default_factory=dict)
    #: Clusters by name that somebody deleted by hand.
    gone: tuple[str, ...] = ()
    #: Ids of clusters that somebody else made, of one n1-standard-8 that grows to four.
    theirs: tuple[str, ...] = ()
    #: The number of the alternative that each of these clusters is, by name.
    made_as: Mapping[str, int] = field(default_factory=dict)
    #: Nobody could read clusters and jobs.
    unread: bool = False
    #: Nothing of the stack is deployed.
    first: bool = False
    #: Days since its last deployment.
    deployed: int = 0


CALM = World()
LARGE = Job("tune-27b-x1", parameters={"model": "27b", "rank": 64})
BUSY = World(jobs=(LARGE, Job("digits-night", "digits", user="nightly")))


@dataclass(frozen=True)
class Expected:
    """A required finding."""

    #: It is of one of these.
    kinds: tuple[str, ...]
    #: The name of its resource, or a part of the name.
    resource: str
    #: It is at least as severe.
    severity: Grade
    #: Amounts, dates and names of jobs that it includes.
    numbers: tuple[str, ...] = ()


def blocks(kinds: str, resource: str = "", *numbers: str) -> Expected:
    """Return a finding that closes the gate, as no other may. `kinds`: one, or several with ` | `."""
    return Expected(tuple(kinds.split(" | ")), resource, Grade.BLOCKING, numbers)


def warns(kinds: str, resource: str = "", *numbers: str) -> Expected:
    """Return a warning."""
    return Expected(tuple(kinds.split(" | ")), resource, Grade.WARNING, numbers)


def notes(kinds: str, resource: str = "", *numbers: str) -> Expected:
    """Return a finding of any severity."""
    return Expected(tuple(kinds.split(" | ")), resource, Grade.NOTE, numbers)


@dataclass(frozen=True)
class Case:
    """A case. Without steps and preview the engine was not asked."""

    #: The change in a sentence.
    says: str
    edits: tuple[Edit, ...] = ()
    #: Required findings.
    finds: tuple[Expected, ...] = ()
    #: Kinds of other warnings that are true. No other finding is a warning or blocking.
    may: tuple[str, ...] = ()
    world: World = CALM
    #: Edits of the base that are deployed already.
    given: tuple[Edit, ...] = ()
    #: The engine's, by the deployed facts.
    steps: Callable[[Catalog], Iterable[EngineStep]] | None = None
    #: The engine's whole output.
    preview: Preview | None = None
    #: Who may use buckets that are adopted.
    policies: Mapping[str, frozenset[Bound]] = field(default_factory=dict)
    #: The name of its stream for another stack, whose facts and events are the whole input.
    recorded: str = ""
    #: Touched besides those of the edits.
    files: tuple[str, ...] = ()
    #: Nothing is found at all.
    silent: bool = False
    #: Kinds that it nearly is, and of which nothing is found.
    absent: tuple[str, ...] = ()
    #: Texts that are secrets.
    hidden: tuple[str, ...] = ()

    @property
    def by_itself(self) -> bool:
        """Tell whether nobody edited anything: an hourly deployment does it unasked."""
        return self.edits in ((), (QUIET,)) and not (self.steps or self.preview or self.recorded or self.files)

    @property
    def harmless(self) -> bool:
        return all(expected.severity is Grade.NOTE for expected in self.finds)


def silent(says: str, *edits: Edit, world: World = BUSY, **fields: Any) -> Case:
    """Return a change that has no effect, whatever runs. `fields` are the case's."""
    return Case(says, edits, world=world, silent=True, **fields)

"""A stack: typed, checked, with every default resolved; or its mistakes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import PurePath
from typing import Any, TypeVar

from slipway.authoring.stack import declared
from slipway.authoring.stack.config import ConfigEntry, PolicyEntry, TeamEntry, TrainerEntry, WorkspaceEntry
from slipway.authoring.stack.consistency import check_rules, check_secrets
from slipway.authoring.stack.encrypted import check_encrypted
from slipway.authoring.stack.entries import Entry, MachineEntry, QuotaEntry
from slipway.authoring.stack.pulumi_settings import check_pulumi_settings
from slipway.authoring.stack.structure import StackFile, check_structure
from slipway.authoring.stack.yaml_file import Document, StackErrors
from slipway.base.codec import from_json
from slipway.base.formatting import seconds
from slipway.model.agents import AgentAllowance
from slipway.model.budget import Budget
from slipway.model.catalog.model import SessionLimits
from slipway.model.cluster import ClusterSpec, Reservation
from slipway.model.identity import Identity, bucket_in
from slipway.model.origin import Origin, Program

T = TypeVar("T", bound=Entry)


@dataclass(frozen=True)
class Stack:
    """A stack."""

    name: str
    project: str
    region: str
    #: With the usual names in place of those that its file leaves out; so are the trainers.
    workspace: WorkspaceEntry
    clusters: tuple[ClusterSpec, ...] = ()
    quota: QuotaEntry = field(default_factory=QuotaEntry)
    policy: PolicyEntry = field(default_factory=PolicyEntry)
    templates: tuple[str, ...] = ()
    #: The reservations, by the names that templates use.
    reservations: Mapping[str, Reservation] = field(default_factory=dict)
    machines: Mapping[str, MachineEntry] = field(default_factory=dict)
    #: The other trainers, by the names that templates use.
    trainers: Mapping[str, TrainerEntry] = field(default_factory=dict)
    #: The teams. Their members are among the workspace's submitters, and their budgets in `budget`.
    teams: Mapping[str, TeamEntry] = field(default_factory=dict)
    budget: Budget | None = None
    sessions: SessionLimits | None = None
    agents: AgentAllowance | None = None
    #: Those besides its own where jobs may run on machines of their own.
    regions: tuple[str, ...] = ()
    #: Machines of a cluster by team, while others wait.
    shares: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    #: By template, the names of the clusters that it may run on; all of them for others.
    offered_on: Mapping[str, frozenset[str]] = field(default_factory=dict)
    #: The program that declares it; None for its stack file.
    program: Program | None = None
    #: Empty where none is known.
    pulumi_project: str = ""

    @property
    def origin(self) -> Origin:
        return self.program or Origin(self.name)

    @property
    def identity(self) -> Identity:
        return self.origin.identity(self.pulumi_project)

    @property
    def other_regions(self) -> tuple[str, ...]:
        """The regions where its clusters may come to be and its jobs may run, besides its own."""
        of_clusters = (region for cluster in self.clusters for region in cluster.other_regions)
        return tuple(dict.fromkeys((*of_clusters, *self.regions)))

    @property
    def work_elsewhere(self) -> dict[str, str]:
        """The work buckets of the other regions, by region: the service takes a job's output only in the job's own."""
        return {region: bucket_in(region, self.workspace.work_bucket) for region in self.other_regions}

    @property
    def submitters(self) -> tuple[str, ...]:
        """The members who may submit some template, each once: as the workspace's trainer or as another one."""
        others = (member for trainer in self.trainers.values() for member in trainer.submitters)
        return tuple(dict.fromkeys((*self.workspace.submitters, *others)))


Edit = Callable[[Stack], Stack]
"""A function by which a program changes the stack of its file."""


def parse(document: Document, *, stack: str | None = None, identity: Identity | None = None) -> Stack:
    """Return the stack that a document declares, named after its file, Pulumi.<stack>.yaml, unless `stack` is given.

    `identity`: that of the deployment, from which default names are made; without one they are those of a stack whose
    Pulumi project is not known. Raises StackErrors with every mistake, in the order of the lines.
    """
    name = stack or stack_of(document.file)
    whose = identity or Identity("", name)
    if encrypted := check_encrypted(document):
        raise StackErrors((*document.mistakes, *encrypted))
    mistakes = list(document.mistakes)
    if not mistakes or document.values:
        secrets = check_secrets(document)
        structure = check_structure(document)
        rules = check_rules(document, name, whose)
        # A rule across values tells more about a key than the bound of its value.
        ruled = {(mistake.line, mistake.key) for mistake in rules}
        typed = structure if isinstance(structure, tuple) else ()
        others = [*(mistake for mistake in typed if (mistake.line, mistake.key) not in ruled), *rules]
        others += check_pulumi_settings(document)
        # One mistake for each key: a secret may not be shown, and an unreadable value has no type.
        hidden = {(mistake.line, mistake.key) for mistake in (*secrets, *document.mistakes)}
        mistakes += [*secrets, *(mistake for mistake in others if (mistake.line, mistake.key) not in hidden)]
        if not mistakes and isinstance(structure, StackFile):
            return _stack(structure, name, whose, document)
    raise StackErrors(tuple(sorted(dict.fromkeys(mistakes), key=lambda mistake: mistake.line)))


NO_FILE = Document("", {})


def from_config(
    config: Mapping[str, Any], *, stack: str, file: Document = NO_FILE, identity: Identity | None = None
) -> Stack:
    """Return the stack of Pulumi's configuration, as `with_config` takes it. Raises StackErrors."""
    return parse(with_config(config, file), stack=stack, identity=identity)


def with_config(config: Mapping[str, Any], file: Document = NO_FILE) -> Document:
    """Return a file with Pulumi's configuration, whose objects are JSON text, or plain values, in place of its own; its
    lines are kept for the errors."""
    written: dict[str, Any] = file.values if isinstance(file.values, dict) else {}
    before: Any = written.get("config")
    given = {key: _plain(key, value) for key, value in config.items()}
    values = {**written, "config": {**(before if isinstance(before, dict) else {}), **given}}
    return replace(file, values=values)


def stack_of(file: str) -> str:
    """Return prod for stacks/Pulumi.prod.yaml."""
    return PurePath(file).name.removeprefix("Pulumi.").removesuffix(".yaml").removesuffix(".yml")


def _plain(key: str, value: Any) -> Any:
    """Return a value of Pulumi's configuration; Slipway's structured ones are JSON text there."""
    if isinstance(value, str) and key.startswith("slipway:"):
        try:
            return from_json(value)
        except ValueError:
            return value
    return value


def _stack(file: StackFile, name: str, identity: Identity, document: Document) -> Stack:
    config = file.config
    catalog, work = identity.buckets(config.project)
    usual = {"catalog_bucket": catalog, "work_bucket": work, "trainer": identity.account("trainer")}
    of_teams = (member for team in config.teams.values() for member in team.submitters)
    submitters = tuple(dict.fromkeys((*config.workspace.submitters, *of_teams)))
    return Stack(
        name=name,
        project=config.project,
        region=config.region,
        clusters=tuple(_cluster(key, entry, document) for key, entry in config.clusters.items()),
        quota=config.quota,
        policy=config.policy,
        templates=tuple(config.templates),
        workspace=_completed(config.workspace, usual).model_copy(update={"submitters": submitters}),
        budget=_budget(config),
        sessions=_sessions(config),
        regions=tuple(config.regions),
        shares=config.shares,
        agents=AgentAllowance(**config.agents.model_dump()) if config.agents else None,
        reservations={key: declared.reservation(_dumped(entry)) for key, entry in config.reservations.items()},
        machines=machines(config.machines),
        trainers={key: _completed(entry, {"account": identity.account(key)}) for key, entry in config.trainers.items()},
        teams={key: team.model_copy(update={"budget": None}) for key, team in config.teams.items()},
        pulumi_project=identity.project,
    )


def machines(keyed: Mapping[str, str | MachineEntry]) -> dict[str, MachineEntry]:
    """Return machines by key; a machine type alone stands for its entry."""
    return {key: MachineEntry(machine=entry) if isinstance(entry, str) else entry for key, entry in keyed.items()}


def _budget(config: ConfigEntry) -> Budget | None:
    of_teams = {name: team.budget for name, team in config.teams.items() if team.budget is not None}
    if config.budget is None and not of_teams:
        return None
    # A key of the budget is a field by the same name.
    budget = Budget(**config.budget.model_dump()) if config.budget else Budget()
    return replace(budget, teams={**budget.teams, **of_teams})


def _sessions(config: ConfigEntry) -> SessionLimits | None:
    asked = config.sessions
    if asked is None:
        return None
    return SessionLimits(timedelta(seconds=seconds(asked.max)) if asked.max else None, asked.pools)


def _completed(entry: T, usual: Mapping[str, str]) -> T:
    """Return the entry with the usual names in place of those that the file leaves out."""
    return entry.model_copy(update={field: name for field, name in usual.items() if not getattr(entry, field)})


def _dumped(entry: Entry) -> dict[str, Any]:
    return entry.model_dump(by_alias=True, exclude_none=True)


def _cluster(name: str, entry: Entry, document: Document) -> ClusterSpec:
    spec = declared.cluster(name, _dumped(entry))
    if spec.adopted is None:
        return spec
    lines = document.lines_below(("config", "slipway:persistentResources", name))
    return replace(spec, adopted=replace(spec.adopted, lines=lines))

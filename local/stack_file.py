"""A stack file's declaration for the local cloud: project, groups, earlier accounts, and its pools' quota."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from vertex_local.identities import SUBMITTER, Project
from vertex_local.quotas.metrics import table

from slipway.authoring.stack.stack import Stack, parse
from slipway.authoring.stack.yaml_file import load, pulumi_project
from slipway.base.errors import ConfigError
from slipway.google.quota.metrics import needs
from slipway.model.identity import Identity
from slipway.model.machines.spec import MachineGroup

_PEOPLE = ("user:", "serviceAccount:")
_ADDRESS = re.compile(r"[\w.-]+@[\w.-]+\.gserviceaccount\.com")


@dataclass(frozen=True)
class LaptopStack:
    """A stack as it is played on the laptop. `accounts` are emails of service accounts that it names."""

    stack: Stack
    accounts: tuple[str, ...]

    @property
    def submitter(self) -> str:
        """The submitter for `env --as`: the person in the stack's groups, else the first person it names."""
        people = self.people
        return "submitter" if self.groups or not people else people[0].partition(":")[2]

    @property
    def groups(self) -> tuple[str, ...]:
        return tuple(member for member in self.stack.submitters if member.startswith("group:"))

    @property
    def people(self) -> tuple[str, ...]:
        """The principals that may sign in: those the stack names, and somebody of each whole domain."""
        return tuple(_people(self.stack.submitters))

    def declaration(self) -> Mapping[str, Any]:
        """Return the body that names the stack's project to the local cloud."""
        ours = Project(self.stack.project, "").address("")
        return {
            "project": self.stack.project,
            "groups": {group: [SUBMITTER] for group in self.groups},
            "people": list(self.people),
            "accounts": [account for account in self.accounts if account.endswith(ours)],
            "quota": _quota(self.stack),
        }


def read(folder: Path, name: str) -> LaptopStack:
    """Return the stack of a project's folder. Raises ConfigError for a name without a file, and StackErrors."""
    file = folder / "stacks" / f"Pulumi.{name}.yaml"
    if not file.is_file():
        known = ", ".join(sorted(path.name.split(".")[1] for path in file.parent.glob("Pulumi.*.yaml")))
        raise ConfigError(
            f"there is no stack {name}",
            why=f"{folder} has no file stacks/{file.name}",
            fix=f"name one of those that it has: {known or 'none'}",
        )
    document = load(file, shown_as=f"stacks/{file.name}")
    return LaptopStack(
        parse(document, stack=name, identity=Identity(pulumi_project(folder), name)), _named_accounts(document.values)
    )


def _named_accounts(values: Any) -> tuple[str, ...]:
    """Return all service accounts in a document, wherever they stand. The stack's own are named by their id alone."""
    if isinstance(values, Mapping):
        accounts = [account for value in values.values() for account in _named_accounts(value)]
    elif isinstance(values, list | tuple):
        accounts = [account for value in values for account in _named_accounts(value)]
    else:
        accounts = _ADDRESS.findall(values) if isinstance(values, str) else []
    return tuple(dict.fromkeys(accounts))


def _people(submitters: tuple[str, ...]) -> Iterator[str]:
    for member in submitters:
        kind, _, name = member.partition(":")
        if member.startswith(_PEOPLE):
            yield member
        elif kind == "domain":
            yield f"user:ada@{name}"


def _quota(stack: Stack) -> dict[str, int]:
    """Return by METRIC.REGION twice the most that the pools take, so that one cluster can be made beside another, where
    the service's own limit is lower: on a real project somebody asked for that."""
    drawn: Counter[tuple[str, str]] = Counter()
    for cluster in stack.clusters:
        choices = [(cluster.region, cluster.pools), *((other.region, other.pools) for other in cluster.alternatives)]
        for region, pools in choices:
            for pool in pools:
                for need in needs(MachineGroup(pool.machine, pool.max)):
                    drawn[need.metric, region or stack.region] += 2 * need.amount
    defaults = {quota.metric: quota for quota in table().quotas}
    return {
        f"{metric}.{region}": amount
        for (metric, region), amount in sorted(drawn.items())
        if metric in defaults and 0 <= defaults[metric].default(region) < amount
    }

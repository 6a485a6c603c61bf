"""A template on the machines of a stack, whose keys it may name in place of machine types."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

from slipway.authoring.stack.config import TeamEntry
from slipway.authoring.stack.entries import MachineEntry
from slipway.authoring.stack.stack import Stack, machines
from slipway.authoring.template.declaration import Shape, Variant
from slipway.authoring.template.job_template import JobTemplate, StackTemplate
from slipway.authoring.template.proof import StackResources
from slipway.authoring.template.template_error import TemplateError
from slipway.authoring.template.worker_pool import WorkerPool
from slipway.base.errors import ConfigError
from slipway.base.formatting import join, meant
from slipway.model.labels import TEAM, label_value
from slipway.model.machines.spec import Disk
from slipway.model.machines.table import machine_types

Machines = TypeVar("Machines", JobTemplate, Variant, Shape)
Job = TypeVar("Job", JobTemplate, Variant)


def resources_of(stack: Stack) -> StackResources:
    return StackResources(
        stack.clusters,
        stack.region,
        stack.reservations,
        teams=stack.teams,
        offered_on=stack.offered_on,
        origin=stack.origin,
    )


def on_stack(template: JobTemplate, stack: Stack) -> JobTemplate:
    """Return the template with a stack's machines in place of their keys, and beside it that of each team which may
    submit it and has other machines.

    Raises ConfigError for keys and regions that the stack does not have, and for machines that the template can't have.
    """
    here = (stack.region, *stack.other_regions)
    if elsewhere := [region for region in template.regions if region not in here]:
        listed = join([*stack.regions, *elsewhere])
        raise TemplateError(
            template.name,
            ("names", "name"),
            f"{join(elsewhere)}, where stack {stack.name} has no bucket for its jobs",
            why=f"jobs write their output in their own region; the stack is in {join(here)}",
            fix=f"list it, which makes one: {stack.origin.key('slipway:regions')}: [{listed.replace(' and ', ', ')}]",
        )
    keys = dict.fromkeys(pool.key for pool in template.all_pools if pool.key)
    if lacking := [key for key in keys if key not in stack.machines]:
        names, known = join(map(repr, lacking)), f"it has {join(stack.machines)}" if stack.machines else "it has none"
        there = next((pool.machine.type for cluster in stack.clusters for pool in cluster.pools), "n1-standard-8")
        declared = stack.origin.key("slipway:machines")
        declare = f"declare it: {declared}: {{{lacking[0]}: {there}}}"
        raise TemplateError(
            template.name,
            ("names", "name"),
            f"machine {names}, which stack {stack.name} does not have",
            why=f"a machine without a hyphen is a key under {declared}, and {known}",
            fix=meant(lacking[0], (*stack.machines, *machine_types()), declare),
        )
    if not keys:
        return template
    usual = _on(template, stack.machines)
    of_teams = {
        name: _of_team(template, name, team, stack)
        for name, team in stack.teams.items()
        if _may_submit(template, name, team, stack)
    }
    others = {name: its for name, its in of_teams.items() if its != usual}
    named = {pool.role: pool.key for pool in template.all_pools if pool.key}
    return StackTemplate(**{**vars(usual), "teams": others, "keys": named})


def _of_team(template: JobTemplate, name: str, team: TeamEntry, stack: Stack) -> JobTemplate:
    try:
        return _on(template, {**stack.machines, **machines(team.machines)})
    except ConfigError as problem:
        keyed = stack.origin.key(f"slipway:teams.{name}.machines")
        what = f"template {template.name} is not well-formed on the machines of team {name}"
        raise ConfigError(what, why=problem.why, fix=f"name others: {keyed}; or {problem.fix}") from problem


def _may_submit(template: JobTemplate, name: str, team: TeamEntry, stack: Stack) -> bool:
    """Tell whether the template's jobs may count for a team: by the template's label, and its trainer's submitters, of
    whom a group may be the team that it is called like."""
    if template.labels.get(TEAM, name) != name:
        return False
    trainer = stack.trainers.get(template.trainer or "")
    return trainer is None or any(
        member in team.submitters or label_value(member.removeprefix("group:").partition("@")[0]) == name
        for member in trainer.submitters
    )


def _on(template: JobTemplate, keyed: Mapping[str, MachineEntry]) -> JobTemplate:
    def on(pool: WorkerPool) -> WorkerPool:
        if not pool.key:
            return pool
        entry = keyed[pool.key]
        attached, disk = entry.accelerator, entry.disk
        return replace(
            pool,
            machine=entry.machine,
            accelerator=attached.type if attached else None,
            accelerator_count=attached.count if attached else None,
            disk=Disk(disk.type or "", disk.size_gb) if disk else pool.disk,
        )

    def with_machines(each: Machines) -> Machines:
        return replace(each, worker_pools=tuple(map(on, each.worker_pools)))

    def with_shapes(each: Job) -> Job:
        return replace(with_machines(each), shapes=tuple(map(with_machines, each.shapes)))

    return replace(with_shapes(template), variants=tuple(map(with_shapes, template.variants)))

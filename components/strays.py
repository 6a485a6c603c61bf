"""The rejection of a run whose state has entries of other stacks, entries that were renamed, or imported ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial

from pulumi.runtime.settings import get_root_resource

from slipway.base.errors import SlipwayError
from slipway.deploying.deployment.strays import OwnNames, refuse_strays, strays
from slipway.deploying.deployment.undeclared import (
    Owners,
    own_second_entries,
    raise_together,
    read_owners,
    refuse_needed,
    refuse_second_entries,
    second_entries_of,
    undeclared_entries,
)
from slipway.google.connection import connect
from slipway.google.live import InUse, Unknown
from slipway.model.facts import CATALOG
from slipway.model.labels import STACK_LABEL
from slipway.model.origin import Origin
from slipway.model.state import CLUSTER, State, StateEntry

from .engine import EngineRun, destroys
from .former_names import former_names, parent_type
from .group import prefix
from .member import Member
from .namesakes import noted
from .owned_elsewhere import refuse_owned
from .world import World


def refuse_foreign(run: EngineRun, origin: Origin, components: Sequence[Member] = ()) -> None:
    """Raise ConfigError where Pulumi would delete what another stack has, or what these components declare under other
    names; PolicyError for a cluster with jobs, ResourceError where that can't be read. A state that can't be read tells
    nothing."""
    if isinstance(run.state, Unknown):
        return
    own = _own_names(run, run.state, components)
    reported = strays(run.state, own).urns
    entries = [entry for entry in undeclared_entries(run.state, own) if entry.urn not in reported]
    reads = bool(entries) and not (run.preview and os.environ.get("SLIPWAY_LIVE"))
    checks = [partial(refuse_strays, run.state, own, origin)]
    doubles = [entry for entry in own_second_entries(run.state, own) if entry.urn not in reported]
    second = list(dict.fromkeys([*entries, *doubles]))
    checks.append(partial(refuse_second_entries, second, run.state, origin))
    if destroys():
        checks.append(partial(refuse_owned, noted(), run.state))
    if reads:
        checks.append(partial(_refuse_needed, run, entries, own, origin))
    raise_together(list(_errors_of(checks)))


def _own_names(run: EngineRun, state: State, components: Sequence[Member]) -> OwnNames:
    workspaces = {place.name for place in state.workspaces.values()}
    workspaces.update(each.name for each in components if each.kind == "workspace")
    catalogs = {name for type_, name in state.urns if type_ == CATALOG}
    catalogs.update(each.name for each in components if each.kind == "catalog")
    return OwnNames(
        prefixes=sorted(map(prefix, workspaces)),
        catalogs=sorted(set(map(prefix, catalogs))),
        labels=[run.identity(name).label for name in ("", *sorted(workspaces))],
        # The host of a program in another language does not see the program's own resources.
        declared=None if get_root_resource() is None else list(_declared()),
        present=[(each.type_, each.name, parent_type(each)) for each in noted()],
    )


def _refuse_needed(run: EngineRun, entries: Sequence[StateEntry], own: OwnNames, origin: Origin) -> None:
    """Raise the errors of entries that are needed, but for second entries, which have an error of their own."""
    second = () if isinstance(run.state, Unknown) else second_entries_of(entries, run.state)
    others = [entry for entry in entries if entry not in second]
    refuse_needed(others, _owners(run, others), own.labels, run.project, origin)


def _errors_of(checks: Iterable[Callable[[], None]]) -> Iterator[SlipwayError]:
    for check in checks:
        try:
            check()
        except SlipwayError as error:
            yield error


def _declared() -> Iterator[tuple[str, str]]:
    """Yield the types and the engine's names, former ones as well, of the program's own resources."""
    for each in noted():
        if isinstance(each.opts.parent, Member):
            continue
        yield each.type_, each.name
        for former in former_names(each, noted()):
            yield each.type_, former


def _owners(run: EngineRun, entries: Sequence[StateEntry]) -> Owners:
    if run.world is not None:
        return _owners_in(run.world, run.project, entries)
    return read_owners(connect(os.environ), entries, (run.project, run.region))


def _owners_in(world: World, project: str, entries: Sequence[StateEntry]) -> Owners:
    """Return what the living resources of a test tell."""
    living = () if isinstance(world.live.clusters, Unknown) else world.live.clusters
    jobs = () if isinstance(world.live.jobs, Unknown) else world.live.jobs
    by_id = {cluster.id: cluster for cluster in living}
    unmarked = [entry for entry in entries if entry.type == CLUSTER and not entry.marked]
    uses = {
        entry.urn: InUse(tuple(job for job in jobs if job.persistent_resource_id == entry.name))
        for entry in unmarked
        if entry.name in by_id and STACK_LABEL not in by_id[entry.name].labels
    }
    clusters = {entry.urn: by_id.get(entry.name) for entry in unmarked}
    return Owners({project: world.live.neighbours}, clusters, uses)

"""The rejection of a run whose state has entries of other stacks, or entries that were renamed."""

from __future__ import annotations

from collections.abc import Sequence

from slipway.deploying.deployment.strays import OwnNames, refuse_strays
from slipway.google.live import Unknown
from slipway.model.facts import CATALOG
from slipway.model.origin import Origin

from .engine import EngineRun
from .group import prefix
from .member import Member
from .namesakes import noted


def refuse_foreign(run: EngineRun, origin: Origin, components: Sequence[Member] = ()) -> None:
    """Raise ConfigError where Pulumi would delete what another stack has, or what these components declare under other
    names. A state that can't be read tells nothing."""
    if isinstance(run.state, Unknown):
        return
    workspaces = {place.name for place in run.state.workspaces.values()}
    workspaces.update(each.name for each in components if each.kind == "workspace")
    catalogs = {name for type_, name in run.state.urns if type_ == CATALOG}
    catalogs.update(each.name for each in components if each.kind == "catalog")
    own = OwnNames(
        prefixes=sorted(map(prefix, workspaces)),
        catalogs=sorted(set(map(prefix, catalogs))),
        labels=[run.identity(name).label for name in ("", *sorted(workspaces))],
        declared=[(each.type_, each.name) for each in noted() if not isinstance(each.opts.parent, Member)],
    )
    refuse_strays(run.state, own, origin)

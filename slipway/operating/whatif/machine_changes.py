"""The machines that templates ask for under another catalog than that of past jobs. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from slipway.google.catalog.lookup import for_shapes, for_teams
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer
from slipway.model.labels import label_value
from slipway.model.machines.spec import MachineSpec
from slipway.operating.history.model import Deployment, PastJob

_Changes = dict[tuple[str, str, str, MachineSpec], MachineSpec]
"""The new machine of a template, by its label, the capacity type, the team that has offers of its own, and the machine
that it asked for."""


class MachineChanges:
    """The machines that past jobs would ask for under a catalog, each by the catalog in force when it was sent."""

    def __init__(self, deployments: Sequence[Deployment], deployed: Catalog, new: Catalog) -> None:
        own = _changes(deployed, new)
        self._times = [deployment.at for deployment in deployments]
        # The first deployment stands for the time before it.
        self._by_time = [{**own, **_changes(deployment.catalog, new)} for deployment in deployments] or [own]

    def __bool__(self) -> bool:
        return any(was != machine for changes in self._by_time for (*_, was), machine in changes.items())

    def of(self, job: PastJob, machine: MachineSpec) -> MachineSpec:
        """Return the machine that the job would ask for in place of one that it had."""
        at = bisect_right(self._times, job.created) if job.created else 0
        changes, key = self._by_time[max(0, at - 1)], (job.template, job.capacity_type)
        return changes.get((*key, job.team, machine)) or changes.get((*key, "", machine), machine)


def _changes(old: Catalog, new: Catalog) -> _Changes:
    """Compare the worker pools of each offer, in their order, where it has as many as before."""
    changes: _Changes = {}
    old, new = for_shapes(for_teams(old, new), new), for_shapes(for_teams(new, old), old)
    for name in old.templates.keys() & new.templates.keys():
        later = {_key(offer): offer for offer in new.templates[name].offers}
        for offer in old.templates[name].offers:
            successor = later.get(_key(offer))
            before, after = _machines(offer), _machines(successor) if successor else ()
            if len(before) == len(after):
                pairs = zip(before, after, strict=True)
                key = label_value(name), offer.capacity_type, offer.team
                # A team's machine that stays does not become everybody's.
                changes |= {(*key, was): machine for was, machine in pairs if offer.team or was != machine}
    return changes


def _key(offer: Offer) -> tuple[str, str, str, str]:
    return offer.kind, offer.capacity_type, offer.shape, repr(sorted(offer.when.items()))


def _machines(offer: Offer) -> tuple[MachineSpec, ...]:
    pools = offer.spec.get("workerPoolSpecs", ())
    return tuple(MachineSpec.read(pool) for pool in pools if pool.get("machineSpec"))

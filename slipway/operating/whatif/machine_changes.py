"""The machines that templates ask for under another catalog than that of past jobs. Pure."""

from __future__ import annotations

from collections.abc import Mapping

from slipway.model.catalog.model import Catalog, Offer
from slipway.model.kinds import KINDS
from slipway.model.labels import label_value
from slipway.model.machines.spec import MachineSpec

Changes = Mapping[tuple[str, MachineSpec], MachineSpec]
"""The new machine of a template, by its label and the machine that it asked for."""


def machine_changes(old: Catalog, new: Catalog) -> Changes:
    """Compare the worker pools of each offer, in their order.

    Offers with another number of worker pools tell nothing.
    """
    changes: dict[tuple[str, MachineSpec], MachineSpec] = {}
    for name in old.templates.keys() & new.templates.keys():
        later = {_key(offer): offer for offer in new.templates[name].offers}
        for offer in old.templates[name].offers:
            successor = later.get(_key(offer))
            before, after = _machines(offer), _machines(successor) if successor else ()
            if len(before) == len(after):
                pairs = zip(before, after, strict=True)
                changes |= {(label_value(name), was): machine for was, machine in pairs if was != machine}
    return changes


def _key(offer: Offer) -> tuple[str, str, str]:
    return offer.kind, offer.capacity_type, repr(sorted(offer.when.items()))


def _machines(offer: Offer) -> tuple[MachineSpec, ...]:
    if offer.kind not in KINDS:
        return ()
    pools = KINDS[offer.kind].spec_of(offer.request).get("workerPoolSpecs", ())
    return tuple(MachineSpec.read(pool) for pool in pools if pool.get("machineSpec"))

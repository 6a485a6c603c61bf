"""A person's own command on several machines: the offers of a template of one machine, each with so many. Pure."""

from __future__ import annotations

from dataclasses import replace

from slipway.base.errors import ConfigError
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer, Template
from slipway.model.cluster import assigned
from slipway.model.kinds import CUSTOM_JOB
from slipway.model.machines.spec import is_tpu

WORKERS = "workers"
"""The role of all replicas but the first, which has the template's."""


def on_replicas(
    catalog: Catalog, template: Template, offers: tuple[Offer, ...], count: int | None
) -> tuple[Offer, ...]:
    """Return the offers with `count` equal machines each; as they are for None. Raises ConfigError for a template whose
    jobs have machines of its own choice."""
    if count is None:
        return offers
    if why := next(filter(None, (_refusal(template, offer) for offer in offers)), ""):
        raise ConfigError(
            f"{template.name} has its own number of machines",
            why=why,
            fix=(
                "leave out ",
                {"replicas": count},
                f"; what can be chosen: slipway templates show {template.name}",
            ),
        )
    return offers if count == 1 else tuple(_widened(catalog, template, offer, count) for offer in offers)


def _refusal(template: Template, offer: Offer) -> str:
    from slipway.authoring.packages.packing import runs_any_folder  # Most submissions do without it.

    if not runs_any_folder(template):
        return "it runs no command of yours, and its code was reviewed for the machines that it names"
    if offer.kind != CUSTOM_JOB.name:
        return f"a {offer.kind} of it runs on one machine"
    pools = offer.spec["workerPoolSpecs"]
    if len(pools) > 1 or str(pools[0].get("replicaCount")) != "1":
        return "its jobs have several roles already"
    return "Vertex AI runs a TPU job on one replica" if is_tpu(pools[0]["machineSpec"]["machineType"]) else ""


def _widened(catalog: Catalog, template: Template, offer: Offer, count: int) -> Offer:
    (only,), roles = offer.spec["workerPoolSpecs"], offer.roles or template.roles
    spec = {**offer.spec, "workerPoolSpecs": [only, {**only, "replicaCount": str(count - 1)}]}
    return replace(
        offer,
        request={**offer.request, CUSTOM_JOB.spec: spec},
        roles=(*roles, WORKERS if WORKERS not in roles else f"more-{WORKERS}"),
        pools=_pools(catalog, offer, count),
        price_per_hour=offer.price_per_hour * count,
    )


def _pools(catalog: Catalog, offer: Offer, count: int) -> tuple[str, ...]:
    """Return the pools of the first machine and of the others: equal ones where no pool has room for all, so that the
    verdict names its maximum."""
    if offer.cluster not in catalog.clusters or not offer.pools:
        return offer.pools
    cluster, (own,) = catalog.clusters[offer.cluster], offer.pools
    machine = {pool.name: pool.machine for pool in cluster.pools}.get(own)
    room = {pool.name: pool.max for pool in cluster.pools if pool.machine == machine}
    return assigned([([*room], 1), ([*room], count - 1)], room) or (own, own)

"""Generations: how a cluster changes without ever being replaced or updated by the provider."""

from slipway.generations.fingerprint import cluster_id, fingerprint
from slipway.generations.plan import DELETABLE_STATES, WHY_IN_USE, Current, Plan, Retiring, is_ours, plan
from slipway.generations.things import RetiringThing, Things

__all__ = [
    "DELETABLE_STATES",
    "WHY_IN_USE",
    "Current",
    "Plan",
    "Retiring",
    "RetiringThing",
    "Things",
    "cluster_id",
    "fingerprint",
    "is_ours",
    "plan",
]

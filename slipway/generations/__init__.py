"""Generations: how a cluster changes without ever being replaced or updated by the provider."""

from slipway.generations.fingerprint import cluster_id, fingerprint
from slipway.generations.plan import WHY_IN_USE, Current, Plan, Retiring, plan

__all__ = ["WHY_IN_USE", "Current", "Plan", "Retiring", "cluster_id", "fingerprint", "plan"]

"""The small stack that a journey on a real project deploys: CPU machines only, as many as the template asks for."""

from __future__ import annotations

from slipway.prices import Bounds, total
from slipway.stack.stack import Stack, from_config

STACK = "verify"
TEMPLATE = "dask-digits"

_POOLS: dict[str, object] = {
    "head": {"machine": "n1-standard-4", "disk": {"type": "pd-ssd", "sizeGb": 100}, "replicas": 1},
    "workers": {
        "machine": "n1-standard-8",
        "disk": {"type": "pd-ssd", "sizeGb": 100},
        "replicas": {"min": 1, "max": 2},
    },
}


def values(project: str, region: str) -> dict[str, object]:
    """The stack's configuration, as its stack file holds it.

    Nobody but the person at the keyboard submits, so no binding on the project itself is made.
    """
    return {
        "gcp:project": project,
        "gcp:region": region,
        "gcp:addPulumiAttributionLabel": "false",
        "slipway:workspace": {"submitters": []},
        "slipway:persistentResources": {"cpu": {"pools": _POOLS}},
        "slipway:quota": {"mode": "enforce"},
        "slipway:templates": [TEMPLATE],
    }


def stack(project: str, region: str) -> Stack:
    """The same, typed. Raises StackErrors for a project or region that can't be."""
    return from_config(values(project, region), stack=STACK)


def per_hour(declared: Stack) -> Bounds:
    """USD an hour, idle and at most."""
    return total(declared.clusters, declared.region)

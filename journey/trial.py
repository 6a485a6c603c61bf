"""The small stack that a journey on a real project deploys: CPU machines only, as many as the template asks for."""

from __future__ import annotations

from pathlib import Path

from slipway.authoring.stack.stack import Stack, from_config
from slipway.authoring.stack.yaml_file import pulumi_project
from slipway.model.identity import Identity
from slipway.model.prices import Bounds, total

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
    """Return the stack's configuration, as its stack file holds it.

    Only the person at the keyboard submits, so the stack makes no binding on the project itself.
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
    """Return the same stack, typed. Raises StackErrors for an impossible project or region."""
    identity = Identity(pulumi_project(Path(__file__).resolve().parents[1]), STACK)
    return from_config(values(project, region), stack=STACK, identity=identity)


def per_hour(declared: Stack) -> Bounds:
    """Return the price in USD an hour, idle and at most."""
    return total(declared.clusters, declared.region)

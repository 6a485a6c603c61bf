"""A template, and the findings of its changes."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from slipway.catalog.model import Parameter, Template
from slipway.findings.finding import Finding
from slipway.review.templates.templates import templates
from tests.slipway.review.builders import (
    change,
    facts,
    job,
    offer,
    request,
    template,
    worker_pool,
)

TREES = Parameter("trees", "int", 100, 1, 1000)
SIZE = Parameter("size", "str", "2b", choices=("2b", "9b", "27b"))
POOL, SPOT = offer(), offer("spot")
LORA = template("lora", POOL, SPOT, parameters=(TREES, SIZE), requirements=("torch==2.4",))


def found(old: Template | None, new: Template | None, **world: Any) -> list[Finding]:
    before, after = (facts(*([one] if one else [])) for one in (old, new))
    return list(templates(change(before, after, **world)))


def only(old: Template | None, new: Template | None, **world: Any) -> Finding:
    (one,) = found(old, new, **world)
    return one


def submitted(user: str, name: str = "j", **parameters: object) -> Any:
    """Return an ended job."""
    env = {"SLIPWAY_PARAMETERS": json.dumps(parameters)}
    return job(f"{name}-{user}", user=user, state="SUCCEEDED", env=env)


def with_parameters(*parameters: Parameter) -> Template:
    return replace(LORA, parameters=parameters)


def asking(**pool: Any) -> Template:
    """Return the template with two offers whose only worker pool is another one."""
    spec = pool.pop("spec", {})
    offers = tuple(
        replace(one, request=request(worker_pool(**pool), capacity_type=one.capacity_type, **spec))
        for one in (POOL, SPOT)
    )
    return replace(LORA, offers=offers)


PLAIN = asking()

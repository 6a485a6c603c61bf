"""A template with two ways to run, and what a review tells of its changes."""

from dataclasses import replace
from typing import Any

from slipway.model.catalog.template import Parameter, Template
from slipway.model.findings.finding import Grade
from slipway.reviewing.consequence import Consequence
from slipway.reviewing.rules.templates.templates import templates
from tests.slipway.reviewing.builders import change, facts, offer, request, template, worker_pool

BLOCKING = Grade.BLOCKING
SAME, OTHER = (f"us-docker.pkg.dev/acme/judge@sha256:{digit * 64}" for digit in "12")
TREES = Parameter("trees", "int", 100, 1, 1000)
SIZE = Parameter("size", "str", "2b", choices=("2b", "9b", "27b"))
POOL, SPOT = offer(), offer("spot")
LORA = template("lora", POOL, SPOT, parameters=(TREES, SIZE), requirements=("torch==2.4",))


def found(old: Template | None, new: Template | None, **world: Any) -> list[Consequence]:
    before, after = (facts(*([side] if side else [])) for side in (old, new))
    return list(templates(change(before, after, **world)))


def only(old: Template | None, new: Template | None, **world: Any) -> Consequence:
    (consequence,) = found(old, new, **world)
    return consequence


def asking(**pool: Any) -> Template:
    """Return the template with two offers whose only worker pool is another one."""
    spec = pool.pop("spec", {})
    offers = tuple(
        replace(offer, request=request(worker_pool(**pool), capacity_type=offer.capacity_type, **spec))
        for offer in (POOL, SPOT)
    )
    return replace(LORA, offers=offers)


PLAIN = asking()

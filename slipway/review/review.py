"""A review: everything that a change does, worst first."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from slipway.review.buckets import buckets
from slipway.review.capacity import capacity
from slipway.review.change import Change
from slipway.review.clusters import clusters
from slipway.review.consequence import Consequence, Grade, Section
from slipway.review.data import data
from slipway.review.deletions import deletions
from slipway.review.exposure import exposure
from slipway.review.jobs import unfinished
from slipway.review.money import costs
from slipway.review.people import people
from slipway.review.policy import policy
from slipway.review.program import program
from slipway.review.quota import quota
from slipway.review.resources import resources
from slipway.review.templates import templates

Comparison = Callable[[Change], Iterable[Consequence]]
COMPARISONS: tuple[Comparison, ...] = (
    clusters,
    capacity,
    deletions,
    unfinished,
    costs,
    templates,
    people,
    exposure,
    buckets,
    data,
    resources,
    quota,
    policy,
    program,
)
"""Each looks at the change from one side."""


@dataclass(frozen=True)
class Review:
    """`consequences` by section, the worst first. `incomplete`: what could not be compared, a sentence each."""

    stack: str
    consequences: tuple[Consequence, ...] = ()
    incomplete: tuple[str, ...] = ()

    @property
    def worst(self) -> Grade | None:
        return max((one.grade for one in self.consequences), default=None)


def review(change: Change) -> Review:
    found = {(one.section, *one.key): one for compare in COMPARISONS for one in compare(change)}
    order = list(Section)
    consequences = sorted(found.values(), key=lambda one: (order.index(one.section), -one.grade, -one.cost))
    preview = change.preview
    missing = (preview.why,) if preview and not preview.complete and preview.why else ()
    return Review(change.stack, tuple(consequences), (*missing, *change.unread))

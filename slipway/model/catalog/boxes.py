"""Boxes: sets of values of several parameters at once, as the cases of a template are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from slipway.model.catalog.parameter_types import Scalar

Box = dict[str, tuple[Scalar, ...]]
"""The possible values of each parameter."""


def common(box: Box, other: Box) -> Box | None:
    """Return the box that two boxes share; None where they share nothing."""
    shared: Box = {}
    for name, values in box.items():
        shared[name] = tuple(value for value in values if value in other[name])
        if not shared[name]:
            return None
    return shared


def without(box: Box, other: Box) -> Iterator[Box]:
    """Yield a box less another, as disjoint boxes."""
    if common(box, other) is None:
        yield box
        return
    inside = dict(box)
    for name, values in box.items():
        outside = tuple(value for value in values if value not in other[name])
        if outside:
            yield {**inside, name: outside}
        inside[name] = tuple(value for value in values if value in other[name])


def divided_by(box: Box, others: Iterable[Box]) -> Iterator[Box]:
    """Yield what a box shares with each of the other boxes, which are disjoint or equal, and then what is left of it.
    Whole parts, so that two sides that are divided by each other have the same ones."""
    parts, rest = list[Box](), [box]
    for other in others:
        if shared := common(box, other):
            parts += [shared] if shared not in parts else []
            rest = [left for each in rest for left in without(each, other)]
    yield from (*parts, *rest)

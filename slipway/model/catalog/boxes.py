"""Boxes: sets of values of several parameters at once, as the cases of a template are."""

from __future__ import annotations

from collections.abc import Iterator

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

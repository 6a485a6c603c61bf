"""Checks across a template's fields: its parameters and offers must make a submission possible. A catalog may come from
anybody's bucket, and be edited by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from slipway.base.codec import MalformedError, malformed
from slipway.base.formatting import unfit
from slipway.base.installation import updating
from slipway.google.answers import MISREAD
from slipway.google.jobs import VertexJob
from slipway.model.capacity import CAPACITY_TYPES
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.placeholders import whole, with_numbers
from slipway.model.catalog.template import Offer, Template
from slipway.model.kinds import KINDS

_DEEPEST = 100
"""The limit of Google's own readers of JSON."""

_OBJECT, _OBJECTS, _TEXT, _TEXTS = "an object", "a list of objects", "a string", "a list of strings"
_VALUES = "a list of strings and numbers"
_KEYS: Mapping[str, str] = {
    **dict.fromkeys(("labels", "scheduling", "baseOutputDirectory", "studySpec", "modelToUpload"), _OBJECT),
    **dict.fromkeys(("machineSpec", "reservationAffinity", "diskSpec", "containerSpec", "pythonPackageSpec"), _OBJECT),
    **dict.fromkeys(("workerPoolSpecs", "env", "nfsMounts"), _OBJECTS),
    **dict.fromkeys(("metrics", "parameters", "conditionalParameterSpecs"), _OBJECTS),
    **dict.fromkeys(("args", "command", "packageUris"), _TEXTS),
    **dict.fromkeys(("experiment", "experimentRun"), _TEXT),
    "values": _VALUES,
}
"""The types of the values that a submission and its rules read from a request, by their keys."""

_FREE = frozenset(key for kind in KINDS.values() for key in kind.free)
_ITEMS: Mapping[str, tuple[type, ...]] = {_OBJECTS: (dict,), _TEXTS: (str,), _VALUES: (str, int, float)}


def checked(template: Template, catalog: Catalog) -> Template:
    """Return a template of the catalog, with offers of unknown newer types as not available. Raises MalformedError."""
    for index, parameter in enumerate(template.parameters):
        default = () if parameter.default is None else (("default", parameter.default),)
        choices = ((f"choices[{number}]", choice) for number, choice in enumerate(parameter.choices))
        for place, value in (*default, *choices):
            if wrong := (parameter if place == "default" else parameter.each).refusal(value):
                raise MalformedError(f"is {value!r}, which {wrong}", f"parameters[{index}].{place}")
    for index, offer in enumerate(template.offers):
        try:
            _check(offer, catalog)
        except MalformedError as error:
            raise error.under(f"offers[{index}]") from None
    return replace(template, offers=tuple(map(_as_known, template.offers)))


def _as_known(offer: Offer) -> Offer:
    if offer.capacity_type not in CAPACITY_TYPES:
        unknown = f"capacity type {offer.capacity_type}"
    elif offer.kind not in KINDS:
        unknown = f"kind {offer.kind}"
    else:
        return offer
    return replace(offer, available=False, lacks_quota=False, why=f"this version does not know {unknown}; {updating()}")


def _check(offer: Offer, catalog: Catalog) -> None:
    if offer.cluster and offer.cluster not in catalog.clusters:
        raise malformed(offer.cluster, "a cluster of this catalog", "cluster")
    if offer.kind not in KINDS:
        return  # A newer version's request may have any form.
    kind = KINDS[offer.kind]
    try:
        _check_keys(offer.request)
        if not isinstance(offer.request.get(kind.spec), dict):
            raise malformed(offer.request.get(kind.spec), "an object", kind.spec)
        for index, pool in enumerate(kind.spec_of(offer.request).get("workerPoolSpecs", ())):
            replicas = str(pool.get("replicaCount", 1))
            if not (replicas.isdecimal() or whole(replicas)):
                place = f"{kind.spec}.workerPoolSpecs[{index}].replicaCount"
                raise malformed(replicas, "a whole number or a parameter", place)
        if wrong := unfit(VertexJob.read(with_numbers(offer.request), kind).max_wait or 0):
            raise MalformedError(wrong, f"{kind.spec}.scheduling.maxWaitDuration")
    except MalformedError as error:
        raise error.under("request") from None
    except MISREAD as problem:
        raise MalformedError(f"is not a valid {kind.words}: {problem}", "request") from problem


def _check_keys(value: Any, key: str = "", depth: int = 0) -> None:
    """Check that the values of a request, at any depth, have the JSON types that are read."""
    if expected := _KEYS.get(key):
        items = _ITEMS.get(expected)
        wanted = list if items else str if expected is _TEXT else dict
        if not isinstance(value, wanted) or (items and not all(isinstance(item, items) for item in value)):
            raise malformed(value, expected)
    if depth > _DEEPEST:
        raise MalformedError(f"is nested more than {_DEEPEST} levels deep")
    if key in _FREE:
        return
    parts: Iterable[tuple[Any, Any]] = ()
    if isinstance(value, dict):
        parts = value.items()
    elif isinstance(value, list):
        parts = enumerate(value)
    for part, item in parts:
        if isinstance(item, dict | list) or part in _KEYS:
            try:
                _check_keys(item, part if isinstance(part, str) else "", depth + 1)
            except MalformedError as error:
                raise error.under(part if isinstance(part, str) else f"[{part}]") from None

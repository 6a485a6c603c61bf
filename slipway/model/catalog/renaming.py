"""Templates that get another name: one that goes and one that comes are the same where most of both is alike. Pure."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace

from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Template
from slipway.model.labels import TEMPLATE_LABEL, Launched

_ALIKE = 0.7
"""The share that is alike. Different templates of a stack were seen to share at most 0.65."""


def other_names(old: Catalog, new: Catalog) -> Mapping[str, str]:
    """Return new names by old ones. A copy of a template that stays is none, nor one that may come from several."""
    pairs = []
    for name in new.templates.keys() - old.templates.keys():
        likeness = {was: _likeness(template, new.templates[name]) for was, template in old.templates.items()}
        most = max(likeness.values(), default=0.0)
        nearest = [was for was, share in likeness.items() if share == most >= _ALIKE]
        nearest = [was for was in nearest if _same_purpose(old.templates[was], new.templates[name])]
        pairs += [(was, name) for was in nearest if not nearest[1:] and was not in new.templates]
    taken = Counter(was for was, _ in pairs)
    return {was: name for was, name in pairs if taken[was] == 1}


def _likeness(*sides: Template) -> float:
    """Return the share of what both declare in what the larger one does."""
    old, new = ({*str(replace(each, name="", source="", package="")).split(", ")} for each in sides)
    return len(old & new) / max(len(old), len(new))


def _same_purpose(*sides: Template) -> bool:
    """Tell whether two templates say the same, start the same or share most parameters: small ones may be alike in
    their machines and prebuilt image alone."""
    old, new = ({each.name for each in side.parameters} for side in sides)
    (said, says), started = [side.summary for side in sides], [_started(side) for side in sides]
    return (said == says != "") or bool(started[0] & started[1]) or 2 * len(old & new) > len(old | new)


def _started(template: Template) -> set[str]:
    """Return the modules and images of one's own that its jobs start."""
    pools = [pool or {} for offer in template.offers for pool in offer.worker_pools]
    modules = {each.module for pool in pools if (each := Launched.of(pool.get("pythonPackageSpec") or {}))}
    return modules | {str(pool["containerSpec"].get("imageUri")) for pool in pools if pool.get("containerSpec")}


def as_called(catalog: Catalog, names: Mapping[str, str]) -> Catalog:
    """Return a catalog whose templates have other names, their requests' labels as well."""
    templates = dict(catalog.templates)
    for was, name in names.items():
        template = templates.pop(was)
        requests = ({**way.request, "labels": {**way.labels, TEMPLATE_LABEL: name}} for way in template.offers)
        offers = (replace(way, request=body) for way, body in zip(template.offers, requests, strict=True))
        templates[name] = replace(template, name=name, offers=tuple(offers))
    return replace(catalog, templates=templates)

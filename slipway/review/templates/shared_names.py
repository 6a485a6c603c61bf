"""Requests before and after in the same words: roles that are called otherwise, and names that all templates share."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from slipway.catalog.model import Catalog, Offer
from slipway.catalog.placeholders import PACKAGE, placeholder
from slipway.labels import TEMPLATE_LABEL

Leaf = str | tuple[str, ...]
"""A value of a request; a list of texts is one, whole."""
_PATH = re.compile(r"pools/(?P<role>[^/]+)/(?P<rest>.+)")
_TRAINER = "the trainer"


def renamed_roles(old: Offer, new: Offer) -> Mapping[str, str]:
    """New names by old ones. By place, where there are as many as before."""
    if len(old.roles) != len(new.roles):
        return {}
    pairs = zip(old.roles, new.roles, strict=True)
    return {one: other for one, other in pairs if one not in new.roles and other not in old.roles}


def with_roles(leaves: Mapping[str, Leaf], renamed: Mapping[str, str]) -> Mapping[str, Leaf]:
    return {_under(path, renamed): leaf for path, leaf in leaves.items()}


def repeats(path: str, leaves: Mapping[str, Leaf], others: Mapping[str, Leaf]) -> bool:
    """Tell whether it is of a role that only `leaves` have, and another one there has the same. Machines are always
    told."""
    found = _PATH.fullmatch(path)
    if found is None or found["rest"] == "machines" or found["role"] in _roles(others):
        return False
    beside = (f"pools/{role}/{found['rest']}" for role in _roles(leaves) if role != found["role"])
    return any(leaves.get(one) == leaves.get(path) for one in beside)


def _under(path: str, renamed: Mapping[str, str]) -> str:
    found = _PATH.fullmatch(path)
    return f"pools/{renamed[found['role']]}/{found['rest']}" if found and found["role"] in renamed else path


def _roles(leaves: Mapping[str, Leaf]) -> frozenset[str]:
    return frozenset(found["role"] for path in leaves if (found := _PATH.fullmatch(path)))


def shared_names(catalog: Catalog, offer: Offer) -> Mapping[str, str]:
    """Words by what stands in the request of an offer."""
    return {name: word for name, word in _shared(catalog, offer) if name}


def in_words(leaf: Leaf, shared: Mapping[str, str]) -> Leaf:
    if isinstance(leaf, tuple):
        return tuple(str(in_words(one, shared)) for one in leaf)
    if leaf in shared:
        return shared[leaf]
    for name, word in shared.items():
        leaf = leaf.replace(f"gs://{name}/", f"gs://({word})/")
    return leaf


def trainers_in_words(*catalogs: Catalog) -> set[Leaf | None]:
    return {_TRAINER, *(_trainer(name) for one in catalogs for name in one.trainers)}


def _shared(catalog: Catalog, offer: Offer) -> Iterator[tuple[str, str]]:
    template = catalog.templates.get(str((offer.request.get("labels") or {}).get(TEMPLATE_LABEL)))
    yield placeholder(PACKAGE), "the template's code"
    yield template.package if template else "", "the template's code"
    yield from ((account, _trainer(name)) for name, account in catalog.trainers.items())
    yield catalog.trainer, _TRAINER
    yield catalog.work_bucket, "the work bucket"
    yield catalog.catalog_bucket, "the catalog bucket"


def _trainer(name: str) -> str:
    return f"trainer {name}"

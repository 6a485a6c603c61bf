"""What the templates of a stack share, in the same words before and after: accounts, buckets, a template's own code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from slipway.catalog.model import Catalog, Offer
from slipway.catalog.placeholders import PACKAGE, placeholder
from slipway.labels import TEMPLATE_LABEL

Leaf = str | tuple[str, ...]
"""A value of a request; a list of texts is one, whole."""
_TRAINER = "the trainer"


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

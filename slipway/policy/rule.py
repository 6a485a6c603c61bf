"""A rule of a team's policy, and what it looks at: the facts of a stack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from slipway.catalog.clusters import Cluster, Pool
from slipway.catalog.model import Catalog, Offer, Template
from slipway.facts import Facts
from slipway.formatting import join
from slipway.rules.rule import Subject as Request

MANDATORY, ADVISORY = "mandatory", "advisory"
LEVELS = (MANDATORY, ADVISORY)
"""A mandatory rule stops the deployment; an advisory one is told."""


@dataclass(frozen=True)
class DeclaredStack:
    """A stack as it is declared. `requests` are those of every offer, with the placeholders of their parameters in
    them."""

    facts: Facts

    @property
    def catalog(self) -> Catalog:
        return self.facts.catalog

    @property
    def clusters(self) -> Iterable[Cluster]:
        """Clusters of now, and those that a season is yet to bring: once it begins, it is too late to say no to
        them."""
        return (*self.catalog.clusters.values(), *self.catalog.coming)

    @property
    def pools(self) -> Iterator[tuple[str, Pool]]:
        """Pools by `cluster/pool`, and those that clusters may have instead by `cluster/pool (alternative N)`."""
        for one in self.clusters:
            yield from ((f"{one.name}/{name}", pool) for name, pool in one.pools.items())
            for number, pools in enumerate(one.alternatives or (), 1):
                yield from ((f"{one.name}/{name} (alternative {number})", pool) for name, pool in pools.items())

    @cached_property
    def requests(self) -> tuple[tuple[Template, Offer, Request], ...]:
        return tuple(
            (template, offer, Request(offer.kind, offer.request, self._region(offer), offer.capacity_type))
            for template in self.catalog.templates.values()
            for offer in template.offers
        )

    def _region(self, offer: Offer) -> str:
        """The region where its jobs run."""
        cluster = self.catalog.clusters.get(offer.cluster) or self.catalog.dormant.get(offer.dormant)
        return (cluster.region if cluster else None) or self.catalog.region


Breach = tuple[str, str]
"""What breaks a rule, such as `cluster h100`, and how."""
Check = Callable[[DeclaredStack, Any], Iterable[Breach]]


@dataclass(frozen=True)
class Rule:
    """`key` is what the stack file calls it, `text` the rule in one sentence. `check` takes what the file gives the
    rule, and yields each breach, which says what to do."""

    key: str
    text: str
    check: Check


def in_offers(found: Iterable[tuple[Template, Offer, str]]) -> Iterator[Breach]:
    """Tell the same breach of several offers of a template as one: of `template lora (pool and spot)`."""
    offers: dict[tuple[str, str], list[str]] = {}
    for template, offer, text in found:
        offers.setdefault((template.name, text), []).append(offer.capacity_type)
    for (name, text), types in offers.items():
        yield f"template {name} ({join(dict.fromkeys(types))})", text

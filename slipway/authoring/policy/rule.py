"""A rule of a team's policy, and its subject: the facts of a stack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from slipway.base.formatting import join
from slipway.model.catalog.clusters import Cluster
from slipway.model.catalog.model import Catalog
from slipway.model.catalog.template import Offer, Template
from slipway.model.facts import Facts
from slipway.model.rules.rule import Subject as Request

MANDATORY, ADVISORY = "mandatory", "advisory"
LEVELS = (MANDATORY, ADVISORY)
"""The levels: a mandatory rule stops the deployment; an advisory one is reported."""


@dataclass(frozen=True)
class DeclaredStack:
    """A stack as it is declared."""

    facts: Facts

    @property
    def catalog(self) -> Catalog:
        return self.facts.catalog

    @property
    def clusters(self) -> Iterable[Cluster]:
        """The present clusters, and those of coming seasons: once a season begins, it is too late to refuse them."""
        return self.catalog.expected

    @property
    def options(self) -> Iterator[tuple[str, Cluster]]:
        """The clusters, each also in its alternatives, behind ` (alternative N)` for these."""
        for cluster in self.clusters:
            for number, option in enumerate(cluster.options):
                yield f" (alternative {number})" if number else "", option

    @cached_property
    def requests(self) -> tuple[tuple[Template, Offer, Request], ...]:
        """The requests of every offer, in which placeholders stand for the parameters."""
        return tuple(
            (template, offer, Request(offer.kind, offer.request, self._region(offer), offer.capacity_type))
            for template in self.catalog.templates.values()
            for offer in template.offers
        )

    def _region(self, offer: Offer) -> str:
        cluster = self.catalog.clusters.get(offer.cluster) or self.catalog.dormant.get(offer.dormant)
        return (cluster.region if cluster else None) or self.catalog.region


Breach = tuple[str, str]
"""The subject that breaks a rule, such as `cluster h100`, and how."""


@dataclass(frozen=True)
class Rule:
    """A rule, which is a key of the stack file."""

    key: str
    text: str
    #: Takes the stack, and the rule's setting unless that is a switch; yields each breach with its way out.
    check: Callable[..., Iterable[Breach]]
    #: The form of its setting.
    takes: Literal["regions", "names", "amount", "hours", "switch"] = "switch"
    #: A setting, as YAML.
    example: str | int = "true"


def in_offers(breaches: Iterable[tuple[Template, Offer, str]]) -> Iterator[Breach]:
    """Merge equal breaches of several offers of a template into one: of `template lora (pool and spot)`."""
    offers: dict[tuple[str, str], list[str]] = {}
    for template, offer, text in breaches:
        offers.setdefault((template.name, text), []).append(offer.capacity_type)
    for (name, text), types in offers.items():
        yield f"template {name} ({join(dict.fromkeys(types))})", text

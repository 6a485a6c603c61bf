"""A value of a posted request before and after, with the jobs that it affects."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal

from slipway.authoring.stack.secrets import looks_secret
from slipway.model.capacity import POOL, SPOT
from slipway.model.catalog.model import Offer
from slipway.model.catalog.placeholders import DOLLAR, OUTPUT, names, placeholder
from slipway.reviewing.change.secret_values import HIDDEN
from slipway.reviewing.change.usual import timeout_of
from slipway.reviewing.rules.templates.leaves import Leaf
from slipway.reviewing.rules.templates.usage import TemplateChange

_RESULTS = re.compile(r"output|checkpoint|ckpt", re.IGNORECASE)


@dataclass(frozen=True)
class Difference:
    """A value before and after, None where there is none."""

    #: The path's own.
    name: str
    #: Its owner's name.
    of: str
    before: Leaf | None
    after: Leaf | None
    #: Those of the new template whose jobs it affects.
    offers: tuple[Offer, ...]
    template: TemplateChange

    @property
    def most(self) -> str:
        """The cost of a whole run on the dearest machines of its own: ` (up to $61 on the dearest machines)`."""
        paid = [offer.price_per_hour for offer in self.offers if offer.capacity_type != POOL]
        whole = max((price.known for price in paid), default=0) * Decimal(timeout_of(self.template.new) / 3600)
        return f" (up to ${whole:,.0f} on the dearest machines)" if whole >= 1 else ""

    @property
    def _reads(self) -> re.Pattern[str]:
        """How a command reads the variable, or an argument that the service fills in."""
        return re.compile(rf"\$({re.escape(placeholder(DOLLAR))[2:]})?[{{(]?{re.escape(self.name)}\b")

    def holds(self, condition: str) -> bool:
        """Tell whether all words of a row's condition hold."""
        before, after = str(self.before or ""), str(self.after or "")
        words = {
            "on": after == "true",
            "same_code": self.template.old.package == self.template.new.package,
            "fails": after == "fail",
            "on_spot": any(offer.capacity_type == SPOT for offer in self.offers),
            "alone": all(len(offer.worker_pools) == 1 for offer in self.offers),
            "leaked": after == HIDDEN or looks_secret(after, self.name),
            "at_home": after.startswith(self.template.becomes.region),
            "partly": any(each.available and "network" not in each.spec for each in self.template.new.offers),
            "read": any(self._reads.search(str(offer.request)) for offer in self.offers),
            "defaulted": self.template.takes(self.name) == {before or after},
            "of_results": any(map(is_result, names(before))),
            "off_bucket": is_result(self.name) and in_bucket(before) and not in_bucket(after),
            # Reported with the code.
            "of_other_code": before.partition(".")[0] != after.partition(".")[0],
        }
        return all(words[word] for word in condition.split())


def in_bucket(value: str) -> bool:
    return "gs://" in value or "/gcs/" in value or any(map(is_result, names(value)))


def is_result(name: str) -> bool:
    return name == OUTPUT or bool(_RESULTS.search(name))

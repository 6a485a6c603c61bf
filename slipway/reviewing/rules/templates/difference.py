"""A value of a posted request before and after, with the jobs that it affects."""

from __future__ import annotations

import re
from dataclasses import dataclass

from slipway.base.formatting import usd
from slipway.google.catalog.lookup import teams_of
from slipway.model.capacity import SPOT
from slipway.model.catalog.placeholders import DOLLAR, names, placeholder
from slipway.model.catalog.template import Offer
from slipway.reviewing.rules.templates.leaves import Leaf
from slipway.reviewing.rules.templates.usage import TemplateChange

_ON_DISK = re.compile(r"(?!\w+://|/mnt/).*/")
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

    def holds(self, condition: str) -> bool:
        """Tell whether all words of a row's condition hold."""
        before, after = str(self.before or ""), str(self.after or "")
        # As a command reads the variable, or an argument that the service fills in.
        read = re.compile(rf"\$({re.escape(placeholder(DOLLAR))[2:]})?[{{(]?{re.escape(self.name)}\b")
        words = {
            "on": after == "true",
            "alone": all(len([*filter(None, offer.worker_pools)]) == 1 for offer in self.offers),
            "same_code": self.template.old.package == self.template.new.package,
            "fails": after == "fail",
            "on_spot": any(offer.capacity_type == SPOT for offer in self.offers),
            "read": any(read.search(str(offer.request)) for offer in self.offers),
            "of_results": any(map(is_result, names(before))),
            "off_bucket": is_result(self.name) and in_bucket(before) and not in_bucket(after) and _ON_DISK.match(after),
            "limited": bool(self.limit),
            "of_other_code": before.partition(".")[0] != after.partition(".")[0],
        }
        return all(words[word] for word in condition.split())

    @property
    def limit(self) -> str:
        """The USD that a team may spend for which jobs count by this label, and counted not before; empty where it
        refuses nothing."""
        team, budget = str(self.after or ""), self.template.becomes.budget
        limit = budget.teams.get(team) if budget and budget.enforce else None
        if limit is None:
            return ""
        counted = all(teams_of(self.template.was, offer) == (team,) for offer in self.template.old.offers)
        return "" if counted else usd(limit)


def in_bucket(value: str) -> bool:
    return "gs://" in value or "/gcs/" in value or any(map(is_result, names(value)))


def is_result(name: str) -> bool:
    return bool(_RESULTS.search(name))

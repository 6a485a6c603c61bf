"""The request that would be sent, from the catalog alone: nothing is read of pools and quota."""

from __future__ import annotations

from typing import Any

from slipway.submit.choosing import Judged, choose
from slipway.submit.options import Option, Prepared
from slipway.submit.survey import offline
from slipway.submit.verdict import Outcome, Verdict


def request_of(prepared: Prepared, request_id: str) -> dict[str, Any]:
    """By the first way that had quota when the stack was deployed and no rule forbids. Raises PolicyError for none."""

    def judged(option: Option) -> Judged:
        found = offline(prepared, option, request_id)
        return found or Judged(option, Verdict(Outcome.UNKNOWN, "not looked at"))

    choice = choose(prepared.template.name, map(judged, prepared.options))
    return prepared.body(choice.taken.option, request_id)

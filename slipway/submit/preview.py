"""The request that would be sent, from the catalog alone: nothing is read of pools and quota."""

from __future__ import annotations

from typing import Any

from slipway.errors import PolicyError
from slipway.submit.choosing import Judged, choose
from slipway.submit.options import Candidate, Prepared
from slipway.submit.survey import offline
from slipway.submit.verdict import Outcome, Verdict


def request_of(prepared: Prepared, request_id: str) -> dict[str, Any]:
    """By the first candidate that no rule forbids, those that had quota when the stack was deployed before those that
    lacked it. Raises PolicyError when there is none.
    """
    try:
        return _request(prepared, request_id, limits_follow=False)
    except PolicyError:
        return _request(prepared, request_id, limits_follow=True)


def _request(prepared: Prepared, request_id: str, *, limits_follow: bool) -> dict[str, Any]:
    def judged(candidate: Candidate) -> Judged:
        found = offline(prepared, candidate, request_id, limits_follow=limits_follow)
        return found or Judged(candidate, Verdict(Outcome.UNKNOWN, "not looked at"))

    choice = choose(prepared.template.name, map(judged, prepared.candidates))
    return prepared.body(choice.taken.candidate, request_id)

"""The JSON documents of a submission: of one that was sent, and of a dry run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from slipway.base.codec import or_null
from slipway.google.advice import SpotReport
from slipway.google.jobs import VertexJob
from slipway.model.catalog.model import Catalog
from slipway.model.prices import UNKNOWN, Price, price_text
from slipway.using.context import Context
from slipway.using.jobs.demand import Part
from slipway.using.jobs.verdict import Outcome, Verdict
from slipway.using.submission.candidate import Candidate, price
from slipway.using.submission.choice import Choice, JudgedCandidate
from slipway.using.submission.costs import Spending, run_total
from slipway.using.submission.prepared import PreparedSubmission
from slipway.using.submission.submission_result import SubmissionResult

_BEFORE = Verdict(Outcome.UNKNOWN, "submitted before")


def document(context: Context, submitted: SubmissionResult, job: VertexJob, submission_id: str) -> dict[str, Any]:
    """Return the document of a submission that was sent; `job` is the present one."""
    from slipway.front.cli.terminal.watching import events_of_cost
    from slipway.using.jobs.description import describe
    from slipway.using.jobs.failure import read_cause

    choice, request = submitted.choice, submitted.request
    taken = _taken(choice, job.region)
    return {
        "requestId": submission_id,
        "attemptId": request.id,
        "fresh": submitted.attempt.fresh,
        "copies": submitted.attempt.copy_ids,
        **choice_document(context.catalog, choice, taken),
        "job": describe(job, context, events_of_cost(context, job), read_cause(context, job)).document,
    }


def plan_document(
    context: Context,
    prepared: PreparedSubmission,
    candidate: Candidate,
    choice: Choice | None,
    costs: Sequence[Spending],
    spot: SpotReport,
) -> dict[str, Any]:
    """Return the document of a dry run. `choice`: None if the submission was sent before, or none can be made. `costs`:
    those that a person has to confirm."""
    taken = choice.taken if choice else None
    return {
        "requestId": prepared.request_id,
        "region": candidate.region,
        **choice_document(context.catalog, choice, taken, candidate),
        "toConfirm": [each.words for each in costs],
        "googleAdvice": spot.document,
        "request": candidate.body,
    }


def _taken(choice: Choice | None, region: str) -> JudgedCandidate | None:
    """Return what was taken, of a race the leg in a region."""
    if choice is None:
        return None
    return next((leg for leg in choice.legs if leg.candidate.region == region), choice.taken)


def choice_document(
    catalog: Catalog,
    choice: Choice | None,
    taken: JudgedCandidate | None,
    candidate: Candidate | None = None,
) -> dict[str, Any]:
    """Return verdict, place, price and what was passed over. `candidate`: that of a submission without a choice."""
    if taken is None:
        return {**_verdict(_BEFORE), **_place_and_price(catalog, candidate), **_others(choice), "run": None}
    return {
        **_verdict(taken.verdict),
        **_place_and_price(catalog, taken.candidate),
        **_others(choice),
        "run": _run_document(catalog, taken),
    }


def _verdict(verdict: Verdict) -> dict[str, Any]:
    return {"verdict": {"outcome": verdict.outcome, "text": verdict.text, "why": verdict.why}}


def _place_and_price(catalog: Catalog, candidate: Candidate | None) -> dict[str, Any]:
    if candidate is None:
        return {"place": None, **_price(UNKNOWN)}
    return {"place": _place(candidate), **_price(price(catalog, candidate))}


def _price(cost: Price) -> dict[str, Any]:
    known = None if cost.unknown else str(cost.known)
    return {"pricePerHour": known, "priceComplete": cost.complete, "priceAtMost": cost.at_most}


def _others(choice: Choice | None) -> dict[str, Any]:
    if choice is None:
        return {"passedOver": [], "race": [], "earliestStarts": []}
    return {
        "passedOver": list(map(_judged, choice.passed)),
        "race": list(map(_judged, choice.legs)),
        "earliestStarts": [start.document for start in choice.earliest],
    }


def _offer(candidate: Candidate) -> dict[str, Any]:
    offer = candidate.offer
    return {
        "capacityType": offer.capacity_type,
        "cluster": or_null(offer.cluster),
        "shape": or_null(offer.shape),
        "region": candidate.region,
    }


def _place(candidate: Candidate) -> dict[str, Any]:
    return {**_offer(candidate), "machines": list(map(_machines, candidate.demand.parts))}


def _machines(part: Part) -> dict[str, Any]:
    return {"role": part.role, "machine": str(part.machine), "count": part.machines, "pool": or_null(part.pool)}


def _judged(judged: JudgedCandidate) -> dict[str, Any]:
    return {**_offer(judged.candidate), "outcome": judged.verdict.outcome, "why": judged.reasons}


def _run_document(catalog: Catalog, taken: JudgedCandidate) -> dict[str, Any] | None:
    total = run_total(catalog, taken)
    if total is None:
        return None
    least, usual = total.usual or (None, None)
    return {
        "earlierRuns": total.times.count if total.times else None,
        "timeoutSeconds": total.longest,
        "usd": {"least": price_text(least), "usualMost": price_text(usual), "most": price_text(total.most)},
        "usdComplete": total.hourly.complete,
    }

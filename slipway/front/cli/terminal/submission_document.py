"""The JSON documents of a submission: of one that was sent, and of a dry run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from slipway.google.advice import SpotReport
from slipway.google.jobs import VertexJob
from slipway.model.catalog.model import Catalog
from slipway.model.prices import UNKNOWN, price_text
from slipway.using.context import Context
from slipway.using.jobs.verdict import Outcome, Verdict
from slipway.using.submission.candidate import Candidate, price
from slipway.using.submission.choice import Choice, JudgedCandidate
from slipway.using.submission.costs import Spending, run_total
from slipway.using.submission.prepared import PreparedSubmission
from slipway.using.submission.submission_result import SubmissionResult


def document(context: Context, submitted: SubmissionResult, job: VertexJob, submission_id: str) -> dict[str, Any]:
    """Return the document of a submission that was sent; `job` is the present one."""
    from slipway.front.cli.terminal.watching import events_of_cost
    from slipway.using.jobs.description import describe

    choice, request = submitted.choice, submitted.request
    taken = _taken(choice, job.region)
    return {
        "requestId": submission_id,
        "attemptId": request.id,
        "fresh": submitted.attempt.fresh,
        "copies": submitted.attempt.copy_ids,
        **choice_document(context.catalog, choice, taken),
        "job": describe(job, context, events_of_cost(context, job)).document,
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
    candidate = taken.candidate if taken else candidate
    verdict = taken.verdict if taken else Verdict(Outcome.UNKNOWN, "submitted before")
    cost = price(catalog, candidate) if candidate else UNKNOWN
    return {
        "verdict": {"outcome": verdict.outcome, "text": verdict.text, "why": verdict.why},
        "place": _place(candidate) if candidate else None,
        "passedOver": [_passed(judged) for judged in (choice.passed if choice else ())],
        "race": [_passed(leg) for leg in (choice.legs if choice else ())],
        "earliestStarts": [start.document for start in choice.earliest] if choice else [],
        "pricePerHour": None if cost.unknown else str(cost.known),
        "priceComplete": cost.complete,
        "priceAtMost": cost.at_most,
        "run": _run_document(catalog, taken),
    }


def _place(candidate: Candidate) -> dict[str, Any]:
    offer = candidate.offer
    return {
        "capacityType": offer.capacity_type,
        "cluster": offer.cluster or None,
        "shape": offer.shape or None,
        "region": candidate.region,
        "machines": [
            {"role": part.role, "machine": str(part.machine), "count": part.machines, "pool": part.pool or None}
            for part in candidate.demand.parts
        ],
    }


def _passed(judged: JudgedCandidate) -> dict[str, Any]:
    offer = judged.candidate.offer
    return {
        "capacityType": offer.capacity_type,
        "cluster": offer.cluster or None,
        "shape": offer.shape or None,
        "region": judged.candidate.region,
        "outcome": judged.verdict.outcome,
        "why": judged.reasons,
    }


def _run_document(catalog: Catalog, taken: JudgedCandidate | None) -> dict[str, Any] | None:
    total = run_total(catalog, taken) if taken else None
    if total is None:
        return None
    least, usual = total.usual or (None, None)
    return {
        "earlierRuns": total.times.count if total.times else None,
        "timeoutSeconds": total.longest,
        "usd": {"least": price_text(least), "usualMost": price_text(usual), "most": price_text(total.most)},
        "usdComplete": total.hourly.complete,
    }

"""Verdicts on candidates by the catalog and the service's rules alone, without a call. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import partial

from slipway.base.formatting import span
from slipway.google.catalog.lookup import reason
from slipway.model.capacity import RESERVATION, WEEK
from slipway.model.cluster import Reservation
from slipway.using.jobs.verdict import Outcome, Verdict
from slipway.using.submission.candidate import Candidate
from slipway.using.submission.choice import JudgedCandidate, can_never_run, refusal
from slipway.using.submission.prepared import PreparedSubmission

_NEVER = datetime.max.replace(tzinfo=UTC)


def offline(
    candidate: Candidate,
    *,
    reserved: Mapping[str, Reservation] | None = None,
    now: datetime | None = None,
    limits_follow: bool = False,
) -> JudgedCandidate | None:
    """Judge by the catalog and the service's rules alone; None where neither speaks against the candidate.

    `reserved`: reservations by path. `now`: the time that their dates are held against. `limits_follow`: quota will be
    read, so the catalog's word on it does not count.
    """
    if candidate.barred:
        place = candidate.offer.cluster or candidate.offer.dormant
        return JudgedCandidate(candidate, Verdict(Outcome.NEVER, f"may not run on {place}", (candidate.barred,)))
    if not candidate.offer.available and not (limits_follow and candidate.offer.lacks_quota):
        return JudgedCandidate(candidate, never(candidate, reason(candidate.offer)))
    from slipway.model.rules.table import check

    type_, region = candidate.offer.capacity_type, candidate.region
    checked = partial(check, candidate.kind.name, type_, candidate.body, region=region, reserved=reserved)
    if not (breaches := checked(now=now)):
        return None
    begin = [each.begins for each in named_reservations(candidate, reserved or {}) if each.begins]
    comes = now is not None and any(now < each for each in begin) and not checked()
    return JudgedCandidate(candidate, never(candidate, *map(str, breaches), comes=comes))


def named_reservations(candidate: Candidate, reserved: Mapping[str, Reservation]) -> Iterator[Reservation]:
    """Yield the known reservations that a candidate names, the first to end first; where it takes any, those that have
    machines like one of its own."""
    job = candidate.request.job
    types = {"", *(part.machine.type for part in candidate.demand.parts)}
    for path, each in sorted(reserved.items(), key=lambda entry: entry[1].ends or _NEVER):
        named = path in job.reservations if job.reservations else each.machine in types
        if named and candidate.offer.capacity_type == RESERVATION:
            yield each


def ends_before(candidate: Candidate, reserved: Mapping[str, Reservation], now: datetime | None) -> str:
    """Return that a reservation may end before a job that starts now; empty where none does."""
    limit = candidate.request.job.timeout or WEEK
    ends = (each.ends_within(limit, now) for each in named_reservations(candidate, reserved) if now)
    if not (first := next(filter(None, ends), "")):
        return ""
    return f"{first}: what still runs on it then loses its machines, and this job may run for {span(limit)}"


def never(candidate: Candidate, *why: str, comes: bool = False) -> Verdict:
    if candidate.offer.dormant:  # A dormant cluster comes back.
        return Verdict(Outcome.NEVER, f"can't run now on {candidate.offer.dormant}", why, comes=True)
    place = candidate.offer.cluster or f"{candidate.offer.capacity_type} machines"
    return Verdict(Outcome.NEVER, f"{can_never_run(comes=comes)} on {place}", why, comes=comes)


def offline_candidate(prepared: PreparedSubmission) -> Candidate:
    """Return the first candidate that no rule forbids; those with quota at the last deployment come before those
    without. Raises PolicyError when there is none."""
    reserved = prepared.catalog.reservations
    judged = {
        each: offline(each, reserved=reserved, now=prepared.sent, limits_follow=True) for each in prepared.candidates
    }
    possible = [candidate for candidate, impossible in judged.items() if impossible is None]
    if not possible:
        raise refusal(prepared.template.name, list(filter(None, judged.values())), [])
    return next((candidate for candidate in possible if candidate.offer.available), possible[0])

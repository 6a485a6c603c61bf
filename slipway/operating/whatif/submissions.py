"""The submissions of a history: each with all jobs that were sent for it, which replays send as one. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from itertools import count, takewhile

from slipway.operating.history.model import History, PastJob
from slipway.operating.history.races import lost_legs
from slipway.using.submission.request import attempt_id, derived_request_id

_MOST_ATTEMPTS = 8


@dataclass(frozen=True)
class PastSubmission:
    """The jobs of one submission: attempts one after the other, legs of a race, copies, and those that went on behind
    others."""

    created: datetime
    #: By creation.
    jobs: tuple[PastJob, ...]
    #: The job that ran longest before it made room, if it did; of a race the winner. It has no start where none has.
    ran: PastJob
    #: Seconds, those of the jobs that went on behind others included.
    run: float


def submissions_of(history: History) -> Iterator[PastSubmission]:
    """Yield the submissions of a history."""
    by_request: dict[str, list[PastJob]] = defaultdict(list)
    for job in history.jobs:
        if job.created is not None:
            by_request[job.request_id or job.name].append(job)
    # Attempts are sent until one starts; after that a job may go on in others, behind those for which it makes room.
    attempts = {
        request: tuple(takewhile(by_request.__contains__, _attempts(request)))
        for request, sent in by_request.items()
        if not any(job.started for job in sent)
    }
    behind = {request: tuple(_behind(request, by_request)) for request in by_request}
    followers = {id_ for later in (*attempts.values(), *behind.values()) for id_ in later}
    lost = lost_legs(history.jobs)
    for request in by_request:
        if request in followers:
            continue
        chain = [job for id_ in (request, *attempts.get(request, ())) for job in by_request[id_]]
        ran = _longest(chain, lost, history.until)
        later = (_longest(by_request[id_], lost, history.until) for id_ in behind[ran.request_id or ran.name])
        yield PastSubmission(
            created=min(job.created for job in chain if job.created),
            jobs=tuple(sorted(chain, key=lambda job: (job.created, job.name))),
            ran=ran,
            run=sum(_run(part, history.until) for part in (ran, *later)),
        )


def _attempts(request: str) -> Iterator[str]:
    return (attempt_id(request, number) for number in range(1, _MOST_ATTEMPTS))


def _behind(request: str, by_request: Mapping[str, object]) -> Iterator[str]:
    """Yield the requests of the jobs that went on behind a request's job, or would have, had it made room."""
    ids = (derived_request_id("yield", request, number) for number in count(1))
    for id_ in takewhile(by_request.__contains__, ids):
        yield id_
        yield from _behind(id_, by_request)


def _longest(jobs: list[PastJob], lost: frozenset[str], until: datetime) -> PastJob:
    def length(job: PastJob) -> tuple[bool, bool, bool, float, str]:
        return job.name not in lost, job.started is not None, job.ended is None, _run(job, until), job.name

    return max(jobs, key=length)


def _run(job: PastJob, until: datetime) -> float:
    return max(0.0, ((job.ended or until) - job.started).total_seconds()) if job.started else 0.0

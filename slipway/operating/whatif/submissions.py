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

    #: By creation.
    jobs: tuple[PastJob, ...]
    #: The job that ran longest before it made room, if any did; of a race the winner. None where none has started.
    ran: PastJob | None
    #: Seconds, those of the jobs that went on behind others included.
    run: float

    @property
    def created(self) -> datetime:
        """The time of the first job."""
        first = self.jobs[0].created
        assert first, "jobs without a time are left out"
        return first


def submissions_of(history: History) -> Iterator[PastSubmission]:
    """Yield the submissions of a history."""
    by_request: dict[str, list[PastJob]] = defaultdict(list)
    for job in history.jobs:
        if job.created is not None:
            by_request[job.request_id or job.name].append(job)
    # Attempts are sent until one starts; after that a job may go on in others, behind those for which it makes room.
    attempts = {
        request: []
        if any(job.started for job in sent)
        else list(takewhile(by_request.__contains__, _attempts(request)))
        for request, sent in by_request.items()
    }
    behind = {request: tuple(_behind(request, by_request)) for request in by_request}
    followers = {id_ for later in (*attempts.values(), *behind.values()) for id_ in later}
    lost = lost_legs(history.jobs)
    for request in by_request:
        if request in followers:
            continue
        chain = [job for id_ in (request, *attempts[request]) for job in by_request[id_]]
        ran = _longest(chain, lost, history.until)
        parts = (
            _longest(by_request[id_], lost, history.until)
            for id_ in (behind[ran.request_id or ran.name] if ran else ())
        )
        yield PastSubmission(
            jobs=tuple(sorted(chain, key=lambda job: (job.created, job.name))),
            ran=ran,
            run=sum(_run(part, history.until) for part in (ran, *parts) if part),
        )


def _attempts(request: str) -> Iterator[str]:
    return (attempt_id(request, number) for number in range(1, _MOST_ATTEMPTS))


def _behind(request: str, by_request: Mapping[str, object]) -> Iterator[str]:
    """Yield the requests of the jobs that went on behind a request's job, or would have, had it made room."""
    ids = (derived_request_id("yield", request, number) for number in count(1))
    for id_ in takewhile(by_request.__contains__, ids):
        yield id_
        yield from _behind(id_, by_request)


def _longest(jobs: list[PastJob], lost: frozenset[str], until: datetime) -> PastJob | None:
    started = (job for job in jobs if job.started and job.name not in lost)
    return max(started, key=lambda job: (job.ended is None, _run(job, until), job.name), default=None)


def _run(job: PastJob, until: datetime) -> float:
    assert job.started, "it has started"
    return max(0.0, ((job.ended or until) - job.started).total_seconds())

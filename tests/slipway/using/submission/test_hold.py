"""A submission that is held in its command, against the model of the service: it is sent once the pause ends. # N24"""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slipway.base.errors import ConfigError
from slipway.google.jobs import VertexJob
from slipway.model.kinds import JobKind
from slipway.using.submission.submission_request import SubmissionRequest
from tests.builders.jobs import job

from .fallback_command import STARTS, Told, catalog, command
from .service import N1, Service
from .test_fallback import CALLS, typed_until_it_is_done

STACK, CLUSTER = "gs://work/pauses/1", "gs://work/pauses/cpu/1"
PAUSE = json.dumps({"by": "bob", "why": "disks are replaced"})
POOL = SubmissionRequest("digits", capacity_type="pool")


@dataclass
class Paused(Service):
    """The model, where others act at the time that comes next."""

    then: list[tuple[float, Callable[["Paused"], None]]] = field(default_factory=list)

    def sleep(self, seconds: float) -> None:
        super().sleep(seconds)
        while self.then and self.then[0][0] <= self.time:
            self.then.pop(0)[1](self)


def resumed(pause: str) -> Callable[[Paused], None]:
    return lambda service: service.stored.update({f"{pause}.resumed": "bob"})


@pytest.mark.parametrize(
    ("pause", "what"),
    [(STACK, "stack local is paused by bob: disks"), (CLUSTER, "cluster cpu is paused by bob: disks")],
)
def test_it_waits_in_its_command_and_is_sent_within_seconds_of_the_end(pause: str, what: str) -> None:
    service, told = Paused(launcher=True, starts=[0], stored={pause: PAUSE}), Told()
    service.then.append((700.0, resumed(pause)))
    command(service, again=False, asked=POOL, show=told)
    (sent,) = service.jobs
    assert 700 <= sent.created <= 711
    assert [note for note in told.notes if what in note] == told.notes and len(told.notes) == 1


def test_a_pause_of_a_cluster_lets_it_move_on_as_planned() -> None:
    service, told = Paused(launcher=True, starts=[0], stored={CLUSTER: PAUSE}), Told(agrees=True)
    command(service, again=False, show=told)
    (sent,) = service.jobs
    assert sent.body["labels"]["slipway-capacity-type"] == "spot" and 60 <= sent.created <= 71
    assert "cluster cpu is paused" in told.choices[0].passed[0].verdict.text


def test_a_planned_wait_counts_what_a_pause_of_the_cluster_has_taken_of_it() -> None:
    service = Paused(launcher=True, starts=[None, 0], stored={CLUSTER: PAUSE})
    service.then.append((35.0, resumed(CLUSTER)))
    command(service, again=False, show=Told(agrees=True))
    first, second = service.jobs
    assert first.body["labels"]["slipway-capacity-type"] == "pool" and first.created <= 46
    assert 60 <= second.created <= 75 and (first.ran, second.ran) == (False, True)


def test_a_hold_ends_where_a_deployment_removes_what_is_paused() -> None:
    service = Paused(launcher=True, starts=[0], stored={CLUSTER: PAUSE})
    removed = replace(catalog(launcher=True), templates={})
    service.then += [(700.0, lambda service: setattr(service, "published", removed)), (5000.0, resumed(CLUSTER))]
    with pytest.raises(ConfigError, match="template 'digits' not found"):
        command(service, again=False, asked=POOL, show=Told())
    assert service.time <= 720 and not service.jobs


def test_a_pause_of_all_keeps_the_wait_that_was_planned() -> None:
    service = Paused(launcher=True, starts=[0], stored={STACK: PAUSE})
    service.then.append((3600.0, resumed(STACK)))
    command(service, again=False, show=Told(agrees=True))
    (sent,) = service.jobs
    assert sent.body["labels"]["slipway-capacity-type"] == "pool"


def test_what_waits_at_the_service_is_not_moved_on_before_the_end() -> None:
    service = Paused(launcher=True, starts=[None, 0], busy=5)
    service.then += [
        (1.0, lambda service: service.stored.update({STACK: PAUSE})),
        (900.0, resumed(STACK)),
    ]
    command(service, again=False, show=Told(agrees=True))
    first, second = service.jobs
    assert second.created >= 900 and (first.ran, second.ran) == (False, True)


def test_what_got_no_machines_waits_for_the_end_of_a_pause_and_moves_on() -> None:
    service, told = Paused(launcher=True, starts=[None, 0]), Told(agrees=True)

    def stock_out(service: Paused) -> None:
        (job,) = service.jobs
        job.state, job.ended = "JOB_STATE_EXPIRED", service.time

    service.then += [
        (10.0, lambda service: service.stored.update({STACK: PAUSE})),
        (20.0, stock_out),
        (9000.0, resumed(STACK)),
    ]
    command(service, again=False, show=told)
    first, second = service.jobs
    assert (first.ran, second.ran) == (False, True) and 9000 <= second.created <= 9100
    assert "was not moved on yet; they are looked at again every minute" in told.notes[0]


def test_a_pause_whose_object_somebody_deletes_is_over() -> None:
    service = Paused(launcher=True, starts=[0], stored={CLUSTER: PAUSE})
    service.then.append((700.0, lambda service: service.stored.clear()))
    command(service, again=False, asked=POOL)
    assert 700 <= service.jobs[0].created <= 711


WHEN = st.tuples(st.sampled_from([STACK, CLUSTER]), st.integers(0, 300), st.integers(1, 900))


@given(st.lists(WHEN, max_size=3), st.fixed_dictionaries(CALLS), STARTS, st.sampled_from([0.0, 20.0]), st.booleans())
def test_it_runs_once_whatever_is_paused_and_whatever_befalls_it(  # N3, N7
    pauses: list[tuple[str, int, int]], faults: dict[str, list[str]], starts: list[int | None], lag: float, full: bool
) -> None:
    service = Paused(launcher=True, starts=[*starts, 0], lag=lag, faults=faults, busy=9 if full else 1)
    for pause, begin, length in pauses:
        service.then.append((begin, lambda service, pause=pause: service.stored.update({pause: PAUSE})))  # type: ignore[misc]
        service.then.append((begin + length, resumed(pause)))
    service.then.sort(key=lambda event: event[0])
    done = typed_until_it_is_done(service)
    assert done is not None and len(service.runs) <= 1
    service.end_of_days()
    assert len(service.runs) == 1 and service.ended_runs == []


class Waiting(Paused):
    """The model, where another team's job waits for the pool until a time."""

    def active_jobs(self, kind: JobKind, filter: str = "") -> Iterator[VertexJob]:
        waits = job("tune-1", on="cpu-1", state="QUEUED", user="ada", machine=N1)
        return iter([replace(waits, labels={**waits.labels, "slipway-team": "vision"})] if self.time < 200 else [])


def test_a_team_without_a_share_goes_when_nobody_waits_or_moves_on_as_planned() -> None:
    shares = {"cpu": {"vision": 1}}
    service, told = Waiting(launcher=True, starts=[0]), Told()
    command(service, again=False, asked=POOL, show=told, shares=shares)
    assert 200 <= service.jobs[0].created <= 261
    (note,) = told.notes
    assert "no team has 0 machines of cpu, with a share of 0; this needs 1, and tune-1 (ada of team vision)" in note
    service = Waiting(launcher=True, starts=[0])
    command(service, again=False, show=Told(agrees=True), shares=shares)
    assert service.jobs[0].body["labels"]["slipway-capacity-type"] == "spot"


def test_the_same_command_finds_what_was_sent_before_the_pause() -> None:
    service = Paused(launcher=True, starts=[0])
    sent = command(service, again=False, asked=POOL).attempt.job
    service.stored[STACK] = PAUSE
    assert command(service, again=True, asked=POOL).attempt.job.name == sent.name

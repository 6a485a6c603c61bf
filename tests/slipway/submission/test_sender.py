"""Sending: a request once, whatever a kill or a reboot hides. # N3 # N7 # N9"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

from slipway.cloud.clusters import PersistentResource
from slipway.cloud.failures import Answer, Refused, failure
from slipway.cloud.jobs import VertexJob
from slipway.errors import AnswerUnknown
from slipway.kinds import CUSTOM_JOB, TUNING_JOB, JobKind
from slipway.submission.candidates import SubmissionRequest
from slipway.submission.journal import EntryState
from slipway.submission.request import Request
from slipway.submission.sender import Attempt, RetryPolicy, Sender, about_copies
from slipway.submission.submitter import way_on

from .fallback_command import Told, command
from .service import CALL, Context, Journal, Killed, Service

BODY: dict[str, Any] = {
    "displayName": "digits-1",
    "labels": {"slipway-request": "r1", "slipway-stack": "dev", "slipway-template": "digits"},
    "jobSpec": {"workerPoolSpecs": [{"replicaCount": "1", "containerSpec": {"imageUri": "digits@sha256:1"}}]},
}
REQUEST = Request("r1", "dev", "digits", BODY)


def sender(service: Service) -> Sender:
    context, journal = cast(Any, Context(service)), cast(Any, Journal(service))
    return Sender(context, journal, lambda _: None, RetryPolicy(look_for=60.0))


@pytest.mark.parametrize(
    ("before", "after", "lag"),
    [
        pytest.param(100.0, 0.0, 30.0, id="reading pools and quota took long"),
        pytest.param(0.9, 0.3, 59.5, id="the list lags almost as long as is looked for"),
        pytest.param(0.9, 30.0, 59.5, id="the same, and gone on with later"),
    ],
)
def test_killed_after_it_was_sent_an_image_is_not_sent_again(before: float, after: float, lag: float) -> None:
    service = Service(launcher=False, lag=lag, faults={"create": ["killed"]})
    first = sender(service)
    assert first.begin(REQUEST, repeated=True) is None
    service.time += before
    with pytest.raises(Killed):
        first.send(REQUEST)
    service.dead = False
    service.time += after
    found = sender(service).begin(REQUEST, repeated=True)
    assert found is not None and found.job.id == service.jobs[0].id


IMAGE = {"containerSpec": {"imageUri": "digits@sha256:1"}}
LAUNCHER = {"pythonPackageSpec": {"pythonModule": "slipway_launcher", "args": ["--claim", "gs://w/claims/r1"]}}


@pytest.mark.parametrize(
    ("kind", "task", "twice", "ends"),
    [
        pytest.param(CUSTOM_JOB, LAUNCHER, "only one runs", True, id="launcher"),
        pytest.param(CUSTOM_JOB, IMAGE, "two jobs both run", False, id="image"),
        pytest.param(TUNING_JOB, LAUNCHER, "share the trials out", False, id="trials"),
    ],
)
def test_what_two_jobs_of_a_request_would_do_is_said_as_it_is(
    kind: JobKind, task: dict[str, Any], twice: str, ends: bool
) -> None:  # N7
    """The claims of trials go by their numbers: whichever of two studies is first at a number runs that trial."""
    body = {**BODY, kind.spec: {"workerPoolSpecs": [{"replicaCount": "1", **task}]}}
    request = Request("r1", "dev", "digits", body, kind)
    service = Service(launcher=False, lag=1e9, faults={"create": ["lost"]})
    sent = sender(service)
    sent.begin(request, repeated=False)
    with pytest.raises(AnswerUnknown) as unknown:
        sent.send(request)
    unknown.value.to_go_on("again")
    assert twice in request.when_twice and request.when_twice in unknown.value.fix
    job, copy = VertexJob.read(body, kind), service.jobs[0].name
    warning = about_copies(request, Attempt(job, fresh=False, copies=(copy,)))
    assert request.when_twice in warning and "7000" in warning
    assert ("slipway jobs cancel 7000" in warning) is not ends
    assert about_copies(request, Attempt(job, fresh=True)) == ""


ON_POOL = SubmissionRequest("digits", capacity_type="pool")


@dataclass
class Rebooting(Service):
    """Its pool's machines are free, and its cluster is in this `state`."""

    state: str = "REBOOTING"
    refuses: bool = True

    def persistent_resource(self, cluster: str) -> PersistentResource:
        found = super().persistent_resource(cluster)
        return replace(found, state=self.state, pools=tuple(replace(pool, used=0) for pool in found.pools))

    def create_job(self, kind: JobKind, body: Mapping[str, Any], region: str) -> VertexJob:
        if self.refuses:
            raise failure(CALL, Answer(400, "FAILED_PRECONDITION", f"it is in state {self.state}"))
        return super().create_job(kind, body, region)


def test_what_is_expected_there_promises_nothing() -> None:
    show, service = Told(), Rebooting(launcher=True, refuses=False, starts=[0])
    command(service, again=False, asked=ON_POOL, show=show)
    (choice,) = show.choices
    assert "cpu is REBOOTING" in choice.taken.verdict.text
    assert len(service.jobs) == 1


def test_a_refusal_says_what_to_wait_for_and_the_same_id_sends_it_then() -> None:
    """It ended without a way on."""
    service = Rebooting(launcher=True, starts=[0])
    with pytest.raises(Refused) as refused:
        command(service, again=False, asked=ON_POOL)
    assert refused.value.why == "it is in state REBOOTING"
    assert "cluster cpu is RUNNING" in refused.value.fix
    assert service.notes["r1"].state is EntryState.REFUSED

    service.state, service.refuses = "RUNNING", False
    assert command(service, again=True, asked=ON_POOL).attempt.fresh
    assert len(service.jobs) == 1


def test_what_a_running_cluster_refuses_does_not_pass_by_waiting() -> None:
    with pytest.raises(Refused) as refused:
        command(Rebooting(launcher=True, state="RUNNING"), again=False, asked=ON_POOL)
    assert refused.value.fix == Refused.usual


def test_machines_of_its_own_that_wait_for_quota_wait_for_no_cluster() -> None:
    show = Told()
    command(Rebooting(launcher=True, refuses=False, starts=[0]), again=False, asked=ON_POOL, show=show)
    on_pool = show.choices[0].taken
    beside = replace(on_pool, candidate=replace(on_pool.candidate, offer=replace(on_pool.candidate.offer, cluster="")))
    refused = failure(CALL, Answer(400, "INVALID_ARGUMENT", "no"))
    assert way_on(refused, on_pool) and not way_on(refused, beside)

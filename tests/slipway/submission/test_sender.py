"""Going on after a kill: nothing is sent again while a list may still hide the first job. # N7"""

from __future__ import annotations

from typing import Any, cast

import pytest

from slipway.cloud.jobs import VertexJob
from slipway.errors import AnswerUnknown
from slipway.kinds import CUSTOM_JOB, TUNING_JOB, JobKind
from slipway.submission.request import Request
from slipway.submission.sender import Attempt, RetryPolicy, Sender, about_copies

from .service import Context, Journal, Killed, Service

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

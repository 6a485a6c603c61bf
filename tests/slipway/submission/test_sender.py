"""Going on after a kill: nothing is sent again while a list may still hide the first job. # N7"""

from __future__ import annotations

from typing import Any, cast

import pytest

from slipway.submission.request import Request
from slipway.submission.sender import RetryPolicy, Sender

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

"""A job for a cluster that is being rebooted is sent: no document tells whether it is refused then. # N3, N9"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import pytest

from slipway.cloud.clusters import PersistentResource
from slipway.cloud.failures import Answer, Refused, failure
from slipway.cloud.jobs import VertexJob
from slipway.kinds import JobKind
from slipway.submission.candidates import SubmissionRequest
from slipway.submission.journal import EntryState
from slipway.submission.submitter import way_on

from .fallback_command import Told, command
from .service import CALL, Service

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

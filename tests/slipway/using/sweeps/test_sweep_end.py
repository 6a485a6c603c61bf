"""The end of a sweep that is sent from two machines: each run asks its own claim, whatever lists show."""

from collections.abc import Callable
from datetime import datetime

import pytest

from slipway.base.errors import ConfigError
from slipway.google.jobs import VertexJob
from slipway.model.kinds import CUSTOM_JOB
from slipway.using.jobs.claimant import rival
from slipway.using.sweeps.run_claims import hidden_copies
from slipway.using.sweeps.sweep_end import Again, EndedRuns, problem_of_runs, until_ended
from slipway.using.sweeps.sweep_submitter import SubmittedSweep
from tests.slipway.using.submission.service import Service

from .two_sweeps import context_of, end, of_user, plan, sent

LAGS = pytest.mark.parametrize("lag", [0.0, 8.0, 30.0])
HOW = Again("again", "failed", "cancelled")


class Display:
    def state(self, text: Callable[[datetime], str]) -> None: ...

    def note(self, text: str) -> None: ...


def ended(service: Service, sweep: SubmittedSweep) -> EndedRuns:
    return until_ended(context_of(service), sweep, Display(), timeout=600)


def job(state: str = "SUCCEEDED", claim: str = "gs://w/claims/r", **fields: object) -> VertexJob:
    args = ["--claim", claim, "--module", "m"] if claim else []
    pools = [{"replicaCount": 1, "pythonPackageSpec": {"pythonModule": "slipway_launcher", "args": args}}]
    spec = {"jobSpec": {"workerPoolSpecs": pools}}
    return VertexJob.read({"name": "p/1/l/r/customJobs/7", "state": f"JOB_STATE_{state}", **spec, **fields})


@pytest.mark.parametrize(
    ("found", "number"),
    [
        ("", ""),
        ("7", ""),
        ("projects/1/locations/r/customJobs/7", ""),
        ("8", "8"),
        ("projects/1/locations/r/customJobs/8", "8"),
        ("moved", "moved"),
        ("cancelled", "cancelled"),
    ],
)
def test_the_claim_of_a_run_names_the_job_that_ran_it(found: str, number: str) -> None:
    assert rival(job(), found) == rival(job("FAILED"), found) == number
    assert rival(job(claim=""), found) == "", "an image takes no claim"


@LAGS
def test_a_copy_that_found_the_claim_taken_is_not_the_end_of_its_run(lag: float) -> None:
    """The same sweep from two machines: `6 runs listed: 6 succeeded`, and all had failed."""
    service = Service(launcher=True, lag=lag)
    planned = plan(service, 1, 2, 3)
    mine = sent(service, planned)
    service.time += lag
    hidden = sent(service, planned)
    copies = [service.jobs[index] for index in range(3)]
    for winner in service.jobs[3:]:
        service.start(winner)
    for copy in copies:
        service.start(copy)
    assert {copy.state for copy in copies} == {"JOB_STATE_SUCCEEDED"} and len(hidden.accepted) == 3
    context = context_of(service)
    listed = list(context.vertex.jobs(CUSTOM_JOB))
    assert len(listed) == (3 if lag else 6) and len(hidden_copies(context, listed)) == (3 if lag else 0)
    sleep = service.sleep

    def fail_later(seconds: float) -> None:
        sleep(seconds)
        for winner in service.jobs[3:]:
            if service.time > lag + 20 and winner.ended is None:
                end(service, winner, "FAILED")

    service.sleep = fail_later  # type: ignore[method-assign]
    result = ended(service, mine)
    assert [run.state for run in result.jobs.values()] == ["JOB_STATE_FAILED"] * 3


@LAGS
def test_runs_in_whose_place_another_sweep_ran_are_not_told_as_succeeded(lag: float) -> None:
    """Two sweeps of one name with other points: exit code 0, and most of one had not run."""
    service = Service(launcher=True, lag=lag)
    adas = sent(service, plan(service, 1, 2, 3))
    service.time += lag
    bobs = sent(service, plan(service, 4, 5, 6, user="bob"))
    for made in (of_user(service, "bob")[0], *of_user(service, "ada"), *of_user(service, "bob")[1:]):
        service.start(made)
        if made.ended is None:
            end(service, made, "SUCCEEDED")
    lost = ended(service, adas)
    assert [run.index for run in lost.taken] == [0] and sorted(lost.jobs) == [1, 2]
    problem = problem_of_runs(context_of(service), adas, lost, HOW)
    assert isinstance(problem, ConfigError) and "sent by bob" in problem.why
    assert [run.index for run in ended(service, bobs).taken] == [1, 2]


def test_a_run_whose_claim_a_deleted_job_had_is_gone_and_one_that_was_cancelled_has_not_succeeded() -> None:
    service = Service(launcher=True)
    mine = sent(service, plan(service, 1, 2, 3))
    requests = [made.body["labels"]["slipway-request"] for made in service.jobs]
    service.stored[f"gs://work/claims/{requests[0]}"] = "6999"
    service.stored[f"gs://work/claims/{requests[1]}"] = "cancelled"
    for made in service.jobs:
        service.start(made)
    end(service, service.jobs[2], "SUCCEEDED")
    result = ended(service, mine)
    assert list(result.gone) == [0]
    assert {index: run.state for index, run in result.jobs.items()} == {
        1: "JOB_STATE_CANCELLED",
        2: "JOB_STATE_SUCCEEDED",
    }

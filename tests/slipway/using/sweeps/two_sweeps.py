"""Sweeps of one name that are sent from two machines, against the model of the service."""

from dataclasses import replace
from typing import Any

from slipway.model.catalog.template import Parameter
from slipway.using.submission.submission_request import SubmissionRequest
from slipway.using.sweeps.points import Given, Point, Points
from slipway.using.sweeps.runs import KnownRuns, Run, remaining_runs
from slipway.using.sweeps.sweep_jobs import SweepJobs
from slipway.using.sweeps.sweep_plan import SweepPlan, plan_sweep
from slipway.using.sweeps.sweep_sender import SendingResult
from slipway.using.sweeps.sweep_submitter import SubmittedSweep
from tests.slipway.using.submission.fallback_command import catalog
from tests.slipway.using.submission.service import Context, Job, Service

SWEEP = "grid"
_SPOT = SubmissionRequest("digits", capacity_type="spot")


def context_of(service: Service) -> Any:
    deployed = catalog(launcher=service.launcher)
    template = replace(deployed.templates["digits"], parameters=(Parameter("trees", "int"),))
    return Context(service, replace(deployed, templates={"digits": template}))


def plan(service: Service, *trees: int, user: str = "ada") -> SweepPlan:
    points = tuple(Point({"trees": Given(str(count), "", "")}, f"run {count}") for count in trees)
    return plan_sweep(context_of(service).catalog, _SPOT, Points("s.csv", points), user, SWEEP)


def sent(service: Service, planned: SweepPlan, *, first: int = 0, runs: int | None = None) -> SubmittedSweep:
    """Send a sweep's runs from the `first` to the number of `runs`, whatever the lists show."""
    jobs, known = SweepJobs(context_of(service), planned, lambda _: None), KnownRuns({}, {}, {})
    all_ = [Run(index) for index in range(first, planned.count if runs is None else runs)]
    jobs.begin(all_, planned.code)
    requests = {run: planned.prepared(run).candidates[0].request for run in all_}
    names = {run: jobs.create(request).name for run, request in requests.items()}
    left = replace(remaining_runs(len(all_), known, retry=False), done=0)
    return SubmittedSweep(planned.id, planned.count, left, SendingResult(names), jobs, None)


def of_user(service: Service, user: str) -> list[Job]:
    return [job for job in service.jobs if job.body["labels"]["slipway-user"] == user]


def end(service: Service, job: Job, state: str) -> None:
    job.state, job.ended = f"JOB_STATE_{state}", service.time

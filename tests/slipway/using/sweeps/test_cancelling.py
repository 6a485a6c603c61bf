"""The cancel of a sweep whose jobs a list hides: nothing of it runs, and nothing is left, or it is told."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from slipway.base.errors import AnswerUnknown, ResourceError
from slipway.google.failures import Answer, failure
from slipway.using.submission.delivery import SendState
from slipway.using.sweeps.cancelling import CancelledSweep, cancel_sweep
from slipway.using.sweeps.runs import Run
from slipway.using.sweeps.sweep_journal import SweepHeader, SweepJournal, journal_of_sweep
from slipway.using.sweeps.sweep_submitter import SubmittedSweep
from tests.slipway.using.submission.service import CALL, Service

from .two_sweeps import SWEEP, context_of, plan, sent

LAGS = pytest.mark.parametrize("lag", [0.0, 8.0, 30.0])


def started(tmp_path: Path, lag: float, *, shown: int = 3, runs: int = 6, **fields: Any) -> Service:
    """A sweep of six runs, of which lists show the first ones alone, recorded in this machine's journal."""
    service = Service(launcher=True, lag=lag, **fields)
    planned = plan(service, *range(6))
    early = sent(service, planned, runs=shown)
    service.time += lag
    late = sent(service, planned, first=shown, runs=runs)
    record(service, tmp_path, early, late)
    return service


def record(service: Service, folder: Path, *sweeps: SubmittedSweep) -> None:
    with SweepJournal(journal_of_sweep(at(service, folder), SWEEP)) as journal:
        journal.begin(SweepHeader(SWEEP, "digits", "d", 6, "", "", "work"))
        for sweep in sweeps:
            for run, name in sweep.result.accepted.items():
                journal.write(run, SendState.SENDING, service.time)
                journal.write(run, SendState.ACCEPTED, service.time, name)


def at(service: Service, folder: Path) -> Any:
    context = context_of(service)
    context.folder, context.environ = folder, {"SLIPWAY_JOURNAL": "records"}
    return context


def cancel(service: Service, folder: Path, tell: Callable[[str], None] = lambda _: None) -> CancelledSweep:
    return cancel_sweep(at(service, folder), SWEEP, lambda theirs: None, tell)


def nothing_is_left(service: Service) -> None:
    assert [job.id for job in service.jobs if job.ended is None] == [], "a job is left, and is billed later"
    service.end_of_days()
    assert service.runs == []


@LAGS
def test_all_runs_of_the_journal_are_cancelled_whatever_a_list_shows(tmp_path: Path, lag: float) -> None:
    """`cancelling 3 of 3`, exit code 0: the three that the list hid ran afterwards."""
    service = started(tmp_path, lag)
    begun = service.time
    done = cancel(service, tmp_path)
    assert (len(done.cancelling), len(done.jobs), done.problem) == (6, 6, None)
    assert service.time == begun, "nothing is waited for"
    nothing_is_left(service)


@LAGS
@pytest.mark.parametrize("runs", [6, 5])
def test_another_machine_cancels_the_jobs_that_a_list_hides_once_it_shows_them(
    tmp_path: Path, lag: float, runs: int
) -> None:
    service, told = started(tmp_path, lag, runs=runs), list[str]()
    done = cancel(service, tmp_path / "elsewhere", told.append)
    assert len(done.cancelling) == runs and done.problem is None
    nothing_is_left(service)
    assert {service.stored[f"gs://work/claims/{Run(index).request_id(SWEEP)}"] for index in range(6)} == {"cancelled"}
    assert service.time < lag * 2 + 70 and (not told or "not listed" in told[0])


@LAGS
def test_a_sweep_of_which_no_list_shows_a_job_yet_is_cancelled_by_another_machine(tmp_path: Path, lag: float) -> None:
    """`no jobs of sweep grid`, exit code 4: all of it ran afterwards."""
    service = started(tmp_path, lag, shown=0)
    assert len(cancel(service, tmp_path / "elsewhere").cancelling) == 6
    nothing_is_left(service)


def test_a_hidden_job_that_runs_is_found_by_its_claim(tmp_path: Path) -> None:
    service = started(tmp_path, 30.0)
    service.start(service.jobs[5])
    done = cancel(service, tmp_path / "elsewhere")
    assert len(done.cancelling) == 6 and service.jobs[5].ended is not None
    assert service.jobs[5].id in service.ended_runs


def test_runs_of_which_no_list_tells_are_named(tmp_path: Path) -> None:
    service = started(tmp_path, 30.0)
    listed = service.jobs_listed

    def out_of_order(filter: str, regions: tuple[str, ...]) -> Any:
        if service.time > 40:
            raise failure(CALL, Answer(503, "UNAVAILABLE", "out of order"))
        return listed(filter, regions)

    service.jobs_listed = out_of_order  # type: ignore[method-assign]
    done = cancel(service, tmp_path / "elsewhere")
    assert [run.index for run in done.unknown] == [3, 4, 5] and len(done.cancelling) == 3
    assert isinstance(done.problem, AnswerUnknown) and done.problem.exit_code == 75
    assert "runs 3, 4 and 5" in done.problem.what and f"slipway jobs cancel --sweep {SWEEP}" in done.problem.fix
    service.end_of_days()
    assert service.runs == [], "their claims are taken"


def test_a_copy_that_another_machine_has_just_sent_is_cancelled_too(tmp_path: Path) -> None:
    service = started(tmp_path, 0.0)
    service.lag = 30.0
    service.time += 31
    sent(service, plan(service, *range(6)), runs=2)
    service.time += 30
    sent(service, plan(service, *range(6)), first=2, runs=6)
    assert cancel(service, tmp_path).problem is None
    nothing_is_left(service)


def test_a_sweep_that_has_ended_has_nothing_to_cancel(tmp_path: Path) -> None:
    service = started(tmp_path, 0.0)
    cancel(service, tmp_path)
    with pytest.raises(ResourceError) as raised:
        cancel(service, tmp_path)
    assert "nothing to cancel" in raised.value.what


def test_a_bucket_that_takes_nothing_keeps_no_job_from_being_cancelled(tmp_path: Path) -> None:
    service = started(tmp_path, 0.0)
    service.faults["take"] = service.faults["note"] = ["busy"] * 20
    done = cancel(service, tmp_path)
    assert len(done.cancelling) == 6 and done.unnoted and done.problem is None
    nothing_is_left(service)

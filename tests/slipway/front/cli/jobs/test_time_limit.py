"""A job that reaches its time limit is told as that, and not as cancelled. # N8 # N25"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from slipway.base.errors import JobTimeout, ResourceError
from slipway.google.jobs import VertexJob
from slipway.using.jobs.failure import Failure, reason_of
from slipway.using.jobs.remedy import meaning
from slipway.using.submission.ending import error_of_end
from tests.slipway.front.cli.stack import Stack

BEGAN = datetime(2026, 11, 27, 12, tzinfo=UTC)


def ended(state: str, ran: float, limit: float | None = 60.0) -> VertexJob:
    job = VertexJob("projects/p/locations/r/customJobs/1", "nap-1", f"JOB_STATE_{state}", timeout=limit)
    return replace(job, create_time=BEGAN, start_time=BEGAN, end_time=BEGAN + timedelta(seconds=ran))


@pytest.mark.parametrize(
    ("job", "timed_out"),
    [
        (ended("CANCELLED", 60.2), True),
        (ended("FAILED", 60.0), True),
        (ended("CANCELLED", 12.0), False),
        (ended("SUCCEEDED", 60.0), False),
        (ended("CANCELLED", 60.0, None), False),
        (replace(ended("CANCELLED", 60.0), start_time=None), False),
        (replace(ended("CANCELLED", 60.0), end_time=None), False),
    ],
)
def test_its_times_tell(job: VertexJob, timed_out: bool) -> None:
    assert job.timed_out == timed_out
    assert isinstance(error_of_end(job), JobTimeout) == timed_out
    assert issubclass(JobTimeout, ResourceError), "a job that reached its limit has failed"
    assert (job.job_state == "timed-out", "reached its time limit" in reason_of(job)) == (timed_out, timed_out)
    assert ("timed out" in job.owner_and_age(BEGAN)) == timed_out


@pytest.mark.journey
def test_who_waits_is_told_and_lists_say_so(stack: Stack) -> None:
    done = stack.run("submit", "hello", "-p", "code=import time; time.sleep(600)", "--max-run", "1s", "--wait")
    assert done.code == 9 and "reached its time limit of 1 s, and the service ended it" in done.err, done.err
    assert "fix: slipway submit --like hello-" in done.err and "--max-run TIME" in done.err
    (job,) = stack.jobs()
    assert "timed-out" in stack.run("jobs", "list", "--state", "timed-out").out
    for other in ("cancelled", "failed"):
        assert "no jobs match" in stack.run("jobs", "list", "--state", other).err
    assert "state      timed-out" in stack.run("jobs", "show", job["displayName"]).out
    assert "timed out)" in stack.run("jobs", "show", "hello").err


def test_a_gpu_s_memory_is_told_as_that() -> None:
    lines = ("torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 20.00 MiB.",)
    failure = Failure("chief", lines)
    assert failure.brief == "out of a GPU's memory (chief)" and "smaller batch" in failure.fix
    assert Failure("chief", ("ValueError: out of range",)).fix == ""


STATUS = "The replica workerpool0-0 exited with a non-zero status of {}."


@pytest.mark.parametrize(
    ("line", "error", "fix"),
    [
        ("MemoryError", "", "a smaller batch, or take a machine with more memory"),
        ("numpy._core._exceptions._ArrayMemoryError: Unable to allocate 9 GiB for an array", "", "a smaller batch"),
        ("RuntimeError: DataLoader worker is killed by signal: Bus error. out of shared memory", "", "num_workers"),
        ("", STATUS.format(135), "num_workers"),
        ("", STATUS.format(139), "PYTHONFAULTHANDLER=1"),
        ("", STATUS.format(134), "PYTHONFAULTHANDLER=1"),
        ("ModuleNotFoundError: No module named 'cv2'", "", "list opencv-python-headless in requirements.txt"),
        ("sh: 1: torchrun: not found", STATUS.format(127), "list torch in requirements.txt"),
        ("bash: line 1: uv: command not found", "", "the folder's packages are installed"),
        ("", STATUS.format(3), ""),
    ],
)
def test_what_helps_is_told_by_the_last_lines_and_by_the_exit_code(line: str, error: str, fix: str) -> None:
    failure = Failure("chief", (line,), why=meaning(error), error=error)
    assert fix in failure.fix and bool(failure.fix) == bool(fix)
    if "135" in error:
        assert failure.words[0] == "SIGBUS: most likely out of shared memory"


@pytest.mark.journey
def test_a_run_of_a_sweep_that_did_has_failed(stack: Stack) -> None:  # N7
    (stack.folder / "s.csv").write_text("code\nimport time; time.sleep(600)\n")
    done = stack.run("submit", "hello", "--sweep", "s.csv", "--max-run", "1s", "--wait")
    assert done.code == 4 and "1 failed" in done.err + done.out, done.err


@pytest.mark.parametrize(
    ("lines", "brief"),
    [
        (
            ("epoch 3", "slipway: the command ended with 7; files kept: 0, as nothing was written"),
            "the command ended with 7",
        ),
        (
            ("error: a secret can't be read", "  why: nope needs a role", "  fix: gcloud secrets"),
            "error: a secret can't be read",
        ),
        (("Traceback", "ValueError: no data"), "ValueError: no data"),
    ],
)
def test_a_failure_in_brief_is_what_failed_and_no_way_out(lines: tuple[str, ...], brief: str) -> None:
    assert Failure("chief", lines).brief == f"{brief} (chief)"

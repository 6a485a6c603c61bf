"""A job that reaches its time limit is told as that, and not as cancelled. # N8 # N25"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import cast

import pytest

from slipway.base.errors import JobTimeout, ResourceError
from slipway.google.failures import Call, Exhausted
from slipway.google.jobs import VertexJob
from slipway.google.logging import LogEntry
from slipway.using.context import Context
from slipway.using.jobs.failure import Failure, read_failure, reason_of
from slipway.using.jobs.reason_line import telling_lines
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


IN_PACKAGE = '  File "/tmp/slipway-x/code/src/mytrain/train.py", line 4, in <module>'
AT_TOP = '  File "/tmp/slipway-x/code/train.py", line 4, in <module>'
RELATIVE = "ImportError: attempted relative import with no known parent package"
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
        ("ModuleNotFoundError: No module named 'cv2'", "", "uv add opencv-python-headless in a uv project"),
        ("python: No module named mytrain.trian", "", "correct the name mytrain.trian"),
        ("python: No module named lib.__main__; 'lib' is a package", "", "correct the name lib.__main__"),
        (f"{IN_PACKAGE}\n{RELATIVE}", "", "slipway run python -m mytrain.train"),
        (f"{AT_TOP}\n{RELATIVE}", "", "import it without the dots"),
        ("sh: 1: torchrun: not found", STATUS.format(127), "uv add torch in a uv project"),
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


HYDRA = "Set the environment variable HYDRA_FULL_ERROR=1 for a complete stack trace."
OF_RANK = (
    "[rank0]: Traceback (most recent call last):",
    '[rank0]:   File "train.py", line 4, in <module>',
    "[rank0]: own.Failed: no data",
)
TORCHRUN = (
    "E1201 10:00:00.1 7 torch/distributed/elastic/multiprocessing/api.py:869] failed (exitcode: 1) local_rank: 0",
    "Traceback (most recent call last):",
    '  File "/usr/local/bin/torchrun", line 8, in <module>',
    "    raise ChildFailedError(",
    "torch.distributed.elastic.multiprocessing.errors.ChildFailedError: ",
    "=" * 60,
    "train.py FAILED",
    "-" * 60,
    "Failures:",
    "  <NO_OTHER_FAILURES>",
    "-" * 60,
    "Root Cause (first observed failure):",
    "[0]:",
    "  time      : 2026-12-01_10:00:00",
    "  host      : workerpool0-0",
    "  exitcode  : 1 (pid: 7)",
    "  traceback : To enable traceback see: https://pytorch.org/docs/stable/elastic/errors.html",
    "=" * 60,
)


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
        (("ValueError: no data", "", HYDRA), "ValueError: no data"),
        (
            ("Primary config module 'conf' not found.", "Check it", "", HYDRA),
            "Primary config module 'conf' not found. Check it",
        ),
        ((*OF_RANK, "srun: error: node1: task 0: Exited with exit code 1"), "own.Failed: no data"),
        ((*OF_RANK, *TORCHRUN), "own.Failed: no data"),
        (TORCHRUN, "torch.distributed.elastic.multiprocessing.errors.ChildFailedError:"),
        (("KeyError: 'x'", "subprocess.CalledProcessError: Command '['python']' returned"), "KeyError: 'x'"),
        (("KeyError: 'x'", "[rank: 1] Child process with PID 7 terminated with code 1."), "KeyError: 'x'"),
        (("KeyError: 'x'", "wandb: Find logs at: wandb/run-1"), "KeyError: 'x'"),
        (("ValueError: handled", "error: no config"), "error: no config"),
    ],
)
def test_a_failure_in_brief_is_what_failed_and_no_way_out(lines: tuple[str, ...], brief: str) -> None:
    assert Failure("chief", lines).brief == f"{brief} (chief)"


def test_the_lines_of_a_failure_end_with_its_reason() -> None:
    lines = [*(f"epoch {number}" for number in range(20)), *OF_RANK, *TORCHRUN, *TORCHRUN[1:]]
    assert telling_lines(lines, 4) == ["epoch 19", *OF_RANK]
    assert (
        telling_lines(["a", "", HYDRA], 4) == ["a"]
        and telling_lines([HYDRA], 4) == [HYDRA]
        and telling_lines([], 4) == []
    )


def test_words_of_slipway_about_files_are_no_reason() -> None:
    lines = ["bad data", "slipway: not kept: .hydra/config.yaml: no space"]
    assert telling_lines(lines, 4) == ["bad data"] and Failure("main", tuple(lines)).brief == "bad data (main)"


def test_a_kill_with_free_memory_is_no_lack_of_memory() -> None:
    free = Failure("chief", memory=0.01, machine="n1-standard-8", killed=True)
    assert "memory of its n1-standard-8" in free.words[0] and free.words[0].startswith("SIGKILL ended chief")
    assert free.brief == "killed by SIGKILL (chief, 1 % of its n1-standard-8)" and "more memory" not in free.fix
    said = "The replica w ran out of memory and exited with a non-zero status of 137."
    assert free.without_guess(said) == "The replica w exited with a non-zero status of 137."
    full = replace(free, memory=0.97)
    assert full.without_guess(said) == said
    assert full.brief.startswith("out of memory (chief, 97 %") and "more memory" in full.fix
    assert "install hydra-core in the template's image" in Failure("a", (NO_HYDRA,), own_image=True).fix


@pytest.mark.parametrize(
    ("line", "absent"),
    [
        ("python: No module named train", "train"),
        ("ModuleNotFoundError: No module named 'train'", "train"),
        ("python: can't open file '/app/train.py': [Errno 2] No such file or directory", "train.py"),
    ],
)
def test_an_own_image_without_a_folder_is_told_to_have_been_given_none(line: str, absent: str) -> None:
    fix = Failure("main", (line,), own_image=True, has_folder=False).fix
    assert fix == f"no folder was given: add --code . if {absent} is in yours, or install it in the template's image"
    assert "no folder" not in Failure("main", (line,), own_image=True).fix


NO_HYDRA = "ModuleNotFoundError: No module named 'hydra'"


@pytest.mark.parametrize(
    ("refusals", "followed", "told", "slept"),
    [
        (1, [], "KeyError: 'x'", 1),
        (2, [], "", 1),
        (2, ["KeyError: 'y'"], "KeyError: 'y'", 0),
        (0, ["a"], "KeyError: 'x'", 0),
    ],
)
def test_a_limit_of_reads_hides_no_reason(refusals: int, followed: list[str], told: str, slept: int) -> None:
    problem, task = Exhausted(Call("read the logs")), "workerpool0-0"
    answers, pauses = [problem] * refusals, list[float]()

    def entries(*_: object, **__: object) -> list[LogEntry]:
        if answers:
            raise answers.pop()
        return [line("KeyError: 'x'")]

    def line(text: str) -> LogEntry:
        return LogEntry(BEGAN, "", "ERROR", "log", task, text, "", {}, "1")

    brief = SimpleNamespace(logging=lambda _: SimpleNamespace(entries=entries))
    clock, catalog = SimpleNamespace(sleep=pauses.append), SimpleNamespace(project="p")
    context = cast("Context", SimpleNamespace(brief=brief, clock=clock, catalog=catalog))
    job = replace(ended("FAILED", 5), error=STATUS.format(1))
    failure = read_failure(context, job, list(map(line, followed)), waits=True)
    assert failure and len(pauses) == slept
    assert "".join(failure.lines) == told and ("more is not known" in failure.why) == (not told)

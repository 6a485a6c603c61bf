"""`slipway submit --sweep` on a real local cloud: each point is run once, whatever happens on the way."""

import csv
import shlex
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from slipway.authoring.packages import slipway_launcher as launcher
from slipway.using.context import Context
from slipway.using.sweeps import catalog_watch
from tests.local.conftest import LocalCloud

from .stack import JOBS, SLEEP, Stack, counts, held
from .test_fallback import packaged

CREATE = r"^POST .*/customJobs$"


def points(stack: Stack, count: int, name: str = "sweep.csv") -> str:
    """A sweep of `hello` that prints its number, in the folder of the test."""
    with (stack.folder / name).open("w", newline="") as file:
        csv.writer(file).writerows([("code",), *[(f"print('run {index}')",) for index in range(count)]])
    return name


def every_job(stack: Stack) -> list[dict[str, Any]]:
    """All the stack's jobs, of every page."""
    filter_ = f'labels.slipway-sweep:* AND labels.slipway-stack="{stack.name}"'
    return stack.cloud.every(f"{JOBS}?pageSize=1000&filter={filter_}", "customJobs")


def test_what_it_is_is_said(snapshot: SnapshotAssertion, stack: Stack) -> None:
    done = stack.run("submit", "hello", "--sweep", points(stack, 3))
    assert done.code == 0, done.err
    lines = done.out.splitlines()
    assert [*lines[:3], *lines[4:6]] == snapshot
    assert lines[3].startswith("sweep hello-") and lines[3].endswith(": 3 runs") and counts(lines[-1]) == (3, 0, 3)
    stack.until(lambda: all(job["state"] == "JOB_STATE_SUCCEEDED" for job in every_job(stack)))
    retried = stack.well("submit", "hello", "--sweep", "sweep.csv", "--retry-failed")
    assert "3 runs has failed, nothing" in retried.out and counts(retried.out.splitlines()[-1]) == (0, 3, 3)
    planned = stack.run("submit", "hello", "--sweep", points(stack, 7), "--dry-run")
    told = planned.json["forecast"]
    assert (told["runs"], told["earlierRuns"], told["paidAnyway"], told["usdComplete"]) == (7, 3, True, True)
    assert "(3 earlier runs" in planned.err and "all 7 runs: under $0.01" in planned.err


def test_a_dry_run_prints_the_count_and_the_first_requests(standing: Stack) -> None:
    done = standing.run("submit", "hello", "--sweep", points(standing, 200), "--dry-run")
    assert done.code == 0, done.err
    assert done.json["kind"] == "sweep-plan" and done.json["count"] == 200 and done.json["takesSeconds"] == 180
    takes = "will take about 3 min 00 s to send (60 a minute, shared by all who submit in the region)"
    assert "200 runs" in done.err and takes in done.err
    assert [request["labels"]["slipway-run"] for request in done.json["requests"]] == ["0", "1", "2"]
    assert standing.jobs() == [] and not (standing.folder / ".slipway" / "sweeps").exists()


def test_the_same_command_sends_nothing_more_and_a_name_makes_another_sweep(stack: Stack, tmp_path: Path) -> None:
    words = ("submit", "hello", "--sweep", points(stack, 2))
    assert stack.run(*words).code == 0
    again = stack.run(*words)
    assert again.code == 0 and counts(again.out.splitlines()[-1]) == (0, 2, 2)
    planned = stack.run(*words, "--dry-run")
    assert "2 runs, 2 of them submitted before" in planned.err and planned.json["requests"] == []
    stack.folder = tmp_path / "another machine"
    (stack.folder / ".git").mkdir(parents=True)
    points(stack, 2)
    assert counts(stack.run(*words).out.splitlines()[-1]) == (0, 2, 2)
    assert len(every_job(stack)) == 2
    assert stack.run(*words, "--request-id", "once-more").code == 0
    assert len(every_job(stack)) == 4


def test_everything_wrong_is_said_by_its_place_before_anything_is_sent(
    snapshot: SnapshotAssertion, standing: Stack
) -> None:
    (standing.folder / "s.csv").write_text("workers,code\n1,a\n99,b\nmany,c\n")
    done = standing.run("submit", "crew", "--sweep", "s.csv")
    assert done.code == 2 and standing.jobs() == []
    assert done.err.splitlines()[:3] == snapshot


def test_a_shape_that_no_offer_takes_stops_the_sweep(standing: Stack) -> None:  # P3
    (standing.folder / "g.yaml").write_text("grid: {workers: [1, 2, 40]}")
    done = standing.run("submit", "crew", "--sweep", "g.yaml")
    assert done.code == 5 and "why: run 2: crew can't" in done.err and standing.jobs() == []


@pytest.mark.parametrize("flags", [("--follow",), ("--wait-for", "pool=5m"), ("--experiment-run", "a")])
def test_what_is_for_one_job_is_refused(standing: Stack, flags: tuple[str, ...]) -> None:
    done = standing.run("submit", "hello", "--sweep", points(standing, 2), *flags)
    assert done.code == 2 and "one job" in done.err and standing.jobs() == []


def test_failed_runs_are_told_to_who_waits_and_sent_once_more(snapshot: SnapshotAssertion, stack: Stack) -> None:  # N7
    (stack.folder / "s.csv").write_text("code\nprint(1)\nraise SystemExit('no such file')\n")
    words = ("submit", "hello", "--sweep", "s.csv")
    first = stack.run(*words, "--wait", "--output", "json")
    assert first.code == 4, first.err
    assert [state["state"] for state in first.json["states"]] == ["succeeded", "failed"]
    again = stack.run(*words, "--wait")
    assert again.code == 4 and "0 submitted now, 2 before," in again.out
    assert "error: 1 of 2 runs" in again.err and "did not succeed\n  why: 1" in again.err
    assert "\n         run 1: no such file (" in again.err, "as the table and the other forms of results have it"
    assert "submit hello --sweep s.csv --retry-failed" in again.err
    assert stack.run(*words).out.splitlines()[-1] == snapshot
    retried = stack.well(*words, "--retry-failed")
    assert counts(retried.out.splitlines()[-2]) == (1, 1, 2)
    assert retried.out.splitlines()[-1] == "  sent once more: 1"
    assert sorted(job["labels"]["slipway-run"] for job in every_job(stack)) == ["0", "1", "1-1"]
    stack.until(lambda: all("endTime" in job for job in every_job(stack)), 60)
    known = stack.run(*words, "--output", "json").json
    assert (known["accepted"], known["before"], known["failed"], known["repeated"]) == ([], 2, 1, 1)
    twice = stack.run(*words, "--retry-failed", "--output", "json").json
    assert [(run["run"], run["attempt"]) for run in twice["accepted"]] == [(1, 2)] and twice["before"] == 1


def test_waiting_has_an_end_and_the_runs_go_on(stack: Stack) -> None:
    (stack.folder / "s.csv").write_text(f'code\nprint(1)\n"{SLEEP}"\n')
    words = ("submit", "hello", "--sweep", "s.csv")
    late = stack.run(*words, "--wait", "--timeout", "1s")
    assert late.code == 9 and "runs of sweep hello-" in late.err and "have not ended after 1" in late.err
    sweep = every_job(stack)[0]["labels"]["slipway-sweep"]
    assert stack.run("jobs", "cancel", "--sweep", sweep).code == 0
    cancelled = stack.run(*words, "--wait")
    assert cancelled.code == 8 and " of 2 runs of sweep " in cancelled.err and "cancelled" in cancelled.err


def test_the_command_that_goes_on_has_the_rate_and_the_wait_that_were_typed(stack: Stack) -> None:  # N7
    """Pasted it sent the rest at twice the rate, and ended before the runs did, or waited for ever."""
    stack.act_as_trainer(granted=False)
    words = ["slipway", "submit", "hello", "--sweep", points(stack, 2, "my sweep.csv"), "--rate", "30"]
    words += ["--wait", "--timeout", "90s"]
    refused = stack.run(*words[1:])
    assert refused.code == 3 and f": {shlex.join(words)}\n" in refused.err


def test_runs_that_stay_unknown_are_sent_when_somebody_insists(stack: Stack) -> None:
    words = ("submit", "hello", "--sweep", points(stack, 3))
    with stack.faults({"kind": "unavailable", "match": CREATE, "times": 3}):
        unknown = stack.run(*words, SLIPWAY_LOOK_FOR="1s")
    assert unknown.code == 75 and "hello --sweep sweep.csv --retry-failed" in unknown.err
    assert stack.run(*words, SLIPWAY_LOOK_FOR="1s").code == 75 and every_job(stack) == []
    stack.catalog["commit"] = "0a1b2c3"
    stack.publish()
    again = stack.run(*words, "--retry-failed", SLIPWAY_LOOK_FOR="1s")
    assert again.code == 0 and len(every_job(stack)) == 3
    assert "with the templates of 3f9c2e1;" in again.err and "rest runs those of 0a1b2c3" in again.err


A_TENTH: tuple[dict[str, Any], ...] = (
    {"kind": "lost-answer", "match": CREATE, "every": 20},
    {"kind": "unavailable", "match": CREATE, "every": 20},
    {"kind": "unavailable", "match": r"^POST /upload/.*/o$", "every": 20},
    {"kind": "lost-answer", "match": r"^POST /upload/.*/o$", "every": 20},
    {"kind": "lagging-list", "match": "customJobs", "seconds": 2.0},
)
"""Of all submissions and claims: busy, or done and not answered. Every list lags."""


@pytest.mark.journey
@pytest.mark.parametrize(
    "count", [pytest.param(40, marks=pytest.mark.smoke), pytest.param(1000, marks=pytest.mark.long)]
)
def test_many_runs_through_a_tenth_of_faults_run_once_each(small: Stack, count: int) -> None:  # N7
    """The sweep is real, killed in its middle, and so are the claims that its launchers take. No job gets machines: for
    each one that was accepted the launcher's own code asks for the claim, as its replica would.
    """
    held(small)
    packaged(small)
    words = ("submit", "hello", "--sweep", points(small, count), "--rate", "0")
    runs = {str(index) for index in range(count)}
    with small.faults(*A_TENTH):
        with small.started(*words, SLIPWAY_LOOK_FOR="3s") as sending:
            small.until(lambda: len(every_job(small)) > count * 0.3, 120)
            sending.kill()
        again = small.run(*words, SLIPWAY_LOOK_FOR="3s")
        assert again.code == 0, again.err
        small.until(lambda: {job["labels"]["slipway-run"] for job in every_job(small)} == runs)
        jobs = every_job(small)
        with ThreadPoolExecutor(16) as threads:
            ran = list(threads.map(lambda job: replica(small, job), jobs))
    assert (small.cloud.state / "cloud.log").read_text().count("answer lost (fault)") > count * 0.04
    have_run = [job["labels"]["slipway-run"] for job, has_run in zip(jobs, ran, strict=True) if has_run]
    assert len(have_run) == count and set(have_run) == runs


def replica(stack: Stack, job: dict[str, Any]) -> bool:
    """What a job's replica does first; whether user code would run then."""
    args = job["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]["args"]
    environ = {"STORAGE_EMULATOR_HOST": stack.cloud.url, "GCE_METADATA_HOST": "the-tests-own"}
    number = job["name"].rsplit("/", 1)[-1]
    runs, _ = launcher.settle(args[1], number, environ)
    return bool(runs == number)


@pytest.fixture(autouse=True)
def _token(cloud: LocalCloud, monkeypatch: pytest.MonkeyPatch) -> None:
    """A replica's token comes from the metadata server of its machine, and here there is no machine."""
    token = cloud.token("owner")
    monkeypatch.setattr(launcher, "token", lambda environ: token)


def test_a_deployment_in_the_middle_stops_it(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:  # N2, N7
    anew = Context.anew

    def after_a_deployment(context: Context) -> Context:
        stack.catalog["clusters"]["cpu"]["id"] = "cpu-next"
        stack.publish()
        return anew(context)

    for patience in ("EVERY_S", "PATIENCE_S"):
        monkeypatch.setattr(catalog_watch, patience, 0.0)
    monkeypatch.setattr(Context, "anew", after_a_deployment)
    stopped = stack.run("submit", "hello", "--sweep", points(stack, 3))
    assert stopped.code == 4 and every_job(stack) == [] and "error: cluster cpu was replaced" in stopped.err
    assert "slipway submit hello --sweep sweep.csv" in stopped.err

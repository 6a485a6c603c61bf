"""`slipway.submit(...)` on a real local cloud: the same submissions as the command's, and nothing printed."""

import os
import pickle
import pydoc
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import slipway
from slipway.base.errors import AnswerUnknown, Cancelled, ConfigError, PolicyError, ResourceError, WaitTimeout
from slipway.google.trials import Trial
from slipway.model.kinds import TUNING_JOB
from slipway.using.context import Context
from tests.slipway.front.cli import conftest as _fixtures
from tests.slipway.front.cli.stack import SLEEP, UNSET, Stack, held
from tests.slipway.front.cli.test_submission_run import lagging, lost
from tests.slipway.using.submission.conftest import job as a_job

pytestmark = pytest.mark.smoke

_stack = _fixtures.stack


@pytest.fixture
def stack(_stack: Stack, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    """The stack, and the environment of somebody who uses it."""
    environ = {name: value for name, value in _stack.env().items() if value != UNSET}
    for name in set(os.environ) - set(environ):
        monkeypatch.delenv(name)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(_stack.folder)
    yield _stack


def test_a_job_is_submitted_awaited_and_read(stack: Stack, capfd: pytest.CaptureFixture[str]) -> None:  # N12
    job = slipway.submit("hello", code_="print('out of the job'); print('and more')")
    assert job.name.startswith("hello-") and job.raw_state.startswith("JOB_STATE_")
    assert (job.commit, job.dirty) == ("3f9c2e1", None), "catalogs of long ago don't tell"  # N8
    done = job.wait(timeout=120)
    assert done.ended and done.state == "succeeded" and done == job
    assert done.output == f"gs://w-{stack.name}/jobs/{job.name}"
    assert {"main  out of the job", "main  and more"} <= set(done.logs())
    assert done.best_trial is None
    stack.write(f"jobs/{job.name}/metrics.json", b"{}")
    assert done.download() == Path(job.name) and Path(job.name, "metrics.json").read_bytes() == b"{}"
    Path("mine").mkdir()
    Path("mine", "metrics.json").write_text("mine")
    with pytest.raises(ConfigError, match="1 file of mine differ"):
        done.download("mine")
    assert done.download("mine", overwrite=True) == Path("mine")
    assert [entry["displayName"] for entry in stack.jobs()] == [job.name] and stack.jobs()[0]["name"].endswith(job.id)
    assert capfd.readouterr() == ("", "")


def test_a_team_is_named_as_by_the_command(stack: Stack) -> None:  # N32
    stack.catalog["submitters"] = {"trainer": ["group:vision@acme.example", "group:speech@acme.example"]}
    stack.publish()
    job = slipway.submit("hello", code_="pass", team="vision")
    sweep = slipway.sweep("hello", {"code": ["pass"]}, team="speech")
    assert [each["labels"]["slipway-team"] for each in stack.jobs()] == ["speech", "vision"]
    assert job.id and sweep.count == 1
    with pytest.raises(ConfigError, match="--team language is none of the teams"):
        slipway.submit("hello", code_="pass", team="language")


def test_a_handle_does_not_change_and_a_newer_one_is_asked_for(stack: Stack) -> None:  # N12
    job = slipway.submit("hello", code_=SLEEP)
    stack.until(lambda: job.refresh().state == "running")
    assert job.state != "running" and not job.ended
    with pytest.raises(WaitTimeout, match="it is running, and goes on") as error:
        job.wait(timeout=0.5)
    assert error.value.job.state == "running" and pickle.loads(pickle.dumps(error.value)).what == error.value.what
    job.cancel()
    with pytest.raises(Cancelled):
        job.wait(timeout=60)
    with pytest.raises(ResourceError, match="there is nothing to cancel"):
        job.cancel()


def test_the_same_request_id_runs_once_from_python_and_from_the_command(stack: Stack) -> None:  # N7, N12
    first = slipway.submit("hello", request_id="nightly", code_="print(1)")
    assert slipway.submit("hello", request_id="nightly", code_="print(1)") == first
    again = stack.run("submit", "hello", "-p", "code=print(1)", "--request-id", "nightly", "--output", "json")
    assert again.json["fresh"] is False and again.json["job"]["name"] == first.resource_name
    assert len(stack.jobs()) == 1
    with pytest.raises(ConfigError):
        slipway.submit("hello", request_id="nightly", code_="print(2)")


def test_a_submission_moves_on_when_its_wait_runs_out(stack: Stack) -> None:  # N3, N12
    held(stack)
    with stack.settings(quota={"custom_model_training_preemptible_cpus": 64}):
        job = slipway.submit("hello", wait_for={"pool": 1}, then="spot", code_="print(1)")
    second, first = stack.jobs()[:2]
    assert job.resource_name == second["name"] and second["labels"]["slipway-capacity-type"] == "spot"
    assert first["labels"]["slipway-capacity-type"] == "pool" and first["state"].startswith("JOB_STATE_CANCEL")
    assert job.wait(timeout=60).state == "succeeded"


def test_what_costs_more_than_the_stack_lets_pass_is_raised_until_it_is_confirmed(stack: Stack) -> None:  # N12, W2
    stack.catalog["confirmAbove"] = 0.01
    stack.publish()
    with stack.settings(quota={"custom_model_training_preemptible_cpus": 64}):
        with pytest.raises(PolicyError, match="nobody has confirmed the price of hello by spot") as refused:
            slipway.submit("hello", capacity="spot")
        assert "yes=True" in refused.value.fix
        with pytest.raises(PolicyError, match="2 runs of hello"):
            slipway.sweep("hello", {"code": ["print(1)", "print(2)"]}, capacity="spot")
        assert stack.jobs() == []
        with pytest.raises(ConfigError, match="notify is not a secret's name") as error:
            slipway.sweep("hello", {"code": ["print(1)", "print(2)"]}, notify="https://chat.acme.example/s3cr3t")
        assert "s3cr3t" not in str(error.value)
        with pytest.raises(ConfigError, match="yes is given a str"):
            slipway.submit("hello", yes="no")  # type: ignore[arg-type]
        assert slipway.submit("hello", capacity="spot", yes=True).raw_state.startswith("JOB_STATE_")
        assert slipway.sweep("hello", {"code": ["print(1)", "print(2)"]}, capacity="spot", yes=True).count == 2


def test_an_interrupted_submission_says_how_to_go_on_with_it(stack: Stack, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cell of a notebook that is stopped and run again would be a second submission."""

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("slipway.using.submission.fallback.FallbackLoop.run", interrupted)
    with pytest.raises(KeyboardInterrupt) as stopped:
        slipway.submit("hello", wait_for={"pool": 60}, then="spot")
    request_id = stack.jobs()[0]["labels"]["slipway-request"]
    assert f"request_id={request_id!r}" in "".join(stopped.value.__notes__)


def test_an_answer_that_stays_unknown_is_said_with_the_call_that_goes_on(
    stack: Stack, monkeypatch: pytest.MonkeyPatch
) -> None:  # N7, N12
    monkeypatch.setenv("SLIPWAY_LOOK_FOR", "1s")
    with stack.faults(lost(), lagging(3600)), pytest.raises(AnswerUnknown, match="was accepted is unknown") as told:
        slipway.submit("hello", request_id="unknown-2")
    assert "with request_id='unknown-2'   (looks again first;" in told.value.fix
    assert "slipway submit" not in told.value.fix
    assert slipway.submit("hello", request_id="unknown-2").name == stack.jobs()[0]["displayName"]


def test_the_best_trial_is_by_the_jobs_goal() -> None:  # N12
    tried = tuple(Trial(str(n), "SUCCEEDED", {"depth": str(n)}, {"loss": loss}, "") for n, loss in ((1, 0.5), (2, 0.1)))
    tuned = replace(a_job(), kind=TUNING_JOB, tried=tried, goals={"loss": "MINIMIZE"})
    assert slipway.Job(tuned.name, "request", tuned, Context()).best_trial == tried[1]


def test_a_timeout_that_is_no_time_is_refused_before_anything_is_asked() -> None:
    waiting = slipway.Job("name", "request", a_job(), Context())
    with pytest.raises(ConfigError, match="timeout is given a list") as error:
        waiting.wait(timeout=[5])  # type: ignore[arg-type]
    assert "seconds, or None" in error.value.fix
    with pytest.raises(ConfigError, match="invalid duration 'soon'"):
        waiting.wait(timeout="soon")


@pytest.mark.parametrize("function", [slipway.submit, slipway.sweep])
def test_a_misspelled_argument_is_told_by_the_one_that_was_meant(stack: Stack, function: Any) -> None:
    """It was an unknown parameter, and the template's parameters were listed."""
    runs = () if function is slipway.submit else ({"workers": [1]},)
    for name in function.__kwdefaults__:
        wrong = f"{name[0]}{name[2:]}"
        with pytest.raises(ConfigError) as error:
            function("crew", *runs, **{wrong: "x"})
        argument = "" if name == "code" else "="  # crew has a parameter of that name
        assert f"unknown parameter {wrong}; did you mean {name}{argument}?" in f"{error.value}"
    assert stack.jobs() == []


@pytest.mark.parametrize(("wrong", "name"), [("templat", "template"), ("lik", "like")])
def test_a_misspelled_template_is_told_before_anything_is_asked(wrong: str, name: str) -> None:
    with pytest.raises(ConfigError, match=f"unknown argument {wrong}") as error:
        slipway.submit(**{wrong: "hello"})  # type: ignore[arg-type]
    assert error.value.fix == f"did you mean `{name}`?"


def test_it_needs_no_terminal(stack: Stack) -> None:  # N12
    """Whoever calls it from a service has its own command line, or none."""
    program = (
        "import sys, slipway\n"
        "job = slipway.submit('hello', code_='print(1)', request_id='by-library')\n"
        "job = job.wait(120)\n"
        "assert 'main  1' in list(job.logs()) and list(job.logs(follow=True)) and job.ended\n"
        "found = [name for name in sys.modules if name.startswith(('rich', 'click', 'slipway.front.cli'))]\n"
        "sys.exit(f'imported {found}' if found else 0)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, **_path()}, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert stack.jobs()[0]["labels"]["slipway-request"] == "by-library"


def test_help_shows_how_it_is_called_and_a_notebook_completes_it() -> None:
    for call, words in ((slipway.submit, "a template of the catalog"), (slipway.sweep, "of many sets of parameters")):
        shown = pydoc.plain(pydoc.render_doc(call))
        assert "capacity: 'str | None' =" in shown and words in shown
    assert {"submit", "Job", "sweep", "Sweep", "job", "jobs"} <= set(dir(slipway))


def _path() -> dict[str, str]:
    return {"PYTHONPATH": str(Path(slipway.__file__).parents[1])}


def test_what_a_job_costs_beside_the_pool_is_told_without_any_logging_set_up(
    stack: Stack, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:  # N12, W2
    with stack.settings(quota={"custom_model_training_preemptible_cpus": 64}):
        beside = slipway.submit("hello", code_=SLEEP, capacity="spot")
    (told,) = (record for record in caplog.records if record.levelname == "WARNING")
    assert "hello by spot: " in told.getMessage() and "/h while it runs" in told.getMessage()
    assert (beside.capacity_type, beside.machines) == ("spot", "1 × n1-standard-4 (main)")
    assert beside.price_per_hour is not None and 0 < beside.price_per_hour < 1 and beside.cost is None
    caplog.clear()
    slipway.submit("hello", code_=SLEEP, capacity="pool")
    assert not [record for record in caplog.records if record.levelname == "WARNING"]
    assert capfd.readouterr().out == ""

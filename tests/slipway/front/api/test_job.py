"""Jobs, metrics, results and sweeps from Python on a real local cloud, and what notebooks show. # N12 # N19"""

import itertools
import json
import logging
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

import slipway
from slipway.base.errors import Cancelled, ConfigError, PolicyError, ResourceError
from slipway.front.api.job import Jobs
from slipway.front.api.notebook import facts, table
from slipway.using.sweeps.points import Points
from slipway.using.sweeps.sweep_file import Runs, points_of
from tests.slipway.front.api import test_submit as _fixtures
from tests.slipway.front.cli import test_sweep as _sweep
from tests.slipway.front.cli.jobs.test_yield import begun, counting, of, waiting
from tests.slipway.front.cli.stack import SLEEP, SPOT_CPUS, Stack, counts, held
from tests.slipway.front.cli.test_fallback import packaged
from tests.slipway.front.cli.test_sweep_gone import delete

_stack, stack, _token = _fixtures._stack, _fixtures.stack, _sweep._token
HOSTILE = "<script>alert(1)</script>\x1b[31m"


def measured(stack: Stack, name: str, metrics: Any) -> None:
    stack.write(f"jobs/{name}/metrics.json", json.dumps(metrics).encode())


def test_a_list_of_a_mistyped_template_is_empty_with_a_warning(stack: Stack, caplog: pytest.LogCaptureFixture) -> None:
    assert slipway.jobs(template="helo") == ()
    assert "the catalog has no template 'helo'; did you mean hello?" in caplog.text


def test_a_job_has_its_settings_cluster_and_place_in_a_sweep(stack: Stack) -> None:
    single = slipway.submit("hello", code_="print(1)", max_run="5m")
    assert (single.settings.max_run, dict(single.settings.env), single.settings.retries) == (300, {}, None)
    assert (single.cluster, single.sweep, single.run, single.retried) == ("cpu", "", None, None)
    swept = slipway.sweep("hello", {"code": ["print(1)", "print(2)"]})
    assert [(job.sweep, job.run) for job in swept.jobs()] == [(swept.id, 0), (swept.id, 1)]


def test_a_job_is_found_by_name_number_and_template_with_its_metrics(stack: Stack) -> None:
    sent = slipway.submit("hello", code_="print(1)").wait(timeout="2m")
    assert slipway.job(sent.name) == slipway.job(sent.id) == slipway.job("hello") == sent
    assert dict(sent.metrics) == {} and sent.metrics.why == "no metrics.json in its output"
    measured(stack, sent.name, [{"step": 1, "loss": 2}, {"step": 2, "loss": 1}])
    assert sent.metrics["loss"] == 1 and [step.step for step in sent.metrics.steps] == [1, 2]
    with pytest.raises(ResourceError):
        slipway.job("nothing")
    with pytest.raises(ConfigError, match="name is given a int"):
        slipway.job(7)  # type: ignore[arg-type]


def test_jobs_are_listed_by_what_one_asks_for_and_told_beside_each_other(
    stack: Stack, caplog: pytest.LogCaptureFixture
) -> None:
    first, second = (slipway.submit("hello", code_=f"print({number})").wait(timeout=120) for number in (1, 2))
    other = slipway.submit("crew", code_="print(3)").wait(timeout=120)
    assert slipway.jobs() == (other, second, first) and slipway.jobs(limit=1) == (other,)
    assert slipway.jobs(template="hello", state=first.state) == (second, first) and slipway.jobs(user="bob") == ()
    unmeasured = slipway.jobs(template="hello").results("-accuracy")
    assert [row["metrics.accuracy"] for row in unmeasured] == [None, None], "a loop over the column goes on"
    assert any(line.startswith("none of these jobs has a metric") for line in caplog.messages)
    measured(stack, first.name, {"accuracy": 0.9})
    table = slipway.jobs(template="hello").results("-accuracy")
    assert [row["name"] for row in table] == [first.name, second.name]
    assert [row["best"] for row in table] == [True, False] and table.best[0].name == first.name
    row = table[0]
    for key in ("name", "resource_name", "user", "template", "state", "raw_state", "waited", "ran"):
        assert row[key] == getattr(first, key), key
    assert first.created and row["created"] == first.created.isoformat() and row["failure_reason"] is None
    assert (first.given_name, row["given_name"], first.raw_state) == ("", None, "JOB_STATE_SUCCEEDED")
    assert table[0].keys() == table[1].keys() and table[1]["metrics.accuracy"] is None
    assert (table[0]["params.code"], table[0]["metrics.accuracy"]) == ("print(1)", 0.9)
    assert len(Jobs().results("-accuracy")) == 0
    with pytest.raises(ConfigError, match="none of these jobs has a metric 'acc'"):
        slipway.jobs().results("acc")
    for wrong in ({"state": "asleep"}, {"limit": 0}, {"limit": 10**30}, {"user": "?"}, {"template": 7}, {"sort": 1}):
        with pytest.raises((ConfigError, TypeError)):
            slipway.jobs(**wrong)


def test_the_results_of_a_sweep_are_rows_in_the_order_of_its_runs_or_the_best_first(stack: Stack) -> None:
    sweep = slipway.sweep("hello", {"code": ["print(1)", "print(2)", "raise SystemExit(3)"]})
    with pytest.raises(ResourceError):
        sweep.wait(timeout="2m")
    names = [job.name for job in sweep.jobs()]
    for name, loss in zip(names, (2, 1, 0), strict=True):
        measured(stack, name, {"loss": loss, HOSTILE: 1})
    plain, found = sweep.results(), sweep.results("loss")
    assert [row["run"] for row in plain] == [0, 1, 2] and [row["best"] for row in plain] == [None] * 3
    assert [row["failure_reason"] for row in plain][:2] == [None, None]
    assert "a non-zero status of 3" in str(plain[2]["failure_reason"]) and sweep.jobs()[2].failure_reason
    assert [row["name"] for row in found] == [names[1], names[0], names[2]], "what succeeded comes first"
    assert [row.name for row in found.best] == [names[1]], "what failed is not best"
    assert slipway.jobs(sweep=sweep.id) == sweep.jobs()
    html = found._repr_html_().lower()
    assert "<script>" not in html and "\x1b" not in html and "&lt;script&gt;" in html and "★" in html
    assert sweep.id in sweep._repr_html_() and sweep.jobs()[0].name in sweep.jobs()[0]._repr_html_()
    assert names[0] in slipway.jobs()._repr_html_()


def test_a_job_is_submitted_like_another_with_what_is_given_on_top(
    stack: Stack, caplog: pytest.LogCaptureFixture
) -> None:
    first = slipway.submit("crew", code_="print('like me')", workers=2)
    with caplog.at_level(logging.INFO, "slipway"):
        again = slipway.submit(like=first.name, workers=1)
    assert again.parameters == {"code": "print('like me')", "workers": 1}
    assert any(line.startswith(f"like {first.name} (ada)") and "workers=1 (was 2)" in line for line in caplog.messages)
    assert slipway.submit(like=first).parameters == first.parameters
    for wrong in ({"template": "crew", "like": first}, {}):
        with pytest.raises(ConfigError):
            slipway.submit(**wrong)  # type: ignore[arg-type]


def test_no_text_becomes_a_tag_and_a_long_table_says_how_much_is_left_out() -> None:
    for html in (facts([(HOSTILE, HOSTILE)]), table((HOSTILE,), [(HOSTILE,)])):
        assert "<script" not in html and "&lt;script" in html and "\x1b" not in html
    assert "and 800 more" in table(("A",), [("x",)] * 1000)


def test_each_run_of_a_grid_is_sent_awaited_and_read(
    stack: Stack, capfd: pytest.CaptureFixture[str]
) -> None:  # N7, N12
    codes = ["print('one')", "print('two')"]
    sent = slipway.sweep("hello", {"code": codes})
    assert (sent.count, len(sent.jobs())) == (2, 2) and sent.id.startswith("hello-")
    assert [job.parameters for job in sent.jobs()] == [{"code": code} for code in codes]
    done = sent.wait(timeout=120)
    assert [job.state for job in done] == ["succeeded"] * 2 and "main  two" in list(done[1].logs())
    assert slipway.sweep("hello", [{"code": code} for code in codes]) == sent, "the same runs are the same sweep"
    assert len(stack.jobs()) == 2 and capfd.readouterr() == ("", "")
    (stack.folder / "s.yaml").write_text("grid: {code: [\"print('one')\", \"print('two')\"]}")
    assert counts(stack.run("submit", "hello", "--sweep", "s.yaml").out.splitlines()[-1]) == (0, 2, 2)
    assert slipway.sweep("hello", stack.folder / "s.yaml") == sent and len(stack.jobs()) == 2


def test_a_full_pool_is_waited_for_unless_another_type_is_named(stack: Stack) -> None:  # N3, N12, W2
    quota = stack.cloud.rest("GET", "/vertex-local/settings")["quota"]
    with stack.settings(quota={**quota, "custom_model_training_preemptible_cpus": 64}):
        held(stack)
        for name, then, taken in (("waits", (), "pool"), ("moves", "spot", "spot")):
            (job,) = slipway.sweep("hello", {"code": ["print(1)"]}, then=then, request_id=name).jobs()
            assert stack.cloud.rest("GET", f"/v1/{job.resource_name}")["labels"]["slipway-capacity-type"] == taken
        stack.catalog["confirmAbove"] = 0.01
        stack.publish()
        with pytest.raises(PolicyError, match="nothing was sent") as refused:
            slipway.sweep("hello", {"code": ["print(1)"]}, yes=True, request_id="yes")
        assert "then=['spot']" in refused.value.fix


def test_a_cancelled_sweep_goes_on_and_a_failed_run_is_told_with_the_call_that_sends_it(
    stack: Stack,
) -> None:  # N7, N12
    runs = [{"code": SLEEP}, {"code": "raise SystemExit(3)"}]
    sent = slipway.sweep("hello", runs, capacity="pool")
    stack.until(lambda: any(job.state == "failed" for job in sent.jobs()))
    sent.cancel()
    with pytest.raises(ResourceError, match="1 of 2 runs of sweep") as failed:
        sent.wait(timeout=60)
    assert "the same call with retry_failed=True" in failed.value.fix
    both = sent.wait(timeout=60, check=False)
    assert [job.state for job in both] == ["cancelled", "failed"], "the loop of docs/python.md"
    assert repr(both[1]) == f"Job(name={both[1].name!r}, state='failed')"
    slipway.sweep("hello", runs, capacity="pool", retry_cancelled=True)
    assert sorted(job["labels"]["slipway-run"] for job in stack.jobs()) == ["0", "0-1", "1"]
    alone = slipway.sweep("hello", runs[:1], capacity="pool", request_id="alone")
    alone.cancel()
    with pytest.raises(Cancelled) as stopped:
        alone.wait(timeout=60)
    assert alone.id == "alone" and "the same call with retry_cancelled=True" in stopped.value.fix


def test_a_sweep_with_a_run_that_is_gone_is_awaited_and_cancelled_all_the_same(stack: Stack) -> None:  # N7, N12
    packaged(stack)
    held(stack)
    runs = [{"code": f"print({index})"} for index in range(2)]
    slipway.sweep("hello", runs, capacity="pool")
    delete(stack, "1")
    again = slipway.sweep("hello", runs, capacity="pool")
    assert len(again.jobs()) == 1
    again.cancel()
    with pytest.raises(ResourceError, match=r"1 of 2 runs of sweep .* are gone") as gone:
        again.wait(timeout=60)
    assert gone.value.fix == "once more: the same call with retry_failed=True"


def test_everything_wrong_is_said_at_once_and_before_anything_is_sent(
    snapshot: SnapshotAssertion, stack: Stack
) -> None:  # P3, N12
    with pytest.raises(ConfigError, match="crew: 3 of 3 runs are wrong") as error:
        slipway.sweep("crew", [{"workers": 1}, {"workers": 99}, {"wokers": 2}], code_="x", tres=1)
    assert error.value.why.splitlines() == snapshot
    for wrong in ({"runs": 5}, {"rate": "60"}, {"rate": -1}, {"retry_failed": 1}, {"request_id": ""}):
        given: dict[str, Any] = {"runs": [{"workers": 1}], **wrong}
        with pytest.raises(ConfigError):
            slipway.sweep("crew", **given)
    assert stack.jobs() == []


def points(runs: Runs) -> Points:
    return points_of(runs)


def test_values_are_taken_as_a_file_has_them() -> None:
    grid = points({"trees": (n for n in (100, 200)), "rate": {"from": 0, "to": 1}, "deep": [True]})
    assert [point.values for point in grid.each] == [
        {"trees": trees, "rate": rate, "deep": "true"} for trees in ("100", "200") for rate in ("0", "1")
    ]
    letters = points({"model": set("hgfedcba")})  # Else its sweep is another one in each process, and all runs twice.
    assert "".join(str(point.values["model"]) for point in letters.each) == "abcdefgh"
    listed = points([{"a": 0.1, "b": None, "c": "x"}, {}])
    assert [point.values for point in listed.each] == [{"a": "0.1", "c": "x"}, {}] and not listed.mistakes


@pytest.mark.parametrize(
    ("runs", "said"),
    [
        (
            {"trees": "100", "seed": [1, [[2]]]},
            ["trees: grid: trees has no list", "seed[1]: grid: seed holds something"],
        ),
        ([{"a": [[1]]}, 5, {"a": 10**5000}], ["run 0: a is not one", "run 1: a point must", "run 2: a is not one"]),
        ([], ["runs: has no point"]),
        ({}, ["runs: has no point"]),
    ],
)
def test_what_can_be_no_run_is_told_with_its_number(runs: Any, said: list[str]) -> None:
    found = [str(mistake) for mistake in points(runs).mistakes]
    assert [line[: len(start)] for line, start in zip(found, said, strict=True)] == said


def test_runs_without_an_end_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("points", "sweep_file"):
        monkeypatch.setattr(f"slipway.using.sweeps.{module}.MOST", 10)
    (told,) = points({"a": n} for n in itertools.count()).mistakes
    assert str(told) == "runs: makes 11 runs"


def test_the_handle_of_a_submission_that_another_command_moved_on_reads_the_job_that_runs_it(stack: Stack) -> None:
    held(stack)
    sent = slipway.submit("hello", capacity="pool", request_id="moves", code_="print('moved')")
    words = ("submit", "hello", "-p", "code=print('moved')", "--request-id", "moves")
    with stack.settings(quota=SPOT_CPUS):
        done = stack.well(*words, "--wait-for", "pool=1s", "--then", "spot", "--wait", "-o", "json").json["job"]
    stack.write(f"jobs/{done['displayName']}/metrics.json", b"{}")
    for handle in (sent, slipway.job(sent.name)):
        assert "main  moved" in list(handle.logs()) and "main  moved" in list(handle.logs(follow=True))
        assert handle.wait(timeout=60).resource_name == done["name"]
        assert (handle.download() / "metrics.json").read_bytes() == b"{}"
    (listed,) = (job for job in slipway.jobs() if job == sent)
    for alone in (slipway.job(sent.id), slipway.job(sent.resource_name), listed):
        assert list(alone.logs()) == [] and alone.refresh() == sent


def test_the_log_of_a_job_that_makes_room_goes_on_with_the_one_behind(stack: Stack) -> None:  # N24
    crew = held(stack, stack.most - 1)
    counting(stack)
    name, waits = begun(stack, 60), waiting(stack)
    sent = slipway.job(name)
    stack.well("jobs", "yield", name, "--to", waits, "--within", "1s")
    lines = list(sent.logs(follow=True))
    first, behind = of(stack, name)
    assert lines.index("main  begins at 0") < lines.index("main  ends at 60")
    assert list(sent.logs()) == list(slipway.job(behind["name"]).logs()) != list(slipway.job(first["name"]).logs())
    assert sent.wait(timeout=60).resource_name == behind["name"]
    stack.well("jobs", "cancel", crew)

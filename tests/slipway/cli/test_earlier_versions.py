"""Sweeps and submissions that an earlier version sent, as `recorded/record.py` has recorded them: an upgrade loses
none, and sends none a second time. # N7"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from slipway.catalog.document import read
from slipway.cli.terminal.arguments import SubmitArguments
from slipway.submission.request import attempt_id
from slipway.sweeps.runs import Run
from slipway.sweeps.sweep_file import read as points_of
from slipway.sweeps.sweep_plan import SweepPlan, plan_sweep
from tests.local.conftest import LocalCloud

from .recorded.record import FOUR, THREE
from .stack import JOBS, Stack, held
from .test_fallback import SPOT_CPUS, packaged
from .test_sweep import every_job

RECORDED = Path(__file__).with_name("recorded")
COMMITS = ("cecf6b4", "dc28618")
_SENT = ("displayName", "jobSpec", "labels")
_FLAGS = {"--as": "kind", "--way": "capacity_type", "--capacity": "capacity_type", "--experiment": "experiment"}


def recorded(commit: str, name: str = "frozen") -> dict[str, Any]:
    """By a stack of this name."""
    text = (RECORDED / f"{commit}.json").read_text(encoding="utf-8")
    return dict(json.loads(text.replace("frozen", name)))


def planned(sweep: Mapping[str, Any], folder: Path) -> SweepPlan:
    """What this version makes of the words and the file of a recorded sweep."""
    catalog = read(json.dumps(recorded("dc28618")["catalog"]).encode(), "catalog.json")
    template, *words = sweep["words"]
    given = dict(zip(words[::2], words[1::2], strict=True))
    params = (given["-p"],) if "-p" in given else ()
    typed = SubmitArguments(template, params, **{_FLAGS[flag]: given[flag] for flag in given if flag in _FLAGS})
    (folder / sweep["file"]).write_text(sweep["text"], encoding="utf-8")
    points = points_of(folder / sweep["file"])
    return plan_sweep(catalog, typed.request(), points, "ada", given.get("--request-id"))


@pytest.mark.parametrize("commit", COMMITS)
def test_ids_of_sweeps_runs_and_jobs_are_those_that_were_given(commit: str, tmp_path: Path) -> None:
    for sweep in recorded(commit)["planned"]:
        plan = planned(sweep, tmp_path)
        ids = [plan.id, *plan.earlier]
        assert sweep["sweep"] in (ids if commit == "cecf6b4" else ids[:1]), sweep["words"]
        plan = plan.under(sweep["sweep"])
        for index, run in enumerate(sweep["runs"]):
            body = plan.prepared(Run(index)).candidates[0].body
            labels = {key: body["labels"][f"slipway-{key}"] for key in ("request", "run", "sweep")}
            assert {"name": body["displayName"], **labels} == run


def test_a_sweep_asked_for_in_another_way_is_known_by_whichever_version(tmp_path: Path) -> None:
    """What makes the four of a template's sweeps siblings are where their jobs run, and as what."""
    for commit in COMMITS:
        alike = recorded(commit)["planned"][:4]
        assert len({sweep["sweep"] for sweep in alike}) == 4
        for sweep in alike:
            siblings = planned(sweep, tmp_path).siblings
            assert {other["sweep"] for other in alike if other is not sweep} <= siblings.keys()


@pytest.mark.parametrize("commit", COMMITS)
def test_ids_of_a_submissions_attempts_are_those_that_were_given(commit: str) -> None:
    assert [attempt_id("mine", number) for number in range(3)] == recorded(commit)["attempts"]


@pytest.fixture(params=COMMITS)
def sent(request: pytest.FixtureRequest, cloud: LocalCloud, tmp_path: Path) -> Iterator[tuple[Stack, dict[str, Any]]]:
    """A stack with the jobs that an earlier version sent, and its journals in the folder that it sent from."""
    stack = Stack(cloud, tmp_path)
    (tmp_path / ".git").mkdir()
    stack.make()
    record = recorded(request.param, stack.name)
    names: dict[str, str] = {}
    # An earlier version's record of parameters has apostrophes, which the service may have taken: its word is old.
    with stack.settings(quota=SPOT_CPUS, env_apostrophe="accept"):
        for job in record["jobs"]:
            if job["labels"]["slipway-request"] == record["waiting"]:
                continue
            body = {key: job[key] for key in _SENT}
            names[job["name"]] = cloud.rest("POST", JOBS, body)["name"]
    stack.until(lambda: all("endTime" in job for job in stack.jobs()))
    record["names"] = names
    for path, text in record["journals"].items():
        file = tmp_path / ".slipway" / path
        file.parent.mkdir(parents=True, exist_ok=True)
        for old, new in names.items():
            text = text.replace(old, new)
        file.write_text(text)
    (tmp_path / "s.csv").write_text(THREE)
    (tmp_path / "f.csv").write_text(FOUR)
    yield stack, record
    stack.end()


def elsewhere(stack: Stack, folder: Path) -> None:
    """Goes to another machine, which has the files of the sweeps and no journal."""
    (folder / ".git").mkdir(parents=True)
    (folder / "s.csv").write_text(THREE)
    (folder / "f.csv").write_text(FOUR)
    stack.folder = folder


@pytest.fixture(params=["there", "elsewhere"])
def anywhere(
    request: pytest.FixtureRequest, sent: tuple[Stack, dict[str, Any]], tmp_path: Path
) -> tuple[Stack, dict[str, Any]]:
    """What was sent, on the machine that has the journals, and on another one."""
    if request.param == "elsewhere":
        elsewhere(sent[0], tmp_path / "elsewhere")
    return sent


def test_a_sweep_that_has_ended_sends_nothing(anywhere: tuple[Stack, dict[str, Any]]) -> None:
    stack, record = anywhere
    before = len(stack.jobs())
    done = stack.run("submit", "hello", "--sweep", "s.csv", "--wait", "--output", "json")
    assert done.code == 0, done.err
    assert (done.json["sweep"], done.json["accepted"], done.json["before"]) == (record["ended"], [], 3)
    assert len(done.json["states"]) == 3 and len(stack.jobs()) == before


@pytest.mark.parametrize("name", ["nightly", ""], ids=["named", "unnamed"])
def test_a_sweep_that_was_killed_sends_the_rest(anywhere: tuple[Stack, dict[str, Any]], name: str) -> None:
    stack, record = anywhere
    words = ("submit", "hello", "--sweep", "f.csv", *(("--request-id", name) if name else ()))
    done = stack.run(*words, "--output", "json")
    assert done.code == 0, done.err
    sweep = record["named" if name else "unnamed"]
    assert (done.json["sweep"], [one["run"] for one in done.json["accepted"]]) == (sweep, [2, 3])
    runs = Counter(one["labels"]["slipway-run"] for one in every_job(stack) if one["labels"]["slipway-sweep"] == sweep)
    assert runs == Counter(["0", "1", "2", "3"])
    assert stack.run(*words, "--output", "json").json["accepted"] == []


def test_a_sibling_of_a_sweep_is_refused(sent: tuple[Stack, dict[str, Any]]) -> None:
    stack, record = sent
    before = len(stack.jobs())
    done = stack.run("submit", "hello", "--sweep", "s.csv", "--capacity", "pool")
    assert done.code == 2 and f"sent before, as sweep {record['ended']}\n" in done.err and len(stack.jobs()) == before


def test_a_submission_by_its_id_is_the_job_that_was_sent(anywhere: tuple[Stack, dict[str, Any]]) -> None:
    stack, record = anywhere
    before = len(stack.jobs())
    words = ("submit", "hello", "-p", "code=print('mine')", "--request-id", "mine", "--output", "json")
    done = stack.run(*words)
    assert done.code == 0, done.err
    (then,) = (job["name"] for job in record["jobs"] if job["labels"]["slipway-request"] == "mine")
    assert done.json["job"]["name"] == record["names"][then] and len(stack.jobs()) == before


def test_a_submission_that_was_killed_while_it_waited_is_resumed(sent: tuple[Stack, dict[str, Any]]) -> None:
    stack, record = sent
    packaged(stack)
    held(stack)
    (waiting,) = (job for job in record["jobs"] if job["labels"]["slipway-request"] == record["waiting"])
    with stack.settings(env_apostrophe="accept"):
        name = stack.cloud.rest("POST", JOBS, {key: waiting[key] for key in _SENT})["name"]
    file = stack.journal(record["waiting"])
    file.write_text(file.read_text().replace(waiting["name"], name))
    words = ("submit", "hello", "--wait-for", "pool=10m", "--then", "spot", "-p", "code=print('waits')")
    before = len(stack.jobs())
    with stack.started(*words, "--request-id", record["waiting"]) as again:
        stack.cloud.rest("POST", f"/v1/{name}:cancel", {})
        again.wait()
    assert len(stack.jobs()) == before

"""Whatever happens to a tuning job, and whenever the cloud is killed: no trial begins twice or gets lost (N15)."""

import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.vertex.tuning.conftest import TUNING, UNITS, Machines, Studies, study, tuning_body
from vertex_local.testing.calling import JOBS, every_service
from vertex_local.vertex.scheduling.scheduler import Scheduler
from vertex_local.vertex.tuning import work as tuning_work
from vertex_local.vertex.tuning.records import TUNING_JOBS

EVENTS = st.lists(st.sampled_from(["good", "bad", "silent", "killed", "restarted", "tick"]), max_size=14)
ENDED = ("JOB_STATE_SUCCEEDED", "JOB_STATE_FAILED")


@settings(max_examples=8, deadline=None)
@given(
    EVENTS,
    st.sampled_from(["RANDOM_SEARCH", "GRID_SEARCH"]),
    st.integers(1, 5),
    st.integers(1, 3),
    st.integers(0, 3),
)
def test_every_trial_has_one_job_and_every_job_one_trial(
    events: list[str], algorithm: str, trials: int, parallel: int, failures: int
) -> None:
    with tempfile.TemporaryDirectory() as folder, every_service(Path(folder)) as calling:
        machines = Machines()
        studies = Studies(calling, machines, Scheduler(calling.world, machines))
        spec = study(UNITS, algorithm=algorithm)
        path = studies.create(trials=trials, parallel=parallel, studySpec=spec, maxFailedTrialCount=failures)
        for event in events:
            happens(studies, path, event)
            consistent(studies, path, trials, parallel)
        for _ in range(2 * trials):
            happens(studies, path, "good")
        consistent(studies, path, trials, parallel)
        assert studies.get(path)["state"] in ENDED


def happens(studies: Studies, path: str, event: str) -> None:
    active = studies.trials(path, "ACTIVE")
    if event == "killed":
        if active:
            studies.report(active[0], 0.1)
        with patch.object(type(TUNING_JOBS), "put", side_effect=KeyboardInterrupt), suppress(KeyboardInterrupt):
            tuning_work.step(studies.calling.world)
    elif event == "restarted":
        studies.scheduler = Scheduler(studies.calling.world, studies.machines)
    elif active and event in ("good", "bad", "silent"):
        values = [0.5] if event == "good" else []
        studies.end(active[0], *values, code=int(event == "bad"))
    studies.tick(1)


def consistent(studies: Studies, path: str, most: int, parallel: int) -> None:
    trials: list[dict[str, Any]] = studies.trials(path)
    jobs = studies.get(f"{JOBS}?pageSize=1000").get("customJobs", [])
    assert sorted(job["name"] for job in jobs) == sorted(trial["customJob"] for trial in trials)
    assert [trial["id"] for trial in trials] == [str(number) for number in range(1, len(trials) + 1)]
    assert len(trials) <= most
    assert len(studies.trials(path, "ACTIVE")) <= parallel


def test_the_same_trials_are_decided_after_a_kill(tmp_path: Path) -> None:
    """Two clouds with the same history, one of them killed before it could write: the same points."""

    def points(name: str, kills: int) -> list[Any]:
        with every_service(tmp_path / name) as calling:
            studies = Studies(calling, Machines(), Scheduler(calling.world, Machines()))
            made = calling.call("POST", TUNING, tuning_body(trials=4, parallel=4))
            for _ in range(kills):
                with (
                    patch.object(type(TUNING_JOBS), "put", side_effect=KeyboardInterrupt),
                    pytest.raises(KeyboardInterrupt),
                ):
                    tuning_work.step(calling.world)
            studies.tick()
            consistent(studies, f"/v1/{made['name']}", 4, 4)
            return [trial["parameters"] for trial in studies.trials(f"/v1/{made['name']}")]

    assert points("calm", 0) == points("killed", 2)

"""Tuning jobs and their trials as their methods show them (vertex-rules 5.1). No process is started here."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.vertex.tuning.conftest import MODEL, TUNING, UNITS, Studies, study, trial_spec, tuning_body
from vertex_local.nodes.spec import Status
from vertex_local.testing.bodies import pool
from vertex_local.testing.calling import CLUSTERS, JOBS
from vertex_local.vertex.tuning import search
from vertex_local.vertex.tuning import work as tuning_work

# --- trials (D5, W3)


def test_a_trial_is_a_custom_job_with_arguments_environment_and_directory_of_its_own(studies: Studies) -> None:
    spec = trial_spec(baseOutputDirectory={"outputUriPrefix": "gs://models/run/"})
    path = studies.create(trials=2, parallel=2, studySpec=study(UNITS, MODEL), trialJobSpec=spec)
    for number, trial in enumerate(studies.trials(path), 1):
        assert (trial["id"], trial["state"]) == (str(number), "ACTIVE")
        job = studies.get(f"/v1/{trial['customJob']}")
        assert job["displayName"] == f"tune-trial-{number}"
        assert job["jobSpec"]["baseOutputDirectory"] == {"outputUriPrefix": f"gs://models/run/{number}"}
        replica = studies.spec(trial)
        assert replica.args[0] == "--epochs=3"
        found = dict(argument.removeprefix("--").split("=") for argument in replica.args[1:])
        assert {name: str(value) for name, value in found.items()} == {
            item["parameterId"]: re.sub(r"\.0$", "", str(item["value"])) for item in trial["parameters"]
        }
        assert replica.variables["CLOUD_ML_TRIAL_ID"] == str(number)
        assert replica.variables["AIP_MODEL_DIR"] == f"gs://models/run/{number}/model/"
        assert f'"trial": "{number}"' in replica.variables["CLUSTER_SPEC"]


def test_every_worker_pool_gets_the_arguments_and_a_gap_stays_a_gap(studies: Studies) -> None:
    (worker,) = trial_spec()["workerPoolSpecs"]
    package = {
        "executorImageUri": "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:latest",
        "packageUris": ["gs://b/p.tar.gz"],
        "pythonModule": "task",
    }
    other = {key: value for key, value in worker.items() if key != "containerSpec"} | {"pythonPackageSpec": package}
    path = studies.create(trialJobSpec=trial_spec(workerPoolSpecs=[worker, {}, other]))
    (trial,) = studies.trials(path)
    pools = studies.get(f"/v1/{trial['customJob']}")["jobSpec"]["workerPoolSpecs"]
    assert pools[1] == {}
    assert pools[0]["containerSpec"]["args"][-1] == pools[2]["pythonPackageSpec"]["args"][-1]


def test_as_many_trials_run_at_once_as_are_asked_for(studies: Studies) -> None:
    path = studies.create(trials=5, parallel=2)
    assert [trial["id"] for trial in studies.trials(path, "ACTIVE")] == ["1", "2"]
    studies.end(studies.trials(path)[1], 0.5)
    assert [trial["id"] for trial in studies.trials(path, "ACTIVE")] == ["1", "3"]
    for _ in range(4):
        studies.end(studies.trials(path, "ACTIVE")[0], 0.6)
    done = studies.get(path)
    assert (done["state"], len(done["trials"])) == ("JOB_STATE_SUCCEEDED", 5)
    assert done["startTime"] < done["endTime"]
    assert {trial["state"] for trial in done["trials"]} == {"SUCCEEDED"}


def test_times_are_those_of_the_trials(studies: Studies, monkeypatch: pytest.MonkeyPatch) -> None:
    quick = Status("exited", began="2026-11-20T10:00:00.250000Z", over="2026-11-20T10:00:00.500000Z")
    monkeypatch.setattr(studies.machines, "status", lambda folder: quick)
    done = studies.get(studies.create(trials=1))
    studies.tick()
    done = studies.get(f"/v1/{done['name']}")
    (trial,) = done["trials"]
    for item in (done, trial):
        assert (item["startTime"], item["endTime"]) == ("2026-11-20T10:00:00.250000Z", "2026-11-20T10:00:00.500000Z")


def test_measurements_are_shown_while_a_trial_runs(studies: Studies) -> None:
    path = studies.create()
    (trial,) = studies.trials(path)
    studies.report(trial, 0.5, 0.7)
    studies.tick()
    (running,) = studies.trials(path)
    assert [(item["stepCount"], item["metrics"][0]["value"]) for item in running["measurements"]] == [
        ("1", 0.5),
        ("2", 0.7),
    ]
    assert "finalMeasurement" not in running
    studies.report(trial, 0.6, step=3)
    studies.end(trial)
    over = studies.trials(path)[0]
    assert over["finalMeasurement"]["metrics"] == [{"metricId": "acc", "value": 0.6}]
    assert [item["stepCount"] for item in over["measurements"]] == ["1", "2", "3"], "each once"


def test_reports_count_whose_code_has_a_clock_of_its_own(studies: Studies) -> None:
    path = studies.create()
    (trial,) = studies.trials(path)
    file = Path(studies.spec(trial).variables["CLOUD_ML_HP_METRIC_FILE"])
    file.parent.mkdir(parents=True, exist_ok=True)
    for step in (1, 2):
        with file.open("a", encoding="utf-8") as lines:
            lines.write(
                json.dumps({"timestamp": 0.0, "trial": trial["id"], "acc": step / 4, "global_step": step}) + "\n"
            )
        studies.tick()
    (running,) = studies.trials(path)
    assert [(item["stepCount"], item["metrics"][0]["value"]) for item in running["measurements"]] == [
        ("1", 0.25),
        ("2", 0.5),
    ]


# --- what fails


def test_a_trial_that_fails_is_infeasible_and_the_job_goes_on(studies: Studies) -> None:
    path = studies.create(trials=2)
    studies.end(studies.trials(path)[0], 0.9, code=3)
    failed, other = studies.trials(path)
    assert failed["state"] == "INFEASIBLE"
    assert "status of 3." in failed["infeasibleReason"]
    assert "finalMeasurement" not in failed
    studies.end(other, 0.5)
    assert studies.get(path)["state"] == "JOB_STATE_SUCCEEDED"


def test_a_trial_without_the_metric_is_infeasible_and_all_of_them_fail_the_job(studies: Studies) -> None:
    path = studies.create(trials=2)
    for _ in range(2):
        trial = studies.trials(path, "ACTIVE")[0]
        studies.report(trial, 0.5, metric="f1")
        studies.end(trial)
    done = studies.get(path)
    (reason,) = {trial["infeasibleReason"] for trial in done["trials"]}
    assert "metric 'acc'" in reason
    assert done["state"] == "JOB_STATE_FAILED" and done["error"]["message"].endswith(reason)


@pytest.mark.parametrize(("limit", "setting"), [(2, 5), (0, 2)])
def test_too_many_failed_trials_end_the_job_and_those_that_run(studies: Studies, limit: int, setting: int) -> None:
    studies.calling.world.change_settings({"failed_trials": setting})
    path = studies.create(trials=9, parallel=2, maxFailedTrialCount=limit)
    studies.end(studies.trials(path, "ACTIVE")[0], code=1)
    assert studies.get(path)["state"] == "JOB_STATE_RUNNING"
    studies.end(studies.trials(path, "ACTIVE")[0], code=1)
    done = studies.get(path)
    assert done["state"] == "JOB_STATE_FAILED"
    assert "failed trials: 2." in done["error"]["message"] and "trial 2: " in done["error"]["message"]
    assert len(done["trials"]) == 3
    assert studies.get(f"/v1/{done['trials'][2]['customJob']}")["state"] == "JOB_STATE_CANCELLED"


def test_a_cancelled_job_ends_when_its_trials_have(studies: Studies) -> None:
    path = studies.create(trials=4, parallel=2)
    studies.report(studies.trials(path)[0], 0.9)
    assert studies.calling.call("POST", f"{path}:cancel", {}) == {}
    assert studies.get(path)["state"] == "JOB_STATE_CANCELLING"
    studies.tick()
    done = studies.get(path)
    assert (done["state"], done["error"]) == ("JOB_STATE_CANCELLED", {"code": 1, "message": "The job was cancelled."})
    assert {trial["state"] for trial in done["trials"]} == {"INFEASIBLE"}
    assert len(done["trials"]) == 2, "none begins after it"
    assert "cannot be cancelled" in studies.calling.refused("POST", f"{path}:cancel", {}).message


# --- early ends


def test_a_trial_that_stops_early_counts_with_what_it_measured(studies: Studies) -> None:
    path = studies.create(trials=3, studySpec=study(medianAutomatedStoppingSpec={}))
    studies.end(studies.trials(path)[0], 0.8)
    bad = studies.trials(path, "ACTIVE")[0]
    studies.report(bad, 0.1)
    studies.tick(1)
    assert studies.trials(path)[1]["state"] == "STOPPING"
    studies.tick()
    stopped = studies.trials(path)[1]
    assert (stopped["state"], stopped["finalMeasurement"]["metrics"][0]["value"]) == ("SUCCEEDED", 0.1)
    assert studies.get(f"/v1/{stopped['customJob']}")["state"] == "JOB_STATE_CANCELLED"
    assert [trial["id"] for trial in studies.trials(path, "ACTIVE")] == ["3"]


def test_a_study_that_stops_lets_its_trials_end_unless_it_is_in_a_hurry(studies: Studies) -> None:
    config: dict[str, Any] = {"maxNumTrials": 3}
    patient = studies.create(trials=9, parallel=2, studySpec=study(studyStoppingConfig=config))
    for _ in range(3):
        assert studies.get(patient)["state"] in ("JOB_STATE_PENDING", "JOB_STATE_RUNNING")
        studies.end(studies.trials(patient, "ACTIVE")[0], 0.5)
    assert studies.get(patient)["state"] == "JOB_STATE_SUCCEEDED"
    config = {"maximumRuntimeConstraint": {"maxDuration": "60s"}, "shouldStopAsap": True}
    hasty = studies.create(trials=9, parallel=2, studySpec=study(studyStoppingConfig=config))
    studies.end(studies.trials(hasty)[0], 0.5)
    studies.calling.clock.advance(60)
    studies.tick()
    done = studies.get(hasty)
    assert done["state"] == "JOB_STATE_SUCCEEDED"
    assert [trial["state"] for trial in done["trials"]] == ["SUCCEEDED", "INFEASIBLE", "INFEASIBLE"]


def test_a_grid_ends_the_job_when_it_is_searched(studies: Studies) -> None:
    path = studies.create(trials=9, parallel=5, studySpec=study(UNITS, algorithm="GRID_SEARCH"))
    assert [trial["parameters"][0]["value"] for trial in studies.trials(path)] == [16, 32, 64]
    for trial in studies.trials(path):
        studies.end(trial, 0.5)
    assert studies.get(path)["state"] == "JOB_STATE_SUCCEEDED"


# --- on a persistent resource, and beside


def test_a_job_queues_as_long_as_all_its_trials_do(studies: Studies) -> None:
    studies.calling.cluster("cpu", resourcePools=[pool(replicas=1)])
    blocker = studies.calling.call(
        "POST", JOBS, {"displayName": "b", "jobSpec": trial_spec(persistentResourceId="cpu")}
    )
    path = studies.create(trialJobSpec=trial_spec(persistentResourceId="cpu"))
    assert studies.get(path)["state"] == "JOB_STATE_QUEUED"
    studies.calling.call("POST", f"/v1/{blocker['name']}:cancel", {})
    studies.tick()
    assert studies.get(path)["state"] == "JOB_STATE_RUNNING"


def test_a_full_pool_that_takes_no_queue_is_tried_again(studies: Studies) -> None:
    studies.calling.cluster("cpu", resourcePools=[pool(replicas=1)])
    studies.calling.world.change_settings({"full_pool": "reject"})
    path = studies.create(trials=2, parallel=2, trialJobSpec=trial_spec(persistentResourceId="cpu"))
    assert [trial["id"] for trial in studies.trials(path)] == ["1"]
    studies.end(studies.trials(path)[0], 0.5)
    assert [trial["id"] for trial in studies.trials(path, "ACTIVE")] == ["2"]


def test_a_cluster_that_goes_takes_the_job_with_it(studies: Studies) -> None:
    studies.calling.cluster("cpu")
    path = studies.create(trials=9, parallel=2, trialJobSpec=trial_spec(persistentResourceId="cpu"))
    studies.calling.call("DELETE", f"{CLUSTERS}/cpu")
    studies.tick(5)
    done = studies.get(path)
    assert (done["state"], done["error"]["code"]) == ("JOB_STATE_FAILED", 5)
    assert done["error"]["message"].startswith("Trial 3: The PersistentResource ")


def test_new_trials_wait_for_a_cluster_that_is_rebooted(studies: Studies) -> None:
    studies.calling.cluster("cpu")
    studies.calling.world.change_settings({"reboot_seconds": 20})
    path = studies.create(trials=2, trialJobSpec=trial_spec(persistentResourceId="cpu"))
    studies.calling.call("POST", f"{CLUSTERS}/cpu:reboot", {})
    studies.calling.call("POST", f"/v1/{studies.trials(path)[0]['customJob']}:cancel", {})
    studies.tick()
    assert [trial["state"] for trial in studies.trials(path)] == ["INFEASIBLE"]
    studies.calling.clock.advance(20)
    studies.tick()
    assert [trial["state"] for trial in studies.trials(path)] == ["INFEASIBLE", "ACTIVE"]


# --- killed between steps (N15)


def test_a_job_that_is_cancelled_while_the_next_trial_is_decided_gets_none(
    studies: Studies, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = studies.calling.call("POST", TUNING, tuning_body())
    suggested = search.suggested

    def meanwhile(*arguments: Any) -> Any:
        studies.calling.call("POST", f"/v1/{made['name']}:cancel", {})
        return suggested(*arguments)

    monkeypatch.setattr(search, "suggested", meanwhile)
    tuning_work.step(studies.calling.world)
    assert studies.get(f"/v1/{made['name']}")["state"] == "JOB_STATE_CANCELLED"
    assert studies.get(JOBS) == {"customJobs": []}

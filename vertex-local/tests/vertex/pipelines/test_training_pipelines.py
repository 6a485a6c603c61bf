"""Training pipelines as their methods show them (vertex-rules 5.2). No process is started here."""

from typing import Any

import pytest

from tests.vertex.tuning.conftest import TUNING, Studies, studies, study, trial_spec
from vertex_local.nodes.spec import Status
from vertex_local.testing.calling import NUMBERED, PARENT
from vertex_local.vertex.pipelines import records
from vertex_local.vertex.pipelines import work as pipeline_work

__all__ = ["studies"]

PIPELINES = f"/v1/{PARENT}/trainingPipelines"
MODELS = f"/v1/{PARENT}/models"
SCHEMAS = "gs://google-cloud-aiplatform/schema/trainingjob/definition"
CUSTOM, TUNE = f"{SCHEMAS}/custom_task_1.0.0.yaml", f"{SCHEMAS}/hyperparameter_tuning_task_1.0.0.yaml"
SKLEARN = "us-docker.pkg.dev/vertex-ai/prediction/sklearn-cpu.1-6:latest"
OUTPUT = {"baseOutputDirectory": {"outputUriPrefix": "gs://models/run"}}
TASK: dict[str, Any] = trial_spec(**OUTPUT)
TUNING_TASK: dict[str, Any] = {
    "studySpec": study(),
    "trialJobSpec": TASK,
    "maxTrialCount": 2,
    "parallelTrialCount": 1,
}
MODEL: dict[str, Any] = {"displayName": "digits", "containerSpec": {"imageUri": SKLEARN}}


def pipeline_body(inputs: Any = None, definition: str = CUSTOM, **changes: Any) -> dict[str, Any]:
    inputs = TASK if inputs is None else inputs
    return {"displayName": "train", "trainingTaskDefinition": definition, "trainingTaskInputs": inputs} | changes


def create(studies: Studies, **changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = studies.calling.call("POST", PIPELINES, pipeline_body(**changes))
    return made


def put_file(studies: Studies, name: str) -> None:
    """Leave an object in the bucket `models`, as training code does."""
    store = studies.calling.world.store
    store.put("object", f"models/{name}", {"resource": {"bucket": "models", "name": name}, "blob": ""})


def end(studies: Studies, job: str, code: int = 0) -> None:
    studies.tick()
    studies.end({"customJob": job}, code=code)


# --- the job behind it


def test_a_pipeline_is_made_with_its_job_and_follows_it(studies: Studies) -> None:
    made = create(studies, labels={"team": "ml"})
    assert made["name"].startswith(f"{NUMBERED}/trainingPipelines/")
    assert (made["state"], made["labels"]) == ("PIPELINE_STATE_PENDING", {"team": "ml"})
    assert made["trainingTaskInputs"] == TASK, "answered as sent"
    job = made["trainingTaskMetadata"]["backingCustomJob"]
    assert studies.get(f"/v1/{job}")["displayName"] == "train-custom-job"
    path = f"/v1/{made['name']}"
    studies.tick()
    running = studies.get(path)
    assert (running["state"], "endTime" in running) == ("PIPELINE_STATE_RUNNING", False)
    end(studies, job)
    done = studies.get(path)
    assert (done["state"], done["startTime"] <= done["endTime"]) == ("PIPELINE_STATE_SUCCEEDED", True)
    assert "error" not in done
    its_job = studies.get(f"/v1/{job}")
    assert (done["startTime"], done["endTime"]) == (its_job["startTime"], its_job["endTime"])
    assert studies.calling.call("DELETE", path)["done"]
    assert studies.calling.refused("GET", path).code == 404
    assert studies.get(f"/v1/{job}") == its_job, "its job stays"


def test_a_pipeline_whose_job_fails_has_its_error(studies: Studies) -> None:
    made = create(studies, modelToUpload=MODEL)
    job = made["trainingTaskMetadata"]["backingCustomJob"]
    end(studies, job, code=2)
    done = studies.get(f"/v1/{made['name']}")
    assert (done["state"], done["endTime"]) == ("PIPELINE_STATE_FAILED", studies.get(f"/v1/{job}")["endTime"])
    assert "non-zero status of 2" in done["error"]["message"]
    assert studies.get(MODELS) == {"models": []}


def test_a_cancelled_pipeline_takes_its_job_with_it(studies: Studies) -> None:
    made = create(studies)
    studies.tick()
    path = f"/v1/{made['name']}"
    assert studies.calling.call("POST", f"{path}:cancel", {}) == {}
    assert studies.get(path)["state"] == "PIPELINE_STATE_CANCELLING"
    studies.tick()
    done = studies.get(path)
    assert (done["state"], done["error"]["message"]) == (
        "PIPELINE_STATE_CANCELLED",
        "The training pipeline was cancelled.",
    )
    assert "cannot be cancelled" in studies.calling.refused("POST", f"{path}:cancel", {}).message


def test_a_tuning_task_has_a_tuning_job_and_its_best_trial_s_model(studies: Studies) -> None:
    made = create(studies, inputs=TUNING_TASK, definition=TUNE, modelToUpload=MODEL)
    job = made["trainingTaskMetadata"]["backingHyperparameterTuningJob"]
    assert studies.get(f"/v1/{job}")["displayName"] == "train-hyperparameter-tuning-job"
    studies.tick()
    for score in (0.9, 0.5):
        trial = studies.trials(f"/v1/{job}", "ACTIVE")[0]
        put_file(studies, f"run/{trial['id']}/model/model.joblib")
        studies.end(trial, score)
    studies.tick()
    done = studies.get(f"/v1/{made['name']}")
    assert done["state"] == "PIPELINE_STATE_SUCCEEDED", done
    best = studies.trials(f"/v1/{job}")[0]
    assert done["trainingTaskMetadata"]["bestTrialBackingCustomJob"] == best["customJob"]
    assert studies.get(f"/v1/{done['modelToUpload']['name']}")["artifactUri"] == "gs://models/run/1/model"


def test_a_cancelled_tuning_pipeline_ends_with_its_trials(studies: Studies) -> None:
    made = create(studies, inputs=TUNING_TASK, definition=TUNE)
    studies.tick()
    studies.calling.call("POST", f"/v1/{made['name']}:cancel", {})
    studies.tick()
    assert studies.get(f"/v1/{made['name']}")["state"] == "PIPELINE_STATE_CANCELLED"
    (tuning,) = studies.get(TUNING)["hyperparameterTuningJobs"]
    assert tuning["state"] == "JOB_STATE_CANCELLED"


# --- the model it leaves (B5)


def test_the_model_is_uploaded_from_the_output_directory(studies: Studies) -> None:
    declared = {**MODEL, "labels": {"kind": "forest"}, "versionAliases": ["champion"]}
    made = create(studies, modelToUpload=declared, modelId="digits")
    put_file(studies, "run/model/model.joblib")
    end(studies, made["trainingTaskMetadata"]["backingCustomJob"])
    done = studies.get(f"/v1/{made['name']}")
    assert (done["modelToUpload"]["name"], done["modelToUpload"]["versionId"]) == (f"{NUMBERED}/models/digits", "1")
    model = studies.get(f"{MODELS}/digits")
    assert model["trainingPipeline"] == made["name"]
    assert model["artifactUri"] == "gs://models/run/model"
    assert (model["versionAliases"], model["labels"]) == (["default", "champion"], {"kind": "forest"})
    assert model["containerSpec"] == {"imageUri": SKLEARN}


def test_a_parent_model_gets_another_version(studies: Studies) -> None:
    put_file(studies, "run/model/model.joblib")
    for parent in ({"modelId": "digits"}, {"parentModel": f"{PARENT}/models/digits"}):
        made = create(studies, modelToUpload=MODEL, **parent)
        end(studies, made["trainingTaskMetadata"]["backingCustomJob"])
    done = studies.get(f"/v1/{made['name']}")
    assert (done["modelToUpload"]["name"], done["modelToUpload"]["versionId"]) == (f"{NUMBERED}/models/digits", "2")
    assert studies.get(f"{MODELS}/digits")["versionId"] == "1", "still the default"


def test_an_artifact_uri_of_its_own_wins(studies: Studies) -> None:
    put_file(studies, "elsewhere/model.pkl")
    made = create(studies, modelToUpload={**MODEL, "artifactUri": "gs://models/elsewhere/"})
    end(studies, made["trainingTaskMetadata"]["backingCustomJob"])
    model = studies.get(f"/v1/{made['name']}")["modelToUpload"]["name"]
    assert studies.get(f"/v1/{model}")["artifactUri"] == "gs://models/elsewhere"


def test_a_model_without_its_files_fails_the_pipeline_in_words(studies: Studies) -> None:
    made = create(studies, modelToUpload=MODEL)
    put_file(studies, "run/model.joblib")
    end(studies, made["trainingTaskMetadata"]["backingCustomJob"])
    done = studies.get(f"/v1/{made['name']}")
    assert done["state"] == "PIPELINE_STATE_FAILED" and "name" not in done["modelToUpload"]
    assert done["error"]["message"].endswith(' There are no files under "gs://models/run/model" to copy.')


def test_an_id_that_is_taken_fails_the_pipeline_in_words(studies: Studies) -> None:
    put_file(studies, "run/model/model.joblib")
    states = []
    for _ in range(2):
        made = create(studies, modelToUpload=MODEL, modelId="digits")
        end(studies, made["trainingTaskMetadata"]["backingCustomJob"])
        states.append(studies.get(f"/v1/{made['name']}"))
    assert [done["state"] for done in states] == ["PIPELINE_STATE_SUCCEEDED", "PIPELINE_STATE_FAILED"]
    assert "already exists" in states[1]["error"]["message"]


def test_a_model_and_the_end_of_its_pipeline_are_written_together_or_not_at_all(
    studies: Studies, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = create(studies, modelToUpload=MODEL)
    put_file(studies, "run/model/model.joblib")
    studies.machines.ends[made["trainingTaskMetadata"]["backingCustomJob"].rpartition("/")[2]] = Status("exited")
    for _ in range(2):
        studies.scheduler.step()

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(records, "succeeded", killed)
        with pytest.raises(KeyboardInterrupt):
            pipeline_work.step(studies.calling.world)
    assert studies.get(MODELS) == {"models": []}
    studies.tick()
    (model,) = studies.get(MODELS)["models"]
    assert studies.get(f"/v1/{made['name']}")["modelToUpload"]["name"] == model["name"]

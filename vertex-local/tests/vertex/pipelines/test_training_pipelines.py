"""Training pipelines as their methods show them (vertex-rules 5.2). No process is started here."""

from typing import Any

import pytest

from tests.vertex.tuning.conftest import TUNING, Studies, studies, study, trial_spec
from vertex_local.access import policies
from vertex_local.nodes.spec import Status
from vertex_local.testing.calling import JOBS, NUMBERED, PARENT
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
# As the SDK sends it: keys of its own spelling, numbers, and nothing where nothing was said.
SNAKE = {
    "worker_pool_specs": [
        {
            "machine_spec": {
                "machine_type": "n1-standard-4",
                "accelerator_type": "NVIDIA_TESLA_T4",
                "accelerator_count": 1,
            },
            "replica_count": 1,
            "container_spec": {"image_uri": "python:3.10", "command": ["true"]},
        }
    ],
    "base_output_directory": {"output_uri_prefix": "gs://models/run"},
    "scheduling": {"timeout": None, "disable_retries": True, "strategy": 3, "max_wait_duration": None},
}


def pipeline_body(inputs: Any = None, definition: str = CUSTOM, **changes: Any) -> dict[str, Any]:
    inputs = TASK if inputs is None else inputs
    return {"displayName": "train", "trainingTaskDefinition": definition, "trainingTaskInputs": inputs} | changes


def create(studies: Studies, **changes: Any) -> dict[str, Any]:
    made: dict[str, Any] = studies.calling.call("POST", PIPELINES, pipeline_body(**changes))
    return made


def put_file(studies: Studies, name: str) -> None:
    """Leave an object in the bucket `models`, as training code does."""
    store = studies.calling.world.store
    store.put("object", f"models/{name}", {"resource": {"name": name}, "blob": ""})


def end(studies: Studies, job: str, code: int = 0) -> None:
    studies.tick()
    studies.end({"customJob": job}, code=code)


# --- the job behind it


@pytest.mark.parametrize("inputs", [TASK, SNAKE])
def test_a_pipeline_is_made_with_its_job_and_follows_it(studies: Studies, inputs: Any) -> None:
    made = create(studies, inputs=inputs, labels={"team": "ml"})
    assert made["name"].startswith(f"{NUMBERED}/trainingPipelines/")
    assert (made["state"], made["labels"]) == ("PIPELINE_STATE_PENDING", {"team": "ml"})
    assert made["trainingTaskInputs"].keys() == inputs.keys(), "answered as sent"
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


@pytest.mark.parametrize(("code", "state"), [(0, "SUCCEEDED"), (3, "FAILED")])
def test_its_times_are_those_of_the_job(
    studies: Studies, monkeypatch: pytest.MonkeyPatch, code: int, state: str
) -> None:
    quick = Status("exited", code, began="2026-11-20T10:00:00.250000Z", over="2026-11-20T10:00:00.500000Z")
    monkeypatch.setattr(studies.machines, "status", lambda folder: quick)
    path = f"/v1/{create(studies)['name']}"
    studies.tick()
    done = studies.get(path)
    assert done["state"] == f"PIPELINE_STATE_{state}"
    assert (done["startTime"], done["endTime"]) == ("2026-11-20T10:00:00.250Z", "2026-11-20T10:00:00.500Z")


def test_inputs_in_snake_case_are_the_same_job(studies: Studies) -> None:
    job = studies.get(f"/v1/{create(studies, inputs=SNAKE)['trainingTaskMetadata']['backingCustomJob']}")
    (worker,) = job["jobSpec"]["workerPoolSpecs"]
    assert worker["machineSpec"]["acceleratorType"] == "NVIDIA_TESLA_T4"
    assert job["jobSpec"]["scheduling"] == {"disableRetries": True, "strategy": "STANDARD"}
    assert job["jobSpec"]["baseOutputDirectory"] == {"outputUriPrefix": "gs://models/run"}


def test_a_long_name_leaves_room_for_the_job_s(studies: Studies) -> None:
    job = studies.get(f"/v1/{create(studies, displayName='x' * 128)['trainingTaskMetadata']['backingCustomJob']}")
    assert job["displayName"] == "x" * 117 + "-custom-job"


def test_a_pipeline_whose_job_fails_has_its_error(studies: Studies) -> None:
    made = create(studies, modelToUpload=MODEL)
    end(studies, made["trainingTaskMetadata"]["backingCustomJob"], code=2)
    done = studies.get(f"/v1/{made['name']}")
    assert done["state"] == "PIPELINE_STATE_FAILED"
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


@pytest.mark.parametrize(
    ("file", "words"),
    [
        ("run/model.joblib", 'There are no files under "gs://models/run/model" to copy.'),
        (
            "run/model/forest.joblib",
            "Model directory gs://models/run/model is expected to contain exactly one of: [model.joblib, model.pkl].",
        ),
    ],
)
def test_a_model_without_its_files_fails_the_pipeline_in_words(studies: Studies, file: str, words: str) -> None:
    made = create(studies, modelToUpload=MODEL)
    put_file(studies, file)
    end(studies, made["trainingTaskMetadata"]["backingCustomJob"])
    done = studies.get(f"/v1/{made['name']}")
    assert done["state"] == "PIPELINE_STATE_FAILED" and done["error"]["message"].endswith(f" {words}")
    assert "name" not in done["modelToUpload"]


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


# --- what is refused, besides what `contracts/refused_pipelines.txt` has


def test_a_refused_pipeline_leaves_no_job(studies: Studies) -> None:
    studies.calling.refused("POST", PIPELINES, pipeline_body(modelToUpload={"displayName": "m"}))
    assert studies.get(JOBS) == {"customJobs": []}


# --- lists, permissions, deletion


def test_lists_are_filtered_and_masked(studies: Studies) -> None:
    create(studies, displayName="one", labels={"n": "one"})
    create(studies, displayName="two", inputs=TUNING_TASK, definition=TUNE)

    def names(text: str) -> list[str]:
        found = studies.get(f"{PIPELINES}?filter={text}")["trainingPipelines"]
        return [item["displayName"] for item in found]

    assert names("") == ["two", "one"]
    assert names("labels.n%3Done") == ["one"]
    assert names("training_task_definition%3Acustom_task") == ["one"]
    assert names("state%3D%22PIPELINE_STATE_PENDING%22%20OR%20display_name%3Dtwo") == ["two", "one"]
    assert names("state%3D%22PIPELINE_STATE_SUCCEEDED%22") == []
    (masked,) = studies.get(f"{PIPELINES}?pageSize=1&readMask=name")["trainingPipelines"]
    assert set(masked) == {"name"}


def test_who_may_not_is_told_the_permission(studies: Studies) -> None:
    error = studies.calling.refused("POST", PIPELINES, pipeline_body(), role="submitter")
    assert "aiplatform.trainingPipelines.create" in error.message
    user = ("user:ada@company.example",)
    studies.calling.world.policies.seed(policies.project_name("local-project"), {"roles/aiplatform.user": user})
    made = studies.calling.call("POST", PIPELINES, pipeline_body(), role="submitter")
    assert studies.calling.call("GET", f"/v1/{made['name']}", role="submitter") == made


def test_only_a_pipeline_that_is_over_can_be_deleted(studies: Studies) -> None:
    made = create(studies)
    path = f"/v1/{made['name']}"
    assert "only one that has ended" in studies.calling.refused("DELETE", path).message
    end(studies, made["trainingTaskMetadata"]["backingCustomJob"])
    assert studies.calling.call("DELETE", path)["done"]
    assert studies.calling.refused("GET", path).code == 404
    assert len(studies.get(JOBS)["customJobs"]) == 1, "its job stays"

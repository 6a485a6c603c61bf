"""Every kind of job by every capacity type, as the official messages have it. # D3 D9 W1 W2 W5 W8 Z4 Z6 X1 P4"""

from dataclasses import replace
from typing import Any

import pytest
from google.protobuf.json_format import MessageToDict

from slipway.authoring.template.compile import check, request, usual_values
from slipway.base.errors import ConfigError
from slipway.model.catalog.placeholders import fill
from slipway.model.cluster import PscInterface, Reservation
from slipway.template import (
    ANY_RESERVATION,
    Condition,
    Disk,
    Image,
    JobTemplate,
    Metric,
    ModelUpload,
    NfsMount,
    Package,
    Parameter,
    Scheduling,
    Search,
    Stopping,
    Study,
    WorkerPool,
)
from tests.builders.templates import job_template as template

from .conftest import CONTEXT, cluster

URI = "gs://acme-dev-catalog/packages/digits.tar.gz"
DIGEST = "sha256:" + "0" * 64
REDUCTION = f"us-docker.pkg.dev/vertex-ai-restricted/training/reductionserver@{DIGEST}"
SERVER = Image(REDUCTION, command=("serve",), launcher=False)
PATH = "projects/acme/zones/us-central1-a/reservations/h100"
HERE = replace(CONTEXT, project="acme-dev", reservations={"h100": Reservation(PATH, "a3-highgpu-8g")})
NETWORK = "projects/123456789012/global/networks/training"
STUDY = Study(
    metrics=(Metric("accuracy"), Metric("loss", "minimize")),
    parameters=(
        Search("rate", "double", 1e-5, 0.1, scale="log"),
        Search(
            "model",
            "categorical",
            values=("svm", "forest"),
            conditions=(Condition(("forest",), (Search("trees", "integer", 10, 500, scale="log"),)),),
        ),
        Search("batch", "discrete", values=(16, 32.5)),
    ),
    max_trials="${trials}",
    parallel_trials=2,
    algorithm="random",
    max_failed_trials=3,
    stopping=Stopping("median", use_elapsed_duration=True),
    trials_without_progress=5,
)
CHIEF = WorkerPool("chief", "a3-highgpu-8g", args=("--rate=0.01", "--seed=1"), reservation="h100")


def digits(**changes: Any) -> JobTemplate:
    parts: dict[str, Any] = {
        "name": "digits",
        "worker_pools": (CHIEF,),
        "parameters": (Parameter("trials", int, default=8, min=1, max=20),),
        "kinds": ("custom-job", "hyperparameter-tuning-job", "training-pipeline"),
        "capacity_types": ("flex-start", "spot", "on-demand", "reservation"),
        "study": STUDY,
        "model": ModelUpload("digits", "us-docker.pkg.dev/vertex-ai/prediction/sklearn-cpu.1-5:latest"),
    }
    return template(**{**parts, **changes})


def body(asked: JobTemplate, capacity_type: str = "on-demand", kind: str = "custom-job", **more: Any) -> dict[str, Any]:
    return request(asked, capacity_type, HERE, dict.fromkeys(asked.packages, URI), kind=kind, **more)


@pytest.mark.parametrize("kind", ["custom-job", "hyperparameter-tuning-job", "training-pipeline"])
@pytest.mark.parametrize("capacity_type", ["pool", "flex-start", "spot", "on-demand", "reservation"])
def test_every_kind_by_every_capacity_type_is_canonical_json_of_the_official_type(
    kind: str, capacity_type: str
) -> None:  # D9 W5
    """Through the message and back it is the same, so no field is misspelt, renamed or dropped."""
    asked = digits(tensorboard="7", nfs_mounts=(NfsMount("10.0.0.2", "/share", "data"),), network=NETWORK)
    sent_body = body(asked, capacity_type, kind, cluster="cpu" if capacity_type == "pool" else None)
    filled = fill(sent_body, usual_values(asked))
    if kind == "hyperparameter-tuning-job":
        filled["maxTrialCount"] = int(filled["maxTrialCount"])
    assert MessageToDict(check(asked, sent_body, kind=kind)) == filled


@pytest.mark.parametrize(
    ("capacity_type", "scheduling"),
    [
        ("flex-start", {"timeout": "86400s", "strategy": "FLEX_START", "maxWaitDuration": "86400s"}),
        ("spot", {"timeout": "86400s", "strategy": "SPOT"}),
        ("on-demand", {"timeout": "86400s", "strategy": "STANDARD"}),
        ("reservation", {"timeout": "86400s"}),
    ],
)
def test_the_strategy_of_each_capacity_type(capacity_type: str, scheduling: dict[str, str]) -> None:  # W1 X1
    assert body(digits(), capacity_type)["jobSpec"]["scheduling"] == scheduling


@pytest.mark.parametrize(
    ("changes", "wait"),
    [
        ({}, "86400s"),
        ({"scheduling": Scheduling(max_wait_s=0)}, "0s"),  # forever, and not dropped as a client does it
        ({"waits": {"flex-start": 1800}}, "1800s"),
        ({"waits": {"flex-start": 1800}, "scheduling": Scheduling(max_wait_s=0)}, "0s"),
    ],
)
def test_flex_start_says_how_long_it_waits(changes: dict[str, Any], wait: str) -> None:  # W2
    assert body(digits(**changes), "flex-start")["jobSpec"]["scheduling"]["maxWaitDuration"] == wait


def test_a_rule_that_a_template_breaks_is_an_error_with_all_of_its_breaches() -> None:  # W4
    small = WorkerPool("workers", "n1-standard-8", replicas=2)
    asked = digits(worker_pools=(replace(CHIEF, reservation=None), small))
    with pytest.raises(ConfigError) as error:
        body(asked, "flex-start")
    assert error.value.what.startswith("template digits: ") and "flex-start breaks 3 " in error.value.what
    for words in ("flex-start gives", "must have the same machines", "[flex-machines]"):
        assert words in error.value.why
    assert "out of its capacity_types" in error.value.fix


def test_a_reservation_is_named_by_its_path() -> None:  # Z6
    spec = body(digits(), "reservation")["jobSpec"]["workerPoolSpecs"][0]["machineSpec"]
    assert spec["reservationAffinity"] == {
        "reservationAffinityType": "SPECIFIC_RESERVATION",
        "key": "compute.googleapis.com/reservation-name",
        "values": [PATH],
    }
    anywhere = digits(worker_pools=(replace(CHIEF, reservation=ANY_RESERVATION),))
    spec = body(anywhere, "reservation")["jobSpec"]["workerPoolSpecs"][0]["machineSpec"]
    assert spec["reservationAffinity"] == {"reservationAffinityType": "ANY_RESERVATION"}
    assert "reservationAffinity" not in str(body(digits(), "spot"))


def test_a_tuning_job_has_its_study_and_leaves_what_it_searches_to_the_service() -> None:  # W5
    sent_body = body(digits(), "spot", "hyperparameter-tuning-job")
    assert (sent_body["maxTrialCount"], sent_body["parallelTrialCount"], sent_body["maxFailedTrialCount"]) == (
        "${trials}",
        2,
        3,
    )
    assert sent_body["studySpec"] == {
        "metrics": [{"metricId": "accuracy", "goal": "MAXIMIZE"}, {"metricId": "loss", "goal": "MINIMIZE"}],
        "parameters": [
            {
                "parameterId": "rate",
                "doubleValueSpec": {"minValue": 1e-5, "maxValue": 0.1},
                "scaleType": "UNIT_LOG_SCALE",
            },
            {
                "parameterId": "model",
                "categoricalValueSpec": {"values": ["svm", "forest"]},
                "conditionalParameterSpecs": [
                    {
                        "parameterSpec": {
                            "parameterId": "trees",
                            "integerValueSpec": {"minValue": "10", "maxValue": "500"},
                            "scaleType": "UNIT_LOG_SCALE",
                        },
                        "parentCategoricalValues": {"values": ["forest"]},
                    }
                ],
            },
            {"parameterId": "batch", "discreteValueSpec": {"values": [16.0, 32.5]}},
        ],
        "measurementSelectionType": "BEST_MEASUREMENT",
        "algorithm": "RANDOM_SEARCH",
        "medianAutomatedStoppingSpec": {"useElapsedDuration": True},
        "studyStoppingConfig": {"maxNumTrialsNoProgress": 5},
    }
    arguments = sent_body["trialJobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]["args"]
    assert arguments[arguments.index("--") + 1 :] == ["--seed=1"]
    assert "--rate=0.01" in body(digits())["jobSpec"]["workerPoolSpecs"][0]["pythonPackageSpec"]["args"]


def test_a_pipeline_uploads_the_model() -> None:  # W5
    sent_body = body(digits(), kind="training-pipeline")
    assert sent_body["trainingTaskDefinition"].endswith("/custom_task_1.0.0.yaml")
    assert sent_body["trainingTaskInputs"]["workerPoolSpecs"][0]["replicaCount"] == "1"
    assert sent_body["modelToUpload"] == {
        "displayName": "digits",
        "containerSpec": {"imageUri": "us-docker.pkg.dev/vertex-ai/prediction/sklearn-cpu.1-5:latest"},
    }
    elsewhere = ModelUpload(
        "digits", "gcr.io/acme/serve", artifact="best", parent_model="projects/p/locations/us-central1/models/m"
    )
    sent_body = body(digits(model=elsewhere), kind="training-pipeline")
    assert sent_body["modelToUpload"]["artifactUri"] == "${slipway.output}/best/"
    assert sent_body["parentModel"] == "projects/p/locations/us-central1/models/m"
    assert "modelToUpload" not in body(digits(model=None), kind="training-pipeline")


def test_a_field_that_the_api_does_not_have_is_named() -> None:
    asked = digits()
    sent_body = body(asked)
    sent_body["jobSpec"]["workerPoolSpecs"][0]["machineSpec"]["machine"] = "n1"
    with pytest.raises(ConfigError, match="not a valid CustomJob") as error:
        check(asked, sent_body)
    assert "workerPoolSpecs[0].machineSpec" in error.value.why
    sent_body = body(asked, kind="training-pipeline")
    sent_body["trainingTaskInputs"]["workerPoolSpec"] = []
    with pytest.raises(ConfigError) as error:
        check(asked, sent_body, kind="training-pipeline")
    assert "workerPoolSpec" in error.value.why, "they are any JSON to the pipeline's own type"


def container(image: Image, **fields: Any) -> dict[str, Any]:
    asked = digits(code=image, env={"A": "1"}, **fields)
    uris = dict.fromkeys(asked.uploaded, "gs://catalog/packages/digits-0123456789ab.pyz")
    (pool,) = request(asked, "on-demand", HERE, uris)["jobSpec"]["workerPoolSpecs"]
    return dict(pool["containerSpec"])


URI_OF_IMAGE = f"us-docker.pkg.dev/p/r/i@{DIGEST}"


@pytest.mark.parametrize("image", [Image(URI_OF_IMAGE, ("python", "-m", "t"), launcher=False), Image(URI_OF_IMAGE)])
def test_an_image_without_a_launcher_is_a_container_as_it_is(image: Image) -> None:  # X6
    assert container(image) == {
        "imageUri": URI_OF_IMAGE,
        **({"command": ["python", "-m", "t"]} if image.command else {}),
        "args": ["--rate=0.01", "--seed=1"],
        "env": [{"name": "A", "value": "1"}],
    }


def test_an_images_command_is_started_by_the_launcher_that_the_container_finds_in_the_bucket() -> None:  # N27
    """An image's words and arguments stand behind the launcher's; the trials of a tuning job add theirs at the end."""
    sent = container(Image(URI_OF_IMAGE, ("julia", "-O3", "${trials}.jl")), secrets={"HF_TOKEN": "hf-token"})
    assert sent["command"][3:] == ["/gcs/catalog/packages/digits-0123456789ab.pyz"]
    assert sent["args"] == [
        *("--claim", f"gs://{CONTEXT.work_bucket}/claims/${{slipway.request}}"),
        *("--exec=julia", "--exec=-O3", "--exec=${trials}.jl", "--", "--rate=0.01", "--seed=1"),
    ]
    assert sent["env"][-1]["name"] == "HF_TOKEN__SECRET"
    folder = container(Image(URI_OF_IMAGE, ("julia", "a.jl"), path="JULIA_LOAD_PATH"), code_flag=True)["args"]
    assert folder[2:4] == ["--code=${slipway.package}", "--path=JULIA_LOAD_PATH"]  # N11


def test_worker_pools_take_their_places_and_leave_gaps() -> None:  # P4
    pools = (
        replace(CHIEF, reservation=None),
        WorkerPool("reducers", "n1-highcpu-16", replicas=2, position="parameter-servers", code=SERVER),
        WorkerPool("evaluator", "a3-highgpu-8g"),
    )
    asked = digits(worker_pools=pools)
    chief, workers, reducers, evaluator = body(asked)["jobSpec"]["workerPoolSpecs"]
    assert workers == {}
    assert reducers["containerSpec"] == {"imageUri": SERVER.uri, "command": ["serve"]}
    assert evaluator["pythonPackageSpec"]["packageUris"] == chief["pythonPackageSpec"]["packageUris"] == [URI]


def test_a_worker_pool_may_run_a_package_of_its_own() -> None:
    other = Package("jobs/judge", "judge.task", template().packages[0].image)
    asked = digits(worker_pools=(CHIEF, WorkerPool("evaluator", "n1-standard-8", position="evaluators", code=other)))
    uris = {asked.uploaded[0]: URI, other: "gs://b/judge.tar.gz"}
    pools = request(asked, "on-demand", HERE, uris)["jobSpec"]["workerPoolSpecs"]
    assert [pool["pythonPackageSpec"]["packageUris"][0] for pool in pools if pool] == [URI, "gs://b/judge.tar.gz"]
    assert "judge.task" in pools[3]["pythonPackageSpec"]["args"]


def test_only_a_template_that_allows_other_code_takes_its_package_at_submission() -> None:  # N11
    (pool,) = body(digits(code_flag=True))["jobSpec"]["workerPoolSpecs"]
    assert pool["pythonPackageSpec"]["packageUris"] == ["${slipway.package}"]


def test_tensorboard_and_experiment_have_their_full_names() -> None:  # W8 Z4
    home = "projects/acme-dev/locations/us-central1"
    assert body(digits(tensorboard="7"))["jobSpec"]["tensorboard"] == f"{home}/tensorboards/7"
    spec = body(digits(experiment="digits"))["jobSpec"]
    assert spec["experiment"] == f"{home}/metadataStores/default/contexts/digits"
    assert spec["experimentRun"] == f"{home}/metadataStores/default/contexts/digits-${{slipway.experimentRun}}"


def test_the_rest_of_a_job() -> None:
    asked = digits(
        scheduling=Scheduling(restart_job_on_worker_restart=True),
        nfs_mounts=(NfsMount("10.0.0.2", "/share", "data"),),
        network=NETWORK,
        service_account="other@acme.iam.gserviceaccount.com",
        enable_web_access=True,
        enable_dashboard_access=True,
    )
    spec = body(asked)["jobSpec"]
    assert spec["scheduling"]["restartJobOnWorkerRestart"] is True
    assert spec["network"] == NETWORK
    assert spec["serviceAccount"] == "other@acme.iam.gserviceaccount.com"
    assert (spec["enableWebAccess"], spec["enableDashboardAccess"]) == (True, True)
    assert spec["workerPoolSpecs"][0]["nfsMounts"] == [{"server": "10.0.0.2", "path": "/share", "mountPoint": "data"}]


def test_a_job_on_a_cluster_has_its_network_and_its_key() -> None:  # P1: the service rejects it otherwise
    home = cluster(network=NETWORK, kms_key="key", reserved_ip_ranges=("vertex",), psc=PscInterface("training"))
    answer = request(template(), "pool", HERE, {template().packages[0]: URI}, "cpu", on=home)
    assert answer["jobSpec"]["network"] == NETWORK
    assert answer["jobSpec"]["reservedIpRanges"] == ["vertex"]
    assert answer["jobSpec"]["pscInterfaceConfig"] == {"networkAttachment": "training"}
    assert answer["encryptionSpec"] == {"kmsKeyName": "key"}


def test_a_job_on_machines_of_its_own_has_the_workspaces_key_and_one_on_a_cluster_never() -> None:  # P1
    here = replace(HERE, kms_key="workspace")
    own = request(template(), "spot", here, {template().packages[0]: URI})
    shared = request(template(), "pool", here, {template().packages[0]: URI}, "cpu", on=cluster())
    assert own["encryptionSpec"] == {"kmsKeyName": "workspace"} and "encryptionSpec" not in shared


def test_a_tpu_has_its_topology() -> None:
    asked = digits(worker_pools=(WorkerPool("chief", "ct5lp-hightpu-4t", tpu_topology="4x4", disk=Disk()),))
    (pool,) = body(asked)["jobSpec"]["workerPoolSpecs"]
    assert pool["machineSpec"] == {"machineType": "ct5lp-hightpu-4t", "tpuTopology": "4x4"}

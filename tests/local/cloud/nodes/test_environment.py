"""The environment of a replica: who the others are, where it is, and where its outputs lie (checklist 10)."""

import json

import pytest

from local.cloud.nodes import environment
from local.cloud.nodes.environment import Place

SPEC = {"workerPoolSpecs": [], "baseOutputDirectory": {"outputUriPrefix": "gs://b/run/"}}
PLACES = [Place(0, 0, "127.1.0.1", 2222, 7777), *(Place(1, n, f"127.1.0.{n + 2}", 2222, 7777) for n in range(2))]

NUMBER = "100000000001"


def test_a_replica_finds_the_others_and_itself() -> None:
    found = environment.variables(PLACES, PLACES[2], project=NUMBER, job_id="7", region="us-central1", spec=SPEC)
    cluster = json.loads(found["CLUSTER_SPEC"])
    assert cluster["cluster"] == {
        "workerpool0": ["127.1.0.1:2222"],
        "workerpool1": ["127.1.0.2:2222", "127.1.0.3:2222"],
    }
    assert cluster["task"] == {"type": "workerpool1", "index": 1}
    assert cluster["environment"] == "cloud"
    assert cluster["job"] == SPEC
    assert cluster["open_ports"] == [7777]
    assert json.loads(found["TF_CONFIG"])["task"] == {"type": "worker", "index": 1, "cloud": ""}
    assert (found["RANK"], found["WORLD_SIZE"]) == ("2", "3")
    assert (found["MASTER_ADDR"], found["MASTER_PORT"]) == ("127.1.0.1", "2222")


def test_the_project_is_its_number_and_outputs_lie_under_the_base() -> None:
    found = environment.variables(PLACES, PLACES[0], project=NUMBER, job_id="7", region="us-central1", spec=SPEC)
    assert found["CLOUD_ML_PROJECT_ID"] == "100000000001"
    assert (found["CLOUD_ML_JOB_ID"], found["CLOUD_ML_REGION"]) == ("7", "us-central1")
    assert found["AIP_MODEL_DIR"] == "gs://b/run/model/"
    assert found["AIP_CHECKPOINT_DIR"] == "gs://b/run/checkpoints/"
    assert found["AIP_TENSORBOARD_LOG_DIR"] == "gs://b/run/logs/"


def test_a_single_replica_is_the_chief_and_has_no_tf_config() -> None:
    found = environment.variables(PLACES[:1], PLACES[0], project=NUMBER, job_id="7", region="us-central1", spec={})
    assert json.loads(found["CLUSTER_SPEC"])["cluster"] == {"chief": ["127.1.0.1:2222"]}
    assert not {"TF_CONFIG", "RANK", "MASTER_ADDR", "AIP_MODEL_DIR"} & found.keys()


def test_an_evaluator_is_never_part_of_the_tensorflow_cluster() -> None:
    evaluator = Place(3, 0, "127.1.0.9", 2222, 7777)
    found = environment.tf_config([*PLACES, evaluator], evaluator, {})
    assert "evaluator" not in found["cluster"]
    assert found["task"]["type"] == "evaluator"


@pytest.mark.parametrize(
    ("text", "result"),
    [
        ("$(A)/x", "1/x"),
        ("$$(A)", "$(A)"),
        ("$(B)", "$(B)"),
        ("$A", "$A"),
        ("$(A)$(A)", "11"),
        ("$$$(A)", "$1"),
        ("$$$$(A)", "$$(A)"),
        ("$$ $$5 $5 $", "$ $5 $5 $"),
        ("$(a b) $$(a b) $(1 $(A)", "$(a b) $(a b) $(1 $(A)"),
        ("$(A", "$(A"),
    ],
)
def test_references_are_expanded(text: str, result: str) -> None:
    assert environment.expanded(text, {"A": "1"}) == result


def test_what_a_job_is_told_of_itself_has_letters_as_they_are() -> None:
    """Linux refuses a variable of more than 128 KB, and a job carries up to 32 KB of parameters twice."""
    args = ["é" * 16_000, "é" * 16_000]
    spec = {"workerPoolSpecs": [{"containerSpec": {"args": args}}]}
    found = environment.variables(PLACES, PLACES[0], project=NUMBER, job_id="7", region="us-central1", spec=spec)
    for name in ("CLUSTER_SPEC", "TF_CONFIG"):
        assert len(found[name].encode()) < 80_000 and json.loads(found[name])["job"] == spec

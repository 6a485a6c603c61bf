"""`slipway.kfp.submit_op` as it compiles; tests/end_to_end/test_pipeline_task.py runs it. (N28)"""

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml
from kfp import compiler, dsl

from slipway.errors import ConfigError
from slipway.front.api import submit_op as module
from slipway.front.api.pipeline_task import PipelineTask
from slipway.kfp import submit_op
from slipway.model.kinds.pipeline import THIS_STACK
from tests.docs.console import blocks
from tests.local.conftest import ROOT

CATALOG = "gs://acme-prod-catalog"
OWN: dict[str, Any] = {"catalog": CATALOG, "packages_to_install": ("slipway-vertex==0.2.0",)}


@dsl.container_component
def prepare(rate: dsl.OutputPath(float), data: dsl.Output[dsl.Dataset]) -> dsl.ContainerSpec:  # type: ignore[valid-type]
    return dsl.ContainerSpec(image="python:3.12-slim", command=["prepare", rate, data.path])


@dsl.container_component
def publish(model: dsl.Input[dsl.Artifact], metrics: dsl.Input[dsl.Metrics]) -> dsl.ContainerSpec:
    return dsl.ContainerSpec(image="python:3.12-slim", command=["publish", model.uri, metrics.metadata["accuracy"]])


def compiled(folder: Path, **arguments: Any) -> Any:
    @dsl.pipeline(name="nightly")
    def nightly(layers: list = [64, 32]) -> None:  # type: ignore[type-arg]  # noqa: B006 - as kfp wants a default
        made = prepare().outputs
        submit_op("digits", trees=40, lr=made["rate"], data=made["data"], layers=layers, **{**OWN, **arguments})

    file = folder / "nightly.yaml"
    compiler.Compiler().compile(nightly, str(file))
    return yaml.safe_load(file.read_text())


def test_each_argument_is_an_input_of_its_type_and_no_result_is_taken_from_a_cache(tmp_path: Path) -> None:
    spec = compiled(tmp_path, wait_for={"pool": "30m"}, then=("spot",), capacity=None)
    component, task = spec["components"]["comp-digits"], spec["root"]["dag"]["tasks"]["digits"]
    types = {name: item["parameterType"] for name, item in component["inputDefinitions"]["parameters"].items()}
    assert types == {
        "template": "STRING",
        "catalog": "STRING",
        "trees": "NUMBER_INTEGER",
        "lr": "NUMBER_DOUBLE",
        "layers": "LIST",
        "wait_for": "STRUCT",
        "then": "LIST",
    }
    assert set(component["inputDefinitions"]["artifacts"]) == {"data"}
    assert set(component["outputDefinitions"]["parameters"]) == {"job", "output"}
    assert set(component["outputDefinitions"]["artifacts"]) == {"folder", "metrics"}
    assert not task["cachingOptions"].get("enableCache") and task["dependentTasks"] == ["prepare"]
    container = spec["deploymentSpec"]["executors"]["exec-digits"]["container"]
    assert (container["resources"]["cpuLimit"], container["resources"]["memoryLimit"]) == (1.0, 2.0)
    assert container["command"][-1].startswith("trap 'exit 143' TERM; python3 -m pip install ")
    assert "slipway-vertex==0.2.0 && exec python3 -m slipway.kfp" in container["command"][-1]


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (2**53 + 1, "9007199254740993"),  # As a number it would come as 9007199254740992.
        (2**53, 2**53),
        (np.int64(5), "5"),
        (np.float32(0.1), "0.1"),
        (np.bool_(True), True),
        (float("inf"), "inf"),
        ((1, 2**60), [1, "1152921504606846976"]),
    ],
)
def test_each_value_arrives_as_it_was_given(tmp_path: Path, value: Any, written: Any) -> None:
    spec = compiled(tmp_path, seed=value)
    assert spec["root"]["dag"]["tasks"]["digits"]["inputs"]["parameters"]["seed"]["runtimeValue"]["constant"] == written


def test_an_image_of_ones_own_has_slipway_in_it(tmp_path: Path) -> None:
    spec = compiled(tmp_path, base_image="acme/slipway@sha256:1", packages_to_install=None)
    container = spec["deploymentSpec"]["executors"]["exec-digits"]["container"]
    assert container["image"] == "acme/slipway@sha256:1" and "pip" not in container["command"][-1]


def test_without_a_catalog_it_is_that_of_the_stack_that_runs_the_pipeline(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLIPWAY_CATALOG", "gs://of-who-compiled")
    spec = compiled(tmp_path, catalog=None)
    text = json.dumps(spec)
    assert "of-who-compiled" not in text and '"catalog"' not in text
    container = spec["deploymentSpec"]["executors"]["exec-digits"]["container"]
    assert container["env"] == [{"name": "SLIPWAY_CATALOG", "value": THIS_STACK}]
    assert THIS_STACK not in json.dumps(compiled(tmp_path)), "a task that names its catalog is another stack's"


def test_a_task_that_no_stack_published_says_that_it_has_no_catalog(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLIPWAY_CATALOG", THIS_STACK)
    monkeypatch.setenv("GOOGLE_OAUTH_ACCESS_TOKEN", "any")
    executor = {"inputs": {"parameterValues": {"template": "digits"}}, "outputs": {"outputFile": "/gcs/b/out.json"}}
    with pytest.raises(ConfigError, match=re.escape(THIS_STACK)):
        PipelineTask("projects/1/locations/us-central1/pipelineJobs/nightly-1", executor).submitted()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"code": "src"}, "submit_op takes no code"),
        ({"request_id": "mine"}, "submit_op takes no request_id"),
        ({"LR": 0.1}, "submit_op takes no LR"),
        ({"team_": "red"}, "submit_op takes no team_"),
        ({"optim.lr": 0.1}, "submit_op takes no optim.lr"),
        ({"capacity": 3}, "capacity is given a int"),
        ({"depth": {"a": 1}}, "depth is given a dict"),
        ({"catalog": "acme-prod"}, "acme-prod"),
    ],
)
def test_what_no_task_can_have_is_refused_when_it_is_compiled(
    tmp_path: Path, arguments: dict[str, Any], words: str
) -> None:
    with pytest.raises(ConfigError, match=words):
        compiled(tmp_path, **arguments)


def test_a_template_is_named_where_the_pipeline_is_compiled() -> None:
    def any_(template: str) -> None:
        submit_op(template, **OWN)

    with pytest.raises(ConfigError, match="template is given a PipelineParameterChannel"):
        dsl.pipeline(name="any")(any_)


def test_one_package_may_stand_without_a_list(tmp_path: Path) -> None:
    spec = compiled(tmp_path, packages_to_install="slipway-vertex==0.3.0")
    command = spec["deploymentSpec"]["executors"]["exec-digits"]["container"]["command"][-1]
    assert " slipway-vertex==0.3.0 && exec python3 -m slipway.kfp" in command


def test_a_label_of_ones_own_does_not_hide_the_job_from_a_cancelled_pipeline() -> None:
    """By these labels the task finds its job."""
    values = {"template": "digits", "labels": {"pipeline-task": "mine", "ablation": "decay"}}
    executor = {"inputs": {"parameterValues": values}, "outputs": {"outputFile": "/gcs/b/run/digits_1/out.json"}}
    task = PipelineTask("projects/1/locations/us-central1/pipelineJobs/nightly-1", executor)
    labels = {"ablation": "decay", "pipeline-run": "nightly-1", "pipeline-task": task.request_id}
    assert task.arguments["labels"] == labels
    values["labels"] = "ablation=decay"
    wrong = PipelineTask(task.pipeline, {"inputs": {"parameterValues": values}, "outputs": executor["outputs"]})
    assert wrong.arguments["labels"] == "ablation=decay", "which `submit` refuses in words"


def test_a_slipway_of_this_machine_can_not_be_installed_by_a_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="it comes from this machine"):
        compiled(tmp_path, packages_to_install=None)
    monkeypatch.setattr(module, "source", lambda: "slipway-vertex==0.3.0")
    spec = compiled(tmp_path, packages_to_install=None)
    assert "slipway-vertex==0.3.0" in spec["deploymentSpec"]["executors"]["exec-digits"]["container"]["command"][-1]


def test_the_pipeline_of_the_page_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    @dsl.container_component
    def prepare(rows: int, lr: dsl.OutputPath(float), data: dsl.Output[dsl.Dataset]) -> dsl.ContainerSpec:  # type: ignore[valid-type]
        return dsl.ContainerSpec(image="python:3.12-slim", command=["prepare", rows, lr, data.path])

    monkeypatch.setenv("SLIPWAY_CATALOG", CATALOG)
    monkeypatch.setattr(module, "source", lambda: "slipway-vertex==0.3.0")
    page = {"prepare": prepare, "publish": publish}
    exec(blocks(ROOT / "docs" / "pipelines.md", "python")[1], page)
    file = tmp_path / "nightly.yaml"
    compiler.Compiler().compile(page["nightly"], str(file))
    tasks = yaml.safe_load(file.read_text())["root"]["dag"]["tasks"]
    assert tasks["publish"]["dependentTasks"] == ["digits"] and tasks["digits"]["dependentTasks"] == ["prepare"]


def test_without_kfp_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kfp", None)
    with pytest.raises(ConfigError, match="pip install 'kfp>=2'"):
        submit_op("digits", catalog=CATALOG)

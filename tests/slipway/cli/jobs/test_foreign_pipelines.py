"""Training pipelines that others made, among the jobs of a stack: whatever they hold, every command reads past them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from local.cloud.identities import HOME as HOME_PROJECT
from local.cloud.store import Store
from local.cloud.vertex.pipelines.records import PIPELINES
from local.cloud.vertex.tables import Entry
from tests.slipway.cli.stack import PROJECT, REGION, Stack

HOME = f"/v1/projects/{PROJECT}/locations/{REGION}/trainingPipelines"
SCHEMAS = "gs://google-cloud-aiplatform/schema/trainingjob/definition"
NULLS = {
    "worker_pool_specs": [
        {
            "machine_spec": {"machine_type": "n1-standard-4", "accelerator_type": None},
            "replica_count": 1,
            "disk_spec": None,
            "container_spec": {"image_uri": "python:3.11", "command": ["true"], "args": None, "env": None},
            "python_package_spec": None,
        }
    ],
    "scheduling": None,
    "base_output_directory": None,
    "service_account": None,
}
ODD = {
    "table": {"targetColumn": "price", "transformations": None},
    "texts": {"workerPoolSpecs": "n1-standard-4", "scheduling": "SPOT", "baseOutputDirectory": "gs://b"},
    "numbers": {"workerPoolSpecs": [{"machineSpec": {"machineType": 4}, "replicaCount": "many"}], "serviceAccount": 7},
    "objects": {"workerPoolSpecs": {"0": {}}, "scheduling": {"strategy": {}}, "persistentResourceId": {}},
    "nested": [[{"workerPoolSpecs": []}]],
    "nothing": None,
}


@pytest.fixture
def foreign(stack: Stack) -> Iterator[dict[str, str]]:
    """Pipelines' names by what is odd in them. The cloud takes the first, the others are put where it keeps them."""
    body = {
        "displayName": "nulls",
        "trainingTaskDefinition": f"{SCHEMAS}/custom_task_1.0.0.yaml",
        "trainingTaskInputs": NULLS,
    }
    made = {"nulls": str(stack.cloud.rest("POST", HOME, body)["name"])}
    stack.until(lambda: "endTime" in stack.cloud.rest("GET", f"/v1/{made['nulls']}"))
    store = Store(stack.cloud.state / "cloud.sqlite")
    for what, inputs in ODD.items():
        with store.transaction():
            number, made[what] = PIPELINES.new_name(store, HOME_PROJECT, REGION)
            PIPELINES.put(store, Entry(number, pipeline(made[what], what, inputs), None))
    store.close()
    yield made
    for name in made.values():
        stack.cloud.rest("DELETE", f"/v1/{name}")


def pipeline(name: str, what: str, inputs: Any) -> dict[str, Any]:
    """Of a task that this cloud does not run. Made now: lists begin with the newest, and a stack may have thousands."""
    now = datetime.now(UTC).isoformat().replace("+00:00", "Z")
    return {
        "name": name,
        "displayName": what,
        "state": "PIPELINE_STATE_RUNNING",
        "createTime": now,
        "startTime": now,
        "trainingTaskDefinition": f"{SCHEMAS}/automl_tabular_1.0.0.yaml",
        "trainingTaskInputs": inputs,
    }


def test_every_command_reads_past_them(stack: Stack, foreign: dict[str, str]) -> None:
    table = stack.run("jobs", "list", "--all", "--limit", "1000")
    assert table.code == 0, table.err
    assert {line.split()[0] for line in table.out.splitlines()} >= set(foreign)
    documents = stack.run("jobs", "list", "--all", "--limit", "1000", "--output", "json")
    assert {job["name"] for job in documents.json["jobs"]} >= set(foreign.values())
    for words in (("pools",), ("quota",), ("submit", "hello")):
        done = stack.run(*words)
        assert done.code == 0, done.err
    for name in foreign.values():
        shown = stack.run("jobs", "show", name)
        assert shown.code == 0, shown.err

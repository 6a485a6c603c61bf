"""Pipelines: the machines that their tasks need at once, and a submission's request. (N28)"""

import random
from collections import Counter
from itertools import combinations
from typing import Any

import pytest

from slipway.base.errors import ConfigError
from slipway.google.jobs import VertexJob
from slipway.model.kinds import PIPELINE_JOB
from slipway.model.kinds.pipeline import Need, Pipeline, Task
from slipway.model.labels import STACK_LABEL
from slipway.model.machines.table import MachineError, machine

GPU = {"cpuLimit": 4.0, "memoryLimit": 15.0, "accelerator": {"type": "NVIDIA_TESLA_T4", "count": "1"}}
SPEC = {"baseOutputDirectory": {"outputUriPrefix": "gs://work/jobs/j"}, "serviceAccount": "a@b.iam.gserviceaccount.com"}


def task(component: str, *after: str, **more: Any) -> dict[str, Any]:
    return {"componentRef": {"name": component}, "dependentTasks": list(after), **more}


def pipeline(tasks: dict[str, Any], **components: Any) -> Pipeline:
    containers = {"cpu": {"image": "python:3.11"}, "gpu": {"image": "python:3.11", "resources": GPU}}
    executors = {name: {"container": container} for name, container in containers.items()}
    simple = {name: {"executorLabel": name} for name in ("cpu", "gpu")}
    parameters = {
        "rows": {"parameterType": "NUMBER_INTEGER", "defaultValue": 10.0},
        "names": {"parameterType": "LIST", "defaultValue": ["a"]},
        "must": {"parameterType": "STRING", "isOptional": True},
    }
    return Pipeline(
        {
            "schemaVersion": "2.1.0",
            "components": simple | components,
            "deploymentSpec": {"executors": executors},
            "root": {"inputDefinitions": {"parameters": parameters}, "dag": {"tasks": tasks}},
        }
    )


def at_once(read: Pipeline) -> dict[str, int]:
    return {"gpu" if group.need.count else "cpu": group.at_once for group in read.groups}


THRICE = {"parameterIterator": {"items": {"raw": "[1, 2, 3]"}}}
ITEMS = {"items": {"inputArtifact": "parts"}}
RUN_S_OWN = {"resourceCpuLimit": "{{$.inputs.parameters['cpus']}}"}
BRANCHES = {f"a{at}": task("cpu") for at in range(20)} | {f"b{at}": task("cpu", f"a{at}") for at in range(20)}


@pytest.mark.parametrize(
    ("tasks", "wanted"),
    [
        ({"a": task("cpu"), "b": task("cpu", "a"), "c": task("cpu", "b")}, {"cpu": 1}),
        ({"a": task("cpu"), "b": task("cpu", "a"), "c": task("cpu", "a"), "d": task("cpu", "b", "c")}, {"cpu": 2}),
        ({"a": task("gpu"), "b": task("cpu"), "c": task("gpu", "a")}, {"gpu": 1, "cpu": 1}),
        ({"a": task("cpu", **THRICE)}, {"cpu": 3}),
        (
            {"a": task("cpu", parameterIterator={"items": {"raw": "[1, 2]"}}, iteratorPolicy={"parallelismLimit": 1})},
            {"cpu": 1},
        ),
        ({"a": task("cpu", parameterIterator={"items": {"inputParameter": "x"}})}, {"cpu": 1}),
        ({"a": task("cpu", **THRICE), "b": task("cpu", "a", **THRICE), "c": task("cpu", "a")}, {"cpu": 4}),
        (BRANCHES, {"cpu": 20}),  # Each choice among them was tried, which took minutes.
    ],
)
def test_as_many_tasks_count_as_may_run_at_once(tasks: dict[str, Any], wanted: dict[str, int]) -> None:
    assert at_once(pipeline(tasks)) == wanted


@pytest.mark.parametrize(
    ("read", "bounded"),
    [
        (pipeline({"a": task("gpu", **THRICE)}), True),
        (pipeline({"a": task("cpu", parameterIterator={"items": {"inputParameter": "x"}})}), False),
        (pipeline({"a": task("inner")}, inner={"dag": {"tasks": {"b": task("cpu", artifactIterator=ITEMS)}}}), False),
        (Pipeline({"deploymentSpec": {"executors": {"a": {"container": {"resources": RUN_S_OWN}}}}}), False),
    ],
)
def test_what_a_run_alone_knows_may_be_more_than_what_counts(read: Pipeline, bounded: bool) -> None:
    assert read.bounded is bounded


def test_chains_and_branches_count_as_trying_every_choice_among_them() -> None:
    some = random.Random(46)
    for _ in range(100):
        names = [f"t{at}" for at in range(some.randint(1, 7))]
        times = {name: some.randint(1, 3) for name in names}
        after = {name: [other for other in names[:at] if some.random() < 0.3] for at, name in enumerate(names)}
        before = {name: set(after[name]) for name in names}
        for name in names:
            before[name] |= {earlier for other in after[name] for earlier in before[other]}
        choices = (chosen for many in range(1, 8) for chosen in combinations(names, many))
        together = (chosen for chosen in choices if not any(before[name] & {*chosen} for name in chosen))
        items = {name: {"raw": str([0] * times[name])} for name in names}
        tasks = {name: task("cpu", *after[name], parameterIterator={"items": items[name]}) for name in names}
        assert at_once(pipeline(tasks)) == {"cpu": max(sum(map(times.__getitem__, chosen)) for chosen in together)}


@pytest.mark.parametrize(("tasks", "items", "wanted"), [(100, 1, 1), (2, 50, 50), (101, 1, 101), (2, 5000, 10000)])
def test_a_long_chain_is_judged_at_once_and_of_many_runs_all_count(
    tasks: int, items: int, wanted: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Machines may be overstated beyond a hundred runs; no judgement compares more than each of a hundred with each."""
    compared, comes_after = Counter[str](), Task.comes_after

    def counting(self: Task, other: Task) -> bool:
        compared[self.path] += 1
        return comes_after(self, other)

    monkeypatch.setattr(Task, "comes_after", counting)
    loop = {"parameterIterator": {"items": {"raw": str([0] * items)}}}
    chain = {f"t{at}": task("cpu", *([f"t{at - 1}"] if at else ()), **loop) for at in range(tasks)}
    assert at_once(pipeline(chain)) == {"cpu": wanted}
    assert compared.total() <= 100 * 100


SIZES = {
    "any": {},
    "tiny": {"cpuLimit": 1.0, "memoryLimit": 2.0},
    "small": {"cpuLimit": 4.0},
    "large": {"cpuLimit": 16.0},
    "roomy": {"cpuLimit": 4.0, "memoryLimit": 100.0},
}


@pytest.mark.parametrize(
    ("order", "wanted"),
    [
        ({"small": (), "large": ("small",)}, {"large": 1, "small": 0}),
        ({"small": (), "large": ()}, {"large": 1, "small": 1}),
        ({"any": (), "tiny": ("any",)}, {"any": 1, "tiny": 0}),
        ({"large": (), "small": ("large",), "roomy": ("small",)}, {"roomy": 1, "large": 0, "small": 0}),
    ],
)
def test_tasks_in_a_chain_take_the_machines_of_the_largest(
    order: dict[str, tuple[str, ...]], wanted: dict[str, int]
) -> None:
    read = pipeline({name: task(name, *after) for name, after in order.items()})
    spec = dict(read.spec)
    spec["components"] = {name: {"executorLabel": name} for name in SIZES}
    containers = {name: {"image": "python:3.11", "resources": size} for name, size in SIZES.items()}
    spec["deploymentSpec"] = {"executors": {name: {"container": each} for name, each in containers.items()}}
    assert {group.tasks[0]: group.at_once for group in Pipeline(spec).groups} == wanted


def test_tasks_of_a_graph_inside_come_after_what_the_graph_comes_after() -> None:
    inner = {"dag": {"tasks": {"x": task("cpu"), "y": task("cpu", "x")}}}
    read = pipeline({"a": task("cpu"), "b": task("inner", "a"), "c": task("cpu", "b"), "d": task("cpu")}, inner=inner)
    assert at_once(read) == {"cpu": 2}
    assert read.groups[0].tasks == ("a", "b.x", "b.y", "c", "d")


@pytest.mark.parametrize(
    ("resources", "machine"),
    [
        ({}, "e2-standard-4"),
        ({"resourceCpuLimit": "6", "resourceMemoryLimit": "8G"}, "e2-standard-8"),
        ({"resourceCpuLimit": "500m", "resourceMemoryLimit": "20Gi"}, "e2-highmem-4"),
        ({"resourceCpuLimit": "16", "resourceMemoryLimit": "240G"}, "n2-highmem-32"),
        (GPU, "n1-standard-4"),
        ({"accelerator": {"resourceType": "NVIDIA_L4", "resourceCount": "1"}}, "g2-standard-4"),
        ({"resourceCpuLimit": "{{$.inputs.parameters['cpu']}}"}, "e2-standard-4"),
        ({"accelerator": {"resourceType": "{{$.inputs.parameters['gpu']}}", "resourceCount": "1"}}, "e2-standard-4"),
        ({"accelerator": {"resourceType": "NVIDIA_L4", "resourceCount": "{{$.inputs.x}}"}}, "e2-standard-4"),
    ],
)
def test_a_task_gets_the_smallest_machine_that_suffices(resources: dict[str, Any], machine: str) -> None:
    shape = Need.read(resources).own()
    assert shape is not None and shape.type == machine


def test_a_need_that_no_machine_meets_has_none() -> None:
    with pytest.raises(MachineError, match="CPUs 0, memory 0 GB and accelerator 3 NVIDIA_TESLA_T4"):
        Need.read({"accelerator": {"type": "NVIDIA_TESLA_T4", "count": "3"}}).own()


def test_a_need_is_compared_with_a_pool_field_by_field() -> None:
    rows = list(Need.read(GPU).compared(machine("n1-standard-8")))
    assert [(field, fits) for field, _, _, fits in rows] == [("CPUs", True), ("memory", True), ("accelerator", False)]


def request(**values: Any) -> dict[str, Any]:
    body = {"displayName": "train-1", "labels": {STACK_LABEL: "dev_eu"}}
    body |= PIPELINE_JOB.body(SPEC, None, None, pipeline({"a": task("gpu"), "b": task("cpu")}).spec)
    PIPELINE_JOB.record(body, {"rows": 10, "names": '["a"]'} | values)
    return body


def test_a_request_has_typed_parameters_without_optional_ones_that_have_no_default() -> None:
    assert request(rows=3, names='["x", "y"]')["runtimeConfig"] == {
        "gcsOutputDirectory": "gs://work/jobs/j",
        "parameterValues": {"rows": 3, "names": ["x", "y"]},
    }


@pytest.mark.parametrize("text", ["x", '{"a": 1}', "3", "[NaN]", "[1e999]", r'["\ud800"]', "[" * 30_000])
def test_a_list_that_is_none_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        request(names=text)
    assert "-p names='[1, 2]'" in str(refused.value)


def test_the_id_is_the_same_for_the_same_request_and_another_for_another_stack() -> None:
    assert PIPELINE_JOB.job_id(request()) == "train-1-dev-eu"


def test_a_request_has_machines_and_a_job_in_an_answer_has_none() -> None:
    """The tasks' own jobs have them, and are counted and paid for."""
    body = request(rows=3)
    asked = VertexJob.read(body, PIPELINE_JOB)
    machines = [pool.machine.type for pool in asked.worker_pools if pool.replicas == 1]
    assert machines == ["n1-standard-4", "e2-standard-4"]
    assert (asked.output, asked.service_account) == ("gs://work/jobs/j", SPEC["serviceAccount"])
    config = {**body["runtimeConfig"], "parameterValues": {"rows": 3.0, "names": ["a"]}}  # As the service answers.
    job = VertexJob.read({**body, "runtimeConfig": config, "state": "PIPELINE_STATE_RUNNING"}, PIPELINE_JOB)
    assert (job.state, job.machines) == ("JOB_STATE_RUNNING", ())
    assert job.parameters == asked.parameters == {"rows": 3, "names": '["a"]'}

"""Pipeline jobs as their methods show them. No process is started here. (N17, N28)"""

from typing import Any

import pytest

from tests.vertex.pipeline_jobs.pipelines import ARTIFACT, component, container, greet, made, pipeline_job, task
from tests.vertex.tuning.conftest import Studies, studies
from vertex_local.nodes.spec import Status
from vertex_local.testing.bodies import cluster_body, pool
from vertex_local.testing.calling import NUMBERED, PARENT

__all__ = ["studies"]

JOBS = f"/v1beta1/{PARENT}/pipelineJobs"
CUSTOM = {"resourceRuntimeSpec": {"serviceAccountSpec": {"enableCustomServiceAccount": True}}}


@pytest.fixture
def pipes(studies: Studies) -> Studies:
    studies.calling.bucket("pipes")
    return studies


def create(pipes: Studies, job_id: str = "greet-1", **changes: Any) -> str:
    body = pipeline_job(**changes)
    return "/v1beta1/" + str(pipes.calling.call("POST", f"{JOBS}?pipelineJobId={job_id}", body)["name"])


def tasks(pipes: Studies, path: str) -> dict[str, dict[str, Any]]:
    return {item["taskUniqueName"]: item for item in pipes.get(path)["jobDetail"]["taskDetails"]}


def states(pipes: Studies, path: str) -> dict[str, str]:
    return {name: item["state"] for name, item in tasks(pipes, path).items()}


def end(pipes: Studies, path: str, name: str, output: str | None = "text", code: int = 0) -> None:
    """End a running task: its job writes its output and exits."""
    job = tasks(pipes, path)[name]["executorDetail"]["containerDetail"]["mainJob"]
    if output is not None:
        folder = f"root/{path.rpartition('/')[2]}/{tasks(pipes, path)[name]['taskId']}"
        upload = "/upload/storage/v1/b/pipes/o?uploadType=media&name="
        pipes.calling.call("POST", f"{upload}{folder}/text", raw=output.encode())
    pipes.machines.ends[job.rpartition("/")[2]] = Status("exited", code)
    pipes.tick()


def test_a_task_begins_when_those_before_it_have_succeeded(pipes: Studies) -> None:
    path = create(pipes)
    assert path == f"/v1beta1/{NUMBERED}/pipelineJobs/greet-1"
    assert pipes.get(path)["state"] == "PIPELINE_STATE_PENDING"
    pipes.tick()
    assert pipes.get(path)["state"] == "PIPELINE_STATE_RUNNING"
    assert states(pipes, path) == {"hello": "RUNNING", "bye": "PENDING"}
    end(pipes, path, "hello", "hello, ada")
    assert states(pipes, path) == {"hello": "SUCCEEDED", "bye": "RUNNING"}
    assert tasks(pipes, path)["bye"]["execution"]["metadata"] == {"input:word": "bye", "input:name": "hello, ada"}
    end(pipes, path, "bye", "bye")
    done = pipes.get(path)
    assert (done["state"], done["startTime"] < done["endTime"]) == ("PIPELINE_STATE_SUCCEEDED", True)


def test_a_task_runs_as_a_custom_job_with_the_run_s_labels(pipes: Studies) -> None:
    path = create(pipes, labels={"team": "ml"})
    pipes.tick()
    number = pipes.get(path)["labels"]["vertex-ai-pipelines-run-billing-id"]
    job = pipes.get("/v1/" + tasks(pipes, path)["hello"]["executorDetail"]["containerDetail"]["mainJob"])
    assert job["labels"] == {"team": "ml", "vertex-ai-pipelines-run-billing-id": number}
    worker = job["jobSpec"]["workerPoolSpecs"][0]
    assert worker["machineSpec"] == {"machineType": "e2-standard-4"}, "what the service gives one that asks for nothing"
    assert worker["containerSpec"]["args"][:2] == ["hello", "ada"]


def test_a_failed_task_ends_those_that_need_it_and_the_run(pipes: Studies) -> None:
    path = create(pipes)
    pipes.tick()
    end(pipes, path, "hello", None, code=3)
    assert states(pipes, path) == {"hello": "FAILED", "bye": "NOT_TRIGGERED"}
    done = pipes.get(path)
    assert done["state"] == "PIPELINE_STATE_FAILED"
    assert "The failed tasks are: [hello]" in done["error"]["message"]
    assert "non-zero status of 3" in tasks(pipes, path)["hello"]["error"]["message"]


def test_a_task_that_writes_no_output_fails_in_words(pipes: Studies) -> None:
    path = create(pipes)
    pipes.tick()
    end(pipes, path, "hello", None)
    assert "it wrote no text" in tasks(pipes, path)["hello"]["error"]["message"]


def test_a_cancelled_run_takes_its_tasks_with_it(pipes: Studies) -> None:
    path = create(pipes)
    pipes.tick()
    assert pipes.calling.call("POST", f"{path}:cancel", {}) == {}
    assert pipes.get(path)["state"] == "PIPELINE_STATE_CANCELLING"
    pipes.tick()
    assert (pipes.get(path)["state"], states(pipes, path)) == (
        "PIPELINE_STATE_CANCELLED",
        {"hello": "CANCELLED", "bye": "NOT_TRIGGERED"},
    )
    assert pipes.calling.call("DELETE", path)["done"]
    assert pipes.calling.refused("GET", path).code == 404


def test_runs_are_listed_in_the_order_that_is_asked_for_and_removed_together(pipes: Studies) -> None:
    for name in ("greet-1", "greet-2", "greet-3"):
        create(pipes, name)
        pipes.tick(1)
    for name in ("greet-2", "greet-1", "greet-3"):
        pipes.calling.call("POST", f"{JOBS}/{name}:cancel", {})
        pipes.tick()

    def listed(order: str) -> list[str]:
        found = pipes.calling.call("GET", f"{JOBS}?orderBy={order}")["pipelineJobs"]
        return [job["name"].rpartition("-")[2] for job in found]

    assert listed("") == listed("create_time desc") == ["3", "2", "1"]
    assert listed("create_time") == ["1", "2", "3"]
    assert listed("endTime desc, start_time") == ["3", "1", "2"]
    first = pipes.calling.call("GET", f"{JOBS}?orderBy=end_time&pageSize=2&readMask=name")
    rest = pipes.calling.call(
        "GET", f"{JOBS}?orderBy=end_time&readMask=name&pageSize=2&pageToken={first['nextPageToken']}"
    )
    assert [job["name"][-1] for job in first["pipelineJobs"] + rest["pipelineJobs"]] == ["2", "1", "3"]

    names = [job["name"] for job in first["pipelineJobs"]]
    done = pipes.calling.call("POST", f"{JOBS}:batchDelete", {"names": names})
    assert [job["name"] for job in done["response"]["pipelineJobs"]] == names
    assert listed("") == ["3"]


def test_metadata_tell_how_a_run_and_its_tasks_went(pipes: Studies) -> None:
    path = create(pipes)
    detail = pipes.get(path)["jobDetail"]
    pipeline, run = detail["pipelineContext"], detail["pipelineRunContext"]
    assert (pipeline["schemaTitle"], pipeline["displayName"]) == ("system.Pipeline", "greet")
    assert (run["schemaTitle"], run["displayName"]) == ("system.PipelineRun", "greet-1")
    assert run["parentContexts"] == [pipeline["name"]]

    def kept() -> dict[str, tuple[str, str]]:
        listed = f'/v1/{PARENT}/metadataStores/default/executions?filter=in_context("{run["name"]}")'
        executions = pipes.calling.call("GET", listed)["executions"]
        return {item["displayName"]: (item["schemaTitle"], item["state"]) for item in executions}

    assert kept() == {"greet-1": ("system.Run", "NEW")}
    pipes.tick()
    task = ("system.ContainerExecution", "RUNNING")
    assert kept() == {"greet-1": ("system.Run", "RUNNING"), "hello": task}
    end(pipes, path, "hello", None, code=3)
    assert kept() == {"greet-1": ("system.Run", "FAILED"), "hello": (task[0], "FAILED")}
    assert tasks(pipes, path)["hello"]["execution"]["metadata"] == {"input:word": "hello", "input:name": "ada"}
    # A run of the same id finds its context again, with the experiments that it was added to.
    pipes.calling.call("DELETE", path)
    create(pipes)
    assert pipes.get(path)["jobDetail"]["pipelineRunContext"]["name"] == run["name"]


def test_an_artifact_is_told_with_the_tasks_that_made_and_took_it(pipes: Studies) -> None:
    taken = {"data": {"taskOutputArtifact": {"producerTask": "make", "outputArtifactKey": "data"}}}
    spec = greet(
        components={
            "make": component("exec", outputs={"artifacts": {"data": ARTIFACT}}),
            "use": component("exec", inputs={"artifacts": {"data": ARTIFACT}}),
        },
        deploymentSpec={"executors": {"exec": container("true")}},
    )
    use = task("use", ("make",))
    spec["root"]["dag"]["tasks"] = {"make": task("make"), "use": {**use, "inputs": {"artifacts": taken}}}
    path = create(pipes, spec=spec)
    pipes.tick()
    end(pipes, path, "make", None)
    data = tasks(pipes, path)["make"]["outputs"]["data"]["artifacts"][0]
    assert (data["schemaTitle"], data["displayName"], data["uri"][:11]) == ("system.Dataset", "data", "gs://pipes/")
    execution = tasks(pipes, path)["use"]["execution"]["name"]
    told = pipes.calling.call("GET", f"/v1/{execution}:queryExecutionInputsAndOutputs")
    assert [(event["artifact"], event["type"]) for event in told["events"]] == [(data["name"], "INPUT")]
    assert told["artifacts"][0]["uri"] == data["uri"]


def test_an_experiment_with_the_name_of_a_pipeline_or_of_its_run_stays(pipes: Studies) -> None:
    contexts = f"/v1/{PARENT}/metadataStores/default/contexts"
    for name in ("greet", "greet-1"):
        pipes.calling.call("POST", f"{contexts}?contextId={name}", {"schemaTitle": "system.Experiment"})
    detail = pipes.get(create(pipes))["jobDetail"]
    names = [detail[key]["name"].rpartition("/")[2] for key in ("pipelineContext", "pipelineRunContext")]
    assert names == ["greet-pipeline", "greet-1-pipelinerun"]
    assert pipes.get(f"{contexts}/greet-1")["schemaTitle"] == "system.Experiment"


def test_a_retried_task_runs_once_more(pipes: Studies) -> None:
    spec = greet()
    spec["root"]["dag"]["tasks"]["hello"]["retryPolicy"] = {"maxRetryCount": 1}
    path = create(pipes, spec=spec)
    pipes.tick()
    end(pipes, path, "hello", None, code=3)
    assert states(pipes, path)["hello"] == "RUNNING"
    end(pipes, path, "hello", None, code=3)
    assert states(pipes, path)["hello"] == "FAILED"


def test_a_graph_inside_the_pipeline_is_shown_with_its_tasks(pipes: Studies) -> None:
    spec = greet()
    inner: dict[str, Any] = {"tasks": {"a": task("greet", word="a", name={"componentInputParameter": "name"})}}
    chosen = {"producerSubtask": "a", "outputParameterKey": "text"}
    inner["outputs"] = {"parameters": {"said": {"valueFromParameter": chosen}}}
    spec["components"]["inner"] = {"dag": inner}
    spec["root"]["dag"]["tasks"] = {
        "group": task("inner", name="bob"),
        "last": task("greet", ("group",), word="w", name=made("group", "said")),
    }
    path = create(pipes, spec=spec)
    pipes.tick()
    listed = tasks(pipes, path)
    assert [*listed] == ["group", "group.a", "last"]
    assert listed["group.a"]["parentTaskId"] == listed["group"]["taskId"]
    assert (listed["group"]["state"], listed["last"]["state"]) == ("RUNNING", "PENDING")
    end(pipes, path, "group.a", "from a")
    assert tasks(pipes, path)["last"]["execution"]["metadata"]["input:name"] == "from a"


def on_cluster(**detail: Any) -> dict[str, Any]:
    named = {"persistentResourceName": f"{PARENT}/persistentResources/own"}
    return {"defaultRuntime": {"persistentResourceRuntimeDetail": named | detail}}


def test_tasks_run_on_the_smallest_pool_that_suffices(pipes: Studies) -> None:
    pipes.calling.cluster("own", **cluster_body(pool("n1-standard-16", 1), pool("n1-standard-8", 1)), **CUSTOM)
    spec = greet()
    spec["deploymentSpec"]["executors"]["exec-greet"]["container"]["resources"] = {"cpuLimit": 6, "memoryLimit": 8}
    path = create(pipes, spec=spec, runtimeConfig=on_cluster())
    pipes.tick()
    job = pipes.get("/v1/" + tasks(pipes, path)["hello"]["executorDetail"]["containerDetail"]["mainJob"])["jobSpec"]
    assert (job["persistentResourceId"], job["workerPoolSpecs"][0]["machineSpec"]) == (
        "own",
        {"machineType": "n1-standard-8"},
    )


@pytest.mark.parametrize(("behaviour", "state"), [("FAIL", "FAILED"), ("FALL_BACK_TO_ON_DEMAND", "RUNNING")])
def test_a_wait_for_the_cluster_s_machines_has_its_end(pipes: Studies, behaviour: str, state: str) -> None:
    pipes.calling.cluster("own", **cluster_body(pool("n1-standard-4", 1)), **CUSTOM)
    account = "deployer@local-project.iam.gserviceaccount.com"
    pipes.calling.job(cluster="own", spec={"serviceAccount": account})
    detail = {"taskResourceUnavailableWaitTimeMs": "60000", "taskResourceUnavailableTimeoutBehavior": behaviour}
    path = create(pipes, runtimeConfig=on_cluster(**detail))
    pipes.tick()
    before = tasks(pipes, path)["hello"]["executorDetail"]["containerDetail"]["mainJob"]
    assert pipes.get(f"/v1/{before}")["state"] == "JOB_STATE_QUEUED"
    pipes.calling.clock.advance(60)
    pipes.tick()
    hello = tasks(pipes, path)["hello"]
    assert hello["state"] == state
    if state == "RUNNING":
        after = pipes.get("/v1/" + hello["executorDetail"]["containerDetail"]["mainJob"])
        assert "persistentResourceId" not in after["jobSpec"]


def test_a_task_that_no_machine_suffices_for_fails_in_words(pipes: Studies) -> None:
    more = {"resources": {"accelerator": {"type": "NVIDIA_TESLA_T4", "count": "3"}}}
    spec = greet()
    spec["deploymentSpec"]["executors"]["exec-greet"] = container("true", **more)
    path = create(pipes, spec=spec)
    pipes.tick()
    assert "no machine has 3 NVIDIA_TESLA_T4" in tasks(pipes, path)["hello"]["error"]["message"]

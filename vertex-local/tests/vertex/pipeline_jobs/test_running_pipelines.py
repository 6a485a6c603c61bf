"""Pipeline jobs whose tasks are processes. (N17, N28)"""

import json
from pathlib import Path

import pytest

from tests.official import aiplatform
from tests.vertex.pipeline_jobs.pipelines import component, greet, of_run, pipeline_job, task
from vertex_local.nodes import mounts
from vertex_local.testing.calling import PARENT
from vertex_local.testing.local_cloud import LocalCloud

pytestmark = pytest.mark.skipif(not mounts.possible(buckets=True), reason="tasks write below /gcs")


def test_a_pipeline_runs_and_each_task_gets_what_the_one_before_wrote(cloud: LocalCloud) -> None:
    cloud.rest("POST", "/storage/v1/b?project=local-project", {"name": "pipes-run", "location": "us-central1"})
    body = pipeline_job(bucket="pipes-run", runtimeConfig={"parameterValues": {"who": "bob"}})
    job = cloud.rest("POST", f"/v1beta1/{PARENT}/pipelineJobs?pipelineJobId=greet", body)
    done = cloud.seen(job["name"], lambda body: "endTime" in body)
    assert done["state"] == "PIPELINE_STATE_SUCCEEDED", done
    shown = {item["taskName"]: item for item in done["jobDetail"]["taskDetails"]}
    assert shown["bye"]["execution"]["metadata"]["output:text"] == "bye, hello, bob"
    assert cloud.lines(shown["hello"]["executorDetail"]["containerDetail"]["mainJob"]) == ["hello, bob"]


METRICS = {"artifactType": {"schemaTitle": "system.Metrics", "schemaVersion": "0.0.1"}}
SCORE = """
import json, pathlib, sys
told = json.loads(sys.argv[1])
made = told["outputs"]["artifacts"]["scores"]["artifacts"][0]
made["metadata"] = {"accuracy": 1 - told["inputs"]["parameterValues"]["rate"]}
output = pathlib.Path(told["outputs"]["outputFile"])
output.parent.mkdir(parents=True, exist_ok=True)
output.write_text(json.dumps({"artifacts": {"scores": {"artifacts": [made]}}}))
"""


def scoring(folder: Path) -> str:
    """The file of a compiled pipeline whose one task makes metrics of its parameter, as kfp's components do."""
    rate = {"rate": {"parameterType": "NUMBER_DOUBLE"}}
    executor = {"container": {"image": "python:3.11", "command": ["python3", "-c", SCORE], "args": ["{{$}}"]}}
    spec = greet(
        pipelineInfo={"name": "scoring"},
        components={"score": component("exec-score", {"parameters": rate}, {"artifacts": {"scores": METRICS}})},
        deploymentSpec={"executors": {"exec-score": executor}},
        root={
            "inputDefinitions": {"parameters": rate},
            "dag": {"tasks": {"score": task("score", rate=of_run("rate"))}},
        },
    )
    (folder / "scoring.json").write_text(json.dumps(spec))
    return str(folder / "scoring.json")


def test_an_experiment_shows_its_pipelines_with_parameters_and_metrics(
    vertex_sdk: LocalCloud, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aiplatform.pipeline_jobs, "_JOB_WAIT_TIME", 0.2)
    job = aiplatform.PipelineJob(
        display_name="scoring",
        template_path=scoring(tmp_path),
        job_id="sdk-scoring-1",
        parameter_values={"rate": 0.25},
        pipeline_root=f"{aiplatform.initializer.global_config.staging_bucket}/root",
    )
    job.submit(experiment="sdk-scores")
    job.wait()  # type: ignore[no-untyped-call]
    experiment = job.get_associated_experiment()
    assert experiment and experiment.name == "sdk-scores"
    assert aiplatform.get_experiment_df("sdk-scores").to_dict("records") == [
        {
            "experiment_name": "sdk-scores",
            "run_name": "sdk-scoring-1",
            "run_type": "system.PipelineRun",
            "state": "COMPLETE",
            "param.rate": 0.25,
            "metric.accuracy": 0.75,
        }
    ]
    aiplatform.init(experiment="sdk-scores", experiment_tensorboard=False)
    with aiplatform.start_run("run-1") as run:
        run.log(pipeline_job=job)
    assert [logged.name for logged in run.get_logged_pipeline_jobs()] == ["sdk-scoring-1"]
    (detail,) = job.task_details
    trained = aiplatform.Execution(detail.execution.name)
    assert (trained.state.name, trained.schema_title) == ("COMPLETE", "system.ContainerExecution")
    (made,) = trained.get_output_artifacts()
    assert made.resource_name == detail.outputs["scores"].artifacts[0].name
    assert aiplatform.get_pipeline_df("scoring").to_dict("records") == [
        {"pipeline_name": "scoring", "run_name": "sdk-scoring-1", "param.input:rate": 0.25, "metric.accuracy": 0.75}
    ]

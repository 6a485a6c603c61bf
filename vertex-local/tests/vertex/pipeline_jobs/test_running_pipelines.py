"""Pipeline jobs whose tasks are processes. (N17, N28)"""

import pytest

from tests.vertex.pipeline_jobs.pipelines import pipeline_job
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

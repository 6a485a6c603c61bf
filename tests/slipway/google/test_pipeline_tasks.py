"""The tasks of a pipeline's job, as the service tells them. (N28)"""

from slipway.google.jobs import VertexJob, distinct
from slipway.google.pipeline_tasks import tasks_of
from slipway.model.kinds import CUSTOM_JOB, PIPELINE_JOB
from slipway.model.labels import PIPELINE_LABEL


def detail(id: int, name: str, above: int = 0, **more: object) -> dict[str, object]:
    return {
        "taskId": str(id),
        "taskName": name,
        "state": "SUCCEEDED",
        **({"parentTaskId": str(above)} if above else {}),
        **more,
    }


def test_a_task_stands_after_the_graph_that_it_is_in_by_their_starts() -> None:
    started = [f"2026-11-20T10:0{minute}:00Z" for minute in range(4)]
    details = [
        detail(1, "last", startTime=started[3]),
        detail(2, "inner", 3, startTime=started[2], executorDetail={"containerDetail": {"mainJob": "…/customJobs/7"}}),
        detail(3, "group", startTime=started[1]),
        detail(4, "first", startTime=started[0], execution={"metadata": {"input:a": 1, "output:b": "x"}}),
        detail(5, "never", state="NOT_TRIGGERED"),
    ]
    tasks = tasks_of({"jobDetail": {"taskDetails": details}})
    assert [task.path for task in tasks] == ["first", "group", "group.inner", "last", "never"]
    assert (tasks[0].inputs, tasks[0].outputs, tasks[2].job) == ({"a": 1}, {"b": "x"}, "…/customJobs/7")
    assert tasks[4].state == "not triggered"


def test_jobs_of_tasks_are_not_told_beside_their_pipeline() -> None:
    labels = {"labels": {PIPELINE_LABEL: "1"}}
    pipeline = VertexJob.read({"name": "…/pipelineJobs/greet", **labels}, PIPELINE_JOB)
    task = VertexJob.read({"name": "…/customJobs/7", **labels}, CUSTOM_JOB)
    other = VertexJob.read({"name": "…/customJobs/8", "labels": {PIPELINE_LABEL: "2"}}, CUSTOM_JOB)
    assert distinct((pipeline, task, other)) == (pipeline, other)

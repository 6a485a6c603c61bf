"""Jobs as the service tells of them, whoever made them, the trials of a tuning job, and all that in several regions at
once. # B5 N2"""

from collections.abc import Iterator
from dataclasses import replace
from threading import Barrier
from typing import Any, cast

import pytest

from slipway.base.errors import ConfigError, ResourceError
from slipway.google.endpoints import Endpoints
from slipway.google.failures import Answer, Call, CloudError, failure
from slipway.google.jobs import VertexJob
from slipway.google.trials import best
from slipway.google.vertex import Vertex
from slipway.model.kinds import CUSTOM_JOB, KINDS, PIPELINE, PIPELINE_JOB, TUNING_JOB
from slipway.model.labels import IMAGE_START
from slipway.using.jobs.claim import claim_of
from slipway.using.jobs.finding import find_jobs


def test_a_name_is_one_line_and_commands_no_terminal() -> None:
    """The service takes any text for a name, and everybody's jobs are listed together."""
    assert VertexJob.read({"displayName": "läuft 🚀 \x1b[31mred\nrm -rf"}).display_name == "läuft 🚀 ?[31mred?rm -rf"


def test_what_is_typed_for_a_job_is_a_word_that_a_shell_leaves_alone() -> None:
    """What to type next is shown for the jobs of others too, whose names are any text."""
    for name, typed in (
        ("Tuning_2.1", "Tuning_2.1"),
        ("x; touch pwned", "7"),
        ("--capacity", "7"),
        ("läuft", "7"),
        ("x\ny", "7"),
        ("", "7"),
    ):
        assert VertexJob.read({"name": "projects/p/locations/r/customJobs/7", "displayName": name}).typed == typed


def test_what_a_job_needs_is_told_whatever_its_kind() -> None:  # N1
    """A deployment keeps it until the job has ended."""
    affinity = {"reservationAffinityType": "SPECIFIC_RESERVATION", "values": ["projects/p/zones/z/reservations/r"]}
    pool = {
        "replicaCount": 1,
        "machineSpec": {"machineType": "a3-highgpu-8g", "reservationAffinity": affinity},
        "pythonPackageSpec": {
            "packageUris": ["gs://acme-catalog/packages/nap.tar.gz"],
            "env": [{"name": "SLIPWAY_PARAMETERS", "value": '{"trees":500}'}],
        },
    }
    spec = {"serviceAccount": "trainer@acme.iam.gserviceaccount.com", "workerPoolSpecs": [pool, {}]}
    for kind in (CUSTOM_JOB, TUNING_JOB, PIPELINE):
        job = VertexJob.read({kind.spec: spec}, kind)
        assert job.service_account == "trainer@acme.iam.gserviceaccount.com"
        assert job.packages == {"gs://acme-catalog/packages/nap.tar.gz"}
        assert job.reservations == {"projects/p/zones/z/reservations/r"}
        assert job.buckets == {"acme-catalog"}
        assert job.parameters == {"trees": 500}


def of_image(*words: str, launcher: str = "/gcs/acme-catalog/packages/own-0123456789ab.pyz", **more: Any) -> VertexJob:
    """A job whose image a launcher starts."""
    container = {"imageUri": "a@sha256:1", "command": [*IMAGE_START, launcher], "args": list(words), **more}
    return VertexJob.read({"jobSpec": {"workerPoolSpecs": [{"replicaCount": 1, "containerSpec": container}]}})


def test_an_image_that_a_launcher_starts_needs_that_and_the_folder_that_came_with_it() -> None:  # N1, N27
    folder = "gs://acme-work/code/abc/own-abc.tar.gz"
    job = of_image("--claim", "gs://acme-work/claims/r", f"--code={folder}", "--exec=run", "--exec=--fast", "--", "--x")
    (pool,) = job.worker_pools
    assert (pool.command, pool.launched, job.starts_once) == (("run", "--fast"), True, True)
    assert job.packages == {folder}
    assert job.needed == {folder, "gs://acme-catalog/packages/own-0123456789ab.pyz"}
    assert job.buckets == {"acme-work", "acme-catalog"} and claim_of(job) == "gs://acme-work/claims/r"


def test_an_image_as_it_is_has_no_launcher_whatever_its_arguments_are_called() -> None:  # N27
    job = of_image("--claim", "x", "--exec=run", "--", "--x", launcher="/gcs/acme-catalog/run.py")
    assert not job.starts_once and not job.needed and job.worker_pools[0].command[:2] == ("sh", "-c")
    bare = of_image("--claim", "x", "--", command=["python"])
    assert not bare.starts_once and bare.worker_pools[0].command == ("python",)


def test_a_pipeline_starts_once_without_a_launcher_as_a_second_job_of_its_id_is_refused() -> None:  # N5, N28
    task: dict[str, Any] = {"componentRef": {"name": "a"}}
    spec = {
        "components": {"a": {"executorLabel": "a"}},
        "deploymentSpec": {"executors": {"a": {"container": {"image": "python:3.11"}}}},
        "root": {"dag": {"tasks": {"a": task}}},
    }
    job = VertexJob.read({"pipelineSpec": spec}, PIPELINE_JOB)
    assert job.starts_once and not job.worker_pools[0].launched


JOB: dict[str, Any] = {
    "name": "projects/1/locations/us-central1/hyperparameterTuningJobs/5",
    "state": "JOB_STATE_RUNNING",
    "studySpec": {"metrics": [{"metricId": "accuracy", "goal": "MAXIMIZE"}]},
    "parallelTrialCount": 2,
    "trials": [
        {
            "id": "1",
            "state": "SUCCEEDED",
            "customJob": "projects/1/locations/us-central1/customJobs/71",
            "parameters": [
                {"parameterId": "model", "value": "svc"},
                {"parameterId": "c", "value": 0.30000000000000004},
            ],
            "finalMeasurement": {"metrics": [{"metricId": "accuracy", "value": 0.95}]},
        },
        {"id": "2", "state": "INFEASIBLE", "finalMeasurement": {"metrics": [{"metricId": "accuracy", "value": 0.99}]}},
        {"id": "3", "state": "ACTIVE", "customJob": "projects/1/locations/us-central1/customJobs/73"},
    ],
}


def test_trials_are_read_with_their_values_and_measurements() -> None:
    job = VertexJob.read(JOB, TUNING_JOB)
    assert [trial.state for trial in job.tried] == ["SUCCEEDED", "INFEASIBLE", "ACTIVE"]
    assert job.tried[0].values == {"model": "svc", "c": "0.3"}
    assert job.tried[0].metrics == {"accuracy": 0.95}
    assert best(job.tried, job.goals) is job.tried[0], "the one that succeeded"
    other = replace(job.tried[0], metrics={"accuracy": 0.97})
    assert best((*job.tried, other), {"accuracy": "MAXIMIZE"}) is other
    assert best((*job.tried, other), {"accuracy": "MINIMIZE"}) is job.tried[0]
    assert best((), job.goals) is None and best(job.tried, {**job.goals, "cost": "MINIMIZE"}) is None


def test_the_log_of_a_job_has_its_own_id_its_trials_and_that_of_the_job_behind_it() -> None:
    own = JOB["name"].rpartition("/")[2]
    assert VertexJob.read(JOB, TUNING_JOB).log_ids == (own, "71", "73")
    backing = {"trainingTaskMetadata": {"backingCustomJob": "projects/1/locations/us-central1/customJobs/77"}}
    assert VertexJob.read({"name": "…/trainingPipelines/6", **backing}, PIPELINE).log_ids == ("77",)
    assert VertexJob.read({"name": "…/trainingPipelines/6"}, PIPELINE).log_ids == ()


def test_what_trials_choose_is_told_with_what_is_searched_under_a_condition_alone() -> None:
    inner = {"parameterSpec": {"parameterId": "depth"}, "parentCategoricalValues": {"values": ["forest"]}}
    study = {"parameters": [{"parameterId": "model", "conditionalParameterSpecs": [inner]}, {"parameterId": "c"}]}
    assert VertexJob.read({"studySpec": study}, TUNING_JOB).tuned == ("model", "depth", "c")


HOME, AWAY = "us-central1", "europe-west4"
PARENT = "projects/p/locations"


class Session:
    """Three jobs, two of them in the other region. No region's list is answered before each has been asked for its
    own."""

    def __init__(self) -> None:
        self._together = Barrier(2)
        self.asked: list[str] = []
        self.jobs = {
            region: [
                {"name": f"{PARENT}/{region}/customJobs/{number}", "createTime": f"2026-11-20T12:00:0{number}Z"}
                for number in numbers
            ]
            for region, numbers in ((HOME, (2,)), (AWAY, (3, 1)))
        }

    def pages(self, url: str, call: Call, collection: str, params: Any) -> Iterator[Any]:
        region = url.partition("/locations/")[2].partition("/")[0]
        assert url.startswith(f"https://{region}-aiplatform.googleapis.com/")
        if collection != "customJobs" or params.get("filter"):
            return
        self._together.wait(10)
        yield from self.jobs[region]

    def get(self, url: str, call: Call) -> Any:
        self.asked.append(url.partition("/v1/")[2])
        found = [job for jobs in self.jobs.values() for job in jobs if url.endswith(job["name"])]
        if not found:
            raise failure(call, Answer(404, "NOT_FOUND", "no"))
        return found[0]


def vertex(session: Session) -> Vertex:
    return Vertex(cast(Any, session), Endpoints(), "p", HOME, (AWAY, HOME))


def test_a_list_is_of_all_regions_and_each_is_asked_at_the_same_time() -> None:
    assert vertex(Session()).regions == (HOME, AWAY)
    assert [job.id for job in vertex(Session()).jobs(CUSTOM_JOB)] == ["3", "2", "1"]
    assert [job.region for job in vertex(Session()).jobs(CUSTOM_JOB)] == [AWAY, HOME, AWAY]


def test_a_number_is_looked_up_in_each_region_and_a_full_name_in_its_own() -> None:
    session = Session()
    (found,) = find_jobs(vertex(session), "3")
    assert found.region == AWAY
    own = [f"{PARENT}/{HOME}/{kind.collection}/3" for kind in KINDS.values() if not kind.id_parameter]
    assert session.asked == [*own, f"{PARENT}/{AWAY}/customJobs/3"], "its own first: another may not answer"
    assert find_jobs(vertex(session), f"{PARENT}/{AWAY}/customJobs/1")[0].id == "1"
    assert session.asked[-1] == f"{PARENT}/{AWAY}/customJobs/1"


@pytest.mark.parametrize(
    ("text", "kind", "said"),
    [
        ("nobody", ResourceError, "no job 'nobody' in p, us-central1 or europe-west4"),
        (f"{PARENT}/asia-east1/customJobs/1", ConfigError, "asia-east1, the catalog's stack in us-central1 and europe"),
        ("projects/q/locations/europe-west4/customJobs/1", ConfigError, "is in project q, the catalog's stack in p"),
    ],
)
def test_what_is_not_there_is_said_with_where_was_looked(text: str, kind: type[Exception], said: str) -> None:
    with pytest.raises(kind) as raised:
        find_jobs(vertex(Session()), text)
    assert said in str(getattr(raised.value, "what", raised.value))


class HalfDown(Session):
    """A region does not answer; another has one job, of a name and a request."""

    def __init__(self, down: str = AWAY) -> None:
        super().__init__()
        self._down = down

    def get(self, url: str, call: Call) -> Any:
        if f"/{self._down}/" in url:
            self.asked.append(url.partition("/v1/")[2])
            raise failure(call, Answer(503, "UNAVAILABLE", "down"))
        return super().get(url, call)

    def pages(self, url: str, call: Call, collection: str, params: Any) -> Iterator[Any]:
        if f"/{AWAY}/" in url:
            raise failure(call, Answer(503, "UNAVAILABLE", "down"))
        asked = params.get("filter", "")
        if collection == "customJobs" and ("tune-1" in asked or 'slipway-request="nightly"' in asked):
            yield self.jobs[HOME][0]


def test_a_job_is_found_by_its_number_while_another_region_does_not_answer() -> None:
    """Nobody can tell that there is none. A region that does not answer is not asked for each kind of job."""
    for down, number in ((AWAY, "2"), (HOME, "3")):
        session = HalfDown(down)
        assert [job.id for job in find_jobs(vertex(session), number)] == [number]
        with pytest.raises(CloudError, match="down"):
            find_jobs(vertex(session), "9")
        assert sum(f"/{down}/" in url for url in session.asked) <= 2


def test_a_job_is_found_by_its_name_or_request_while_another_region_does_not_answer() -> None:
    """A job may have to be cancelled. Nobody can tell that there is none, or which is a template's newest."""
    for text in ("tune-1", "nightly"):
        assert [job.id for job in find_jobs(vertex(HalfDown()), text, stack="dev")] == ["2"]
    for text in ("tune-2", "tune"):
        with pytest.raises(CloudError, match="down"):
            find_jobs(vertex(HalfDown()), text, stack="dev")

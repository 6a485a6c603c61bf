"""The last defence of running jobs: its words and its choice. That the engine calls it: journeys. # N1 # B3"""

from collections.abc import Callable

import pytest

from components import guard as module
from components.guard import check, guard
from components.persistent_resource import PersistentResource
from slipway.generations import Current
from slipway.live import LiveJob, Unknown, Use

from .conftest import PROJECT, REGION, cluster, declared, only

CLUSTER = "projects/acme-dev/locations/us-central1/persistentResources/cpu-1a2b3c4"


def job(name: str) -> LiveJob:
    return LiveJob(name, name, "JOB_STATE_QUEUED", "cpu-1a2b3c4", {}, None, None, None, (), False, "custom job")


def answers(value: Use | Unknown) -> Callable[[str | None], Use | Unknown]:
    return lambda _: value


def test_an_idle_cluster_may_go() -> None:
    check(CLUSTER, answers(Use()))


def test_a_cluster_with_a_job_stays() -> None:
    with pytest.raises(RuntimeError) as refusal:
        check(CLUSTER, answers(Use((job("tune"),))))
    assert str(refusal.value).splitlines() == [
        "cluster cpu-1a2b3c4 is not deleted: 1 job has not ended",
        "  why: tune: deleting the cluster would cancel what runs on it",
        "  fix: slipway jobs wait tune, or slipway jobs cancel tune; then again",
    ]


def test_a_stack_with_jobs_stays_whole() -> None:
    with pytest.raises(RuntimeError) as refusal:
        check(None, answers(Use((job("tune"), job("digits")))))
    assert str(refusal.value).startswith("the stack is not deleted: 2 jobs have not ended")
    assert "tune on cpu-1a2b3c4, digits on cpu-1a2b3c4" in str(refusal.value)


@pytest.mark.parametrize(("cluster", "what"), [(CLUSTER, "cluster cpu-1a2b3c4"), (None, "the stack")])
def test_machines_in_use_are_a_job_that_no_list_shows_yet(cluster: str | None, what: str) -> None:
    with pytest.raises(RuntimeError) as refusal:
        check(cluster, answers(Use((), ("cpu-1a2b3c4",))))
    assert str(refusal.value).splitlines() == [
        f"{what} is not deleted: machines are in use by a job that the lists do not show yet",
        "  why: by the word of cpu-1a2b3c4 itself; deleting it would cancel what runs on it",
        "  fix: try again when slipway pools shows no machine in use; slipway jobs shows the job before long",
    ]


def test_not_knowing_is_no_permission() -> None:
    with pytest.raises(RuntimeError) as refusal:
        check(CLUSTER, answers(Unknown("denied", "customJobs.list", "roles/aiplatform.viewer")))
    assert "can't tell whether jobs run on it" in str(refusal.value)
    assert "roles/aiplatform.viewer" in str(refusal.value)


def test_its_name_is_frozen() -> None:
    """States of deployed stacks hold it: under another name their clusters could not be deleted."""
    assert module.NAME == "slipway-guard-v1"


def test_it_is_bound_to_the_deletion_of_a_cluster() -> None:
    def program() -> None:
        item = Current(cluster(), "cpu-1a2b3c4", "1a2b3c4", import_=False)
        PersistentResource(item, project=PROJECT, region=REGION, hooks=guard(answers(Use())))

    asked = only(declared(program), "gcp:vertex/aiPersistentResource:AiPersistentResource")
    assert list(asked.request.hooks.before_delete) == ["slipway-guard-v1"]

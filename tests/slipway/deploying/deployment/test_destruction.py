"""Clusters that a state lacks, which a destruction would leave and so is refused for. # N1 # N4"""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from slipway.authoring.stack.stack import Stack
from slipway.base.errors import PolicyError, ResourceError
from slipway.deploying.deployment.deletion_guard import StackGuard
from slipway.deploying.deployment.destruction import must_leave_none, unknown_to_state
from slipway.google.catalog import document
from slipway.google.clusters import PersistentResource
from slipway.google.live import Unknown
from slipway.model.catalog.model import Catalog
from slipway.model.cluster import Alternative
from slipway.model.fingerprint import cluster_id, fingerprint_of
from slipway.model.labels import HASH_LABEL, NAME_LABEL, STACK_LABEL, USER_LABEL
from slipway.model.machines.spec import MachineSpec
from slipway.model.state import State, StateResource
from tests.builders.stacks import workspace_entry
from tests.slipway.google.live_service import PATHS, POOL, Service

from . import world

PROJECT, REGION, FAR = "acme", "us-central1", "europe-west4"
ID = "cpu-1a2b3c4"
NOTHING = State()
OURS = {STACK_LABEL: "prod", NAME_LABEL: "cpu", HASH_LABEL: "1a2b3c4"}
DENIED = (403, {"error": {"code": 403, "message": "denied", "status": "PERMISSION_DENIED"}})


def left(id_: str = ID, state: str = "RUNNING", region: str = REGION, **labels: str) -> PersistentResource:
    name = f"projects/{PROJECT}/locations/{region}/persistentResources/{id_}"
    return PersistentResource(name, state, {**OURS, **labels}, ())


def in_state(id_: str, region: str = REGION) -> State:
    return State(clusters=(StateResource(id_, id_, PROJECT, region),))


CASES = {
    "the state knows nothing": (left(), State(), True),
    "the state knows its predecessor": (left(f"{ID}-2"), in_state(ID), True),
    "one that failed": (left(state="ERROR"), State(), True),
    "one that is being made": (left(state="PROVISIONING"), State(), True),
    "one that goes already": (left(state="STOPPING"), State(), False),
    "the engine deletes what the state has": (left(), in_state(ID), False),
    "the state has its namesake in another region": (left(), in_state(ID, FAR), True),
    "another stack's": (left(**{STACK_LABEL: "dev"}), State(), False),
    "without our labels": (left(**{NAME_LABEL: ""}), State(), False),
    "with our labels and an id that they do not give": (left("somebody-elses"), State(), False),
}


@pytest.mark.parametrize(("cluster", "known", "is_one"), CASES.values(), ids=CASES)
def test_what_the_stack_made_and_its_state_lacks_would_be_left(
    cluster: PersistentResource, known: State, is_one: bool
) -> None:
    assert unknown_to_state([cluster], known, "prod") == ((cluster,) if is_one else ())


def body(id_: str, labels: Mapping[str, str] = OURS) -> dict[str, Any]:
    return {"name": f"x/persistentResources/{id_}", "state": "RUNNING", "labels": labels}


def destroy(environ: dict[str, str], known: State | Unknown = NOTHING, file: Stack | None = None) -> None:
    guard = StackGuard(environ, "prod", (PROJECT, REGION), known)
    guard.declared = file
    must_leave_none(guard)


def refusal(*args: Any, **kwargs: Any) -> PolicyError:
    with pytest.raises(PolicyError) as caught:
        destroy(*args, **kwargs)
    return caught.value


def custom_job(number: int, name: str, state: str, on: str = ID, user: str = "") -> dict[str, Any]:
    return {
        "name": f"projects/{PROJECT}/locations/{REGION}/customJobs/{number}",
        "displayName": name,
        "state": f"JOB_STATE_{state}",
        "labels": {USER_LABEL: user} if user else {},
        "jobSpec": {"persistentResourceId": on},
    }


DELETE = f"gcloud ai persistent-resources delete {ID} --project=acme --region=us-central1"
RUNS, WAITS = custom_job(4711, "train", "RUNNING", user="ada"), custom_job(4712, "sweep", "QUEUED")
USED_BY = {
    "idle": ({"customJobs": [custom_job(1, "other", "RUNNING", on="other")]}, 0, "no jobs", (), DELETE),
    "two jobs": (
        {"customJobs": [RUNS, WAITS]},
        0,
        "used by 2 jobs",
        (f"cluster {ID} has 2 jobs: train (4711, running, sent by ada) and sweep (4712, queued)",),
        "slipway jobs wait train, or slipway jobs cancel train\nslipway jobs wait sweep, or slipway jobs cancel sweep;",
    ),
    "no list has its job yet": ({}, 1, "machines in use", ("by a job that no list shows yet",), "`slipway pools`"),
    "its jobs can't be read": (
        DENIED,
        0,
        "jobs unknown",
        (f"can't tell whether jobs use cluster {ID}: ", "customJobs.list"),
        "let Slipway read the jobs: ask for roles/aiplatform.viewer",
    ),
}


@pytest.mark.parametrize(("jobs", "busy", "headline", "reasons", "way"), USED_BY.values(), ids=USED_BY)
def test_a_deletion_is_named_for_a_cluster_that_no_job_uses(
    environ: dict[str, str], service: Service, jobs: Any, busy: int, headline: str, reasons: tuple[str, ...], way: str
) -> None:
    killed = in_state("gpu-5d6e7f8")
    destroy(environ, killed)
    service["clusters"] = {"persistentResources": [body(ID)]}
    service["jobs"] = jobs
    pools = [{**POOL, "usedReplicaCount": str(busy)}]
    service.answers[f"{PATHS['clusters']}/{ID}"] = (200, {**body(ID), "resourcePools": pools})
    error = refusal(environ, killed)
    assert error.what == f"the stack is not taken down: cluster {ID} (cluster state RUNNING, {headline}) would be left"
    assert "an up was killed or failed" in error.why and all(reason in error.why for reason in reasons), error.why
    up, *_ = error.fix.splitlines()
    assert (
        up.startswith("make up STACK=")
        and ", which takes it over" in up
        and up.endswith("then make destroy STACK=prod")
    )
    assert way in error.fix and (DELETE in error.fix) is (headline == "no jobs"), error.fix
    destroy(environ, in_state(ID))


def test_of_several_clusters_the_idle_ones_are_deleted_by_hand(environ: dict[str, str], service: Service) -> None:
    idle = "cpu-1a2b3c4-2"
    service["clusters"] = {"persistentResources": [body(ID), body(idle)]}
    service["jobs"] = {"customJobs": [RUNS]}
    error = refusal(environ, in_state("gpu-5d6e7f8"))
    assert (
        f"clusters {ID} (cluster state RUNNING, used by 1 job) and {idle} (cluster state RUNNING, no jobs)"
        in error.what
    )
    assert f"delete {idle} --project" in error.fix and DELETE not in error.fix


def test_one_that_no_list_shows_yet_is_found_as_whichever_alternative_it_was_made(
    environ: dict[str, str], service: Service
) -> None:  # N2
    """An up was killed when it had asked for an alternative, a moment ago."""
    spec = world.spec()
    spec = replace(spec, alternatives=(Alternative((replace(spec.pools[0], machine=MachineSpec("n1-highmem-8")),)),))
    other = fingerprint_of("prod", PROJECT, REGION, spec.options[1])
    id_ = cluster_id(spec.name, other)
    listed = body(id_, {STACK_LABEL: "prod", NAME_LABEL: spec.name, HASH_LABEL: other})
    service.answers[f"{PATHS['clusters']}/{id_}"] = (200, listed)
    file = Stack("prod", PROJECT, REGION, workspace_entry((), "", "work", "trainer"), (spec,))
    assert f"it has cluster {id_} in acme" in refusal(environ, file=file).why
    assert (
        f"cluster {id_} (cluster state RUNNING, no jobs) would be left"
        in refusal(environ, in_state("gpu-5d6e7f8"), file=file).what
    )


def test_one_elsewhere_is_found_by_the_published_catalog_alone(
    environ: dict[str, str], service: Service
) -> None:  # N1 # N2
    """The state was lost, and the alternative by which it was made is taken out of the stack file."""
    file = Stack("prod", PROJECT, REGION, workspace_entry((), "acme-catalog", "work", "trainer"), ())
    service["far clusters"] = {"persistentResources": [body(ID)]}
    service.answers[f"{PATHS['far clusters']}/{ID}"] = (200, body(ID))
    destroy(environ, file=file)
    there = Catalog("prod", PROJECT, REGION, "", False, "w", "t", {}, (), {}, other_regions=(FAR,))
    service["catalog"] = json.loads(document.write(there))
    assert f"--region={FAR}" in refusal(environ, in_state("gpu-5d6e7f8"), file=file).fix
    assert f"it has cluster {ID} in acme" in refusal(environ, file=file).why


def test_with_an_empty_state_it_may_be_another_teams_or_the_state_elsewhere_or_lost(
    environ: dict[str, str], service: Service
) -> None:
    """Nothing would be deleted, and nobody be named any more once the catalog's bucket is removed by hand."""
    file = Stack("prod", PROJECT, REGION, workspace_entry((), "acme-catalog", "work", "trainer"), ())
    ours = Catalog("prod", PROJECT, REGION, "", False, "w", "t", {}, (), {})
    service["catalog"] = json.loads(document.write(ours))
    error = refusal(environ, file=file)
    assert error.what.endswith(
        "exists already, and the state of this run has nothing of it, so Slipway changed nothing"
    )
    assert "gs://acme-catalog has its catalog" in error.why
    another, backend, lost = error.fix.splitlines()
    assert "choose another stack name" in another and "PULUMI_BACKEND_URL" in backend
    assert lost.endswith("make up STACK=prod") and "SLIPWAY_RECOVER=" in lost
    service["clusters"] = {"persistentResources": [body(ID)]}
    assert f"it has cluster {ID} in acme" in refusal(environ, file=file).why
    assert f"it has cluster {ID} in acme" == refusal(environ).why
    service["clusters"] = {}
    destroy(environ, in_state(ID), file=file)
    service["catalog"] = json.loads(document.write(replace(ours, stack="dev")))
    destroy(environ, file=file)


@pytest.mark.parametrize(
    ("known", "clusters", "why"),
    [
        (State(), DENIED, "persistentResources.list"),
        (Unknown("the engine does not answer", "pulumi", "it"), {}, "does not answer"),
    ],
)
def test_where_that_can_not_be_told_it_is_refused_too(
    environ: dict[str, str], service: Service, known: State | Unknown, clusters: Any, why: str
) -> None:
    service["clusters"] = clusters
    with pytest.raises(ResourceError, match="is not taken down: can't tell which clusters") as caught:
        destroy(environ, known)
    assert why in caught.value.why

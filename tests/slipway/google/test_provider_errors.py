"""Others' words and others' jobs: what the engine's and the provider's words mean, and training pipelines whose inputs
are any JSON, of which one does not hide all the others. # N4"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from datetime import UTC, datetime
from typing import Any, cast

import pytest

from slipway.google.credentials import LOGIN
from slipway.google.endpoints import Endpoints
from slipway.google.failures import Garbled
from slipway.google.jobs import VertexJob
from slipway.google.provider_errors import ON_ERROR, meaning_of, meanings
from slipway.google.quota.metrics import needs_of
from slipway.google.session import Session
from slipway.google.vertex import Vertex
from slipway.model.kinds import CUSTOM_JOB, PIPELINE, TUNING_JOB, JobKind
from slipway.model.machines.table import MachineError
from slipway.using.jobs.cost import job_cost
from slipway.using.jobs.demand import Demand
from slipway.using.jobs.waiting import wait_reason
from tests.builders.documents import places, with_value

PLUGIN = "was ended in the middle"


@pytest.mark.parametrize(
    ("said", "what", "fix"),
    [
        (
            "    \t* Error when reading or editing Bucket 'x': googleapi: Error 401: Request had invalid credentials.",
            "the cloud does not take this login any more",
            LOGIN,
        ),
        ('error: oauth2: "invalid_grant" "reauth related error (invalid_rapt)"', "does not take this login", LOGIN),
        (
            "* googleapi: Error 403: Permission 'aiplatform.persistentResources.create' denied on resource 'x'",
            "the cloud does not allow it to this identity",
            "ask for roles/aiplatform.admin on x; then the same command again",
        ),
        ("* googleapi: Error 403: no", "does not allow it", "docs/ci.md"),
        ("* googleapi: Error 429: Quota exceeded for requests per minute.", "takes no more for now", "wait a minute"),
        (
            "* googleapi: Error 503: The service is currently unavailable.",
            "could not do it for now",
            "wait a few minutes",
        ),
        (
            "* googleapi: got HTTP response code 502 with body: <html>",
            "could not do it for now",
            "https://status.cloud.google.com",
        ),
        (
            "* googleapi: Error 507: The local cloud's disk is full.",
            "a disk of this machine is full",
            "cache clear; then",
        ),
        ("error: write /x/stack.json: no space left on device", "a disk of this machine is full", "make room"),
        ("* googleapi: Error 409: it exists", "the cloud refused it (409)", "if it is refused again, correct"),
        (
            "error: googleapi: Error 400: List of found errors:\t1.Field: a.pools[0].disk_spec; Message: too small.\t",
            "the cloud refused a value (400): a.pools[0].disk_spec",
            "correct a.pools[0].disk_spec in the stack file, as the reason says",
        ),
        ("* googleapi: Error 400: Unknown region.", "refused a value (400)", "correct in the stack file what"),
        ('* googleapi: Error 400: Bad Request: "invalid_grant"', "does not take this login", LOGIN),
        (
            "* updating urn:x: googleapi: Error 409: The requested bucket name is not available. Try again., conflict",
            "a bucket of that name is somebody else's",
            "workBucket or catalogBucket under slipway:workspace",
        ),
        (
            "error: failed to decrypt: incorrect passphrase, please set PULUMI_CONFIG_PASSPHRASE to the correct one",
            "can't be read without its own passphrase",
            "export PULUMI_CONFIG_PASSPHRASE=…",
        ),
        (
            "error: get stack secrets manager: passphrase must be set with PULUMI_CONFIG_PASSPHRASE or a file",
            "can't be read without its own passphrase",
            "PULUMI_CONFIG_PASSPHRASE_FILE, as of this stack",
        ),
        (
            "error: failed to download plugin: gcp-9.0.0: 403 HTTP error fetching plugin from https://get.pulumi.com/x",
            "the provider's plugin was refused",
            "export GITHUB_TOKEN=…",
        ),
        (
            "E0604 log.go:90] GitHub rate limit exceeded for https://api.github.com/repos/pulumi/x, try again in 9m",
            "the provider's plugin was refused",
            "or wait an hour",
        ),
        (
            "error: Error waiting to create it: Error code 8, message: Resources are insufficient in region: us-east1.",
            "Google has no such machines free there for now",
            "docs/scarce-machines.md",
        ),
        (
            "error: rpc error: code = PermissionDenied desc = 'cloudkms.cryptoKeyVersions.useToDecrypt' denied",
            "does not allow it to this identity",
            "docs/ci.md",
        ),
        ("error: Preview failed: error reading from server: EOF", PLUGIN, "the same command again"),
        (
            'error: connection error: desc = "transport: Error dialing: dial tcp 127.0.0.1:1: connection refused"',
            PLUGIN,
            "the same command again",
        ),
        ("error: Detected that /x/pulumi-resource-gcp exited prematurely.", PLUGIN, "too little memory"),
        (
            "error: an unhandled error occurred: program exited with non-zero exit code: -1",
            PLUGIN,
            "the same command again",
        ),
        (
            '* Post "https://storage.googleapis.com/x": dial tcp: lookup storage.googleapis.com: no such host',
            "the connection to the cloud was cut",
            "see that the network is there; then the same command again",
        ),
        ('* Get "http://127.0.0.1:8470/v1/x": EOF', "the connection to the cloud was cut", "vertex-local up"),
        (
            "* Error waiting to create PersistentResource: timeout while waiting for state to become 'done: true'",
            "the cloud was not done with it in time",
            "the same command again",
        ),
        ("error: the stack is currently locked by 1 lock(s)", "another run has this stack", "docs/runbook.md"),
        (
            "error: failed to load checkpoint: place 1: unexpected end of JSON input",
            "the state's file was cut off",
            "put a whole copy in its place",
        ),
        (
            "error: getting snapshot: failed to load checkpoint: place 1: unexpected EOF",
            "the state's file was cut off",
            "make room",
        ),
        ("    error: unexpected end of JSON input", "the stack's lock was cut off", "docs/runbook.md"),
    ],
)
def test_each_is_understood(said: str, what: str, fix: str) -> None:
    (meaning,) = meanings(said.splitlines(), {})
    assert what in meaning.what and fix in meaning.fix
    assert meaning.why in said, "the words themselves"
    assert not meaning.why.startswith(("*", "error:", "Preview failed"))


def test_a_stock_out_that_a_deployment_waits_out_is_no_error() -> None:  # N2
    said = "warning: cluster h100-1a2b3c4 ended in ERROR: Resources are insufficient in region: r; trying again"
    assert meanings([said], {}) == ()


def test_colors_are_no_words() -> None:
    (meaning,) = meanings(["    \x1b[31m* googleapi: Error 409: it \x1b[1mexists\x1b[0m"], {})
    assert meaning.why == "it exists"


def test_in_a_workflow_a_new_run_is_a_new_login() -> None:
    (meaning,) = meanings(["googleapi: Error 401: expired"], {"GITHUB_ACTIONS": "true"})
    assert "re-run the failed jobs" in meaning.fix and LOGIN not in meaning.fix


def test_one_way_out_is_named_once_in_the_order_of_the_log() -> None:
    log = ["googleapi: Error 503: busy", "googleapi: Error 401: old", "googleapi: Error 503: busier", "all is well"]
    assert [meaning.why for meaning in meanings(log, {})] == ["busy", "old"]


def test_an_error_that_nobody_knows_is_repeated_with_where_to_look() -> None:
    meaning = meaning_of("updating urn:x: 1 error occurred:\n\t* the moon is full\n\n", {})
    assert meaning.why == "the moon is full" and "docs/runbook.md" in meaning.fix
    assert len(meaning_of("x" * 5000, {}).why) < 400


def test_the_engine_does_not_cut_what_every_stack_says() -> None:
    assert len(ON_ERROR) <= 150


NOW = datetime(2026, 11, 21, tzinfo=UTC)
TASK = {"args": ["--seed=1"], "env": [{"name": "TEAM", "value": "ml"}]}
POOL = {
    "machineSpec": {
        "machineType": "n1-standard-4",
        "acceleratorType": "NVIDIA_TESLA_T4",
        "acceleratorCount": 1,
        "reservationAffinity": {"values": ["projects/p/zones/z/reservations/r"]},
    },
    "diskSpec": {"bootDiskType": "pd-ssd", "bootDiskSizeGb": 100},
    "replicaCount": "2",
    "pythonPackageSpec": {"executorImageUri": "i", "packageUris": ["gs://b/x"], "pythonModule": "m", **TASK},
    "containerSpec": {"imageUri": "i", "command": ["python"], **TASK},
}
INPUTS = {
    "workerPoolSpecs": [POOL],
    "persistentResourceId": "cpu",
    "scheduling": {"strategy": "SPOT", "maxWaitDuration": "3s"},
    "baseOutputDirectory": {"outputUriPrefix": "gs://b/x"},
    "serviceAccount": "trainer@acme.iam.gserviceaccount.com",
    "experimentRun": "contexts/run",
    "tensorboard": "tensorboards/1",
}
BODY = {
    "name": "projects/1/locations/us-central1/trainingPipelines/7",
    "displayName": "theirs",
    "state": "PIPELINE_STATE_RUNNING",
    "createTime": "2026-11-20T10:00:00Z",
    "startTime": "2026-11-20T10:01:00Z",
    "trainingTaskInputs": INPUTS,
    "trainingTaskMetadata": {"backingCustomJob": "projects/1/locations/us-central1/customJobs/8"},
}
FREE = ("trainingTaskInputs", "trainingTaskMetadata")
"""Fields of the service's answers that may be any JSON."""
ODD: tuple[Any, ...] = (None, 5, 2.5, True, "text", "", [], [None], [5], [[]], [{}], {}, {"a": 1}, {"a": None})


def listed(kind: JobKind, *bodies: Mapping[str, Any]) -> list[VertexJob]:
    """Return what `Vertex.jobs` makes of them."""

    class Pages:
        def pages(self, *_: Any) -> Iterator[Mapping[str, Any]]:
            return iter(bodies)

    return list(Vertex(cast(Session, Pages()), Endpoints(), "p", "us-central1").jobs(kind))


def told(job: VertexJob) -> str:
    """All that lists, quota and prices make of a job."""
    try:
        needs = needs_of(job.machines, preemptible=job.preemptible)
    except MachineError:
        needs = ()
    facts = (job_cost(job, "us-central1", NOW), Demand.of(job), needs, wait_reason(job, None, "cpu", [], NOW))
    names = (job.capacity_type, *sorted(job.packages | job.reservations | job.buckets), *job.log_ids, job.parameters)
    return f"{facts} {names} {json.dumps([asdict(pool) for pool in job.worker_pools])}"


@pytest.mark.parametrize("at", [at for at in places(BODY) if at and at[0] in FREE], ids=str)
def test_whatever_its_inputs_are_it_is_listed_and_so_are_the_others(at: tuple[Any, ...]) -> None:
    for odd in ODD:
        job, other = listed(PIPELINE, with_value(BODY, at, odd), BODY)
        assert (job.display_name, job.state, job.create_time) == ("theirs", "JOB_STATE_RUNNING", other.create_time)
        assert other.replicas == 2
        assert told(job)


def test_what_it_leaves_out_may_be_null_and_the_rest_is_read() -> None:
    inputs = {
        "worker_pool_specs": [{"replica_count": 3, "disk_spec": None, "python_package_spec": None}],
        "scheduling": None,
        "persistent_resource_id": "cpu",
        "network": None,
    }
    (job,) = listed(PIPELINE, {**BODY, "trainingTaskInputs": inputs})
    assert (job.replicas, job.persistent_resource_id, job.strategy, job.max_wait) == (3, "cpu", "", None)


def test_one_that_is_no_custom_task_has_no_machines() -> None:
    tables = {"targetColumn": "price", "transformations": [{"auto": {"column_name": None}}], "trainBudget": 1000}
    (job,) = listed(PIPELINE, {**BODY, "trainingTaskInputs": tables})
    assert (job.machines, job.persistent_resource_id) == ((), "")


@pytest.mark.parametrize("kind", [CUSTOM_JOB, TUNING_JOB], ids=repr)
def test_a_job_whose_spec_the_service_knows_is_not_read_without_it(kind: JobKind) -> None:
    with pytest.raises(Garbled):
        listed(kind, {"name": f"projects/1/{kind.collection}/7", kind.spec: {"workerPoolSpecs": [None]}})

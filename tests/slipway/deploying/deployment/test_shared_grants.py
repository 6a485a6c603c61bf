"""Grants that stacks share, and the last defence of running jobs."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from slipway.authoring.stack.stack import Stack, TrainerSettings, WorkspaceSettings
from slipway.deploying.deployment.deletion_guard import use_of_cluster, use_of_stack
from slipway.deploying.deployment.shared_grants import asked_of, by_member, dropped, shared, stacks_of
from slipway.deploying.deployment.workspace_plan import (
    ACT_AS,
    CREATES,
    READS,
    SUBMITTER_ROLES,
    WRITES,
    WRITES_METRICS,
)
from slipway.google.catalog.document import PublishedCatalog
from slipway.google.catalog.document import read as read_catalog
from slipway.google.clusters import PersistentResource
from slipway.google.connection import Connection
from slipway.google.live import InUse, Neighbours, Unknown
from slipway.google.live_reader import Reader
from slipway.google.snapshot import neighbours
from slipway.model.labels import STACK_LABEL
from slipway.model.state import State, StateGrant, StateResource

from .conftest import CLUSTER, PATHS, POOL, SPEC, WANTED, Service

TEAM, BOB = "group:ml@acme.example", "user:bob@acme.example"
OWN, THEIRS = (f"{name}@acme.iam.gserviceaccount.com" for name in ("slipway-dev-trainer", "ml-training"))
PROD: Mapping[str, Any] = {
    "schema": 2,
    "stack": "prod",
    "project": "acme",
    "region": "us-central1",
    "commit": "3f9c2e1",
    "storage": {"catalog": "acme-prod-catalog", "work": "acme-results"},
    "trainer": "slipway-prod-trainer@acme.iam.gserviceaccount.com",
    "trainers": {"ml": THEIRS},
    "clusters": {},
    "retiring": [],
    "templates": {},
    "submitters": {"slipway-prod-trainer@acme.iam.gserviceaccount.com": [TEAM], THEIRS: [BOB]},
}
GRANTS = tuple(
    StateGrant(f"{role} {member} {on}", role, member, on)
    for role, member, on in (
        *((role, TEAM, "") for role in SUBMITTER_ROLES.values()),
        (SUBMITTER_ROLES["submit"], "user:EVE@acme.example", ""),
        (ACT_AS, TEAM, THEIRS),
        (ACT_AS, BOB, THEIRS),
        (READS, BOB, "gs://acme-results"),
        (CREATES, BOB, "gs://acme-results"),
        (READS, BOB, "gs://acme-dev-catalog"),
        (WRITES, f"serviceAccount:{THEIRS}", "gs://acme-results"),
        (WRITES, f"serviceAccount:{OWN}", "gs://acme-results"),
        (WRITES_METRICS, f"serviceAccount:{THEIRS}", ""),
        (WRITES_METRICS, f"serviceAccount:{OWN}", ""),
    )
)
KNOWN = State(
    buckets=(
        StateResource("catalog", "acme-dev-catalog", "acme"),
        StateResource("work.acme-results", "acme-results", ""),
    ),
    accounts=(StateResource("trainer", OWN, "acme"), StateResource("trainer.ml-training", THEIRS, "acme")),
    grants=GRANTS,
    called={OWN: "Slipway trainer (dev)", THEIRS: "everybody's"},
)


def published(**changes: Any) -> PublishedCatalog:
    body = {key: value for key, value in {**PROD, **changes}.items() if value is not None}
    return PublishedCatalog(stack=body["stack"], whole=read_catalog(str(body).replace("'", '"'), "gs://c/catalog.json"))


def stay(found: Neighbours, *, seen: tuple[str, ...] = (), of: tuple[StateGrant, ...] = ()) -> dict[str, Any]:
    some = shared(of or dropped(KNOWN), found, KNOWN, stack="dev", project="acme", seen=seen)
    return {one.grant.name: one.stacks or one.unread for one in some}


def test_what_another_stacks_catalog_names_stays_and_nothing_else() -> None:
    kept = stay({"acme-prod-catalog": published(), "acme-dev-catalog": published(stack="dev")})
    assert kept == {
        **{f"{role} {TEAM} ": ("prod",) for role in SUBMITTER_ROLES.values()},
        f"{ACT_AS} {BOB} {THEIRS}": ("prod",),
        f"{READS} {BOB} gs://acme-results": ("prod",),
        f"{CREATES} {BOB} gs://acme-results": ("prod",),
        f"{WRITES} serviceAccount:{THEIRS} gs://acme-results": ("prod",),
        f"{WRITES_METRICS} serviceAccount:{THEIRS} ": ("prod",),
    }


def test_of_what_the_stack_made_itself_nothing_is_another_stacks() -> None:
    """Neither its catalog's bucket, nor its account with all that this may do."""
    assert {one.name for one in GRANTS} - {one.name for one in dropped(KNOWN)} == {
        f"{READS} {BOB} gs://acme-dev-catalog",
        f"{WRITES} serviceAccount:{OWN} gs://acme-results",
        f"{WRITES_METRICS} serviceAccount:{OWN} ",
    }


def test_iam_knows_a_member_by_small_letters() -> None:
    eve = published(submitters={THEIRS: ["user:eve@acme.example"]})
    assert stay({"acme-prod-catalog": eve}, of=GRANTS[4:5]) == {GRANTS[4].name: ("prod",)}


def test_the_stacks_own_catalog_says_nothing_of_others_however_damaged() -> None:
    assert stay({"acme-dev-catalog": PublishedCatalog(damage="not JSON")}) == {}


def test_a_stack_of_another_project_needs_nothing_here() -> None:
    assert stay({"acme-prod-catalog": published(project="acme-prod")}) == {}


UNTOLD: dict[str, tuple[Neighbours, tuple[str, ...], str]] = {
    "no bucket can be listed": (Unknown("denied", "buckets.list", "roles/storage.bucketViewer"), (), "bucketViewer"),
    "a catalog can't be read": ({"c": Unknown("denied", "api", "a role")}, (), "api: denied; it needs a role"),
    "a catalog is damaged": ({"c": PublishedCatalog(damage="gs://c/…: not JSON")}, (), "gs://c/…: not JSON"),
    "a newer version's": ({"c": PublishedCatalog(stack="prod")}, (), "another version published it"),
    "a stack without a catalog": ({"c": published()}, ("dev", "prod", "test"), "stack test has clusters here"),
}


@pytest.mark.parametrize(("found", "seen", "why"), UNTOLD.values(), ids=UNTOLD)
def test_where_it_can_not_be_told_all_stays_and_the_reason_is_kept(
    found: Neighbours, seen: tuple[str, ...], why: str
) -> None:
    eve = GRANTS[4].name
    kept = stay(found, seen=seen)
    assert {one.name for one in dropped(KNOWN)} == {*kept}
    assert why in kept[eve][0]


def test_what_the_stack_asks_for_is_not_dropped() -> None:
    """Neither by the workspace's trainer nor by another one; metrics only where a template writes some."""
    workspace = WorkspaceSettings((TEAM,), "acme-dev-catalog", "acme-results", "slipway-dev-trainer")
    stack = Stack("dev", "acme", "us-central1", workspace, trainers={"ml": TrainerSettings("ml-training", (BOB,))})
    left = {(one.role, one.member) for one in dropped(KNOWN, asked_of(stack, ["ml"]))}
    assert left == {(SUBMITTER_ROLES["submit"], "user:EVE@acme.example"), (ACT_AS, TEAM)}
    assert (WRITES_METRICS, f"serviceAccount:{THEIRS}") in {
        (one.role, one.member) for one in dropped(KNOWN, asked_of(stack, []))
    }


def test_it_is_told_by_members() -> None:
    some = shared(dropped(KNOWN), {"c": published()}, KNOWN, stack="dev", project="acme")
    assert by_member(some) == {TEAM: ("prod",), BOB: ("prod",), f"serviceAccount:{THEIRS}": ("prod",)}


def test_clusters_tell_which_stacks_there_are() -> None:
    cluster = PersistentResource("cpu", "RUNNING", {STACK_LABEL: "prod"}, ())
    assert stacks_of((cluster, replace(cluster, labels={}))) == {"prod"}
    assert stacks_of(Unknown("denied", "api", "a role")) == frozenset()


def test_catalogs_are_read_in_buckets_that_slipway_made_alone(connection: Connection, service: Service) -> None:
    """Whoever may write to another one could name themselves: results are anybody's to write."""

    def bucket(name: str, prefix: str) -> dict[str, Any]:
        return {"name": name, "lifecycle": {"rule": [{"condition": {"matchesPrefix": [prefix]}}]}}

    ours = [bucket(f"{name}-catalog", "packages/") for name in ("prod", "test", "gone")]
    others = [bucket("acme-work", "claims/"), {"name": "somebodys"}]
    service.answers["/storage/b"] = (200, {"items": [*ours, *others]})
    for name in ("prod-catalog", "acme-work", "somebodys"):
        service.answers[f"/storage/b/{name}/o/catalog.json"] = (200, dict(PROD))
    service.answers["/storage/b/test-catalog/o/catalog.json"] = (403, {"error": {"message": "no"}})
    service.answers["/storage/b/gone-catalog/o/catalog.json"] = (404, {})
    found = neighbours(Reader(connection, WANTED))
    assert not isinstance(found, Unknown)
    assert {name: getattr(one, "stack", "") for name, one in found.items()} == {
        "prod-catalog": "prod",
        "test-catalog": "",
    }
    assert service.asked["/storage/b"]["project"] == ["acme"]


def test_buckets_that_nobody_may_list_are_unknown(connection: Connection, service: Service) -> None:
    service.answers["/storage/b"] = (403, {"error": {"message": "no"}})
    found = neighbours(Reader(connection, WANTED))
    assert isinstance(found, Unknown) and found.role == "roles/storage.bucketViewer"


def test_the_guard_sees_the_jobs_of_one_cluster(connection: Connection, service: Service) -> None:
    other = {**SPEC, "persistentResourceId": "other"}
    service["jobs"] = {
        "customJobs": [
            {"name": "j/1", "displayName": "mine", "state": "JOB_STATE_RUNNING", "jobSpec": SPEC},
            {"name": "j/2", "displayName": "other", "state": "JOB_STATE_RUNNING", "jobSpec": other},
            {"name": "j/3", "displayName": "beside", "state": "JOB_STATE_RUNNING", "jobSpec": {}},
        ]
    }
    found = use_of_cluster(connection, CLUSTER)
    assert isinstance(found, InUse)
    assert [job.display_name for job in found.jobs] == ["mine"]


def test_the_guard_asks_the_cluster_itself(connection: Connection, service: Service) -> None:
    """Its list may lag as those of jobs do. Machines of a job that is listed are that job's."""
    assert use_of_cluster(connection, CLUSTER) == InUse()
    service.answers[f"/vertex/{CLUSTER}"] = (200, {"name": CLUSTER, "state": "RUNNING", "resourcePools": [POOL]})
    assert use_of_cluster(connection, CLUSTER) == InUse((), ("cpu-1a2b3c4",))
    service["jobs"] = {
        "customJobs": [{"name": "j/1", "displayName": "mine", "state": "JOB_STATE_RUNNING", "jobSpec": SPEC}]
    }
    found = use_of_cluster(connection, CLUSTER)
    assert isinstance(found, InUse)
    assert [job.display_name for job in found.jobs] == ["mine"] and found.busy_without_job == ()


@pytest.mark.parametrize(("state", "unready"), [("STOPPING", True), ("REBOOTING", True), ("UPDATING", False)])
def test_the_guard_tells_what_the_cloud_does_not_delete_now(
    connection: Connection, service: Service, state: str, unready: bool
) -> None:
    service.answers[f"/vertex/{CLUSTER}"] = (200, {"name": CLUSTER, "state": state})
    assert use_of_cluster(connection, CLUSTER) == InUse(unready={"cpu-1a2b3c4": state} if unready else {})


@pytest.mark.parametrize("status", [403, 500])
def test_the_guard_can_not_tell_when_the_cluster_can_not_be_read(
    connection: Connection, service: Service, status: int
) -> None:
    service.answers[f"/vertex/{CLUSTER}"] = (status, {"error": {"code": status, "message": "no"}})
    found = use_of_cluster(connection, CLUSTER)
    assert isinstance(found, Unknown)
    assert "persistentResources.get" in found.api


def test_the_guard_sees_the_jobs_of_a_stack(connection: Connection, service: Service) -> None:
    labels: tuple[dict[str, str], ...] = ({"slipway-stack": "dev"}, {"slipway-stack": "prod"}, {})
    service["clusters"] = {"persistentResources": [{"name": f"c/{i}", "labels": each} for i, each in enumerate(labels)]}
    service["jobs"] = {
        "customJobs": [
            {
                "name": f"j/{i}",
                "displayName": f"on-{i}",
                "state": "JOB_STATE_RUNNING",
                "jobSpec": {"persistentResourceId": str(i)},
            }
            for i in range(3)
        ]
    }
    found = use_of_stack(connection, "acme", "us-central1", "dev")
    assert isinstance(found, InUse)
    assert [job.display_name for job in found.jobs] == ["on-0"]


def test_the_guard_sees_the_jobs_that_need_something(connection: Connection, service: Service) -> None:
    """Also those that run beside the stack's clusters."""
    specs = [
        {"serviceAccount": "t@acme.iam", "baseOutputDirectory": {"outputUriPrefix": "gs://acme-work/1"}},
        {"serviceAccount": "t@acme.iam", "baseOutputDirectory": {"outputUriPrefix": "gs://other/1"}},
        {"serviceAccount": "u@acme.iam", "baseOutputDirectory": {"outputUriPrefix": "gs://other/1"}},
    ]
    service["jobs"] = {
        "customJobs": [
            {"name": f"j/{i}", "displayName": str(i), "state": "JOB_STATE_RUNNING", "jobSpec": spec}
            for i, spec in enumerate(specs)
        ]
    }

    def needing(*things: str) -> list[str]:
        found = use_of_stack(connection, "acme", "us-central1", "dev", needed=things)
        assert isinstance(found, InUse)
        return [job.display_name for job in found.jobs]

    assert needing("t@acme.iam") == ["0", "1"]
    assert needing("t@acme.iam", "acme-work") == ["0"], "what an account may do on a bucket"
    assert needing("acme-catalog") == []
    found = use_of_stack(connection, "acme", "us-central1", "dev", ["acme-work", "u@acme.iam"])
    assert isinstance(found, InUse)
    assert [job.display_name for job in found.jobs] == ["0", "2"]


def test_the_guard_asks_every_cluster_of_a_stack(connection: Connection, service: Service) -> None:
    listed = [
        {"name": f"{PATHS['clusters']}/{id_}", "labels": {"slipway-stack": stack}}
        for id_, stack in (("cpu-1a2b3c4", "dev"), ("gpu-1a2b3c4", "dev"), ("other", "prod"))
    ]
    service["clusters"] = {"persistentResources": listed}
    for one in listed:
        used = {**one, "state": "RUNNING", "resourcePools": [POOL]}
        service.answers[str(one["name"])] = (200, used)
    assert use_of_stack(connection, "acme", "us-central1", "dev") == InUse((), ("cpu-1a2b3c4", "gpu-1a2b3c4"))


@pytest.mark.parametrize("what", ["clusters", "jobs", "tuning", "pipelines"])
def test_the_guard_can_not_tell_when_a_list_fails(connection: Connection, service: Service, what: str) -> None:
    service[what] = (403, {"error": {"code": 403, "message": "no"}})
    assert isinstance(use_of_stack(connection, "acme", "us-central1", "dev"), Unknown)

"""What lives is read at once, and a list that fails is never an empty list. # D2 # N1"""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from slipway.google.catalog.document import PublishedCatalog
from slipway.google.clusters import PersistentResource, ResourcePool
from slipway.google.connection import Connection
from slipway.google.live import Live, Unknown
from slipway.google.live_reader import Recent
from slipway.google.snapshot import read
from slipway.model.kinds import CUSTOM_JOB, PIPELINE, TUNING_JOB
from slipway.model.machines.spec import MachineSpec
from tests.slipway.google.live_service import PATHS, POOL, SPEC, WANTED, Service, live

EVERYTHING = (
    "clusters",
    "jobs",
    "tuning",
    "pipelines",
    "quotas",
    "catalog",
    *("catalog bucket", "work bucket", "account"),
)
CATALOG = {
    "schema": 1,
    "stack": "dev",
    "project": "acme",
    "region": "us-central1",
    "storage": {"work": "acme-work"},
    "clusters": {"cpu": {"id": "cpu-1a2b3c4", "pools": {}}},
    "retiring": ["cpu-0000000"],
    "templates": {},
}


def test_clusters_with_their_pools(connection: Connection, service: Service) -> None:
    name = "projects/1/locations/us-central1/persistentResources/cpu-1a2b3c4"
    error, created = {"code": 8, "message": "no machines"}, "2026-11-01T00:00:00.123456789Z"
    body = {"name": name, "state": "ERROR", "labels": {"a": "b"}, "resourcePools": [POOL], "createTime": created}
    service["clusters"] = {"persistentResources": [{**body, "error": error}]}
    workers = ResourcePool("workers", MachineSpec("n1-standard-8"), replicas=2, used=1, min=1, max=4)
    when = datetime(2026, 11, 1, 0, 0, 0, 123456, UTC)
    assert live(connection).clusters == (
        PersistentResource(name, "ERROR", {"a": "b"}, (workers,), when, "no machines", error_code=8),
    )


def test_jobs_of_every_kind_with_what_they_need(connection: Connection, service: Service) -> None:
    needs = {"serviceAccount": WANTED.accounts[0], "baseOutputDirectory": {"outputUriPrefix": "gs://acme-work/jobs/1"}}
    spec, running = {**SPEC, **needs}, "JOB_STATE_RUNNING"
    container = {"containerSpec": {"args": ["--in=/gcs/acme-data/x"]}}
    snake = {
        "persistent_resource_id": "cpu-1a2b3c4",
        "worker_pool_specs": [{"machine_spec": {"machine_type": "n1-standard-8"}, "replica_count": 1, **container}],
    }
    service["jobs"] = {"customJobs": [{"name": "j/1", "state": running, "jobSpec": spec}]}
    tuning = {"name": "t/2", "state": running, "trialJobSpec": spec, "parallelTrialCount": 3}
    service["tuning"] = {"hyperparameterTuningJobs": [tuning]}
    spot = {"trialJobSpec": {**spec, "scheduling": {"strategy": "SPOT"}}, "parallelTrialCount": 2}
    service["pipelines"] = {
        "trainingPipelines": [
            {"name": name, "state": "PIPELINE_STATE_RUNNING", "trainingTaskInputs": inputs}
            for name, inputs in (("p/3", snake), ("p/4", spot))
        ]
    }
    found = live(connection).jobs
    assert isinstance(found, tuple)
    assert [(job.kind, job.persistent_resource_id, job.preemptible, {*job.buckets}) for job in found] == [
        (CUSTOM_JOB, "cpu-1a2b3c4", False, {"acme-work"}),
        (TUNING_JOB, "cpu-1a2b3c4", False, {"acme-work"}),
        (PIPELINE, "cpu-1a2b3c4", False, {"acme-data"}),
        (PIPELINE, "cpu-1a2b3c4", True, {"acme-work"}),
    ]
    assert [job.machines[0].count for job in found] == [2, 6, 1, 4], "a tuning job is all its trials at once"
    assert found[0].needs("acme-work") and found[0].needs(WANTED.accounts[0]) and not found[0].needs("acme")


def test_only_jobs_that_have_not_ended_are_asked_for_and_kept(connection: Connection, service: Service) -> None:
    states = ("JOB_STATE_RUNNING", "JOB_STATE_SUCCEEDED", "JOB_STATE_PARTIALLY_SUCCEEDED", "JOB_STATE_NEW_WORD")
    service["jobs"] = {"customJobs": [{"name": state, "displayName": state, "state": state} for state in states]}
    found = live(connection).jobs
    assert isinstance(found, tuple)
    assert [job.state for job in found] == ["JOB_STATE_RUNNING", "JOB_STATE_NEW_WORD"]
    (asked,) = service.asked[PATHS["jobs"]]["filter"]
    assert 'state!="JOB_STATE_SUCCEEDED"' in asked
    assert "RUNNING" not in asked, "a state that nobody has heard of counts as not ended"


def test_the_published_catalog_and_what_exists_already(connection: Connection, service: Service) -> None:
    service["catalog"] = CATALOG
    service["catalog bucket"] = {"name": "acme-catalog"}
    service["account"] = {"email": WANTED.accounts[0], "displayName": "Slipway trainer (prod)"}
    seen = live(connection)
    assert seen.catalog == PublishedCatalog({"cpu": "cpu-1a2b3c4"}, ("cpu-0000000",))
    assert seen.buckets == seen.by_hand == frozenset({"acme-catalog"})
    assert seen.service_accounts == {"trainer@acme.iam.gserviceaccount.com": "Slipway trainer (prod)"}
    flags = ("--uniform-bucket-level-access", "--public-access-prevention", "--versioning", "--default-encryption-key")
    assert seen.lacking == {"acme-catalog": flags}


@pytest.mark.parametrize(
    ("listed", "foreign"),
    [
        ({"items": [{"name": "acme-other"}]}, True),
        ({}, True),
        ({"items": [{"name": "acme-work"}]}, False),
        ((403, {"error": {"message": "no"}}), False),
    ],
)
def test_a_bucket_that_may_not_be_seen_is_another_projects_where_this_one_lists_none_of_its_name(
    service: Service, connection: Connection, listed: Any, foreign: bool
) -> None:  # N13
    """Google answers 403 for a name that anybody has, and 404 for one that nobody has."""
    service["work bucket"], service["buckets"] = (
        (403, {"error": {"message": "no access (or it may not exist)"}}),
        listed,
    )
    seen = live(connection)
    assert isinstance(seen.buckets, Unknown) and seen.buckets.foreign is foreign
    assert seen.buckets.on == "gs://acme-work"


def test_a_bucket_that_slipway_made_is_told_by_the_rule_that_each_has(  # N13
    connection: Connection, service: Service
) -> None:
    """Also one that a killed deployment left, and that no state knows."""
    rule = {"action": {"type": "Delete"}, "condition": {"age": 730, "matchesPrefix": ["packages/"]}}
    service["catalog bucket"] = {"name": "acme-catalog", "lifecycle": {"rule": [rule]}}
    seen = live(connection)
    assert seen.buckets == frozenset({"acme-catalog"}) and not seen.by_hand


def test_the_accounts_of_all_trainers_are_looked_at(connection: Connection, service: Service) -> None:
    """One that can't be read leaves nobody sure of any."""
    service["account"] = {"email": WANTED.accounts[0], "displayName": "Slipway trainer (prod)"}
    evals, tuning = (f"{name}@acme.iam.gserviceaccount.com" for name in ("evals", "tuning"))
    path = "/iam/projects/acme/serviceAccounts/"
    service.answers |= {f"{path}{evals}": (200, {"email": evals}), f"{path}{tuning}": (404, {})}
    wanted = replace(WANTED, accounts=(*WANTED.accounts, evals, tuning))
    seen, _ = read(connection, wanted, off_is_empty=False)
    assert seen.service_accounts == {WANTED.accounts[0]: "Slipway trainer (prod)", evals: ""}
    service.answers[f"{path}{tuning}"] = (403, {"error": {"code": 403, "message": "no"}})
    assert isinstance(read(connection, wanted, off_is_empty=False)[0].service_accounts, Unknown)


@pytest.mark.parametrize("beside", ["", ", Fri, 20 Nov 2026 12:09:00 GMT"])
def test_how_long_the_catalog_has_been_published_is_told_by_the_storages_own_clock(
    connection: Connection, service: Service, beside: str
) -> None:
    """This machine's clock may be wrong by more than what is waited for, and a proxy may add a date of its own."""
    service.date = f"Fri, 20 Nov 2026 12:05:00 GMT{beside}"
    dated = {**CATALOG, "timeCreated": "2026-11-20T12:00:00.500Z", "updated": "2026-11-20T12:04:00Z"}
    for body, age in ((dated, timedelta(seconds=299.5)), (CATALOG, None)):
        service["catalog"] = body
        found = live(connection).catalog
        assert isinstance(found, PublishedCatalog) and found.age == age
    assert connection.session.time == datetime(2026, 11, 20, 12, 5, tzinfo=UTC)


@pytest.mark.parametrize("date", ["", "yesterday", "Fri, 99 Nov 2026 12:05:00 GMT", "2026-11-20T12:05:00Z"])
def test_a_date_that_is_none_leaves_the_age_unknown(connection: Connection, service: Service, date: str) -> None:
    service.date = date
    service["catalog"] = {**CATALOG, "timeCreated": "2026-11-20T12:00:00.500Z", "updated": "2026-11-20T12:04:00Z"}
    found = live(connection).catalog
    assert isinstance(found, PublishedCatalog) and found.age is None and connection.session.time is None


def test_a_damaged_catalog_is_neither_missing_nor_unreadable(connection: Connection, service: Service) -> None:
    service["catalog"] = {"schema": 1}
    found = live(connection).catalog
    assert isinstance(found, PublishedCatalog)
    assert found.damage.startswith("gs://acme-catalog/catalog.json: clusters is not")


def test_a_catalog_that_was_cut_off_on_its_way_is_not_damaged(connection: Connection, service: Service) -> None:
    service["catalog"] = CATALOG
    service.cut.add("catalog")
    found = live(connection).catalog
    assert isinstance(found, Unknown)
    assert found.role == "the API to answer"


SILENT = ((401, "a fresh login"), (500, "the API to answer"), (429, "the API to answer"))


@pytest.mark.parametrize(
    ("what", "status", "role"),
    [
        *((what, 403, "roles/") for what in EVERYTHING),
        *((what, *why) for what in ("clusters", "quotas", "catalog") for why in SILENT),
    ],
)
def test_what_can_not_be_read_is_unknown(
    connection: Connection, service: Service, what: str, status: int, role: str
) -> None:
    service[what] = (status, {"error": {"code": status, "message": "access denied"}})
    seen = live(connection)
    part = {
        "clusters": seen.clusters,
        "quotas": seen.limits,
        "catalog": seen.catalog,
        "account": seen.service_accounts,
        "catalog bucket": seen.buckets,
        "work bucket": seen.buckets,
    }.get(what, seen.jobs)
    assert isinstance(part, Unknown)
    assert (part.why, part.identity) == ("access denied", "ada")
    assert part.role.startswith(role)
    assert "googleapis.com" in part.api


@pytest.mark.parametrize("what", [what for what in EVERYTHING if what != "quotas"])
def test_an_api_that_is_switched_off_is_empty_in_preview_alone(
    connection: Connection, service: Service, what: str
) -> None:
    message = "Vertex AI API has not been used in project acme before or it is disabled."
    service[what] = (403, {"error": {"code": 403, "message": message}})
    seen, warnings = read(connection, WANTED, off_is_empty=True)
    assert seen == Live(clusters=(), jobs=(), limits={}, catalog=None)
    assert len(warnings) == 1 and "switched off in acme" in warnings[0]
    seen, warnings = read(connection, WANTED, off_is_empty=False)
    assert seen != Live(clusters=(), jobs=(), limits={}, catalog=None)
    assert warnings == []


def test_the_last_end_of_a_job_on_each_cluster_is_read_where_a_limit_needs_it(
    connection: Connection, service: Service
) -> None:  # B6
    def ended(name: str, end: str, on: str = "cpu-1a2b3c4") -> dict[str, Any]:
        times = {"createTime": "2026-11-01T00:00:00Z", "endTime": end}
        return {"name": name, "state": "JOB_STATE_FAILED", **times, "jobSpec": {**SPEC, "persistentResourceId": on}}

    service["jobs"] = {
        "customJobs": [
            ended("j/3", "2026-11-02T00:00:00Z"),
            ended("j/2", "2026-11-03T00:00:00Z"),
            ended("j/1", "2026-11-04T00:00:00Z", on=""),
            {"name": "j/0", "state": "JOB_STATE_RUNNING", "jobSpec": SPEC},
        ]
    }
    assert live(connection).last_ends == {}
    wanted = replace(WANTED, now=datetime(2026, 11, 21, tzinfo=UTC), ends_within=timedelta(days=32))
    seen, _ = read(connection, wanted, off_is_empty=False)
    assert seen.last_ends == {"cpu-1a2b3c4": datetime(2026, 11, 3, tzinfo=UTC)}
    service["tuning"] = (403, {"error": {"code": 403, "message": "no such luck"}})
    seen, _ = read(connection, wanted, off_is_empty=False)
    assert isinstance(seen.last_ends, Unknown)


@pytest.mark.parametrize("project", ["acme", "764086051850"])
def test_limits_that_can_not_be_read_are_no_good_news(connection: Connection, service: Service, project: str) -> None:
    """Limits hold without their API too; and a login without a quota project is told of Google's own project."""
    message = f"Cloud Quotas API has not been used in project {project} before or it is disabled."
    service["quotas"] = (403, {"error": {"code": 403, "message": message}})
    seen, warnings = read(connection, WANTED, off_is_empty=True)
    assert isinstance(seen.limits, Unknown) and seen.limits.off is (project == "acme") and warnings == []
    fix = "gcloud services enable" if project == "acme" else "gcloud auth application-default set-quota-project"
    assert fix in seen.limits.fix and "roles/" not in str(seen.limits)


def test_what_was_looked_for_by_a_clock_that_is_wrong_is_looked_for_again(
    connection: Connection, service: Service
) -> None:  # B6
    """Ended jobs and the newest ones are those of the days before the cloud's own time."""
    service.date = "Fri, 20 Nov 2026 12:00:00 GMT"
    cloud = datetime(2026, 11, 20, 12, tzinfo=UTC)
    wanted = replace(WANTED, ends_within=timedelta(days=3), recent=Recent(3, 10, "dev"))
    seen, _ = read(connection, replace(wanted, now=cloud + timedelta(days=9)), off_is_empty=False)
    (last,) = service.asked[PATHS["tuning"]]["filter"]
    assert seen.time == cloud and "2026-11-17T12:00:00Z" in last
    near = cloud + timedelta(minutes=1)
    assert read(connection, replace(wanted, now=near), off_is_empty=False)[0].time == near


def test_only_custom_jobs_are_many_enough_to_be_read_in_parts(connection: Connection, service: Service) -> None:
    """A month of custom jobs is read in parts at once, one of tuning jobs or pipelines by one request."""
    wanted = replace(WANTED, now=datetime(2026, 11, 20, 12, tzinfo=UTC), recent=Recent(30, 1000, "dev", windows=6))
    read(connection, wanted, off_is_empty=False)
    parts = {
        what: [filter for path, filter in service.filters if path == PATHS[what] and "create_time" in filter]
        for what in ("jobs", "tuning", "pipelines")
    }
    assert {what: len(some) for what, some in parts.items()} == {"jobs": 6, "tuning": 1, "pipelines": 1}
    assert 'create_time>="2026-10-21T12:00:00Z"' in parts["tuning"][0] and "create_time<" not in parts["tuning"][0]

"""What components publish: numbers and keys, by name, so that a review compares them and no sentence. # D6 # N1"""

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import pytest

from slipway.authoring.stack.stack import Stack
from slipway.base import codec
from slipway.deploying.deployment.actions import of_current
from slipway.deploying.deployment.deployment import facts
from slipway.deploying.deployment.plan import Plan
from slipway.deploying.deployment.publication import catalog_of, compile_context
from slipway.deploying.deployment.workspace_plan import RetiringWorkspaceResource, WorkspacePlan
from slipway.deploying.generations.action import Action, What, Why
from slipway.deploying.generations.dormant import Dormancy
from slipway.google.jobs import VertexJob
from slipway.google.quota.report import QuotaReport, QuotaRow
from slipway.model.catalog.template import Offer, Parameter, Template
from slipway.model.cluster import Alternative, ClusterSpec, CurrentCluster, PoolSpec
from slipway.model.facts import CATALOG, CLUSTER, QUOTA, TEMPLATE, WORKSPACE, Facts, TrainerFacts, read
from slipway.model.labels import Revision
from slipway.model.machines.spec import Disk, MachineSpec
from slipway.model.origin import Program
from slipway.model.prices import UNKNOWN, Price
from slipway.model.season import Season
from tests.builders.stacks import workspace_entry

TEAM, TRAINER = "group:ml@acme.example", "trainer@acme-dev.iam.gserviceaccount.com"
H100 = PoolSpec("h100", MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8, Disk("pd-ssd", 500)), 0, 2, True, 1)
WORKERS = PoolSpec("workers", MachineSpec("n1-standard-8"), min=1, max=4, autoscaled=True, replicas=1)
CPU = ClusterSpec("cpu", (WORKERS, H100))
STACK = Stack("dev", "acme-dev", "us-central1", workspace_entry((TEAM,), "acme-catalog", "acme-work", "trainer"))
JOB = VertexJob("j/1", "tune", "JOB_STATE_RUNNING", persistent_resource_id="cpu-0000000")
OLD = Action("cpu", "cpu-0000000", What.RETIRE, Why.JOBS, (JOB,))
RESULTS = RetiringWorkspaceResource("work", "work", "acme-results", (), Why.IN_USE)
PLAN = Plan(
    (of_current(CurrentCluster(CPU, "cpu-1a2b3c4", "1a2b3c4", import_=False)), OLD),
    workspace=WorkspacePlan(retiring=(RESULTS,)),
)
POOL = Offer("pool", True, "", "cpu", (), Price(Decimal("1.5")), {}, wait=60.0)
SPOT = Offer("spot", False, "short by 7", "", (), UNKNOWN, {}, lacks_quota=True)
NAP = Template("nap", "sleeps", "custom-job", (), (Parameter("n", "int", 3, 1, 9),), (POOL, SPOT), package="gs://c/nap")
LINE = QuotaRow("cpus", "us-central1", "cpu/workers", 8, 32, 40, 0, "ok")


def told(plan: Plan = PLAN, template: Template = NAP, report: QuotaReport | None = None, of: Stack = STACK) -> Facts:
    context = compile_context(of, Revision("3f9c2e1", dirty=True), plan)
    catalog = catalog_of(context, of, plan, {"nap": template})
    return facts(of, plan, catalog, report or QuotaReport((LINE,)))


def components(told: Facts) -> list[tuple[str, str, Mapping[str, Any]]]:
    """As a preview has them."""
    return [
        (QUOTA, "quota", told.quota_check),
        (WORKSPACE, "workspace", told.workspace),
        *((CLUSTER, id_, cluster) for id_, cluster in told.clusters.items()),
        *((TEMPLATE, name, template) for name, template in told.templates.items()),
        (CATALOG, "catalog", told.published),
    ]


def test_a_cluster_by_its_id_with_its_pools_by_name() -> None:
    found = told().clusters["cpu-1a2b3c4"]
    assert (found["cluster"], found["id"], found["replacement"], found["generation"]) == (
        "cpu",
        "cpu-1a2b3c4",
        "rollover",
        1,
    )
    assert found["pools"]["workers"] == {
        "machine": "n1-standard-8",
        "disk": {"type": "pd-ssd", "sizeGb": 100},
        "acceleratorCount": 0,
        "min": 1,
        "max": 4,
        "autoscaled": True,
        "pricePerHour": "0.4638",
        "priceComplete": True,
    }
    assert (found["pools"]["h100"]["accelerator"], found["pools"]["h100"]["acceleratorCount"]) == (
        "NVIDIA_H100_80GB",
        8,
    )


def test_a_template_that_cant_be_loaded_is_listed_alone() -> None:
    listed = told(of=replace(STACK, templates=("nap", "odd")))
    again = read(components(listed))
    assert again and again.unloaded == {"odd"} and list(again.templates) == ["nap"]


def test_what_a_refused_preview_would_delete_is_not_read() -> None:
    """Its events still have the components, as they are deployed."""
    left = replace(told().catalog.clusters["cpu"], id="cpu-0123456")
    old = {"cluster": "cpu", **codec.write(left)}
    kept = {"id": "cpu-7654321", "kind": "cluster", "role": "cpu", "cluster": "cpu", "retiring": "jobs"}
    gone = [(CLUSTER, "cpu-0123456", old), (CLUSTER, "cpu-7654321", kept), (TEMPLATE, "gone", told().templates["nap"])]
    assert read([*components(told()), *gone]) == read(components(told()))


def test_what_retires_says_why_by_key_and_which_jobs() -> None:
    facts_read = told()
    assert facts_read.clusters["cpu-0000000"] == {
        "cluster": "cpu",
        "id": "cpu-0000000",
        "kind": "cluster",
        "role": "cpu",
        "retiring": "jobs",
        "overdue": False,
        "jobs": {"j/1": "tune"},
    }
    assert facts_read.workspace["retiring"] == {
        "acme-results": {
            "id": "acme-results",
            "kind": "bucket",
            "role": "work",
            "retiring": "in-use",
            "jobs": {},
            "overdue": False,
        }
    }


def test_a_bucket_for_jobs_in_another_region_is_told_and_read_back() -> None:  # N2
    assert "workElsewhere" not in told().workspace, "a stack without any says nothing"
    far = replace(STACK, clusters=(replace(CPU, alternatives=(Alternative(CPU.pools, "us-east4"),)),))
    meant = told(of=far)
    assert meant.workspace["workElsewhere"] == {"us-east4": "acme-work-us-east4"}
    facts_read = read(components(meant))
    assert facts_read is not None and facts_read.catalog.work_elsewhere == {"us-east4": "acme-work-us-east4"}
    assert facts_read.catalog.work_bucket_in("us-east4") == "acme-work-us-east4"
    assert facts_read.catalog.work_bucket_in("us-central1") == facts_read.catalog.work_bucket == "acme-work"


def test_another_trainer_with_who_may_act_as_it_is_told_and_read_back() -> None:  # P5
    assert "trainers" not in told().workspace, "a stack without any says nothing"
    evals, eva = "evals@acme-dev.iam.gserviceaccount.com", "user:eva@acme.example"
    plain = told()
    meant = replace(
        plain,
        catalog=replace(plain.catalog, trainers={"evals": evals}),
        trainers={"evals": TrainerFacts("evals", evals, {eva: "roles/iam.serviceAccountUser"})},
    )
    assert meant.workspace["trainers"]["evals"]["account"] == evals
    facts_read = read(components(meant))
    assert facts_read is not None
    assert (facts_read.trainers, facts_read.catalog.trainers) == (meant.trainers, {"evals": evals})
    assert facts_read.people == (TEAM, eva)


def test_a_template_by_its_parameters_and_offers() -> None:
    found = told().templates["nap"]
    assert (found["kinds"], found["package"], found["image"], found["codeFlag"]) == (
        ["custom-job"],
        "gs://c/nap",
        "",
        False,
    )
    assert found["parameters"] == {
        "n": {"type": "int", "default": 3, "min": 1, "max": 9, "choices": [], "command": False}
    }
    pool, spot = found["offers"]["pool cpu"], found["offers"]["spot"]
    assert (pool["place"], pool["available"], pool["wait"], pool["pricePerHour"]) == (1, True, 60.0, "1.5000")
    assert (spot["place"], spot["available"], spot["lacksQuota"], spot["priceComplete"]) == (2, False, True, False)


def test_a_request_is_whole_but_for_what_every_deployment_changes() -> None:  # N8
    labels = {"slipway-commit": "3f9c2e1", "slipway-commit-dirty": "true", "team": "ml"}
    pool = replace(POOL, request={"jobSpec": {"serviceAccount": "a"}, "labels": labels})
    found = told(template=replace(NAP, offers=(pool,))).templates["nap"]["offers"]["pool cpu"]
    assert found["request"] == {"jobSpec": {"serviceAccount": "a"}, "labels": {"team": "ml"}}


def test_a_review_reads_back_what_components_publish() -> None:  # N5
    meant = told()
    assert json.loads(json.dumps(components(meant))) == [list(component) for component in components(meant)], (
        "it is JSON"
    )
    facts_read = read(reversed(components(meant)))
    assert facts_read is not None
    assert components(facts_read) == components(meant)
    assert [offer.capacity_type for offer in facts_read.catalog.templates["nap"].offers] == ["pool", "spot"]


def test_a_template_is_known_by_its_own_name_below_a_component_of_another() -> None:  # N33
    meant = told()
    others = [each for each in components(meant) if each[0] != TEMPLATE]
    renamed = (TEMPLATE, "nap-eu", {**meant.templates["nap"], "template": "nap"})
    facts_read = read([*others, renamed])
    assert facts_read is not None
    assert components(facts_read) == components(meant)


def test_the_program_that_declares_a_stack_is_told_with_the_catalog_and_read_back() -> None:  # N33
    of_program = told(of=replace(STACK, program=Program("trial", "ml")))
    assert of_program.published["program"] == {"stack": "trial", "workspace": "ml"}
    back = read(components(of_program))
    assert back is not None and back.catalog.origin == Program("trial", "ml")


def test_a_dormant_cluster_is_told_with_the_catalog_and_read_back() -> None:  # B6
    season = Season(idle_limit=timedelta(hours=4))
    dormant = Dormancy(replace(CPU, season=season), "cpu-1a2b3c4", "idle", datetime(2026, 11, 20, tzinfo=UTC))
    meant = told(PLAN.with_clusters((), (dormant,)))
    assert meant.published["dormant"]["cpu"]["why"] == "idle"
    facts_read = read(components(meant))
    assert facts_read is not None
    assert components(facts_read) == components(meant)
    assert facts_read.catalog.dormant["cpu"].season == season


def test_without_a_catalog_there_are_no_facts() -> None:
    assert read(component for component in components(told()) if component[0] != CATALOG) is None


def test_kinds_and_cases_are_told_apart() -> None:
    offers = (replace(SPOT, when={"model": ("2b", "9b")}), replace(SPOT, kind="training-pipeline"))
    found = told(template=replace(NAP, offers=offers)).templates["nap"]["offers"]
    assert set(found) == {"spot (model=2b or 9b)", "spot as training-pipeline"}


def test_quota_line_by_line_in_numbers() -> None:  # D2
    short = replace(LINE, now=None, state="short", short=7, drawn={"nap spot": 39}, limit=None)
    found = told(report=QuotaReport((LINE, short))).quota_check
    assert (found["region"], found["mode"], found["strict"]) == ("us-central1", "enforce", False)
    assert found["lines"] == {
        "cpus": {"state": "ok", "short": 0, "drawn": {}, "ceiling": 32, "limit": 40},
        "cpus offers": {"state": "short", "short": 7, "drawn": {"nap spot": 39}, "ceiling": 32},
    }


def test_what_is_published() -> None:
    assert told().published == {
        "stack": "dev",
        "project": "acme-dev",
        "region": "us-central1",
        "commit": "3f9c2e1",
        "dirty": True,
        "confirmAbove": 1.0,
        "clusters": {"cpu": "cpu-1a2b3c4"},
        "retiring": {"cpu-0000000": "cpu"},
        "templates": {"nap": "gs://c/nap"},
        "policy": {},
    }


@pytest.mark.parametrize(
    ("setting", "value", "key"),
    [
        ("board", True, "board"),
        ("shell", True, "shell"),
        ("notify", "projects/p/secrets/s/versions/1", "notify"),
    ],
)
def test_what_a_stack_sets_of_its_workspace_is_published_and_compared(setting: str, value: Any, key: str) -> None:
    """# D6 # N20 # N30"""
    changed: dict[str, Any] = {setting: value}
    asking = told(of=replace(STACK, workspace=STACK.workspace.model_copy(update=changed)))
    assert getattr(asking.catalog, setting) == asking.published[key] == value
    back = read(components(asking))
    assert back is not None and getattr(back.catalog, setting) == value
    assert key not in told().published, "of a stack that does not ask nothing new is published"


def test_grants_that_stay_for_other_stacks_are_told_by_member() -> None:  # P5
    shared = {"user:ada@acme.example": ("prod",), "user:bob@acme.example": ()}
    back = read(components(replace(told(), shared=shared)))
    assert back is not None and back.shared == shared
    assert "shared" not in told().workspace

"""What components publish: numbers and keys, by name, so that a review compares them and no sentence. # D6 # N1"""

import json
from dataclasses import fields, replace
from decimal import Decimal

from slipway.catalog.model import Offer, Parameter, Template
from slipway.cloud.clusters import PersistentResource
from slipway.cloud.jobs import VertexJob
from slipway.cluster import ClusterSpec, CurrentCluster, PoolSpec
from slipway.deployment.facts import Facts, facts
from slipway.deployment.plan import Plan
from slipway.deployment.retiring import RetiringCluster, RetiringWorkspaceResource, Why
from slipway.deployment.workspace_plan import WorkspacePlan
from slipway.labels import Revision
from slipway.machines.spec import Disk, MachineSpec
from slipway.prices import UNKNOWN, Price
from slipway.quota.report import Line, QuotaReport
from slipway.stack.stack import Stack, WorkspaceSettings

TEAM, TRAINER = "group:ml@acme.example", "trainer@acme-dev.iam.gserviceaccount.com"
H100 = PoolSpec("h100", MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8, Disk("pd-ssd", 500)), 0, 2, True, 1)
WORKERS = PoolSpec("workers", MachineSpec("n1-standard-8"), min=1, max=4, autoscaled=True, replicas=1)
CPU = ClusterSpec("cpu", (WORKERS, H100))
STACK = Stack("dev", "acme-dev", "us-central1", WorkspaceSettings((TEAM,), "acme-catalog", "acme-work", "trainer"))
JOB = VertexJob("j/1", "tune", "JOB_STATE_RUNNING", persistent_resource_id="cpu-0000000")
OLD = RetiringCluster(PersistentResource("cpu-0000000", "RUNNING", {}, ()), "cpu", (JOB,), Why.JOBS)
RESULTS = RetiringWorkspaceResource("work", "work", "acme-results", (), Why.IN_USE)
PLAN = Plan(
    current=(CurrentCluster(CPU, "cpu-1a2b3c4", "1a2b3c4", import_=False),),
    retiring=(OLD,),
    workspace=WorkspacePlan(retiring=(RESULTS,)),
)
POOL = Offer("pool", True, "", "cpu", (), Price(Decimal("1.5")), {}, wait=60.0)
SPOT = Offer("spot", False, "short by 7", "", (), UNKNOWN, {}, lacks_quota=True)
NAP = Template("nap", "sleeps", "custom-job", (), (Parameter("n", "int", 3, 1, 9),), (POOL, SPOT), package="gs://c/nap")
LINE = Line("cpus", "us-central1", "on-demand", "vCPUs", "pool cpu/workers", 8, 32, 40, 0, "ok")


def told(plan: Plan = PLAN, template: Template = NAP, report: QuotaReport | None = None) -> Facts:
    return facts(STACK, plan, {"nap": template}, report or QuotaReport((LINE,)), Revision("3f9c2e1", dirty=True))


def test_a_cluster_by_its_id_with_its_pools_by_name() -> None:
    found = told().clusters["cpu-1a2b3c4"]
    assert {key: value for key, value in found.items() if key != "pools"} == {
        "cluster": "cpu",
        "id": "cpu-1a2b3c4",
        "fingerprint": "1a2b3c4",
        "replacement": "rollover",
    }
    assert found["pools"]["workers"] == {
        "machine": "n1-standard-8",
        "diskType": "pd-ssd",
        "diskSizeGb": 100,
        "min": 1,
        "max": 4,
        "replicas": 1,
        "pricePerHour": "0.4638",
        "priceComplete": True,
    }
    assert (found["pools"]["h100"]["accelerator"], found["pools"]["h100"]["acceleratorCount"]) == (
        "NVIDIA_H100_80GB",
        8,
    )


def test_what_retires_says_why_by_key_and_which_jobs() -> None:
    found = told()
    assert found.clusters["cpu-0000000"] == {
        "cluster": "cpu",
        "id": "cpu-0000000",
        "retiring": "jobs",
        "overdue": False,
        "jobs": {"j/1": "tune"},
    }
    assert found.workspace["retiring"] == {
        "acme-results": {"kind": "bucket", "role": "work", "retiring": "in-use", "jobs": {}}
    }


def test_who_may_submit_with_which_roles_and_where_jobs_write() -> None:  # P5
    found = told().workspace
    assert (found["catalog"], found["work"], found["trainer"]) == ("acme-catalog", "acme-work", TRAINER)
    assert found["submitters"][TEAM]["submit"] == "roles/aiplatform.user"


def test_a_template_by_its_parameters_and_offers() -> None:
    assert told().templates["nap"] == {
        "kinds": ["custom-job"],
        "package": "gs://c/nap",
        "image": "",
        "code": False,
        "parameters": {"n": {"type": "int", "default": 3, "min": 1, "max": 9, "choices": []}},
        "offers": {
            "pool cpu": {
                "available": True,
                "lacksQuota": False,
                "wait": 60.0,
                "pricePerHour": "1.5000",
                "priceComplete": True,
            },
            "spot": {"available": False, "lacksQuota": True, "pricePerHour": "", "priceComplete": False},
        },
    }


def test_kinds_and_cases_are_told_apart() -> None:
    offers = (replace(SPOT, when={"model": ("2b", "9b")}), replace(SPOT, kind="training-pipeline"))
    found = told(template=replace(NAP, offers=offers)).templates["nap"]["offers"]
    assert set(found) == {"spot (model=2b or 9b)", "spot as training-pipeline"}


def test_quota_line_by_line_in_numbers() -> None:  # D2
    short = replace(LINE, now=None, state="short", short=7, drawn={"nap spot": 39}, limit=None)
    found = told(report=QuotaReport((LINE, short), warnings=("a", "b"))).quota
    assert (found["region"], found["mode"], found["strict"], found["warnings"]) == (
        "us-central1",
        "enforce",
        False,
        2,
    )
    assert found["lines"] == {
        "cpus": {"state": "ok", "short": 0, "drawn": {}, "ceiling": 32, "limit": 40},
        "cpus offers": {"state": "short", "short": 7, "drawn": {"nap spot": 39}, "ceiling": 32},
    }


def test_what_is_published() -> None:
    assert told().catalog == {
        "commit": "3f9c2e1",
        "dirty": True,
        "clusters": {"cpu": "cpu-1a2b3c4"},
        "retiring": {"cpu-0000000": "cpu"},
        "templates": {"nap": "gs://c/nap"},
    }


def test_all_of_it_is_json() -> None:
    found = told()
    for one in fields(found):
        part = getattr(found, one.name)
        assert json.loads(json.dumps(part)) == part

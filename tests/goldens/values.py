"""Fixed values, which the documents are made of."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from slipway.google.jobs import VertexJob
from slipway.google.monitoring import Point, Series
from slipway.google.trials import Trial
from slipway.google.worker_pools import WorkerPool
from slipway.model.budget import Budget
from slipway.model.catalog.clusters import Cluster, DormantCluster, Pool, PricedAlternative
from slipway.model.catalog.forms import Removed
from slipway.model.catalog.model import Catalog, SessionLimits
from slipway.model.catalog.template import Offer, Parameter, Study, Template
from slipway.model.cluster import Adoption, DnsPeering, PscInterface, Reservation
from slipway.model.labels import (
    CODE_COMMIT_LABEL,
    CODE_DIRTY_LABEL,
    CODE_LABEL,
    COMMIT_LABEL,
    DIRTY_LABEL,
    REQUEST_LABEL,
    ROLES_LABEL,
    TEMPLATE_LABEL,
    USER_LABEL,
)
from slipway.model.machines.spec import Disk, MachineSpec
from slipway.model.prices import UNKNOWN, Price
from slipway.model.season import Season
from slipway.using.jobs.idle import IdleAccelerators
from slipway.using.jobs.utilization import Utilization, UtilizationRow

NOW = datetime(2026, 12, 1, 12, 0, 0, 250000, tzinfo=UTC)
DAY = datetime(2026, 12, 1, tzinfo=UTC)
H100 = MachineSpec("a3-highgpu-8g", "NVIDIA_H100_80GB", 8, Disk("pd-ssd", 500))
CPU = MachineSpec("n1-standard-8")
POOL = Pool("workers", H100, 1, 4, True, Price(Decimal("101.008")))
CLUSTER = Cluster("h100", (POOL,), id="h100-1a2b3c4")
REQUEST: Mapping[str, Any] = {"jobSpec": {}}
OFFERS = (
    Offer("pool", True, "", "h100", ("", "workers"), Price(Decimal("101.008")), REQUEST, wait=1800.0),
    Offer(
        "spot",
        False,
        "quota: short",
        "",
        (),
        Price(Decimal("0.5"), at_most=True),
        REQUEST,
        when={"rank": (8, 16)},
        note="n",
    ),
    Offer("reservation", False, "", "", (), UNKNOWN, REQUEST),
)
PARAMETERS = (
    Parameter("rank", "int", 8, 1, 64, (8, 16), "how much"),
    Parameter("data", "str"),
)
LORA = Template(
    "lora",
    "Tunes",
    "custom-job",
    ("chief", "workers"),
    PARAMETERS,
    OFFERS,
    code_flag=True,
    study=Study(8, "${parallel}", "", (("loss", "MINIMIZE"),), ("lr",)),
    source="templates/lora.py:5",
)
DIGITS = Template("digits", "", "custom-job", (), (), (), code_why="forbidden by prod")
CATALOG = Catalog(
    "dev", "acme", "us-central1", "3f9c2e1", False, "w", "t", {"h100": CLUSTER}, (), {"lora": LORA, "digits": DIGITS}
)
WHOLE = replace(
    CATALOG,
    clusters={
        "h100": replace(
            CLUSTER,
            display_name="H100",
            network="n",
            reserved_ip_ranges=("r",),
            kms_key="k",
            psc=PscInterface("a", (DnsPeering("corp.example.", "p", "n"),)),
            labels={"team": "vision"},
            retire_within=timedelta(hours=1),
            season=Season(DAY, DAY + timedelta(days=2), timedelta(hours=1)),
            alternatives=(PricedAlternative((POOL,), "us-east4"),),
            create_within=timedelta(minutes=1),
        ),
        "theirs": Cluster("theirs", (), id="theirs", adopted=Adoption("theirs"), alternative=1, region="us-east4"),
    },
    retiring=("h100-0000000",),
    catalog_bucket="c",
    work_elsewhere={"us-east4": "w-us-east4"},
    dormant={"cpu": DormantCluster("cpu", (), id="cpu-1", why="idle", since=DAY, lacks=("gpus",))},
    reservations={"r": Reservation("projects/p/zones/z/reservations/r", "a3-highgpu-8g")},
    trainers={"ml": "ml@acme.iam.gserviceaccount.com"},
    removed={"h100-0000000": Removed(timedelta(hours=1), DAY)},
    under_way="3f9c2e1",
    other_regions=("us-east4",),
    former_regions=("europe-west4",),
    quotas={"custom_model_training_cpus": "CustomModelTrainingCPUsPerProjectPerRegion"},
    confirm_above=100.0,
    submitters={"t": ("group:ml@acme.example",)},
    budget=Budget(1000.0, {"vision": 500.0}, {"ada": 100.0}, enforce=True),
    board=True,
    code=True,
    shell=True,
    sessions=SessionLimits(timedelta(hours=8), ("cpu/workers",)),
)
STACK = """config:
  gcp:project: acme-ml-dev
  gcp:region: us-central1
  gcp:addPulumiAttributionLabel: "false"
  slipway:persistentResources:
    cpu:
      pools:
        workers: { machine: n1-standard-8, replicas: { min: 1, max: 4 } }
      alternatives: [{ region: us-east4 }]
  slipway:templates: [lora]
"""
PLACE = "projects/1/locations/us-central1"
LABELS = {
    TEMPLATE_LABEL: "lora",
    USER_LABEL: "ada",
    REQUEST_LABEL: "r1",
    COMMIT_LABEL: "3f9c2e1",
    DIRTY_LABEL: "false",
    CODE_LABEL: "abc123",
    CODE_COMMIT_LABEL: "77",
    CODE_DIRTY_LABEL: "true",
    ROLES_LABEL: "chief_workers",
}
TRIALS = (
    Trial("1", "SUCCEEDED", {"lr": "0.1"}, {"loss": 0.25}, f"{PLACE}/customJobs/7", NOW - timedelta(hours=1), NOW),
    Trial("2", "ACTIVE", {"lr": "0.2"}, {}, ""),
)
FULL = VertexJob(
    f"{PLACE}/customJobs/42",
    "lora-1",
    "JOB_STATE_FAILED",
    LABELS,
    (WorkerPool(CPU, 0), WorkerPool(H100, 2, "img:1", "m", ("--rank=8",), ("gs://w/p.tar.gz",))),
    "h100-1a2b3c4",
    output="gs://w/out",
    create_time=NOW - timedelta(hours=3),
    start_time=NOW - timedelta(hours=2),
    end_time=NOW - timedelta(minutes=1),
    error="The replica workerpool0-0 exited",
    trials=2,
    model="models/1@2",
    tried=TRIALS,
    goals={"loss": "MINIMIZE"},
    experiment_run="runs/1",
    experiment="experiments/1",
    tuned=("lr",),
    shells={"workerpool1-0": "shell.google/1"},
)
BARE = VertexJob(f"{PLACE}/customJobs/43", "", "JOB_STATE_QUEUED")
SPOT = replace(
    FULL, labels={}, persistent_resource_id="", strategy="SPOT", end_time=None, state="JOB_STATE_RUNNING", tried=()
)
SERIES = Series("cpu/utilization", "42", "workerpool1-0", "", (Point(NOW, 0.5), Point(NOW + timedelta(minutes=1), 0.7)))
USAGE = Utilization(
    (
        UtilizationRow.of("workers-0", "CPU", SERIES),
        UtilizationRow.of("workers-0", "GPU", replace(SERIES, accelerator="0")),
    ),
    60,
    "no samples",
)

IDLE = IdleAccelerators(
    ("NVIDIA_H100_80GB",), 8, 3480.0, 3420.0, 1860.0, 0.54, 1, Price(Decimal("52.25")), Price(Decimal("97.75"))
)

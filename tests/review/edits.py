"""Edits, worlds and names that cases of several files share."""

from collections.abc import Iterable, Mapping
from typing import Any

from slipway.deploying.engine.preview import EngineStep, Preview
from slipway.model.catalog.model import Catalog
from tests.builders.clusters import asked_for
from tests.review.case import LARGE, Edit, Job, World, h100, imports, more, stack, template
from tests.review.engine import BUCKET, CLUSTER, WORKSPACE, Steps, does
from tests.slipway.reviewing.builders import step

ANCHOR = "\n  slipway:quota: { mode"
THEIRS = """    theirs:
      id: team-a
      pools:
        workers: { machine: n1-standard-8, replicas: { min: 1, max: 4 } }
"""
NEAR = World(theirs=("team-a", "team-b"))


def requested(catalog: Catalog, **inputs: Any) -> dict[str, Any]:
    """Return the request of the H100 cluster, as its stack file says but for `inputs`."""
    place = {"project": catalog.project, "location": catalog.region}
    return asked_for(catalog.clusters["h100"], **{**place, **inputs})


def makes(op: str = "create", **inputs: Any) -> Steps:
    def steps(catalog: Catalog) -> Iterable[EngineStep]:
        yield step(op, CLUSTER, catalog.clusters["h100"].id, new=requested(catalog, **inputs))

    return steps


TASK = "jobs/lora/task.py"
LORA_REQUIREMENTS = "jobs/lora/requirements.txt"
PRINTS = '    print("trained", EVERY)\n'
SAVES_CHECKPOINT = Edit(TASK, PRINTS, f'{PRINTS}    save(OUTPUT / "ckpt.pt")\n')
PLACE = Edit(TASK, "EVERY = 20 ", 'OUTPUT = Path(os.environ["SLIPWAY_OUTPUT"])\nEVERY = 20 ')
POLICY = "  slipway:policy:\n"
VERSION_TYPE = "gcp:secretmanager/secretVersion:SecretVersion"
TEAM = "group:ml@acme.example"
ADA = "user:ada@acme.example"
NIGHTLY = "serviceAccount:nightly@acme-ml.iam.gserviceaccount.com"
GRADES = stack("    advisory:\n", "    grades: { access-lost: change }\n    advisory:\n")
H100 = "replicas: { min: 2, max: 4 }"
WORKERS = "replicas: { min: 4, max: 16 }"
LABELS = "labels: { team: platform, cost-center: research }"
ANEW = ("cluster-replaced",)
H100_ENTRY = """    h100:
      pools:
        workers: { machine: a3-highgpu-8g, disk: { type: pd-ssd, sizeGb: 500 }, replicas: { min: 2, max: 4 } }
      replacement: rollover
      retireWithin: 2w
      labels: { team: platform, cost-center: research }
"""
NOT_ON_THE_POOL = template("lora", '("pool", "reservation", "spot")', '("reservation", "spot")')
TO_NIGHT_LABELS = (stack(LABELS, "labels: { team: night }"),)
RESERVATION_TYPE = "gcp:compute/reservation:Reservation"
ADOPTS = does(step("import", BUCKET, "archive", new={"name": "acme-archive", "location": "US-CENTRAL1"}))


def of_cluster(name: str, *ops: str, retained: bool = False) -> Steps:
    """Return steps of the current generation, which one with another network replaces."""

    def steps(catalog: Catalog) -> Iterable[EngineStep]:
        id_ = catalog.clusters[name].id
        inputs = {"name": id_, "network": ""}
        becomes = {"name": id_, "network": "projects/1/global/networks/train"}
        for op in ops:
            new = None if op.startswith("delete") else becomes
            why = () if new is None else ("network",)
            yield step(op, CLUSTER, id_, old=inputs, new=new, id=id_, diffs=why, replaces=why, retained=retained)

    return steps


def by_hand(type_: str, name: str, deployed: Mapping[str, Any], now: Mapping[str, Any] | None, **diffs: Any) -> Preview:
    """Return a preview where somebody changed the deployed resource to `now`, None for a deletion, and the program asks
    for the deployed one; `diffs` are its differing fields."""
    becomes = {**deployed, **diffs}
    keys = [key for key in becomes if now is not None and now.get(key) != becomes[key]]
    standing = step("refresh", type_, name, old=deployed, new=now, parent=WORKSPACE)
    if now is None:
        back = step("create", type_, name, new=becomes, parent=WORKSPACE)
    else:
        back = step("update", type_, name, old=now, new=becomes, diffs=keys, parent=WORKSPACE)
    return Preview((back,), {standing.urn: standing})


LOCAL = "local-project-local"
LIST = h100("alternatives: [{ region: us-east4 }]")
ALLOW = stack("regions: [us-central1]", "regions: [us-central1, us-east4, us-west1]")
SERVING_IMAGE = '"us-docker.pkg.dev/acme-ml/serve@sha256:' + "a" * 64 + '"'
UPLOADING = f'kinds=("training-pipeline", "custom-job"), model=ModelUpload("judge", {SERVING_IMAGE})'
UPLOADS = (imports("evals", "ModelUpload"), more("evals", UPLOADING))
VARIANT = '    variants=(\n        Variant(\n            {"model": "27b"},'
LARGE_ONES = """            (
                WorkerPool(
                    "tuner",
                    "a3-highgpu-8g",
                    Disk("pd-ssd", 500),
                    args=ARGS,
                    reservation="bought",
                ),
            ),
            ("pool", "reservation", "spot"),
        ),
"""
REFUSED = 'Variant({"model": "9b", "precision": "fp32"}, refusal="9b in fp32 needs more than 40 GB")'
DAY_OF_CLAIMS = {"action": {"type": "Delete"}, "condition": {"age": 1, "matchesPrefixes": ["claims/"]}}
WEEK = {"action": {"type": "Delete"}, "condition": {"age": 7, "matchesPrefixes": ["packages/"]}}
ON_GPU = template("evals", "n1-standard-8", "g2-standard-12")
IDLE = (imports("evals", "Idle"), more("evals", "idle=Idle(3600)"), ON_GPU)
SCRIPT = (
    stack("    trainer: trainer\n", "    trainer: trainer\n    code: true\n"),
    stack("      reviewedCodeOnly: true\n", ""),
    stack("    - evals\n", "    - evals\n    - script\n"),
    Edit(
        "templates/script.py",
        new="from slipway.template import SCRIPT, Disk, JobTemplate, Package, Parameter, WorkerPool\n\n"
        'CODE = Package("jobs/digits", SCRIPT, "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:20260901")\n'
        'ARGS = ("--command=${command}", "--output=${slipway.output}")\n\n'
        'TEMPLATE = JobTemplate(name="script", summary="a command", code=CODE, code_flag=True,\n'
        '    worker_pools=(WorkerPool("script", "n1-standard-8", Disk("pd-ssd", 100), args=ARGS),),\n'
        '    parameters=(Parameter("command", str, default="python a.py", command=True),),\n'
        '    capacity_types=("pool", "spot"), timeout_s=172800)\n',
    ),
)
SESSIONS = (stack(POLICY, f"  slipway:sessions: {{ max: 8h, pools: [cpu/workers] }}\n{POLICY}"), *SCRIPT)
SAVING = (
    Edit(
        "jobs/digits/task.py",
        "def main() -> None:\n",
        "import os\nfrom pathlib import Path\n\n\ndef main() -> None:\n"
        '    output, pace = Path(os.environ["SLIPWAY_OUTPUT"]), float(os.environ.get("PACE", "1"))\n'
        '    new, kept = output / "new", output / "epoch"\n'
        "    for epoch in range(EVERY):\n        new.write_text(str(epoch * pace))\n        os.replace(new, kept)\n"
        '    (output / "done").write_text("ok")\n',
    ),
)
TEAMS = (
    stack(
        POLICY,
        "  slipway:teams:\n    search: { submitters: [group:search@acme.example], clusters: [cpu] }\n"
        "    demand: { submitters: [group:demand@acme.example] }\n" + POLICY,
    ),
)


def counts(name: str, team: str) -> Edit:
    return template(name, "    timeout_s=3600,\n", f'    timeout_s=3600,\n    labels={{"team": "{team}"}},\n')


ROLLOVER = "replacement: rollover"
LARGER = stack(H100, "replicas: { min: 2, max: 6 }")
IN_PLACE, PROTECT = (stack(ROLLOVER, f"replacement: {mode}") for mode in ("in-place", "protect"))
RESERVED = Job("reserved-27b", user="ben", capacity_type="reservation", parameters={"model": "27b"})
SWEEP = tuple(Job(f"sweep-{rank}", parameters={"model": "27b", "rank": rank}) for rank in (32, 64))
LATELY = World(
    jobs=(
        *SWEEP,
        Job("evals-monday", "evals", "ben", "spot", {"suite": "full"}, "SUCCEEDED", 100),
        Job("tune-monday", "tune", "cy", "pool", {"folds": 8}, "SUCCEEDED", 120, kind="custom-job"),
        Job("digits-monday", "digits", "cy", "pool", {"workers": 12}, "FAILED", 130),
        Job("lora-monday", "lora", "cy", "on-demand", {"precision": "fp32"}, "SUCCEEDED", 130),
    )
)
RANK = '        Parameter("rank", int, default=16, min=1, max=256, help="rank of the adapters"),\n'
ACCOUNT_KEY_TYPE = "gcp:serviceaccount/key:Key"
GPUS = "nvidia_h100_gpus"


def h100_limit(limit: int, *jobs: Job, **increase: str) -> World:
    return World(jobs=jobs or (LARGE,), limits={GPUS: limit}, increase=increase)


TRAINING_NETWORK = "network: projects/123456789012/global/networks/training"
OTHER_MACHINES = "alternatives: [{ pools: { workers: { machine: a2-highgpu-8g, replicas: 2 } } }]"
MONEY = ("idle-cost", "most-cost")
OFFERS = ("offer-unavailable", "submission-changed", "submission-rejected", "no-offer-left")


def ago(days: int, *jobs: Job) -> World:
    return World(jobs=jobs, deployed=days)


PIPELINE = (
    Edit(
        "pipelines/train.json",
        "",
        '{"components": {"comp-a": {"executorLabel": "exec-a"}}, "pipelineInfo": {"name": "train"},'
        ' "deploymentSpec": {"executors": {"exec-a": {"container": {"image": "python:3.11", "command": ["echo"],'
        ' "resources": {"cpuLimit": 4.0, "memoryLimit": 8.0}}}}}, "root": {"dag": {"tasks": {"a": {"componentRef":'
        ' {"name": "comp-a"}, "taskInfo": {"name": "a"}}}}}, "schemaVersion": "2.1.0", "sdkVersion": "kfp-2.9.0"}',
    ),
    Edit(
        "templates/train.py",
        "",
        '"""train: a pipeline."""\n\nfrom slipway.template import JobTemplate\n\nTEMPLATE = JobTemplate(\n'
        '    name="train",\n    summary="a pipeline",\n    kinds=("pipeline",),\n    pipeline="pipelines/train.json",\n'
        '    capacity_types=("on-demand",),\n)\n',
    ),
    stack("    - evals\n", "    - evals\n    - train\n"),
)
TRAINER_LINE = "    trainer: trainer\n"
VISION = "  slipway:teams: { vision: { submitters: [group:vision@acme.example], clusters: [cpu] } }\n"


def workspace(*lines: str) -> Edit:
    return stack(TRAINER_LINE, TRAINER_LINE + "".join(f"    {line}\n" for line in lines))


LARGER_SHAPE = 'Shape((WorkerPool("tuner", "a2-ultragpu-1g", Disk("pd-ssd", 200), args=ARGS),))'
SEVERAL = 'Shape((WorkerPool("tuner", "g2-standard-24", Disk("pd-ssd", 200), args=ARGS),), ("spot", "on-demand"))'
SPOT_ALONE = SEVERAL.replace('("spot", "on-demand")', '("spot",)')
WITH_BOTH = (imports("lora", "Shape"), more("lora", f"shapes=({LARGER_SHAPE}, {SEVERAL})"))
OTHER_REGIONS = stack("  slipway:policy:\n", "  slipway:regions: [us-east4, europe-west4]\n  slipway:policy:\n")
ALLOWED = stack("regions: [us-central1]", "regions: [us-central1, us-east4, europe-west4]")
IN_BOTH = more("lora", 'regions=("us-east4", "europe-west4")')
BEN = "user:ben@acme.example"


def trainer(*members: str) -> Edit:
    """Return the trainer `tuning`, as which these may act."""
    listed = "".join(f"        - {member}\n" for member in members)
    submitters = f"      submitters:\n{listed}" if members else "      submitters: []\n"
    return stack("  slipway:policy:\n", f"  slipway:trainers:\n    tuning:\n{submitters}\n  slipway:policy:\n")


LORA_TUNES = more("lora", 'trainer="tuning"')
NIGHT_JOB = Job("digits-night", "digits", "nightly", parameters={"workers": 12})
TYPES = '("spot", "flex-start", "on-demand")'
ON_A100 = LARGE_ONES.replace("a3-highgpu-8g", "a2-highgpu-8g").replace(
    '("pool", "reservation", "spot")', '("flex-start", "on-demand")'
)
PARALLEL = '        Parameter("parallel", int, default=2, min=1, max=4, help="trials at once"),\n'
STUDIED = World(jobs=(Job("tune-1", "tune", parameters={"trials": 8, "parallel": 2, "folds": 3}),))
BENCH = stack(
    "    cpu:\n      displayName",
    "    bench:\n      pools:\n"
    "        workers: { machine: n1-standard-8, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 4 }\n"
    "    cpu:\n      displayName",
)
ANYTHING_OF_CPU = (
    *MONEY,
    *OFFERS,
    "access-gained",
    "access-lost",
    "capacity-changed",
    "cluster-deleted",
    "stack-warning",
)

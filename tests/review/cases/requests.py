"""The posted request: fields of a template that no other rule tells."""

from tests.review.case import BUSY, Case, Edit, Job, World, blocks, imports, more, notes, stack, template, warns
from tests.review.edits import PIPELINE, POLICY, VISION

USED = World(jobs=(Job("evals-monday", "evals", "ben", "spot", {"suite": "full"}, "SUCCEEDED", 100), *BUSY.jobs))
SECOND = Edit(
    PIPELINE[0].file,
    '"taskInfo": {"name": "a"}}',
    '"taskInfo": {"name": "a"}}, "b": {"componentRef": {"name": "comp-a"}, "dependentTasks": ["a"]}',
)
_ON_POOL = (
    *PIPELINE,
    SECOND,
    template("train", '("on-demand",),\n', '("pool", "on-demand"),\n    waits={"pool": 7200},\n'),
)
LORA_MODEL = 'model=ModelUpload("lora", "us-docker.pkg.dev/acme-ml/serve/lora:7", model_id="lora")'

CASES = (
    Case(
        "A template counts on checkpoints that its code never writes",
        (more("tune", "checkpoints=True"),),
        (warns("submission-changed", "tune"),),
    ),
    Case(
        "A role of a job is called otherwise, and does the same",
        (template("evals", 'WorkerPool("judge"', 'WorkerPool("referee"'),),
        (),
        world=USED,
    ),
    Case(
        "Results go into a log of experiments",
        (more("evals", 'experiment="suite"'),),
        (notes("submission-changed", "evals"),),
    ),
    Case(
        "A pipeline's task asks for GPUs that no pool has: nothing of its wait was edited",
        (
            Edit(
                PIPELINE[0].file,
                '"memoryLimit": 8.0',
                '"memoryLimit": 8.0, "accelerator": {"type": "NVIDIA_TESLA_T4", "count": "4"}',
            ),
        ),
        (blocks("deployment-rejected"), warns("submission-changed", "train"), warns("offer-unavailable", "train")),
        given=_ON_POOL,
    ),
    Case(
        "A model is uploaded under one id for ever, from a folder that no code writes",
        (imports("lora", "ModelUpload"), more("lora", 'kinds=("training-pipeline", "custom-job")', LORA_MODEL)),
        (warns("submission-changed", "lora"), warns("dependency-changed", "lora")),
        world=BUSY,
    ),
    Case(
        "A template's jobs count for another team, and lose the cluster that was theirs",
        (template("tune", '"team": "vision"', '"team": "visoin"'),),
        (blocks("no-offer-left", "tune"),),
        given=(
            stack(POLICY, VISION + POLICY),
            template("tune", "    timeout_s=3600,\n", '    timeout_s=3600,\n    labels={"team": "vision"},\n'),
        ),
        may=("submission-rejected", "submission-changed", "access-lost", "access-gained", "no-offer-left"),
    ),
    Case(
        "A file server is mounted that others write to",
        (
            imports("evals", "NfsMount"),
            more(
                "evals",
                'network="projects/123/global/networks/train"',
                'nfs_mounts=(NfsMount("10.0.0.9", "/shared", "data"),)',
            ),
        ),
        (warns("submission-changed", "evals"),),
    ),
)

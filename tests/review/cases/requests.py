"""The posted request: fields of a template that no other rule tells."""

from tests.review.case import BUSY, Case, Edit, Job, World, hurts, imports, more, stack, stops, tells, template
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
_OF_TEAM = (
    more("train", 'labels={"team": "search"}'),
    stack(
        POLICY,
        "  slipway:teams:\n    search: { submitters: [group:search@acme.example] }\n"
        f"    vision: {{ submitters: [group:vision@acme.example], clusters: [h100] }}\n{POLICY}",
    ),
)
_RETRIES = Edit(PIPELINE[0].file, '"taskInfo": {"name": "a"}', '"taskInfo": {"name": "a"}, "retryPolicy": {}')
_THREE = Edit(PIPELINE[0].file, '"retryPolicy": {}', '"retryPolicy": {"maxRetryCount": 3}')
LORA_MODEL = 'model=ModelUpload("lora", "us-docker.pkg.dev/acme-ml/serve/lora:7", model_id="lora")'

CASES = (
    Case(
        "A template counts on checkpoints that its code never writes",
        (more("tune", "checkpoints=True"),),
        (stops("request-changed", "tune checkpoints", "none is kept", "begins anew each time"),),
        accident="a training that began anew after each preemption",
    ),
    Case(
        "A role of a job is called otherwise, and does the same",
        (template("evals", 'WorkerPool("judge"', 'WorkerPool("referee"'),),
        (tells("request-changed", "evals", "judge", "referee"),),
        world=USED,
    ),
    Case(
        "Results go into a log of experiments",
        (more("evals", 'experiment="suite"'),),
        (tells("metrics-changed", "evals", "suite"),),
        may=("role-above-table", "access-added"),
    ),
    Case(
        "A pipeline's tasks go on to no machines of their own any more, and a task is tried once",
        (
            template("train", '    waits={"pool": 7200},\n', ""),
            Edit(PIPELINE[0].file, ', "retryPolicy": {"maxRetryCount": 3}', ""),
        ),
        (
            hurts("request-changed", "train", "fail when a task's wait", "until now such a task went on to a machine"),
            tells("request-changed", "train", "have each task wait `24 h`", "instead of `2 h`"),
            hurts("request-changed", "train"),
            hurts("request-changed", "train", "another version"),
        ),
        may=("fallback-wait",),
        given=(*_ON_POOL, _RETRIES, _THREE, *_OF_TEAM),
        never=("h100", "FAIL", "86400000", "machines beside the pool cost extra"),
        accident="a night that failed at its first hiccup",
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
        (
            stops("preview-failed", "", "train", "let the pipeline's tasks ask for less"),
            hurts("machines-changed", "train", "4 NVIDIA_TESLA_T4"),
            hurts("request-changed", "train", "another version"),
        ),
        given=_ON_POOL,
        never=("task's wait", "each task wait"),
        accident="a pipeline whose file had grown a GPU for each of its tasks",
    ),
    Case(
        "Jobs count for a team whose budget refuses, and are refused with it",
        (more("evals", 'labels={"team": "vision"}'),),
        (hurts("request-changed", "evals label team", "they are refused once its $900 of a month are spent"),),
        given=(
            stack(
                "  slipway:policy:\n",
                "  slipway:budget: { teams: { vision: 900 }, enforce: true }\n  slipway:policy:\n",
            ),
        ),
        accident="a team's label on everybody's template, and nobody's jobs were taken from the middle of the month on",
    ),
    Case(
        "A model is uploaded under one id for ever, from a folder that no code writes",
        (imports("lora", "ModelUpload"), more("lora", 'kinds=("training-pipeline", "custom-job")', LORA_MODEL)),
        (
            hurts("request-changed", "lora", "as a training pipeline instead of a custom job"),
            tells("kind-added", "lora"),
        ),
        world=BUSY,
        accident="an upload that failed after a day of training",
    ),
    Case(
        "A template's jobs count for another team, and lose the cluster that was theirs",
        (template("tune", '"team": "vision"', '"team": "visoin"'),),
        (
            hurts("request-changed", "tune label team", "label `team` `visoin` instead of `vision`"),
            stops("no-offer-left", "tune", "takes jobs of team `vision` alone"),
        ),
        given=(
            stack(POLICY, VISION + POLICY),
            template("tune", "    timeout_s=3600,\n", '    timeout_s=3600,\n    labels={"team": "vision"},\n'),
        ),
        may=("offer-gone", "run-cost", "cluster-team", "no-offer-left"),
        accident="a label mistyped, and a team's machines idle",
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
        (hurts("network-changed", "evals", "networks/train"), hurts("network-changed", "evals", "10.0.0.9")),
        accident="a shared file system with a stranger's files",
    ),
)

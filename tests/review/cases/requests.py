"""The posted request: fields of a template that no other rule tells."""

from tests.review.case import BUSY, Case, Edit, Job, World, hurts, imports, more, stack, stops, tells, template
from tests.review.edits import LATELY, PIPELINE, PLACE, POLICY, SAVES_CHECKPOINT, SERVING_IMAGE, UPLOADS, VISION

JUDGE_MODEL = f'model=ModelUpload("judge", "us-docker.pkg.dev/acme-ml/serve@sha256:{"a" * 64}")'
UPLOAD = (
    imports("evals", "ModelUpload"),
    more("evals", 'kinds=("training-pipeline", "custom-job")', JUDGE_MODEL),
)
USED = World(jobs=(Job("evals-monday", "evals", "ben", "spot", {"suite": "full"}, "SUCCEEDED", 100), *BUSY.jobs))
AS_IT_IS = template("evals", 'command=("judge",),', 'command=("judge",), launcher=False,')
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
BENCH = "{ submitters: ['group:bench@acme.example'], clusters: [cpu] }"
OWNED = stack("  slipway:policy:\n", f"  slipway:teams: {{ bench: {BENCH} }}\n  slipway:policy:\n")

CASES = (
    Case(
        "A judge without the launcher keeps its checkpoints by an address of their own",
        (template("evals", 'command=("judge",),\n', 'command=("judge",),\n        launcher=False,\n'),),
        (stops("request-changed", "launcher", "`$SLIPWAY_OUTPUT` is not kept"),),
        given=(template("evals", '"REGION": "us-central1"', '"CKPT": "${slipway.output}/checkpoints"'),),
        never=("begins anew",),
        accident="a wrapper taken away that had copied results",
    ),
    Case(
        "A template counts on checkpoints that its code never writes",
        (more("tune", "checkpoints=True"),),
        (stops("request-changed", "tune checkpoints", "none is kept", "begins anew each time"),),
        accident="a training that began anew after each preemption",
    ),
    Case(
        "A template counts on the checkpoints that its code writes",
        (template("lora", "timeout_s=86_400,\n", "timeout_s=86_400,\n    checkpoints=True,\n"),),
        (tells("request-changed", "lora checkpoints", "nobody looked at the code"),),
        given=(SAVES_CHECKPOINT, PLACE, template("lora", "    checkpoints=True,\n", "")),
    ),
    Case(
        "A template that uploaded a model is a custom job unless one says otherwise",
        (template("evals", '("training-pipeline", "custom-job")', '("custom-job", "training-pipeline")'),),
        (hurts("request-changed", "evals kind", "nothing uploads the model"),),
        given=UPLOAD,
    ),
    Case(
        "A pipeline that uploaded a model uploads none any more",
        (template("evals", f"    {JUDGE_MODEL},\n", ""),),
        (hurts("request-changed", "evals request modelToUpload"),),
        given=UPLOAD,
    ),
    Case(
        "The launcher starts an image from now on",
        (template("evals", ", launcher=False,", ","),),
        (hurts("request-changed", "evals", "exactly once", "`python3` of 3.8 or newer"),),
        accident="an image without Python, whose jobs all failed at their start",
        given=(AS_IT_IS,),
    ),
    Case(
        "An image starts as it is from now on",
        (AS_IT_IS,),
        (stops("request-changed", "evals", "no secret is fetched"),),
        accident="a training that ran twice, as an answer was lost",
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
        "A role gets another name, and logs are printed as they come",
        (
            template("evals", 'WorkerPool("judge"', 'WorkerPool("referee"'),
            template("lora", '{"NCCL_DEBUG": "WARN"}', '{"NCCL_DEBUG": "WARN", "PYTHONUNBUFFERED": "1"}'),
        ),
        (
            tells("request-changed", "evals"),
            tells("environment-changed", "lora"),
        ),
    ),
    Case(
        "The model to upload is looked for in another folder, and has the same id each time",
        (template("evals", SERVING_IMAGE, f'{SERVING_IMAGE}, artifact="best/", model_id="judge"'),),
        (
            stops("request-changed", "evals", "AIP_MODEL_DIR", "fails at its end"),
            hurts("request-changed", "evals", "`modelId`"),
        ),
        given=UPLOADS,
        accident="a run whose result was looked for where it was not",
    ),
    Case(
        "A model is uploaded under another name",
        (template("evals", 'ModelUpload("judge"', 'ModelUpload("judge-v2"'),),
        (hurts("request-changed", "evals", "`displayName` `judge-v2` instead of `judge`"),),
        given=UPLOADS,
        never=("who serves it gets another",),
        accident="a deployment that served the old model, as the new one had another name",
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
        "A container is started without the launcher",
        (template("evals", '        command=("judge",),\n', ""),),
        (stops("request-changed", "evals", "start without Slipway's launcher", "is not kept"),),
        given=(
            template("evals", '    secrets={"JUDGE_KEY": "judge-key"},\n', ""),
            template("evals", "    checkpoints=True,\n", ""),
        ),
        may=("arguments-changed",),
        world=World(jobs=(Job("evals-core", "evals", capacity_type="spot"),)),
        accident="results on a machine's disk, and two runs of one submission",
    ),
    Case(
        "A template is a custom job unless one says otherwise, where it was a study",
        (
            template(
                "tune", '("hyperparameter-tuning-job", "custom-job")', '("custom-job", "hyperparameter-tuning-job")'
            ),
        ),
        (hurts("request-changed", "tune", "custom job", "hyperparameter", "ran as a hyperparameter tuning job in"),),
        may=("run-cost",),
        world=LATELY,
    ),
    Case(
        "The code does not go on from a checkpoint any more, on machines that may go at any moment",
        (template("evals", "    checkpoints=True,\n", ""),),
        (hurts("request-changed", "evals", "checkpoint"),),
    ),
    Case(
        "Jobs get a label by which finance takes the bill apart",
        (more("evals", 'labels={"cost-center": "r-7"}'),),
        (tells("request-changed", "evals label cost-center", "r-7"),),
    ),
    Case(
        "Jobs count for another team than before",
        (template("evals", '"team": "judges"', '"team": "vision"'),),
        (hurts("request-changed", "evals label team", "judges", "vision"),),
        never=("draw on its",),
        accident="a team that paid for another's jobs",
        given=(more("evals", 'labels={"team": "judges"}'),),
    ),
    Case(
        "Jobs count for no team of their own any more",
        (template("evals", '    labels={"team": "judges"},\n', ""),),
        (hurts("request-changed", "evals label team", "judges"),),
        given=(more("evals", 'labels={"team": "judges"}'),),
    ),
    Case(
        "Jobs count for a team that has a budget",
        (more("evals", 'labels={"team": "vision"}'),),
        (tells("request-changed", "evals label team"),),
        never=("no team of that name",),
        given=(stack("  slipway:policy:\n", "  slipway:budget: { teams: { vision: 900 } }\n  slipway:policy:\n"),),
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
        "A judge without the launcher, which alone fetches its key",
        (template("evals", 'command=("judge",),\n', 'command=("judge",),\n        launcher=False,\n'),),
        (stops("request-changed", "launcher", "no secret is fetched", "is not kept"),),
        world=BUSY,
        accident="a wrapper taken away that had put a key into the environment",
    ),
    Case(
        "A model gets a description",
        (template("lora", 'model_id="lora"', 'model_id="lora", description="from ${slipway.job}"'),),
        (tells("request-changed", "lora", "description"),),
        given=(imports("lora", "ModelUpload"), more("lora", 'kinds=("training-pipeline", "custom-job")', LORA_MODEL)),
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
        "An image starts without the launcher, whose jobs read no secret",
        (template("evals", '        command=("judge",),\n', "        launcher=False,\n"),),
        (stops("request-changed", "evals", "`$SLIPWAY_OUTPUT` is not kept"),),
        may=("arguments-changed",),
        given=(template("evals", '    secrets={"JUDGE_KEY": "judge-key"},\n', ""),),
        never=("have no `$SLIPWAY_OUTPUT`", "fetch the secrets"),
        accident="results that stayed on a disk which went with its machine",
    ),
    Case(
        "A pipeline's task waits no longer for the one before it, and results of earlier runs are reused",
        (
            Edit(PIPELINE[0].file, ', "dependentTasks": ["a"]', ""),
            Edit(
                PIPELINE[0].file,
                '"taskInfo": {"name": "a"}',
                '"taskInfo": {"name": "a"}, "cachingOptions": {"enableCache": true}',
            ),
        ),
        (hurts("request-changed", "train", "another version", "what its tasks do"),),
        may=("machines-changed", "run-cost"),
        given=(*PIPELINE, SECOND),
        accident="a training that read the data of the night before",
    ),
    Case(
        "A pipeline's second task goes, which waited for the first",
        (
            Edit(
                PIPELINE[0].file,
                ', "b": {"componentRef": {"name": "comp-a"}, "dependentTasks": ["a"]}',
                "",
            ),
        ),
        (hurts("request-changed", "train pipeline", "another version of their pipeline"),),
        may=("request-changed",),
        given=(*PIPELINE, SECOND),
        never=("at once",),
        accident="a report that no run made any more",
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
        "A template's jobs count for no team any more, and lose the cluster that was theirs",
        (template("tune", '    labels={"team": "vision"},\n', ""),),
        (
            hurts("request-changed", "tune label team", "don't have label `team` any more, which was `vision`"),
            hurts("cluster-team", "template tune", "are refused"),
        ),
        given=(
            stack(POLICY, VISION + POLICY),
            template("tune", "    timeout_s=3600,\n", '    timeout_s=3600,\n    labels={"team": "vision"},\n'),
        ),
        may=("offer-gone", "run-cost", "cluster-team", "no-offer-left"),
        accident="a label tidied away, and with it a team's machines",
    ),
    Case(
        "A template's label goes, and with it a team's machines and budget",
        (template("lora", '    labels={"team": "vision"},\n', ""),),
        (
            hurts("request-changed", "lora label team", "don't have label `team` any more, which was `vision`"),
            hurts("cluster-team", "cluster h100", "jobs of `lora` to `h100`"),
        ),
        given=(
            stack(POLICY, VISION.replace("[cpu]", "[h100], budget: 900") + POLICY),
            template("lora", "    timeout_s=86_400,\n", '    timeout_s=86_400,\n    labels={"team": "vision"},\n'),
        ),
        accident="a label tidied away, and with it a team's machines",
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
    Case(
        "A template without a pool leaves its team, and tries the team's pool first",
        (template("evals", '    labels={"team": "bench"},\n', ""), template("evals", '("spot", ', '("pool", "spot", ')),
        (
            hurts("request-changed", "evals", "don't have label `team` any more, which was `bench`"),
            hurts("offer-added", "evals", "they cost only what pool `cpu` (team `bench` alone) grows by"),
        ),
        given=(more("evals", 'labels={"team": "bench"}'), OWNED),
        never=("can't use `cpu` any more", "Spot: nothing"),
    ),
)

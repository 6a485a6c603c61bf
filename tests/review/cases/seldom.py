"""Fields and lines of a template that are seldom edited, several in one pull request."""

from tests.review.case import BUSY, Case, Edit, hurts, imports, more, stack, stops, tells, template

REQUIREMENTS = "jobs/digits/requirements.txt"
TRAINER = stack("    trainer: trainer\n", "    trainer: trainer\n    code: true\n")
FREE = (more("digits", "code_flag=True"), TRAINER, stack("      reviewedCodeOnly: true\n", ""))
JUDGE = """    code=Image(
        "us-docker.pkg.dev/acme-ml/evals/judge@sha256:1111111111111111111111111111111111111111111111111111111111111111",
        command=("judge",),
    ),"""
METRIC, F1 = '(Metric("accuracy"),)', '(Metric("accuracy"), Metric("f1"))'
SCHEDULING = (
    *(imports("evals", "Scheduling"), more("evals", "scheduling=Scheduling(disable_retries=True)")),
    *(imports("digits", "Scheduling"), more("digits", "scheduling=Scheduling(restart_job_on_worker_restart=True)")),
)
CKPT_DIR = 'env={"CKPT_DIR": "${slipway.output}/checkpoints"}'
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

SECOND = Edit(
    PIPELINE[0].file,
    '"taskInfo": {"name": "a"}}',
    '"taskInfo": {"name": "a"}}, "b": {"componentRef": {"name": "comp-a"}, "dependentTasks": ["a"]}',
)


def requires(says: str, accident: str, before: str, after: str, *words: str) -> Case:
    """Return a case in which one requirement of `digits` becomes another."""
    edit = Edit(REQUIREMENTS, before, after)
    given = () if before == "dask==2025.1.0" else (Edit(REQUIREMENTS, "dask==2025.1.0", before),)
    return Case(
        says, (edit,), (hurts("requirements-changed", "digits", before, after, *words),), given=given, accident=accident
    )


CASES = (
    Case(
        "A study's trials may run half as long",
        (template("tune", "timeout_s=3600", "timeout_s=1800"),),
        (stops("timeout-changed", "tune", "30 min instead of 1 h", "how long a trial takes", "not saved by then"),),
        accident="trials that ended before they reported",
    ),
    Case(
        "Two templates may run a little longer",
        (
            template("evals", "timeout_s=7200", "timeout_s=9000"),
            template("digits", "timeout_s=3600", "timeout_s=5400"),
        ),
        (
            tells("timeout-changed", "evals", "2 h 30 min instead of 2 h"),
            tells("timeout-changed", "digits", "1 h 30 min", "on pool `cpu` holds machines"),
        ),
    ),
    Case(
        "A template may run four times as long",
        (template("evals", "timeout_s=7200", "timeout_s=28_800"),),
        (hurts("timeout-changed", "evals", "8 h instead of 2 h", "paid for that long"),),
    ),
    Case(
        "A template without the GPU that it had",
        (
            template("lora", '"a2-highgpu-1g", Disk("pd-ssd", 200)', '"n1-standard-8", Disk("pd-ssd", 200)'),
            template("lora", '("spot", "flex-start", "on-demand")', '("spot", "on-demand")'),
            template("lora", '    waits={"flex-start": 7200},\n', ""),
        ),
        (hurts("machines-changed", "lora", "n1-standard-8", "without a GPU, code that needs one fails"),),
        may=("offer-gone", "run-cost"),
        world=BUSY,
        accident="a fine-tuning on CPUs, paid until its timeout",
    ),
    Case(
        "Slower disks for one template, a machine more for another",
        (
            template("evals", 'Disk("pd-ssd", 100)', 'Disk("pd-standard", 100)'),
            template("digits", 'DISK, replicas="${workers}"', "DISK, replicas=3"),
            template("digits", '"--seed=${seed}"', '"--seed=${seed}", "--of=${workers}"'),
        ),
        (
            hurts("machines-changed", "evals", "pd-standard 100 GB instead of pd-ssd 100 GB"),
            hurts("machines-changed", "digits", "take 3 `n1-standard-8` instead of 4 (`workers`)", "divides its work"),
        ),
        may=("run-cost", "arguments-changed"),
    ),
    Case(
        "A package takes the place of an image",
        (
            template("evals", JUDGE, '    code=Package("jobs/tune", "tune.task", PYTHON),'),
            template(
                "evals",
                "\nTEMPLATE",
                '\nPYTHON = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-6:20260901"\n\nTEMPLATE',
            ),
            imports("evals", "Package"),
        ),
        (hurts("image-changed", "evals", "a package of this repository instead of image"),),
    ),
    Case(
        "A flag goes, and one that set what the smaller case alone still reads",
        (
            template("tune", '"--folds=${folds}", "--fast"', '"--folds=${folds}"'),
            template("lora", "                    args=ARGS,\n", "                    args=(*ARGS[:2], *ARGS[3:]),\n"),
        ),
        (
            hurts("arguments-changed", "tune", "without `--fast`"),
            hurts("arguments-changed", "lora", "without `--rank`", "`rank` may still be set, to no effect"),
        ),
        given=(template("tune", '"--folds=${folds}",', '"--folds=${folds}", "--fast",'),),
    ),
    Case(
        "Another module of the same code is started",
        (
            template("digits", '"digits.task"', '"digits.other"'),
            Edit("jobs/digits/other.py", "", "print(1)\n"),
        ),
        (hurts("arguments-changed", "digits", "`digits.other` instead of `digits.task`", "saves and reports"),),
        may=("code-changed",),
        accident="a module started whose arguments were others",
    ),
    Case(
        "A secret more for one template, and another account for a second one",
        (
            more("tune", 'secrets={"WANDB": "wandb-key"}'),
            more("digits", 'service_account="robot@acme-ml.iam.gserviceaccount.com"'),
        ),
        (
            stops("secrets-changed", "tune", "wandb-key", "WANDB", "secretAccessor"),
            stops("account-changed", "digits", "robot", "may read and write what they need"),
        ),
        accident="jobs that failed at their first line, for want of a right",
    ),
    Case(
        "A shell in jobs that read no secret",
        (more("digits", "enable_web_access=True"),),
        (stops("web-access-changed", "digits", "open a shell", "may act as `trainer`"),),
    ),
    Case(
        "One template's jobs are not tried again, another's start again together",
        SCHEDULING,
        (
            stops("scheduling-changed", "evals", "or a Spot machine's loss"),
            hurts("scheduling-changed", "digits", "start again"),
        ),
    ),
    Case(
        "They are tried again, and each machine by itself",
        (
            template("evals", "    scheduling=Scheduling(disable_retries=True),\n", ""),
            template("digits", "    scheduling=Scheduling(restart_job_on_worker_restart=True),\n", ""),
        ),
        (
            tells("scheduling-changed", "evals", "tried again"),
            hurts("scheduling-changed", "digits", "wait for the lost one, paid until the timeout"),
        ),
        given=SCHEDULING,
        accident="machines that waited for a lost one until their timeout",
    ),
    Case(
        "Jobs on no Spot machine are not tried again",
        (imports("evals", "Scheduling"), more("evals", "scheduling=Scheduling(disable_retries=True)")),
        (hurts("scheduling-changed", "evals", "end for good", "submit each anew"),),
        given=(template("evals", '("spot", "on-demand")', '("on-demand",)'),),
    ),
    Case(
        "Variables go, come and change",
        (
            template("evals", 'env={"MODE": "a", "OLD": "1"}', 'env={"MODE": "b"}'),
            more("tune", 'env={"ZONE": "europe-west4-a"}'),
        ),
        (
            hurts("environment-changed", "evals environment variable MODE", "`b` instead of `a`"),
            hurts("environment-changed", "evals environment variable OLD", "which was `1`"),
            hurts("environment-changed", "tune", "europe-west4-a"),
        ),
        given=(template("evals", 'env={"REGION": "us-central1"}', 'env={"MODE": "a", "OLD": "1"}'),),
        accident="data read in another region, and billed",
    ),
    Case(
        "The variable goes that names the place of checkpoints",
        (template("tune", f"    {CKPT_DIR},\n", ""),),
        (stops("environment-changed", "tune", "CKPT_DIR", "where results belong"),),
        given=(more("tune", CKPT_DIR),),
    ),
    Case(
        "A study judges by a second metric",
        (template("tune", METRIC, F1),),
        (hurts("study-changed", "tune study metrics f1", "`f1`", "no single trial is the best"),),
    ),
    Case(
        "A study judges by a second metric, of which less is better",
        (template("tune", METRIC, F1.replace("f1", "val_loss")),),
        (hurts("study-changed", "tune", "`val_loss` too", "goal MAXIMIZE"),),
    ),
    Case(
        "A study does not judge by its second metric any more",
        (template("tune", F1, METRIC),),
        (stops("study-changed", "tune", "`f1`", "another trial may be the best one"),),
        given=(template("tune", METRIC, F1),),
        accident="a study that called another trial the best",
    ),
    requires(
        "A requirement gets a condition",
        "a wheel for another Python",
        "dask==2025.1.0",
        'dask==2025.1.0 ; python_version < "3.11"',
        "results may differ",
    ),
    requires(
        "A requirement gets an extra",
        "an extra that pulled in another framework",
        "dask==2025.1.0",
        "dask[distributed]==2025.1.0",
        "results may differ",
    ),
    requires(
        "A release candidate is required",
        "a pre-release that was withdrawn",
        "dask==2025.1.0",
        "dask==2025.2.0rc1",
        "results may differ",
    ),
    requires(
        "A large step of a package",
        "a major version that dropped a function",
        "attrs==2.1",
        "attrs==4.1",
        "results may differ",
    ),
    requires(
        "An older version of what saves",
        "checkpoints that an older version could not load",
        "torch==2.4.1",
        "torch==2.3.0",
        "from earlier checkpoints",
    ),
    requires(
        "A later version at least",
        "a lower bound that a resolver took literally",
        "dask>=2025.1",
        "dask>=2025.2",
        "results may differ",
    ),
    Case(
        "A template does not take code of one's own any more",
        (template("digits", "    code_flag=True,\n", ""),),
        (hurts("code-forbidden", "digits", "`--code` are refused"),),
        given=FREE,
    ),
    Case(
        "A parameter that had to be given gets a default",
        (template("tune", '"folds", int', '"folds", int, default=3'),),
        (tells("default-changed", "tune", "may leave out `folds`", "`3`"),),
        given=(template("tune", '"folds", int, default=3', '"folds", int'),),
    ),
    Case(
        "A pipeline's task asks for GPUs, where it had none",
        (
            Edit(
                PIPELINE[0].file,
                '"memoryLimit": 8.0',
                '"memoryLimit": 8.0, "accelerator": {"type": "NVIDIA_TESLA_T4", "count": "4"}',
            ),
        ),
        (
            hurts("machines-changed", "train", "4 NVIDIA_TESLA_T4", "instead of `1 × e2-standard-4`"),
            hurts("request-changed", "train", "another version"),
        ),
        may=("run-cost",),
        given=PIPELINE,
        accident="a pipeline whose file had grown a GPU for each of its tasks",
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
        "A pipeline's file gets a description",
        (Edit(PIPELINE[0].file, '{"name": "train"}', '{"description": "each night", "name": "train"}'),),
        given=PIPELINE,
        silent=True,
    ),
    Case(
        "A pipeline's tasks run in another image",
        (Edit(PIPELINE[0].file, "python:3.11", "python:3.12"),),
        (hurts("image-changed", "train", "`python:3.12` instead of `python:3.11`"), hurts("request-changed", "train")),
        given=PIPELINE,
    ),
)

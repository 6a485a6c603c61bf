"""Sentences that have to be precise: who is hit, which machine they had, what an argument reaches, and until when."""

from tests.review.case import BUSY, Case, Edit, Job, World, hurts, imports, more, silent, stack, stops, tells, template
from tests.review.cases.ends import REPORTS

VARIANTS = "    variants=(\n"
SMALLER = (
    VARIANTS
    + """        Variant(
            {"precision": "fp32"},
            (WorkerPool("tuner", "a2-highgpu-2g", Disk("pd-ssd", 200), args=ARGS),),
            ("spot", "on-demand"),
        ),
"""
)
AS_WITHOUT = (
    VARIANTS
    + """        Variant(
            {"model": "9b"},
            (WorkerPool("tuner", "a2-highgpu-1g", Disk("pd-ssd", 200), args=ARGS),),
            ("spot", "flex-start", "on-demand"),
        ),
"""
)
HALF = (
    VARIANTS
    + """        Variant(
            {"model": "27b", "precision": "fp32"},
            (WorkerPool("tuner", "a3-highgpu-8g", Disk("pd-ssd", 500), args=ARGS, reservation="bought"),),
            ("pool", "reservation", "spot"),
        ),
"""
)
LARGEST = World(jobs=(Job("tune-27b-full", parameters={"model": "27b", "precision": "fp32"}),))
TASK = "jobs/lora/task.py"
BODY = '    print("trained", EVERY)\n'
SAVES = Edit(
    TASK,
    BODY,
    '    out = os.environ["SLIPWAY_OUTPUT"]\n    saved = os.path.join(out, "checkpoint.pt")\n'
    '    state = torch.load(saved) if os.path.exists(saved) else {}\n    torch.save(state, f"{out}/checkpoint.pt")\n',
)
WRITES = Edit(TASK, BODY, '    parser = argparse.ArgumentParser()\n    parser.add_argument("--output")\n' + BODY)
MODEL = 'model=ModelUpload("lora", "us-docker.pkg.dev/acme-ml/serve/lora:7", model_id="lora")'

CASES = (
    Case(
        "Jobs leave Spot, where none of them could start",
        (template("digits", '("pool", "spot", "on-demand")', '("pool", "on-demand")'),),
        (tells("offer-gone", "digits", "are not offered Spot any more", "none could start"),),
        world=World(limits={"preemptible_cpus": 1}),
        never=("can't use Spot any more",),
    ),
    Case(
        "A model gets a description",
        (template("lora", 'model_id="lora"', 'model_id="lora", description="from ${slipway.job}"'),),
        (tells("request-changed", "lora", "description"),),
        given=(imports("lora", "ModelUpload"), more("lora", 'kinds=("training-pipeline", "custom-job")', MODEL)),
    ),
    Case(
        "A variant that takes over the largest model: smaller machines than it had",
        (template("lora", VARIANTS, SMALLER),),
        (
            stops("machines-changed", "lora", "(model=27b, precision=fp32)", "instead of `a3-highgpu-8g`", "80 GB"),
            hurts("machines-changed", "lora", "(model=9b, precision=fp32)", "instead of `a2-highgpu-1g`"),
            hurts("offer-gone", "lora", "(model=27b, precision=fp32) can't use pool `h100`", "$5.01/h on Spot"),
        ),
        may=("offer-gone", "run-cost", "offer-order"),
        never=("(precision=fp32) run on", "(precision=fp32) can't use pool"),
        world=LARGEST,
        accident="a model that was sent to a machine it did not fit",
    ),
    silent("A variant says what its case has without it", template("lora", VARIANTS, AS_WITHOUT)),
    silent("A variant in two, which say the same", template("lora", VARIANTS, HALF)),
    Case(
        "A study and its code move to another metric together",
        (
            template("tune", 'Metric("accuracy")', 'Metric("f1")'),
            Edit("jobs/tune/task.py", 'hyperparameter_metric_tag="accuracy"', 'hyperparameter_metric_tag="f1"'),
        ),
        (hurts("study-changed", "tune", "by `f1, maximized`"),),
        may=("code-changed",),
        never=("change the template's metric", "sees no result"),
        given=(
            REPORTS,
            Edit(
                "jobs/tune/task.py",
                'tuner.report_hyperparameter_tuning_metric("accuracy", EVERY)',
                'tuner.report_hyperparameter_tuning_metric(hyperparameter_metric_tag="accuracy", metric_value=EVERY)',
            ),
        ),
        world=BUSY,
    ),
    silent(
        "Docstrings with grave words",
        Edit(TASK, '"""`python -m lora.task`"""\n', '"""Trains: `python -m lora.task`."""\n'),
        Edit(TASK, 'None:\n    print("trained", EVERY)', 'None:\n    """Load it."""\n    print("trained", EVERY)'),
        accident="a review that nobody read, as it warned of docstrings",
    ),
    Case(
        "The type of a job's variable",
        (Edit("jobs/digits/task.py", "EVERY = 20 ", "EVERY: int = 20 "),),
        may=("code-changed",),
    ),
    Case(
        "A line of a job's log in one text",
        (Edit("jobs/tune/task.py", '"trained", EVERY', 'f"trained {EVERY}"'),),
        may=("code-changed",),
    ),
    Case(
        "A name of `typing` that code needs as it runs is imported no more",
        (Edit(TASK, "from typing import cast\n", ""),),
        (hurts("code-changed", "lora"),),
        given=(Edit(TASK, "EVERY = 20 ", "from typing import cast\nEVERY = cast(int, 20) "),),
    ),
    silent(
        "A pool begins with its minimum, as it did without saying so",
        stack("replicas: { min: 2, max: 4 }", "replicas: { min: 2, max: 4, initial: 2 }"),
    ),
    Case(
        "Results of a sweep go side by side into the stack's own bucket, and of no sweep into one place",
        (template("lora", "--output=${slipway.output}", "--output=gs://acme-work/${slipway.sweep}/rank-${rank}"),),
        (stops("arguments-changed", "lora", "with the same `slipway.sweep`", "overwrites the one before"),),
        never=("whether their account may write",),
        world=BUSY,
        accident="results of plain runs that overwrote each other",
    ),
    Case(
        "A shell before a program takes the program's arguments",
        (template("evals", 'command=("judge",)', 'command=("sh", "-c", "ulimit -n 65536 && judge")'),),
        (hurts("arguments-changed", "evals", "ulimit -n 65536 && judge", "in their command"),),
        world=BUSY,
        accident="a judge that ran by its own defaults for a month",
    ),
    Case(
        "A shell before a program that hands the arguments on",
        (
            template(
                "evals", 'command=("judge",)', """command=("sh", "-c", 'ulimit -n 65536 && exec judge "$@"', "judge")"""
            ),
        ),
        (hurts("arguments-changed", "evals", "in their command"),),
        never=("own values",),
    ),
    Case(
        "A wait that is over before a machine usually comes",
        (template("lora", 'waits={"flex-start": 7200}', 'waits={"spot": 300, "flex-start": 7200}'),),
        (hurts("fallback-wait", "lora", "wait 5 min for Spot", "`submit` command"),),
        world=BUSY,
        accident="jobs that left Spot before it could answer",
    ),
    Case(
        "A wait that is long enough for a machine to come",
        (template("lora", 'waits={"flex-start": 7200}', 'waits={"spot": 1800, "flex-start": 7200}'),),
        (hurts("fallback-wait", "lora", "`submit` command"),),
        never=("five to ten",),
        world=BUSY,
    ),
    Case(
        "A model is uploaded under one id for ever, from a folder that no code writes",
        (imports("lora", "ModelUpload"), more("lora", 'kinds=("training-pipeline", "custom-job")', MODEL)),
        (
            hurts("request-changed", "lora", "fails at its end without files for it"),
            tells("kind-added", "lora"),
        ),
        world=BUSY,
        accident="an upload that failed after a day of training",
    ),
    Case(
        "A package from a branch: what a restart installs",
        (Edit("jobs/lora/requirements.txt", "peft==0.13.0", "peft @ git+https://github.com/huggingface/peft@main"),),
        (hurts("requirements-changed", "lora", "each start and restart installs what lies there then"),),
        world=BUSY,
        accident="a branch that broke on a day without any edit",
    ),
    Case(
        "Checkpoints are saved under a name that nothing looks for",
        (Edit(TASK, 'f"{out}/checkpoint.pt"', 'f"{out}/checkpoint-{EVERY:06d}.pt"'),),
        (hurts("code-changed", "lora", "checkpoint-{EVERY:06d}.pt"),),
        given=(SAVES,),
        world=BUSY,
        accident="checkpoints that no restart ever found",
    ),
    Case(
        "All but the last two checkpoints are deleted, in the order of their names as text",
        (
            Edit(
                TASK,
                BODY,
                "    for old in sorted(kept(out))[:-2]:\n        old.unlink()\n" + BODY,
            ),
        ),
        (hurts("code-changed", "lora", "old.unlink()"),),
        world=BUSY,
        accident="the newest checkpoint was deleted as soon as it was written",
    ),
    Case(
        "The whole environment is printed, a secret's value in it",
        (Edit(TASK, BODY, "    import os\n    for item in os.environ.items():\n        print(item)\n" + BODY),),
        (hurts("code-changed", "lora", "os.environ.items()"),),
        world=BUSY,
        accident="a token in the logs of a hundred jobs",
    ),
    Case(
        "Variables that begin with a word are printed",
        (
            Edit(
                TASK,
                BODY,
                "    import os\n    for key in os.environ:\n        if key.startswith('NCCL_'):\n"
                "            print(key, os.environ[key])\n" + BODY,
            ),
        ),
        (hurts("code-changed", "lora"),),
        never=("`HF_TOKEN`",),
    ),
    Case(
        "What a job is given as a place in a bucket is opened as a file",
        (Edit(TASK, BODY, '    args = parser.parse_args()\n    open(args.output + "/loss.txt", "w").close()\n'),),
        (hurts("code-changed", "lora", "open(args.output"),),
        may=("arguments-changed",),
        given=(WRITES, Edit(TASK, '"""`python -m lora.task`"""\n', '"""`python -m lora.task`"""\n\nimport argparse\n')),
        world=BUSY,
        accident="adapters that no bucket ever had",
    ),
)

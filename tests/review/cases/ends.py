"""Ends of jobs after a change of their template, and templates and clusters of another shape."""

from tests.review.case import BUSY, Case, Edit, Job, World, hurts, imports, more, stack, stops, tells, template
from tests.review.cases.clusters import ANEW

MODEL = f'model=ModelUpload("judge", "us-docker.pkg.dev/acme-ml/serve@sha256:{"a" * 64}")'
UPLOAD = (
    imports("evals", "ModelUpload"),
    more("evals", 'kinds=("training-pipeline", "custom-job")', MODEL),
)
REPORTS = Edit(
    "jobs/tune/task.py",
    '    print("trained", EVERY)\n',
    '    print("trained", EVERY)\n    tuner.report_hyperparameter_tuning_metric("accuracy", EVERY)\n',
)
LOOP = Edit("jobs/lora/task.py", '    print("trained", EVERY)\n', "    print([step for step in range(EVERY)])\n")
NO_CHECKPOINTS = template("evals", "    checkpoints=True,\n", "")
RANGE = Edit("jobs/lora/requirements.txt", "torch==2.4.1", "torch>=2,<3")
BIG = """    variants=(
        Variant(
            {"model": "27b"},
            (
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
    ),
"""
FULL = (
    'variants=(Variant({"suite": "full"}, (WorkerPool("judge", "n1-standard-16", Disk("pd-ssd", 100), '
    'args=("--suite=${suite}", "--batch=${batch}")),), ("on-demand",)),)'
)
USED = World(jobs=(Job("evals-monday", "evals", "ben", "spot", {"suite": "full"}, "SUCCEEDED", 100), *BUSY.jobs))
WORKERS = '        WorkerPool("workers", "n1-standard-8", DISK, replicas="${workers}"),\n'

AS_IT_IS = template("evals", 'command=("judge",),', 'command=("judge",), launcher=False,')


def image_of_digits(arguments: str) -> tuple[Edit, ...]:
    return (
        template("digits", "Disk, JobTemplate, Package,", "Disk, Image, JobTemplate,"),
        template("digits", 'Package("jobs/digits", "digits.task", IMAGE)', f"Image(IMAGE, {arguments})"),
        template("digits", "training/sklearn-cpu.1-6:20260901", f"training/digits@sha256:{'d' * 64}"),
    )


CASES = (
    Case(
        "A size of the model loses its own machines, and runs on those of the other",
        (template("lora", BIG, ""), template("lora", "Parameter, Variant, WorkerPool", "Parameter, WorkerPool")),
        (
            stops("machines-changed", "lora", "(model=27b)", "40 GB of GPU memory instead of 640"),
            hurts("offer-gone", "lora pool h100", "(model=27b)", "they cost $2.53/h on Spot"),
            hurts("offer-gone", "lora reservation", "they cost $2.53/h on Spot"),
            stops("pool-unused", "h100"),
            stops("reservation-paid", "bought"),
        ),
        may=("run-cost",),
        accident="a model that no longer fitted into the memory",
    ),
    Case(
        "One suite of tests gets machines of its own, and no Spot",
        (
            imports("evals", "Variant"),
            more("evals", FULL),
        ),
        (
            hurts("machines-changed", "evals", "(suite=full)", "n1-standard-16"),
            hurts("offer-gone", "evals spot", "(suite=full) can't use Spot", "$0.90/h on demand"),
        ),
        may=("run-cost",),
    ),
    Case(
        "A template that uploaded a model is a custom job unless one says otherwise",
        (template("evals", '("training-pipeline", "custom-job")', '("custom-job", "training-pipeline")'),),
        (hurts("request-changed", "evals kind", "nothing uploads the model", "--as training-pipeline"),),
        given=UPLOAD,
    ),
    Case(
        "A pipeline that uploaded a model uploads none any more",
        (template("evals", f"    {MODEL},\n", ""),),
        (hurts("request-changed", "evals request modelToUpload", "whoever serves it gets none", "keep `model`"),),
        given=UPLOAD,
    ),
    Case(
        "The reservation is tried before a pool that stays paid, for which nobody waits long any more",
        (
            template("lora", '("pool", "reservation", "spot"),', '("reservation", "pool", "spot"),'),
            template("lora", 'waits={"flex-start": 7200},', 'waits={"flex-start": 7200, "pool": 900},'),
        ),
        (
            hurts("offer-order", "lora", "before pool `h100`: they cost Vertex AI's fee on top of the reservation"),
            hurts(
                "fallback-wait",
                "lora pool h100",
                "wait 15 min for pool `h100` instead of not at all",
                "then they cost $63.92/h on Spot",
            ),
        ),
        may=("run-cost",),
    ),
    Case(
        "The wait for flex-start is nobody's any more, so the service ends it",
        (template("lora", '    waits={"flex-start": 7200},\n', ""),),
        (hurts("fallback-wait", "lora flex-start", "wait 24 h", "then they fail, unpaid"),),
    ),
    Case(
        "Spot machines come first for code that keeps no checkpoints",
        (template("evals", '("on-demand", "spot")', '("spot", "on-demand")'),),
        (hurts("offer-order", "evals", "one that loses its machine starts from the beginning"),),
        may=("run-cost",),
        accident="a training that began anew after each preemption",
        given=(NO_CHECKPOINTS, template("evals", '("spot", "on-demand")', '("on-demand", "spot")')),
    ),
    Case(
        "A study judges by a metric that its code does not report",
        (template("tune", 'Metric("accuracy")', 'Metric("f1")'),),
        (stops("study-changed", "tune", "`f1, maximized` instead of `accuracy, maximized`", "paid and has no result"),),
        given=(REPORTS,),
        accident="a study whose trials reported another metric",
    ),
    Case(
        "A study judges by the loss, which is to be the largest, and nobody knows whether its code reports it",
        (template("tune", 'Metric("accuracy")', 'Metric("loss")'),),
        (stops("study-changed", "tune", "`loss, maximized` instead of `accuracy, maximized`"),),
        accident="the worst trial was taken for the best",
    ),
    Case(
        "A package becomes an image, whose files nobody keeps",
        image_of_digits("launcher=False"),
        (hurts("image-changed", "digits", "instead of a package", "be paid, twice", "`$SLIPWAY_OUTPUT` are lost"),),
        accident="results written to the disk of a container",
    ),
    Case(
        "A package becomes an image that the launcher starts",
        image_of_digits('command=("train",)'),
        (hurts("image-changed", "digits", "instead of a package", "without `sh`, or `python3` of 3.8 or newer"),),
        accident="an image without Python, whose jobs all failed at their start",
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
        (stops("request-changed", "evals", "cost, twice", "get no `JUDGE_KEY`"),),
        accident="a training that ran twice, as an answer was lost",
    ),
    Case(
        "A framework is pinned within its range",
        (Edit("jobs/lora/requirements.txt", "torch>=2,<3", "torch==2.5.1"),),
        (tells("requirements-changed", "lora", "which the old line allowed"),),
        # Each start now replaces the image's own, which the range allowed.
        ("requirements-changed",),
        accident="a framework that was published anew over a weekend",
        given=(RANGE,),
    ),
    Case(
        "A framework is older than before, and another package is new",
        (Edit("jobs/lora/requirements.txt", "torch==2.4.1", "torch==2.3.0\nnumpy==2.0"),),
        (hurts("requirements-changed", "lora", "install `numpy==2.0` too"),),
        accident="a downgraded package that could not read what the newer one wrote",
    ),
    Case(
        "The code of a job is edited in one line, which its card quotes",
        (Edit("jobs/lora/task.py", "EVERY = 20 ", "EVERY = 500 "),),
        (hurts("code-changed", "lora", "jobs/lora/task.py:4", "EVERY = 500"),),
    ),
    Case(
        "The interval of checkpoints is a variable that nothing sets",
        (
            Edit("jobs/lora/task.py", '"""`python -m lora.task`"""\n', '"""`python -m lora.task`"""\n\nimport os\n'),
            Edit("jobs/lora/task.py", "EVERY = 20 ", 'EVERY = int(os.environ.get("CHECKPOINT_EVERY", "0")) '),
        ),
        (hurts("code-changed", "lora", "CHECKPOINT_EVERY"),),
    ),
    Case(
        "The code of all worker pools requires an argument that one alone is given",
        (
            Edit(
                "jobs/digits/task.py",
                '    print("trained", EVERY)\n',
                '    parser.add_argument("--trees", type=int, required=True)\n    parser.add_argument("--seed")\n',
            ),
        ),
        (stops("arguments-changed", "digits", "without `--trees`", "the code of `workers` requires"),),
        may=("code-changed",),
    ),
    Case(
        "A comprehension's variable has another name",
        (Edit("jobs/lora/task.py", "[step for step in range(EVERY)]", "[number for number in range(EVERY)]"),),
        may=("code-changed",),
        given=(LOOP,),
    ),
    Case(
        "A role of a job is called otherwise, and does the same",
        (template("evals", 'WorkerPool("judge"', 'WorkerPool("referee"'),),
        (tells("request-changed", "evals", "judge", "referee"),),
        world=USED,
    ),
    Case(
        "A role more: machines that serve parameters",
        (template("digits", WORKERS, WORKERS + '        WorkerPool("servers", "n1-standard-8", DISK, replicas=2),\n'),),
        (hurts("machines-changed", "digits", "servers", "n1-standard-8"), hurts("run-cost", "template digits", "→")),
        may=("minimum-below-default",),
        world=BUSY,
    ),
    Case(
        "The workers go: the scheduler is to do it all",
        (
            template("digits", WORKERS, ""),
            template(
                "digits",
                '        Parameter("workers", int, default=4, min=1, max=16, help="worker machines"),\n',
                "",
            ),
        ),
        (
            hurts("machines-changed", "digits", "workers"),
            stops("parameter-gone", "digits parameter workers", "nightly"),
        ),
        world=World(jobs=(Job("digits-wide", "digits", "nightly", parameters={"workers": 2}),)),
    ),
    Case(
        "Another folder's code",
        (template("tune", 'Package("jobs/tune", "tune.task"', 'Package("jobs/digits", "digits.task"'),),
        (hurts("code-changed", "tune"),),
        may=("arguments-changed", "requirements-changed"),
    ),
    Case(
        "Results go into a log of experiments",
        (more("evals", 'experiment="suite"'),),
        (tells("metrics-changed", "evals", "suite"),),
        may=("role-above-table", "access-added"),
    ),
    Case(
        "The account that jobs run as is left to its usual name",
        (stack("    trainer: trainer\n", ""),),
        (stops("preview-failed", "", "trainer@", "can't become account slipway-prod-trainer@"),),
        world=BUSY,
    ),
    Case(
        "The work bucket is left to its usual name",
        (stack("    workBucket: acme-work\n", ""),),
        (stops("preview-failed", "", "acme-work can't become bucket gs://acme-ml-prod-work"),),
        world=BUSY,
        accident="a name left out that had been said",
    ),
    Case(
        "The cluster gets an interface into a network",
        (
            stack(
                "      retireWithin: 7d\n", "      retireWithin: 7d\n      pscInterface: { networkAttachment: train }\n"
            ),
        ),
        (
            hurts("cluster-new-generation", "cpu", "pscInterface"),
            hurts("network-changed", "digits", "train"),
            hurts("network-changed", "tune", "train"),
            hurts("key-unchecked", "cpu", "service agent may use attachment `train`", "an address for each machine"),
        ),
        may=ANEW,
    ),
    Case(
        "A template may be an hour longer under way, and its machines wait less",
        (
            template("digits", "timeout_s=3600", "timeout_s=7200"),
            template("digits", '("pool", "spot", "on-demand")', '("pool", "on-demand", "spot")'),
        ),
        (
            hurts("timeout-changed", "digits", "2 h"),
            hurts("offer-order", "digits", "machines on demand before Spot"),
            hurts("run-cost", "template digits", "→"),
        ),
    ),
    Case(
        "Jobs begin again, all of them, whenever one replica does",
        (
            imports("digits", "Scheduling"),
            more("digits", "scheduling=Scheduling(restart_job_on_worker_restart=True)"),
        ),
        (hurts("scheduling-changed", "digits", "restartJobOnWorkerRestart"),),
    ),
    Case(
        "The pool comes last, after Spot and on-demand",
        (template("digits", '("pool", "spot", "on-demand")', '("spot", "on-demand", "pool")'),),
        (hurts("offer-order", "digits", "Spot and machines on demand before pool `cpu`", "else $2.10/h on demand"),),
        may=("run-cost",),
        accident="a pool that nobody used, paid beside machines of jobs' own",
    ),
    Case(
        "On-demand comes before Spot, of which there is no quota: jobs run as they did",
        (template("digits", '("pool", "spot", "on-demand")', '("pool", "on-demand", "spot")'),),
        never=("before Spot",),
        world=World(limits={"preemptible_cpus": 0}),
    ),
)

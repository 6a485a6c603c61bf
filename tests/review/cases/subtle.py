"""Changes whose harm is a step away from the edited line."""

from tests.review.case import BUSY, LARGE, Case, Edit, Job, World, hurts, stack, stops, tells, template
from tests.review.cases.clusters import ANEW, H100, H100_ENTRY, NOT_ON_THE_POOL, WORKERS

GITHUB_TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
ENV = 'env={"REGION": "us-central1"}'
TREES = 'Parameter("trees", int, default=200, min=1, max=5000'
SPOT = World(jobs=(Job("evals-now", "evals", "cy", "spot"), LARGE))

CASES = (
    Case(
        "A package is taken from a repository, with a token in its address",
        (
            Edit(
                "jobs/lora/requirements.txt",
                "peft==0.13.0",
                f"peft @ git+https://robot:{GITHUB_TOKEN}@github.com/acme/peft@main",
            ),
        ),
        (stops("plain-secret", "lora"), hurts("requirements-changed", "lora", "peft")),
        may=("code-changed",),
        never=(GITHUB_TOKEN,),
        accident="a token in a requirements file",
    ),
    Case(
        "A database's address, with its password, in the environment",
        (template("evals", ENV, 'env={"REGION": "us-central1", "DB": "postgres://judge:s3cr3t-99@10.0.0.5/runs"}'),),
        (stops("plain-secret", "evals", "DB"),),
        may=("environment-changed",),
        never=("s3cr3t-99",),
        accident="a password in an address",
    ),
    Case(
        "A key of another cloud in the environment",
        (template("evals", ENV, 'env={"REGION": "us-central1", "AWS_ACCESS_KEY_ID": "AKIAIOSFODNN7EXAMPLE"}'),),
        (stops("plain-secret", "evals", "AWS_ACCESS_KEY_ID"),),
        may=("environment-changed",),
        never=("AKIAIOSFODNN7EXAMPLE",),
        accident="a key in a public repository",
    ),
    Case(
        "A secret's value takes the place of its reference, under a name that does not tell it",
        (
            template("evals", '    secrets={"JUDGE": "judge-key"},\n', ""),
            template("evals", ENV, 'env={"REGION": "us-central1", "JUDGE": "jk-live-5b1d0c7e94fa"}'),
        ),
        (
            stops("plain-secret", "evals", "JUDGE", "revoke it now, merged or not", "under `secrets`"),
            stops("secrets-changed", "evals", "`JUDGE` is set to a plain value", "next rotation"),
        ),
        given=(template("evals", '"JUDGE_KEY"', '"JUDGE"'),),
        may=("environment-changed",),
        never=("jk-live", "code that needs it fails"),
        accident="a key in a repository, since the secret could not be read",
    ),
    Case(
        "A password stands in the code of jobs",
        (
            Edit(
                "jobs/lora/task.py",
                "# Every step is seeded,",
                'JUDGE_PASSWORD = "correct-horse-9"\n# Every step is seeded,',
            ),
        ),
        (hurts("code-changed", "lora", "hidden"),),
        never=("correct-horse",),
        accident="a password committed with code",
    ),
    Case(
        "A plain key is another one",
        (template("evals", "jk-live-1", "jk-live-2"),),
        (stops("plain-secret", "evals", "JUDGE_TOKEN_KEY"),),
        given=(template("evals", ENV, 'env={"JUDGE_TOKEN_KEY": "jk-live-1"}'),),
        may=("environment-changed",),
        never=("jk-live",),
        accident="a key published in a repository",
    ),
    Case(
        "A job reads a secret less, without which it can't begin",
        (template("evals", '    secrets={"JUDGE_KEY": "judge-key"},\n', ""),),
        (stops("secrets-changed", "evals", "JUDGE_KEY"),),
    ),
    Case(
        "A submission waits for ever before it pays for on-demand machines",
        (template("lora", '    waits={"flex-start": 7200},\n', ""),),
        (hurts("fallback-wait", "lora", "flex-start", "2 h"),),
        may=("scheduling-changed",),
    ),
    Case(
        "More workers may be asked for than the pool has machines",
        (template("digits", 'default=4, min=1, max=16, help="worker', 'default=4, min=1, max=64, help="worker'),),
        (tells("bounds-widened", "digits parameter workers", "16", "64"),),
        world=BUSY,
    ),
    Case(
        "A default below what was the smallest value",
        (template("digits", TREES, TREES.replace("default=200, min=1", "default=2, min=1")),),
        (hurts("default-changed", "digits parameter trees", "200", "2"),),
        accident="a zero too few",
    ),
    Case(
        "A training ends after the hundredth part of its steps, by a comma",
        (template("lora", "default=100, min=1, max=100_000", "default=1, min=1, max=100_000"),),
        (hurts("default-changed", "lora parameter steps", "100", "1"),),
        accident="a zero too few",
    ),
    Case(
        "The H100 machines are given to another family, of which there are none",
        (
            stack("machine: a3-highgpu-8g, disk: { type: pd-ssd, sizeGb: 500 }", "machine: a3-megagpu-8g"),
            NOT_ON_THE_POOL,
        ),
        (
            stops("capacity-given-back | pool-gone", "h100/workers", "2 `a3-highgpu-8g`", "not come again"),
            hurts("cluster-new-generation", "h100", "machine"),
            hurts("offer-gone", "lora", "27b"),
            hurts("pool-unused", "h100/workers"),
            tells("jobs-finish-on-old", "h100", "tune-27b-x1"),
        ),
        may=(*ANEW, "run-cost", "idle-cost", "price-unknown", "quota-short-in-overlap"),
        world=BUSY,
        accident="a machine type changed for one that was sold out",
    ),
    Case(
        "Both clusters change at once: two rollovers in one deployment",
        (
            stack(H100, "replicas: { min: 2, max: 5 }"),
            stack(WORKERS, "replicas: { min: 4, max: 20 }"),
        ),
        (
            hurts("cluster-new-generation", "cluster h100", "max"),
            hurts("cluster-new-generation", "cluster cpu", "max"),
            tells("jobs-finish-on-old", "h100", "tune-27b-x1"),
            tells("jobs-finish-on-old", "cpu", "digits-night"),
        ),
        may=ANEW,
        world=BUSY,
    ),
    Case(
        "A pool is renamed, which makes the cluster anew",
        (stack("        workers: { machine: a3-highgpu-8g", "        gpus: { machine: a3-highgpu-8g"),),
        (
            hurts("cluster-new-generation", "h100", "pools", "gpus"),
            tells("jobs-finish-on-old", "h100", "tune-27b-x1"),
        ),
        may=(*ANEW, "machines-changed"),
        world=BUSY,
        accident="a renamed node pool",
    ),
    Case(
        "An autoscaled pool is fixed at its minimum",
        (stack(H100, "replicas: 2"),),
        (
            hurts("cluster-new-generation", "h100", "replicas"),
            hurts("capacity-lower-maximum", "h100/workers", "4", "2"),
        ),
        may=ANEW,
        world=BUSY,
    ),
    Case(
        "A fixed pool scales from now on, and begins with one machine where there were two",
        (stack("sizeGb: 100 }, replicas: 2 }", "sizeGb: 100 }, replicas: { min: 1, max: 4 } }"),),
        (
            hurts("cluster-new-generation", "cpu", "replicas"),
            hurts("capacity-given-back", "cpu/head", "1 `n1-standard-4`"),
        ),
        may=ANEW,
    ),
    Case(
        "A template moves to machines that no pool has, and only Spot is left",
        (template("digits", 'WorkerPool("workers", "n1-standard-8"', 'WorkerPool("workers", "n1-highmem-8"'),),
        (stops("preview-failed", "", "digits"),),
        world=BUSY,
    ),
    Case(
        "The same, said honestly: the template gives the pool up, and all runs cost on-demand prices at worst",
        (
            template("digits", 'WorkerPool("workers", "n1-standard-8"', 'WorkerPool("workers", "n1-highmem-8"'),
            template("digits", '("pool", "spot", "on-demand")', '("on-demand",)'),
        ),
        (
            hurts("offer-gone", "digits", "pool"),
            hurts("machines-changed", "digits", "n1-standard-8", "n1-highmem-8"),
            hurts("run-cost", "template digits", "→"),
            stops("pool-unused", "cpu/head"),
        ),
        may=("offer-gone",),
        world=BUSY,
    ),
    Case(
        "Checkpoints are written seldom, on Spot machines with a job running",
        (Edit("jobs/lora/task.py", "EVERY = 20  # steps between two checkpoints", "EVERY = 5000"),),
        (hurts("code-changed", "lora", "jobs/lora/task.py"),),
        world=SPOT,
        accident="hours of training lost with a preempted machine",
    ),
    Case(
        "Everything goes: no cluster, no template, no submitter",
        (
            Edit("stacks/Pulumi.prod.yaml", H100_ENTRY, ""),
            NOT_ON_THE_POOL,
            stack("    - digits\n", ""),
            stack("    - evals\n", ""),
            stack("      - group:ml@acme.example\n", ""),
        ),
        (
            stops("cluster-retires", "h100"),
            stops("template-gone", "template digits", "nightly"),
            stops("template-gone", "template evals", "cy"),
            stops("submitter-gone", "group:ml@acme.example"),
            stops("pool-unused", "cpu/head"),
        ),
        may=("offer-gone", "run-cost"),
        world=World(jobs=(*BUSY.jobs, *SPOT.jobs[:1])),
        accident="a clean-up on a Friday",
    ),
    Case(
        "A study runs one trial at a time: eight times as long",
        (template("tune", 'Parameter("parallel", int, default=2', 'Parameter("parallel", int, default=1'),),
        (hurts("default-changed", "tune parameter parallel", "2", "1"),),
    ),
    Case(
        "Shells into jobs, and a dashboard, for whoever may see them",
        (
            template(
                "lora",
                "    timeout_s=86_400,\n",
                "    timeout_s=86_400,\n    enable_web_access=True,\n    enable_dashboard_access=True,\n",
            ),
        ),
        (stops("web-access-changed", "lora"),),
        accident="a debugging door left open",
    ),
    Case(
        "A file server is mounted that others write to",
        (
            template("evals", "JobTemplate, Parameter, ", "JobTemplate, NfsMount, Parameter, "),
            template(
                "evals",
                "    timeout_s=7200,\n",
                '    timeout_s=7200,\n    network="projects/123/global/networks/train",\n'
                '    nfs_mounts=(NfsMount("10.0.0.9", "/shared", "data"),),\n',
            ),
        ),
        (hurts("network-changed", "evals", "networks/train"), hurts("network-changed", "evals", "10.0.0.9")),
        accident="a shared file system with a stranger's files",
    ),
    Case(
        "A template runs as another account, of which nobody knows whether it may read the secret",
        (template("evals", "evals@acme-ml", "other@acme-ml"),),
        (
            stops(
                "account-changed",
                "evals",
                "Jobs of `evals` run as account `other` instead of `evals`",
                "secret `judge-key`",
            ),
        ),
        accident="a service account switched under its jobs",
    ),
)

"""Changes whose harm is a step away from the edited line."""

from tests.review.case import BUSY, Case, Edit, hurts, imports, more, stack, stops, tells, template
from tests.review.cases.clusters import ANEW, NOT_ON_THE_POOL

GITHUB_TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
ENV = 'env={"REGION": "us-central1"}'

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
        "A secret's value takes the place of its reference, under a name that does not tell it",
        (
            template("evals", '    secrets={"JUDGE": "judge-key"},\n', ""),
            template("evals", ENV, 'env={"REGION": "us-central1", "JUDGE": "jk-live-5b1d0c7e94fa"}'),
        ),
        (
            stops("plain-secret", "evals", "JUDGE", "revoke it now, merged or not", "under `secrets`"),
            stops("secrets-changed", "evals", "plain value as `JUDGE`", "once the secret is rotated"),
        ),
        given=(template("evals", '"JUDGE_KEY"', '"JUDGE"'),),
        may=("environment-changed",),
        never=("jk-live", "what reads it", "code that needs it fails", "the catalog and each request have it"),
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
        (hurts("code-changed", "lora", "not shown"),),
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
        accident="a secret taken out before the code did without it",
    ),
    Case(
        "More workers may be asked for than the pool has machines",
        (template("digits", 'default=4, min=1, max=16, help="worker', 'default=4, min=1, max=64, help="worker'),),
        (tells("bounds-widened", "digits parameter workers", "up to 64"),),
        world=BUSY,
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
            stops("pool-unused", "h100/workers", "it costs an unknown amount"),
            tells("jobs-finish-on-old", "h100", "tune-27b-x1"),
        ),
        may=(*ANEW, "run-cost", "idle-cost", "price-unknown", "quota-short-in-overlap"),
        world=BUSY,
        accident="a machine type changed for one that was sold out",
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
        "A template moves to machines that no pool has, and only Spot is left",
        (template("digits", 'WorkerPool("workers", "n1-standard-8"', 'WorkerPool("workers", "n1-highmem-8"'),),
        (stops("preview-failed", "", "digits"), hurts("machines-changed", "digits", "n1-highmem-8")),
        world=BUSY,
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
        "A study runs one trial at a time: eight times as long",
        (template("tune", 'Parameter("parallel", int, default=2', 'Parameter("parallel", int, default=1'),),
        (hurts("default-changed", "tune parameter parallel", "2", "1"),),
    ),
)

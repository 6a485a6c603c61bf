"""Ends that come later than the deployment, or meet others than those whom an edit names."""

from tests.review.case import BUSY, Case, Edit, Job, World, h100, hurts, more, stack, stops, tells, template
from tests.review.cases.clusters import ANEW
from tests.review.cases.ends import REPORTS
from tests.review.checkout import BASE

TASK, LORA = "jobs/lora/task.py", "jobs/lora/requirements.txt"
PRINTS = '    print("trained", EVERY)\n'
SAVES = Edit(TASK, PRINTS, f'{PRINTS}    save(OUTPUT / "ckpt.pt")\n')
PLACE = Edit(TASK, "EVERY = 20 ", 'OUTPUT = Path(os.environ["SLIPWAY_OUTPUT"])\nEVERY = 20 ')
READS = Edit(
    TASK,
    "def main() -> None:\n" + PRINTS,
    "def main() -> None:\n    parser = ArgumentParser()\n"
    + "".join(f'    parser.add_argument("--{name}")\n' for name in ("model", "steps", "rank", "precision", "output"))
    + "    print(parser.parse_args())\n",
)
POOL = "workers: { machine: n1-standard-8, disk: { type: pd-ssd, sizeGb: 100 }, replicas: { min: 4, max: 16 } }"
HALF = POOL.partition(":")[2].replace("min: 4, max: 16", "min: 2, max: 8")
A100 = (
    template("evals", '("spot", "on-demand")', '("spot", "flex-start", "on-demand")'),
    template("evals", '"n1-standard-8"', '"a2-highgpu-1g"'),
)
PROJECT = "  gcp:project: acme-ml\n"
POLICY = "  slipway:policy:\n"
PEERED = """      pscInterface:
        networkAttachment: train
"""
NAMES = """        dnsPeeringConfigs:
          - { domain: corp., targetProject: net, targetNetwork: shared }
"""
STUDY = Job("study-4", "tune", parameters={"trials": 4}, capacity_type="pool", state="SUCCEEDED", hours=60)

BOUGHT = "    bought: { path: projects/acme-ml/zones/us-central1-a/reservations/bought, "


def workers(old: str, new: str) -> Edit:
    """Return an edit of the size of the pool of CPU workers."""
    start = "disk: { type: pd-ssd, sizeGb: 100 }, replicas: { "
    return stack(f"{start}{old}", f"{start}{new}")


CASES = (
    Case(
        "More trials at once by default, which a small study can't have",
        (template("tune", "default=2, min=1, max=4", "default=8, min=1, max=8"),),
        (
            hurts("default-changed", "tune", "1 round of trials instead of 4"),
            hurts("minimum-below-default", "cpu/workers"),
        ),
        may=("bounds-widened",),
        world=World(jobs=(STUDY, *BUSY.jobs)),
        accident="a default that no schedule had been tried with",
    ),
    Case(
        "A pool is just large enough for each template, and not for two at once",
        (workers("min: 4, max: 10", "min: 4, max: 7"),),
        (
            hurts("cluster-new-generation", "cpu"),
            hurts("capacity-lower-maximum", "cpu/workers", "beyond 7 machines"),
        ),
        may=ANEW,
        given=(template("digits", "min=1, max=16", "min=1, max=6"), workers("min: 4, max: 16", "min: 4, max: 10")),
    ),
    Case(
        "Another way to run, for which there is no quota yet",
        A100[:1],
        (hurts("offer-added", "evals", "there is no quota for it", "once it is granted, they cost", "by flex-start"),),
        may=("quota-short-at-most",),
        given=A100[1:],
        world=World(limits={"preemptible_nvidia_a100_gpus": 0}),
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
        given=(SAVES, PLACE, template("lora", "    checkpoints=True,\n", "")),
    ),
    Case(
        "The checkpoint goes to the machine's own disk",
        (Edit(TASK, 'OUTPUT = Path(os.environ["SLIPWAY_OUTPUT"])', 'OUTPUT = Path("/tmp")'),),
        (stops("code-changed", "lora", "find no checkpoint any more", "outlives the machine", "paid a second time"),),
        given=(SAVES, PLACE),
        accident="checkpoints on the disk of a Spot machine",
    ),
    Case(
        "A newer torch, over checkpoints of the old one",
        (Edit(LORA, "torch==2.4.1", "torch==2.5.1"),),
        (hurts("requirements-changed", "lora", "earlier checkpoints", "or keep `torch==2.4.1`"),),
        may=("requirements-changed",),
        accident="checkpoints that a newer PyTorch refused to load",
    ),
    Case(
        "A newer image of the framework, over checkpoints of the old one",
        (template("lora", "pytorch-gpu.2-4.py310", "pytorch-gpu.2-5.py310"),),
        (hurts("executor-image-changed", "lora", "earlier checkpoints", "or keep `pytorch-gpu.2-4"),),
        may=("requirements-changed",),
        accident="checkpoints that a newer PyTorch refused to load",
    ),
    Case(
        "A cluster is made anew under a job that has hours to go",
        (h100("generation: 2"),),
        (
            hurts("cluster-new-generation", "h100"),
            tells(
                "generations-overlap",
                "h100",
                "the old one is paid too, $202.28/h, until",
            ),
        ),
        may=ANEW,
        world=BUSY,
    ),
    Case(
        "Quota is only warned of, and there is not enough for the new cluster",
        (stack("sizeGb: 500 }, replicas: { min: 2, max: 4 }", "sizeGb: 500 }, replicas: { min: 3, max: 4 }"),),
        (
            stops("quota-short-allowed", "quota", "`mode: warn` lets the deployment go on"),
            hurts("cluster-new-generation", "h100"),
            hurts("idle-cost", "stack"),
        ),
        may=("quota-short-at-most", "quota-short-in-overlap", *ANEW),
        world=World(jobs=BUSY.jobs, limits={"nvidia_h100_gpus": 24}),
        given=(stack("mode: enforce", "mode: warn"),),
        never=("refused",),
    ),
    Case(
        "Idle pools pass four fifths of the budget",
        (workers("min: 4, max: 16", "min: 8, max: 16"),),
        (hurts("cluster-new-generation", "cpu"),),
        may=ANEW,
        given=(stack(POLICY, "  slipway:budget: { stack: 187500 }\n\n" + POLICY),),
    ),
    Case(
        "Idle pools spend the budget by themselves, and nothing is refused",
        (workers("min: 4, max: 16", "min: 8, max: 16"),),
        (hurts("cluster-new-generation", "cpu"),),
        may=ANEW,
        given=(stack(POLICY, "  slipway:budget: { stack: 150000 }\n\n" + POLICY),),
    ),
    Case(
        "A wait is shortened that somebody's job lately took",
        (template("lora", '{"flex-start": 7200}', '{"flex-start": 600}'),),
        (hurts("fallback-wait", "lora", "then they cost $4.28/h on demand"),),
        world=World(jobs=(Job("tune-9b", "lora", "ben", "flex-start", state="QUEUED", hours=1.2),)),
    ),
    Case(
        "A template gets another name, while its jobs run",
        (
            stack("    - evals\n", "    - judge\n"),
            Edit(
                "templates/judge.py",
                new=(BASE / "templates/evals.py").read_text().replace('name="evals"', 'name="judge"'),
            ),
            Edit("templates/evals.py"),
        ),
        (
            stops(
                "template-gone",
                "evals",
                "called `judge`",
                "keep the file of",
            ),
        ),
        may=("template-added",),
        never=("as no other template does", "pays both"),
        world=World(jobs=(Job("e1", "evals", "ben", "spot"),)),
    ),
    Case(
        "A pool is split into two smaller ones",
        (stack(POOL, f"a:{HALF}\n        b:{HALF}"),),
        (
            hurts("pool-gone", "cpu/workers"),
            hurts("cluster-new-generation", "cpu"),
        ),
        may=ANEW,
    ),
    Case(
        "The stack file lists a reservation no more that a template names",
        (stack(BOUGHT, BOUGHT.replace("bought", "other")),),
        (
            stops("offer-unavailable", "lora", "lists no such reservation"),
            stops("reservation-paid", "bought"),
        ),
        never=("from reservation",),
    ),
    Case(
        "Each edit is to make a second cluster, for which there is no quota",
        (stack("replacement: in-place", "replacement: rollover"),),
        (hurts("cluster-protection", "h100", "both are paid then, and draw quota"),),
        given=(stack("replacement: rollover", "replacement: in-place"),),
        world=World(limits={"nvidia_h100_gpus": 24}),
    ),
    Case(
        "Names of another network are to be resolved",
        (stack(PEERED, f"{PEERED}{NAMES}"),),
        (
            hurts("cluster-new-generation", "cpu"),
            hurts("key-unchecked", "cpu", "roles/dns.peer"),
            hurts("network-changed", "digits names of corp.", "in another network too"),
            hurts("network-changed", "tune names of corp."),
        ),
        may=ANEW,
        given=(stack("      retireWithin: 7d\n", f"      retireWithin: 7d\n{PEERED}"),),
    ),
    Case(
        "Deployments are to be made as another account",
        (stack("  gcp:project: acme-ml\n", f"{PROJECT}  gcp:impersonateServiceAccount: up@acme-ml.iam\n"),),
        (stops("program-edited", "key gcp:", "→ `up@acme-ml.iam"),),
        accident="a deployment whose account lacked a role",
    ),
    Case(
        "A template gives its code an argument that this does not know",
        (template("lora", '    "--rank=${rank}",\n', '    "--rank=${rank}",\n    "--resume",\n'),),
        (stops("arguments-changed", "lora", "given `--resume`", "does not know", "exit code 2"),),
        may=("arguments-changed",),
        given=(READS,),
    ),
    Case(
        "A pin with a hash, beside one without",
        (Edit(LORA, "torch==2.4.1", f"torch==2.4.1 --hash=sha256:{'a' * 64}"),),
        (stops("preview-failed", "", "'peft==0.13.0' has no hash"),),
        never=("aaaaaaaa",),
    ),
    Case(
        "A template gives its code an argument that this knows",
        (template("lora", '    "--rank=${rank}",\n', '    "--rank=${rank}",\n    "--model-dir=x",\n'),),
        (tells("arguments-changed", "lora", "what the code makes of it"),),
        may=("arguments-changed",),
        given=(
            READS,
            Edit(TASK, 'add_argument("--model")', 'add_argument("--model")\n    parser.add_argument("--model-dir")'),
        ),
    ),
    Case(
        "A checkpoint is saved by another name of the same place",
        (Edit(TASK, 'save(OUTPUT / "ckpt.pt")', 'save(Path(os.environ["SLIPWAY_OUTPUT"], "ckpt.pt"))'),),
        may=("code-changed",),
        given=(SAVES,),
    ),
    Case(
        "A person is listed by the domain alone, which was there before",
        (stack("      - user:ada@acme.example\n", ""),),
        (tells("submitter-gone", "user:ada@acme.example", "except as a member of `domain:acme.example`"),),
        world=BUSY,
        given=(stack("group:ml@acme.example", "domain:acme.example"),),
    ),
    Case(
        "A torch of the same minor version",
        (Edit(LORA, "torch==2.4.1", "torch==2.4.0"),),
        may=("requirements-changed",),
        never=("end first",),
    ),
    Case(
        "A trial's code reports another metric than its study judges by",
        (Edit("jobs/tune/task.py", '("accuracy", EVERY)', '("val_accuracy", EVERY)'),),
        (hurts("code-changed", "tune", "jobs/tune/task.py"),),
        given=(REPORTS,),
        accident="a study whose trials reported another metric",
    ),
    Case(
        "A size of the model is not offered any more, with its own ways to run",
        (template("lora", 'default="9b", choices=("9b", "27b")', 'default="27b", choices=("27b",)'),),
        (
            hurts("bounds-narrowed", "lora", "`9b` are refused"),
            hurts("default-changed", "lora", "`a3-highgpu-8g` instead"),
        ),
        may=("run-cost",),
        world=BUSY,
        never=("can't use Spot any more",),
    ),
    Case(
        "A variable of a function has another name, and imports another order",
        (
            Edit(TASK, "import json\nimport os\n", "import os\nimport json\n"),
            Edit(TASK, "    loss = EVERY\n    print(loss)\n", "    value = EVERY\n    print(value)\n"),
        ),
        may=("code-changed",),
        given=(
            Edit(TASK, "EVERY = 20 ", "import json\nimport os\n\nEVERY = 20 "),
            Edit(TASK, PRINTS, "    loss = EVERY\n    print(loss)\n"),
        ),
    ),
)

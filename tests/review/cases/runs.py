"""Code that jobs run: images, requirements, arguments, variables and edited lines of code; and packages that deploy."""

from tests.review.case import Case, Edit, Named, hurts, more, silent, stack, stops, tells, template

LORA, DIGITS = (f"jobs/{name}/requirements.txt" for name in ("lora", "digits"))
TASK = "jobs/lora/task.py"
GPU, CPU = "pytorch-gpu.2-4.py310", "sklearn-cpu.1-6"
PRINTS = '    print("trained", EVERY)\n'
PARSES = (
    "    parser = argparse.ArgumentParser()\n"
    '    parser.add_argument("--model")\n'
    '    parser.add_argument("--rank", default=16)\n'
    '    parser.add_argument("--warmup", default=10)\n'
    '    for name in ("--steps", "--precision", "--output"):\n        parser.add_argument(name)\n'
    "    parser.parse_args()\n"
)
PINS = "requirements.txt"
CUDA = "https://download.pytorch.org/whl/cu121"
PINNED = "projects/acme-ml/secrets/hf-token/versions/1"
BENCH = f"""from slipway.template import Disk, Image, JobTemplate, WorkerPool

TEMPLATE = JobTemplate(
    name="bench",
    summary="judges with what others publish",
    code=Image("docker.io/modelbench/judge@sha256:{"1" * 64}", command=("judge",)),
    worker_pools=(WorkerPool("judge", "n1-standard-8", Disk("pd-ssd", 100)),),
    capacity_types=("spot",),
)
"""


def image(says: str, name: str, old: str, new: str, *words: str) -> Case:
    told = hurts("image-changed | executor-image-changed", name, *words)
    return Case(says, (template(name, old, new),), (told,), accident="an image that lacked what the code imports")


def asks(says: str, old: str, new: str, told: Named, file: str = LORA, given: tuple[Edit, ...] = ()) -> Case:
    may, accident = ("code-changed", "requirements-changed"), "jobs that failed while they installed"
    return Case(says, (Edit(file, old, new),), (told,), may=may, given=given, accident=accident)


def pins(says: str, new: str, *words: str) -> Case:
    given = Edit(PINS, "", "pulumi-gcp==9.4.0\nurllib3==2.5.0\n")
    told, accident = (stops("pins-changed", "", *words),), "a deployment that its own packages broke"
    return Case(says, (Edit(PINS, "urllib3==2.5.0\n", new),), told, given=(given,), accident=accident)


CASES = (
    image(
        "Another registry's image", "evals", "acme-ml/evals/judge", "acme-ml/tools/judge", "unless Vertex AI may pull"
    ),
    Case(
        "Another project's image in place of one's own, and a new template's of Docker Hub",
        (
            template("evals", "us-docker.pkg.dev/acme-ml/evals/judge@", "us-docker.pkg.dev/other-ml/tools/judge@"),
            Edit("templates/bench.py", "", BENCH),
            stack("    - evals\n", "    - evals\n    - bench\n"),
        ),
        (
            hurts("image-changed", "evals", "`us-docker.pkg.dev/other-ml/tools`", "unless Vertex AI may pull it"),
            tells("template-added", "bench"),
        ),
        may=("run-cost",),
        accident="a key that an image of strangers sent away",
    ),
    silent("An image's name in two parts", template("evals", "acme-ml/evals/judge@", 'acme-ml/evals/" "judge@')),
    image("Another framework's image", "lora", GPU, "tf-gpu.2-17.py310", "results may differ"),
    image("An image of another Python", "lora", GPU, "pytorch-gpu.2-4.py312", "pytorch-gpu.2-4.py312"),
    Case(
        "A newer framework than the image has",
        (Edit(LORA, "torch==2.4.1", "torch==2.6.0"),),
        (hurts("requirements-changed", "lora", "`torch==2.6.0` instead of `torch==2.4.1`"),),
    ),
    image("An older framework's image", "digits", CPU, "sklearn-cpu.1-5", "from earlier checkpoints"),
    image("An image for GPUs, without any", "digits", CPU, "sklearn-gpu.1-6", "sklearn-gpu.1-6"),
    Case(
        "A newer build of the same prebuilt image",
        (template("lora", "py310:20260901", "py310:20261101"),),
        (tells("executor-image-changed", "lora", "results may differ"),),
    ),
    asks(
        "A new major version, beside a package that was made for the old one",
        "transformers==4.46.0",
        "transformers==5.0.0",
        hurts("requirements-changed", "lora", "transformers==5.0.0"),
        given=(Edit(LORA, "peft==0.13.0\n", "peft==0.13.0\ntransformers==4.46.0\n"),),
    ),
    asks(
        "dask ahead of distributed, which wants the same version",
        "dask==2025.1.0\n",
        "dask==2025.3.0\n",
        hurts("requirements-changed", "digits", "`dask==2025.3.0` instead of `dask==2025.1.0`"),
        file=DIGITS,
        given=(Edit(DIGITS, "dask==2025.1.0\n", "dask==2025.1.0\ndistributed==2025.1.0\n"),),
    ),
    asks(
        "A build that PyPI can't have",
        "torch==2.4.1",
        "torch==2.4.1+cu121",
        stops("requirements-changed", "lora", "PyPI"),
    ),
    asks(
        "A line that is for pip alone",
        "peft==0.13.0",
        "peft==0.13.0 --no-deps",
        stops("requirements-changed", "lora", "pip"),
    ),
    Case(
        "An address, extras, an unfinished version and a condition",
        (
            Edit(
                LORA,
                "torch==2.4.1\npeft==0.13.0\nsafetensors==0.4.5\naccelerate==1.0.0\n",
                "torch==2.5.0rc1\npeft @ https://x.example/peft.whl\nsafetensors[all]==0.4.5\n"
                'accelerate==1.0.0; python_version < "3.10"\n',
            ),
        ),
        (
            hurts("requirements-changed", "lora", "lies there"),
            hurts("requirements-changed", "lora", "2.5.0rc1", "safetensors[all]", "python_version"),
        ),
        given=(Edit(LORA, "peft==0.13.0\n", "peft==0.13.0\nsafetensors==0.4.5\naccelerate==1.0.0\n"),),
        accident="jobs that failed while they installed",
    ),
    asks(
        "Packages come from another index as well",
        "torch==2.4.1\n",
        "--extra-index-url https://wheels.acme.example/simple/\ntorch==2.4.1\n",
        stops("requirements-changed", "lora", "https://wheels.acme.example/simple/", "whoever can publish"),
    ),
    asks("The image has it too", "torch==2.4.1\n", "", stops("requirements-changed", "lora", "unless the image")),
    asks(
        "A package that is built for an hour",
        "peft==0.13.0\n",
        "peft==0.13.0\nflash-attn==2.6.3\n",
        hurts("requirements-changed", "lora", "`flash-attn==2.6.3` too"),
    ),
    asks(
        "Gigabytes for GPUs on machines without, and a package of the image's own",
        "dask==2025.1.0\n",
        "dask==2025.1.0\ntorch==2.4.1\nnumpy==2.1.0\n",
        hurts("requirements-changed", "digits", "`torch==2.4.1`", "`numpy==2.1.0`"),
        file=DIGITS,
    ),
    Case(
        "An argument that the template gives has another name in the code, and a default counts for nobody",
        (Edit(TASK, '"--rank", default=16', '"--lora-rank", default=16'), Edit(TASK, "default=10", "default=90")),
        (
            stops("arguments-changed", "lora", "given `--rank`, which the code of `tuner`", "exit code 2"),
            hurts("code-changed", "lora", "default=90"),
        ),
        given=(Edit(TASK, PRINTS, PARSES),),
    ),
    Case(
        "The code requires an argument in the place of another one",
        (Edit(TASK, '"--rank", default=16', '"--adapter", required=True'),),
        (
            stops("arguments-changed", "lora", "given `--rank`", "does not know"),
            stops("arguments-changed", "lora", "without `--adapter`", "requires"),
        ),
        may=("code-changed",),
        given=(Edit(TASK, PRINTS, PARSES),),
        accident="an argument renamed in the code, and not where it is called",
    ),
    Case(
        "The code reads a variable that nothing sets, and imports what nothing installs",
        (Edit(TASK, PRINTS, '    import os\n    import wandb\n\n    wandb.login(os.environ["WANDB_KEY"])\n'),),
        (hurts("code-changed", "lora", "WANDB_KEY"),),
    ),
    Case(
        "A file with tests beside the code",
        (Edit("jobs/lora/test_task.py", "", "def test_it() -> None:\n    assert True\n"),),
        (tells("code-changed", "lora", "no run starts it"),),
    ),
    Case(
        "Checkpoints go to the machine's own disk",
        (Edit(TASK, "EVERY = 20 ", 'EVERY, PLACE = 20, "/tmp/state" '),),
        (hurts("code-changed", "lora", "/tmp/state"),),
        accident="checkpoints lost with the machine that had them",
    ),
    Case(
        "One GPU of eight",
        (template("lora", '"NCCL_DEBUG": "WARN"', '"NCCL_DEBUG": "WARN", "CUDA_VISIBLE_DEVICES": "0"'),),
        (hurts("environment-changed", "CUDA_VISIBLE_DEVICES", "what reads it"),),
        accident="GPUs that were paid and idle for weeks",
    ),
    Case(
        "Who must approve what deploys is written nowhere any more",
        (Edit(".github/CODEOWNERS"),),
        (stops("program-edited", "", "CODEOWNERS"),),
        accident="a file of owners deleted, and nobody asked any more",
        given=(Edit(".github/CODEOWNERS", "", "* @acme/leads\n"),),
    ),
    silent(
        "Requirements in another order, with a comment",
        Edit(LORA, "torch==2.4.1\npeft==0.13.0\n", "# for adapters\npeft==0.13.0\ntorch==2.4.1 # as the image\n"),
    ),
    silent(
        "A comment about the seed and the learning rate", Edit(TASK, "EVERY = 20 ", "# seed, lr: 1e-4\nEVERY = 20 ")
    ),
    silent(
        "A page and a test",
        Edit("docs/new.md", "", "# New\n"),
        Edit("tests/test_new.py", "", "def test_it() -> None:\n    assert True\n"),
    ),
    silent(
        "A template's variables in another order, and its text on two lines",
        template(
            "lora",
            '    env={"NCCL_DEBUG": "WARN"},\n',
            '    env={\n        "NCCL_DEBUG": "WAR"\n        "N",\n    },\n',
        ),
    ),
    Case(
        "More in NCCL's log, and lines as they come",
        (template("lora", '"WARN"', '"WARN", "NCCL_DEBUG_SUBSYS": "INIT", "PYTHONUNBUFFERED": "1"'),),
        (tells("environment-changed", "lora", "NCCL_DEBUG_SUBSYS"),),
    ),
    Case(
        "The judge of this week",
        (template("evals", "1" * 64, "4" * 64),),
        (tells("image-changed", "evals", "results may differ"),),
    ),
    Case(
        "A page beside the code",
        (Edit("jobs/digits/README.md", "", "# digits\n"),),
        (tells("code-changed", "digits", "no run starts it"),),
    ),
    pins("A package that deploys goes", "", "2.5.0 → none"),
    pins("A package that deploys is not pinned", "urllib3>=2\n", "each run installs what is newest"),
    pins("A package that deploys is older", "urllib3==1.26.0\n", "→ 1.26.0"),
    pins("A package that deploys is new", "urllib3==2.5.0\nreqeusts==1.0\n", "with all that the deployment may do"),
    Case(
        "All packages are held to their hashes from now on",
        (
            Edit(LORA, "torch==2.4.1", f"torch==2.4.1 --hash=sha256:{'a' * 64}"),
            Edit(LORA, "peft==0.13.0", f"peft==0.13.0 --hash=sha256:{'b' * 64}"),
        ),
        (tells("requirements-changed", "lora requirements", "--hash=sha256"),),
    ),
    Case(
        "A package of the same version has another hash",
        (Edit(LORA, "a" * 64, "c" * 64),),
        (hurts("requirements-changed", "lora requirements", "--hash=sha256:ccc"),),
        given=(
            Edit(LORA, "torch==2.4.1", f"torch==2.4.1 --hash=sha256:{'a' * 64}"),
            Edit(LORA, "peft==0.13.0", f"peft==0.13.0 --hash=sha256:{'b' * 64}"),
        ),
        accident="a release whose file was put in place of another one's",
    ),
    Case(
        "Jobs may run as training pipelines, and the template names no model",
        (template("tune", '"custom-job")', '"custom-job", "training-pipeline")'),),
        (tells("kind-added", "tune", "training pipeline"),),
        never=("uploads",),
    ),
    Case(
        "Jobs run as training pipelines instead, and the template names no model",
        (more("digits", 'kinds=("training-pipeline",)'),),
        (hurts("kind-gone", "digits", "custom job"), hurts("request-changed", "digits", "as a training pipeline")),
        never=("uploads", "pipeline too"),
        accident="pipelines that trained, and had no model to show",
    ),
    Case(
        "A package gets another name by a typing error, which strangers may have taken",
        (Edit(LORA, "peft==0.13.0", "pefft==0.13.0"),),
        (
            stops("requirements-changed", "lora", "don't install `peft==0.13.0`"),
            hurts("requirements-changed", "lora", "install `pefft==0.13.0` too"),
        ),
        accident="a package of a name that looks like a known one",
    ),
    Case(
        "A CUDA build of a package comes with the index that has it",
        (Edit(LORA, "torch==2.4.1", f"--extra-index-url {CUDA}\ntorch==2.4.1+cu121"),),
        (
            stops("requirements-changed", "lora", "take packages from"),
            hurts("requirements-changed", "lora", "install `torch==2.4.1+cu121` instead of `torch==2.4.1`"),
        ),
        never=("PyPI has no version",),
        accident="a build that no index had",
    ),
    Case(
        "An index of packages is not asked any more",
        (Edit(LORA, f"--extra-index-url {CUDA}\n", ""),),
        (stops("requirements-changed", "lora", "what only the others have is not found"),),
        given=(Edit(LORA, "torch==2.4.1", f"--extra-index-url {CUDA}\ntorch==2.4.1"),),
        never=("whoever can publish there",),
        accident="a package of a private name that a stranger had published",
    ),
    Case(
        "A pinned package may be of any patch release from now on",
        (Edit(LORA, "peft==0.13.0", "peft==0.13.*"),),
        (hurts("requirements-changed", "lora", "each start gets the newest that fits"),),
        accident="a release that broke all jobs on a day without any edit",
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
        "Code reads the place of its results from the environment, and the argument for it goes",
        (
            template("lora", '    "--output=${slipway.output}",\n', ""),
            Edit(
                TASK, PARSES + PRINTS, PARSES.replace(', "--output"', "") + '    print(os.environ["SLIPWAY_OUTPUT"])\n'
            ),
        ),
        (hurts("arguments-changed", "lora", "without `--output`"), hurts("code-changed", "lora")),
        given=(Edit(TASK, PRINTS, PARSES + PRINTS),),
        never=("results belong",),
    ),
    Case(
        "A secret is read at its newest version again, and by another template of the same account",
        (template("lora", f'"{PINNED}"', '"hf-token"'), more("tune", 'secrets={"HF_TOKEN": "hf-token"}')),
        (tells("secrets-changed", "lora", "`latest`"), tells("secrets-changed", "tune", "`hf-token`")),
        given=(template("lora", '"hf-token"', f'"{PINNED}"'),),
        never=("they fail once", "name `latest`", "whether it exists"),
    ),
    Case(
        "A prebuilt image comes from Google's registry in Europe, and a moving tag follows another one",
        (
            template("lora", "us-docker.pkg.dev/vertex-ai", "europe-docker.pkg.dev/vertex-ai"),
            template("digits", f"{CPU}:latest", "sklearn-cpu.1-5:latest"),
        ),
        (
            tells("executor-image-changed", "lora", "europe-docker.pkg.dev/vertex-ai"),
            hurts("executor-image-changed", "digits", "sklearn-cpu.1-5:latest"),
        ),
        given=(template("digits", f"{CPU}:20260901", f"{CPU}:latest"),),
        never=("service agent", "what is in it", "as `sklearn"),
        accident="a tag that moved, and runs that couldn't be made again",
    ),
    Case(
        "A tag that moves in place of another one that moves",
        (template("lora", f"{GPU}:latest", "pytorch-gpu.2-5.py311:latest"),),
        (hurts("executor-image-changed", "lora", "pytorch-gpu.2-5", "results may differ", "from earlier checkpoints"),),
        given=(template("lora", f"{GPU}:20260901", f"{GPU}:latest"),),
        never=("that tag moves",),
        accident="an image `latest` that had changed overnight",
    ),
)

"""Images of jobs and of the executor."""

from tests.review.case import Case, Edit, hurts, imports, stack, tells, template
from tests.review.edits import LATELY, PIPELINE


def image_of_digits(arguments: str) -> tuple[Edit, ...]:
    return (
        template("digits", "Disk, JobTemplate, Package,", "Disk, Image, JobTemplate,"),
        template("digits", 'Package("jobs/digits", "digits.task", IMAGE)', f"Image(IMAGE, {arguments})"),
        template("digits", "training/sklearn-cpu.1-6:20260901", f"training/digits@sha256:{'d' * 64}"),
    )


GPU = "pytorch-gpu.2-4.py310"
CPU = "sklearn-cpu.1-6"
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


JUDGE = """    code=Image(
        "us-docker.pkg.dev/acme-ml/evals/judge@sha256:1111111111111111111111111111111111111111111111111111111111111111",
        command=("judge",),
    ),"""

CASES = (
    Case(
        "A newer image of the framework, over checkpoints of the old one",
        (template("lora", "pytorch-gpu.2-4.py310", "pytorch-gpu.2-5.py310"),),
        (hurts("executor-image-changed", "lora", "instead of `pytorch-gpu.2-4"),),
        may=("requirements-changed",),
        accident="checkpoints that a newer PyTorch refused to load",
    ),
    Case(
        "A package becomes an image, whose files nobody keeps",
        image_of_digits("launcher=False"),
        (hurts("image-changed", "digits", "instead of a package", "`$SLIPWAY_OUTPUT` are lost"),),
        accident="results written to the disk of a container",
    ),
    Case(
        "A package becomes an image that the launcher starts",
        image_of_digits('command=("train",)'),
        (hurts("image-changed", "digits", "instead of a package", "without `sh`, or `python3` of 3.8 or newer"),),
        accident="an image without Python, whose jobs all failed at their start",
    ),
    Case(
        "The prebuilt image is taken at its moving tag",
        (template("lora", "pytorch-gpu.2-4.py310:20260901", "pytorch-gpu.2-4.py310:latest"),),
        (hurts("executor-image-changed", "lora", "2026", "latest"),),
        world=LATELY,
        accident="the image `:latest`, which had moved",
    ),
    Case(
        "The prebuilt image has another framework version",
        (template("lora", "pytorch-gpu.2-4.py310:20260901", "pytorch-gpu.2-5.py310:20261101"),),
        (hurts("executor-image-changed", "lora", "2-4", "2-5"),),
        world=LATELY,
    ),
    Case(
        "The container is another one, of which nobody can see what is in it",
        (template("evals", "1" * 64, "2" * 64),),
        (tells("image-changed", "evals"),),
        world=LATELY,
        accident="a tag pointed at another build",
    ),
    image("Another registry's image", "evals", "acme-ml/evals/judge", "acme-ml/tools/judge"),
    Case(
        "Another project's image in place of one's own, and a new template's of Docker Hub",
        (
            template("evals", "us-docker.pkg.dev/acme-ml/evals/judge@", "us-docker.pkg.dev/other-ml/tools/judge@"),
            Edit("templates/bench.py", "", BENCH),
            stack("    - evals\n", "    - evals\n    - bench\n"),
        ),
        (
            hurts("image-changed", "evals", "`us-docker.pkg.dev/other-ml/tools/judge@"),
            tells("template-added", "bench"),
        ),
        may=("run-cost",),
        accident="a key that an image of strangers sent away",
    ),
    image("Another framework's image", "lora", GPU, "tf-gpu.2-17.py310", "results may differ"),
    image("An image of another Python", "lora", GPU, "pytorch-gpu.2-4.py312", "pytorch-gpu.2-4.py312"),
    image("An older framework's image", "digits", CPU, "sklearn-cpu.1-5"),
    image("An image for GPUs, without any", "digits", CPU, "sklearn-gpu.1-6", "sklearn-gpu.1-6"),
    Case(
        "A newer build of the same prebuilt image",
        (template("lora", "py310:20260901", "py310:20261101"),),
        (tells("executor-image-changed", "lora", "results may differ"),),
    ),
    Case(
        "The judge of this week",
        (template("evals", "1" * 64, "4" * 64),),
        (tells("image-changed", "evals", "results may differ"),),
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
        (hurts("executor-image-changed", "lora", "pytorch-gpu.2-5", "results may differ"),),
        given=(template("lora", f"{GPU}:20260901", f"{GPU}:latest"),),
        never=("that tag moves",),
        accident="an image `latest` that had changed overnight",
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
        "A pipeline's tasks run in another image",
        (Edit(PIPELINE[0].file, "python:3.11", "python:3.12"),),
        (hurts("image-changed", "train", "`python:3.12` instead of `python:3.11`"), hurts("request-changed", "train")),
        given=PIPELINE,
    ),
)

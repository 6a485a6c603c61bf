"""Templates and their kinds that are added, renamed or removed."""

from tests.review.case import BUSY, Case, Edit, Job, World, hurts, more, stack, stops, tells, template
from tests.review.checkout import BASE
from tests.review.edits import LATELY

WIDE = '''"""wide: the search, on machines of its own."""

from slipway.template import Disk, JobTemplate, Package, WorkerPool

TEMPLATE = JobTemplate(
    name="wide",
    summary="the search, on machines of its own",
    code=Package("jobs/lora", "lora.task", "us-docker.pkg.dev/vertex-ai/training/pytorch-gpu.2-4.py310:20260901"),
    worker_pools=(WorkerPool("one", "a3-highgpu-8g", Disk("pd-ssd", 500), args=("--output=${slipway.output}",)),),
    capacity_types=("on-demand",),
    timeout_s=86_400,
)
'''

CASES = (
    Case(
        "A template gets another name, while its jobs run",
        (
            stack("    - evals\n", "    - judge\n"),
            Edit(
                "templates/judge.py",
                new=(BASE / "templates/evals.py")
                .read_text()
                .replace('name="evals"', 'name="judge"')
                .replace("batch", "size")
                .replace('"judge-key"', '"jury-key"'),
            ),
            Edit("templates/evals.py"),
        ),
        (
            stops("template-gone", "evals", "called `judge` from now on", "1 submission by ben"),
            hurts("parameter-renamed", "judge", "`batch`", "called `size`"),
            hurts("arguments-changed", "judge", "`--size=${size}`"),
            stops("secrets-changed", "judge", "`jury-key` instead of `judge-key`"),
        ),
        never=("as no other template does", "pays both", "may run"),
        world=World(jobs=(Job("e1", "evals", "ben", "spot"),)),
    ),
    Case(
        "A template that costs a hundred dollars an hour can be submitted",
        (Edit("templates/wide.py", "", WIDE), stack("    - tune\n", "    - tune\n    - wide\n")),
        (hurts("template-added", "template wide", "a usual run costs $101.14/h on demand"),),
        world=BUSY,
        accident="a bill that nobody had asked for",
    ),
    Case(
        "A template that nobody used is not published any more",
        (stack("    - evals\n", ""),),
        (hurts("template-gone", "template evals", "nobody"),),
    ),
    Case(
        "A template can't be submitted as a custom job any more, as somebody did",
        (template("tune", '("hyperparameter-tuning-job", "custom-job")', '("hyperparameter-tuning-job",)'),),
        (stops("kind-gone", "tune", "custom-job", "cy"),),
        may=("offer-gone",),
        world=LATELY,
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
)

"""Templates and their kinds that are added, renamed or removed."""

from tests.review.case import BUSY, Case, Edit, Job, World, blocks, stack, template, warns
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
            blocks("submission-rejected", "evals"),
            warns("submission-rejected", "judge"),
            warns("submission-changed", "judge"),
        ),
        world=World(jobs=(Job("e1", "evals", "ben", "spot"),)),
    ),
    Case(
        "A template that costs a hundred dollars an hour can be submitted",
        (Edit("templates/wide.py", "", WIDE), stack("    - tune\n", "    - tune\n    - wide\n")),
        (),
        world=BUSY,
    ),
    Case(
        "A template that nobody used is not published any more",
        (stack("    - evals\n", ""),),
        (warns("submission-rejected", "evals"),),
    ),
    Case(
        "A template can't be submitted as a custom job any more, as somebody did",
        (template("tune", '("hyperparameter-tuning-job", "custom-job")', '("hyperparameter-tuning-job",)'),),
        (blocks("submission-rejected", "tune"),),
        may=("submission-rejected", "submission-changed"),
        world=LATELY,
    ),
)

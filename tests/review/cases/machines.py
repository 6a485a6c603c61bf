"""Machines that a template asks for: types, counts, accelerators, disks."""

from tests.review.case import Case, Edit, Job, World, hurts, imports, more, stack, stops, tells, template
from tests.review.edits import DASK_WORKERS, PIPELINE, VARIANTS, WITH_BOTH

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
VISION_TEAM = "vision: { submitters: [user:ada@acme.example]"
VISION_HAS_SMALL = (
    stack(
        "  slipway:policy:\n",
        "  slipway:machines: { small: n1-standard-8, large: n1-standard-16 }\n"
        f"  slipway:teams: {{ {VISION_TEAM}, machines: {{ small: n1-standard-4 }} }} }}\n  slipway:policy:\n",
    ),
    template("evals", '"judge", "n1-standard-8"', '"judge", "small"'),
    imports("evals", "Variant"),
    more("evals", 'variants=(Variant({"suite": "full"}, (WorkerPool("judge", "large", Disk("pd-ssd", 100)),)),)'),
)
SMALLER = (
    VARIANTS
    + """        Variant(
            {"precision": "fp32"},
            (WorkerPool("tuner", "a2-highgpu-2g", Disk("pd-ssd", 200), args=ARGS),),
            ("spot", "on-demand"),
        ),
"""
)
LARGEST = World(jobs=(Job("tune-27b-full", parameters={"model": "27b", "precision": "fp32"}),))

CASES = (
    Case(
        "A size of the model loses its own machines, and runs on those of the other",
        (template("lora", BIG, ""), template("lora", "Parameter, Variant, WorkerPool", "Parameter, WorkerPool")),
        (
            stops("machines-changed", "lora", "(model=27b)", "40 GB of GPU memory instead of 640"),
            hurts("offer-gone", "lora pool h100", "(model=27b)", "the next way costs $2.53/h on Spot"),
            hurts("offer-gone", "lora reservation", "the next way costs $2.53/h on Spot"),
            stops("pool-unused", "h100"),
            stops("reservation-paid", "bought"),
        ),
        may=("run-cost",),
        accident="a model that no longer fitted into the memory",
    ),
    Case(
        "A GPU that nothing may use, two smaller ones in the place of one, and code that sees the first alone",
        (
            template("evals", '"n1-standard-8"', '"a2-highgpu-1g"'),
            template("lora", '"a2-highgpu-1g"', '"g2-standard-24"'),
            template("lora", '{"NCCL_DEBUG": "WARN"}', '{"NCCL_DEBUG": "WARN", "CUDA_VISIBLE_DEVICES": "0"}'),
        ),
        (
            hurts("machines-changed", "evals", "paid for nothing"),
            hurts("run-cost", "evals", "2.51"),
            hurts("machines-changed", "lora", "instead of `a2-highgpu-1g`", "what fits into memory"),
            hurts("environment-changed", "CUDA_VISIBLE_DEVICES", "what their code makes of it"),
        ),
        may=("run-cost",),
        accident="GPUs that were paid for and idle",
    ),
    Case(
        "Jobs take machines of the same CPUs with more memory",
        (template("evals", '"n1-standard-8"', '"n1-highmem-8"'),),
        (tells("machines-changed", "evals", "`n1-highmem-8` instead of `n1-standard-8`"),),
        may=("run-cost",),
    ),
    Case(
        "Machines on demand come first, and those of a team cost another sum",
        (template("evals", '("spot", "on-demand")', '("on-demand", "spot")'),),
        (
            hurts("offer-order", "evals", "(suite=core, not of team vision) try machines on demand before Spot"),
            hurts("offer-order", "evals", "(team vision, suite=core) try machines on demand", "$0.25/h"),
            hurts("offer-order", "evals", "(suite=full, not of team vision) try machines on demand", "$0.90/h"),
        ),
        given=VISION_HAS_SMALL,
        may=("run-cost",),
        never=("A default run of `evals` costs",),
        accident="an order that was measured for one team's jobs alone",
    ),
    Case(
        "A smaller disk for the weights",
        (template("lora", 'Disk("pd-ssd", 200)', 'Disk("pd-ssd", 100)'),),
        (hurts("machines-changed", "lora", "200", "100"),),
        may=("run-cost",),
        accident="a disk that was full in the night",
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
        "Machines besides, as many as a parameter says",
        (template("digits", DASK_WORKERS, DASK_WORKERS + DASK_WORKERS.replace('"workers",', '"servers",')),),
        (hurts("machines-changed", "digits", "take 4 (`workers`) `n1-standard-8` besides"),),
        may=("minimum-below-default", "run-cost"),
        never=("take `$",),
    ),
    Case(
        "One shape of several has a larger disk",
        (template("lora", '"a2-highgpu-1g", Disk("pd-ssd", 200)', '"a2-highgpu-1g", Disk("pd-ssd", 300)'),),
        (tells("machines-changed", "lora", "on Spot with `a2-highgpu-1g`", "have disks of pd-ssd 300 GB"),),
        given=WITH_BOTH,
        may=("run-cost", "quota-short-for-offers"),
    ),
)

"""Machines that a template asks for: types, counts, accelerators, disks."""

from tests.review.case import BUSY, Case, Edit, Job, World, hurts, imports, more, silent, stack, stops, tells, template
from tests.review.edits import ADA, DASK_WORKERS, LARGE_ONES, ON_A100, PIPELINE, SPOT_ALONE, TEAM, VARIANTS, WITH_BOTH

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
KEYED = "  slipway:machines: { small: n1-standard-8 }\n"
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
        "A role more: machines that serve parameters",
        (
            template(
                "digits",
                DASK_WORKERS,
                DASK_WORKERS + '        WorkerPool("servers", "n1-standard-8", DISK, replicas=2),\n',
            ),
        ),
        (hurts("machines-changed", "digits", "servers", "n1-standard-8"), hurts("run-cost", "template digits", "→")),
        may=("minimum-below-default",),
        world=BUSY,
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
        "Jobs take two GPUs instead of one",
        (template("evals", "accelerator_count=1", "accelerator_count=2"),),
        (hurts("machines-changed", "evals", "2 T4 GPUs instead of 1"),),
        may=("run-cost",),
        given=(
            template(
                "evals",
                'Disk("pd-ssd", 100), args',
                'Disk("pd-ssd", 100), accelerator="NVIDIA_TESLA_T4", accelerator_count=1, args',
            ),
        ),
        accident="a quota that was taken by half as many jobs",
    ),
    Case(
        "Jobs on machines of their own get a GPU of which no list has the price",
        (
            template(
                "evals",
                'Disk("pd-ssd", 100), args',
                'Disk("pd-ssd", 100), accelerator="NVIDIA_TESLA_T4", accelerator_count=1, args',
            ),
        ),
        (
            hurts("machines-changed", "evals", "T4"),
            tells("run-cost", "template evals", "$0.22/h and more on Spot", "without the T4s, whose price no list has"),
        ),
        world=BUSY,
        accident="a bill for GPUs that no forecast had",
    ),
    Case(
        "A key for a machine is twice the machine, for every template that names it",
        (stack("small: n1-standard-8", "small: n1-standard-16"),),
        (
            hurts("machines-changed", "evals", "`n1-standard-16` instead of `n1-standard-8`"),
            hurts("run-cost", "template evals", "$0.22/h on Spot → $0.41/h on Spot"),
        ),
        given=(
            stack("  slipway:policy:\n", "  slipway:machines: { small: n1-standard-8 }\n  slipway:policy:\n"),
            template("evals", '"judge", "n1-standard-8"', '"judge", "small"'),
        ),
        world=BUSY,
        accident="a value that many jobs share, edited for one of them",
    ),
    silent(
        "A key for a machine is twice the machine, but not for the team whose label the template has",
        stack("small: n1-standard-8 }", "small: n1-standard-16 }"),
        given=(
            stack(
                "  slipway:policy:\n",
                f"{KEYED}  slipway:teams: {{ {VISION_TEAM}, machines: {{ small: n1-standard-4 }} }} }}\n"
                "  slipway:policy:\n",
            ),
            template("evals", '"judge", "n1-standard-8"', '"judge", "small"'),
            template("evals", "    timeout_s", '    labels={"team": "vision"},\n    timeout_s'),
        ),
    ),
    Case(
        "A key for a machine becomes twice the machine for one team",
        (stack(VISION_TEAM, f"{VISION_TEAM}, machines: {{ small: n1-standard-16 }}"),),
        (
            hurts("machines-changed", "evals", "(team vision)", "`n1-standard-16` instead of `n1-standard-8`"),
            hurts("run-cost", "template evals", "(team vision)", "$0.22/h on Spot → $0.41/h on Spot"),
        ),
        given=(
            stack("  slipway:policy:\n", f"{KEYED}  slipway:teams: {{ {VISION_TEAM} }} }}\n  slipway:policy:\n"),
            template("evals", '"judge", "n1-standard-8"', '"judge", "small"'),
        ),
        world=BUSY,
        accident="a value that many jobs share, edited for one of them",
        never=("A default run",),
    ),
    Case(
        "A key for the machine of one case becomes another, and a team has its own for the other case",
        (stack("large: n1-standard-16", "large: n1-standard-8"),),
        (hurts("machines-changed", "evals", "Jobs of `evals` (suite=full) ask for `n1-standard-8`"),),
        given=VISION_HAS_SMALL,
        may=("run-cost",),
        accident="a value that many jobs share, edited for one of them",
        never=("of team vision) run on", "evals` on"),
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
        "A team's own machine for a key goes, and its jobs run on half of it, as everybody's",
        (stack(", machines: { small: n1-standard-16 }", ""),),
        (hurts("machines-changed", "evals", "(team vision)", "`n1-standard-8` instead of `n1-standard-16`"),),
        given=(
            stack(
                "  slipway:policy:\n",
                f"{KEYED}  slipway:teams: {{ {VISION_TEAM}, machines: {{ small: n1-standard-16 }} }} }}\n"
                "  slipway:policy:\n",
            ),
            template("evals", '"judge", "n1-standard-8"', '"judge", "small"'),
        ),
        world=BUSY,
        accident="an override that somebody took for unused",
    ),
    Case(
        "A template goes to a trainer that shuts out a team with machines of its own",
        (template("evals", 'service_account="evals@acme-ml.iam.gserviceaccount.com"', 'trainer="tuning"'),),
        (stops("account-changed", "evals", f"`{ADA}`"),),
        given=(
            stack(
                "  slipway:policy:\n",
                f"{KEYED}  slipway:teams: {{ {VISION_TEAM}, machines: {{ small: n1-standard-16 }} }} }}\n"
                f"  slipway:trainers: {{ tuning: {{ submitters: [{TEAM}] }} }}\n  slipway:policy:\n",
            ),
            template("evals", '"judge", "n1-standard-8"', '"judge", "small"'),
        ),
        accident="an account that only some could use",
        never=("(team vision)",),
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
        "A template without the GPU that it had",
        (
            template("lora", '"a2-highgpu-1g", Disk("pd-ssd", 200)', '"n1-standard-8", Disk("pd-ssd", 200)'),
            template("lora", '("spot", "flex-start", "on-demand")', '("spot", "on-demand")'),
            template("lora", '    waits={"flex-start": 7200},\n', ""),
        ),
        (hurts("machines-changed", "lora", "n1-standard-8", "without a GPU, code that needs one fails"),),
        may=("offer-gone", "run-cost"),
        world=BUSY,
        accident="a fine-tuning on CPUs, paid until its timeout",
    ),
    Case(
        "Slower disks for one template, a machine more for another",
        (
            template("evals", 'Disk("pd-ssd", 100)', 'Disk("pd-standard", 100)'),
            template("digits", 'DISK, replicas="${workers}"', "DISK, replicas=3"),
            template("digits", '"--seed=${seed}"', '"--seed=${seed}", "--of=${workers}"'),
        ),
        (
            hurts("machines-changed", "evals", "pd-standard 100 GB instead of pd-ssd 100 GB"),
            hurts("machines-changed", "digits", "ask for 3 `n1-standard-8` instead of 4 (`workers`)"),
        ),
        may=("run-cost", "arguments-changed"),
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
        "The machines of a template are others, and so are those of each of its ways to run",
        (template("lora", '"a2-highgpu-1g"', '"a2-ultragpu-1g"'),),
        (
            hurts(
                "machines-changed",
                "lora",
                "(except model=27b, precision=fp32) on Spot, by flex-start and on demand ask for",
            ),
        ),
        given=(
            imports("lora", "Shape"),
            more("lora", f"shapes=({SPOT_ALONE},)"),
            template("lora", '{"model": "27b"}', '{"model": "27b", "precision": "fp32"}'),
        ),
        may=("run-cost",),
        never=("can't run on `a2-highgpu-1g`", "with `a2-ultragpu-1g` run on"),
    ),
    Case(
        "A machine of last resort is a larger one",
        (template("lora", SPOT_ALONE, SPOT_ALONE.replace("24", "48")),),
        (
            hurts("machines-changed", "lora", "on Spot ask for `g2-standard-48` instead of"),
            hurts("run-cost", "lora", "$1.48/h on Spot with `g2-standard-24` → $2.90/h on Spot with `g2-standard-48`"),
        ),
        given=(imports("lora", "Shape"), more("lora", f"shapes=({SPOT_ALONE},)")),
        never=("on Spot run on",),
    ),
    Case(
        "Twice as many machines of half the size",
        (
            template(
                "digits", '"workers", "n1-standard-8", DISK, replicas=4', '"workers", "n1-standard-4", DISK, replicas=8'
            ),
        ),
        (hurts("machines-changed", "digits", "8 `n1-standard-4` instead of 4 `n1-standard-8`"),),
        may=("run-cost", "arguments-changed"),
        given=(
            template("digits", 'replicas="${workers}"', "replicas=4"),
            template("digits", '"--seed=${seed}"', '"--seed=${seed}", "--of=${workers}"'),
            template("digits", '("pool", "spot", "on-demand")', '("spot", "on-demand")'),
        ),
        accident="workers that ran out of memory",
    ),
    Case(
        "Machines besides, as many as a parameter says",
        (template("digits", DASK_WORKERS, DASK_WORKERS + DASK_WORKERS.replace('"workers",', '"servers",')),),
        (hurts("machines-changed", "digits", "take 4 (`workers`) `n1-standard-8` besides"),),
        may=("minimum-below-default", "run-cost"),
        never=("take `$",),
    ),
    Case(
        "A smaller GPU and a larger machine, and more time with each",
        (
            template("lora", '"a2-highgpu-1g"', '"g2-standard-12"'),
            template("lora", "86_400", "172_800"),
            template("evals", '"n1-standard-8"', '"n1-standard-16"'),
        ),
        (
            stops("machines-changed", "lora", "24 GB"),
            hurts("timeout-changed", "lora", "2 days instead of 24 h"),
            hurts("machines-changed", "evals", "ask for `n1-standard-16` instead of `n1-standard-8`"),
        ),
        may=("run-cost",),
        never=("timeout stays", "memory and pace suffice"),
        accident="a model that fitted no more into its GPU's memory",
    ),
    Case(
        "Large models get machines with half the GPU memory, from other sources",
        (template("lora", LARGE_ONES, ON_A100),),
        (
            stops("machines-changed", "lora", "model=27b", "320 GB of GPU memory instead of 640"),
            hurts("offer-gone", "lora pool"),
            hurts("offer-gone", "lora reservation"),
            hurts("offer-gone", "lora spot"),
            stops("pool-unused", "h100/workers"),
            stops("reservation-paid", "bought"),
        ),
        may=("offer-added", "run-cost"),
        accident="models that ran out of memory on the smaller GPUs of a cheaper machine",
    ),
    Case(
        "One shape of several has a larger disk",
        (template("lora", '"a2-highgpu-1g", Disk("pd-ssd", 200)', '"a2-highgpu-1g", Disk("pd-ssd", 300)'),),
        (tells("machines-changed", "lora", "on Spot with `a2-highgpu-1g`", "have disks of pd-ssd 300 GB"),),
        given=WITH_BOTH,
        may=("run-cost", "quota-short-for-offers"),
    ),
)

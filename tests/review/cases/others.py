"""Changes after public commits and incidents, by an author who had not read the review.

An hour of a3-highgpu-8g with 500 GB costs $101.14, one of n1-standard-8 with 100 GB $0.46; a month has 730 hours.
"""

from tests.review.case import Case, Job, World, hurts, silent, stack, stops, tells, template

ROLLOVER_LINE = "      replacement: rollover\n"
TUNING = World(jobs=(Job("tune-27b-x1", parameters={"model": "27b"}),))
MADE_ANEW = ("generations-overlap", "capacity-found-anew")

CASES = (
    Case(
        "The H100 cluster is deleted before its successor is made",
        (
            stack(ROLLOVER_LINE, "      replacement: in-place\n"),
            stack("cost-center: research }", "cost-center: vision }"),
        ),
        (stops("cluster-in-place", "h100", "may not come again", "tune-27b-x1"),),
        may=("cluster-protection", *MADE_ANEW),
        world=TUNING,
        accident="all instances cycled at once",
    ),
    Case(
        "Fine-tuning is not told where its results belong",
        (template("lora", '    "--output=${slipway.output}",\n', ""),),
        (stops("arguments-changed", "lora", "`--output`", "is lost with it"),),
        accident="a path that was missing at the resumption",
    ),
    Case(
        "Fine-tuning moves to A100 of 80 GB without quota for them",
        (template("lora", '"a2-highgpu-1g"', '"a2-ultragpu-1g"'),),
        (
            stops("no-offer-left", "lora", "there is too little quota for it"),
            hurts("quota-short-at-most", "custom_model_training_nvidia_a100_80gb_gpus"),
            hurts("machines-changed", "lora", "ask for `a2-ultragpu-1g` instead of `a2-highgpu-1g`"),
        ),
        may=("run-cost", "offer-unavailable", "quota-short-at-most"),
        world=World(limits={"nvidia_a100_80gb_gpus": 0, "preemptible_nvidia_a100_80gb_gpus": 0}),
        accident="limits of quota that were not in sight",
    ),
    Case(
        "Fine-tuning moves to an L4",
        (template("lora", '"a2-highgpu-1g"', '"g2-standard-12"'),),
        (
            stops("machines-changed", "lora", "24 GB of GPU memory instead of 40"),
            tells("run-cost", "lora", "$2.53/h on Spot → $0.77/h"),
        ),
        accident="24 GB that were not enough",
    ),
    Case(
        "Training runs in an image without CUDA",
        (template("lora", "pytorch-gpu.2-4.py310", "pytorch-cpu.2-4.py310"),),
        (stops("executor-image-changed", "lora", "on machines with GPUs"),),
        accident="an image without CUDA on a GPU",
    ),
    silent("Two weeks are fourteen days", stack("retireWithin: 2w", "retireWithin: 14d"), world=TUNING),
)

"""Changes after public commits and incidents, by an author who had not read the review.

An hour of a3-highgpu-8g with 500 GB costs $101.14, one of n1-standard-8 with 100 GB $0.46; a month has 730 hours.
"""

from tests.review.case import Case, Job, World, blocks, silent, stack, template, warns
from tests.review.edits import ANEW

ROLLOVER_LINE = "      replacement: rollover\n"
TUNING = World(jobs=(Job("tune-27b-x1", parameters={"model": "27b"}),))

CASES = (
    Case(
        "The H100 cluster is deleted before its successor is made",
        (
            stack(ROLLOVER_LINE, "      replacement: in-place\n"),
            stack("cost-center: research }", "cost-center: vision }"),
        ),
        (blocks("cluster-replaced", "h100", "tune-27b-x1"),),
        may=("takes-effect-later", *ANEW),
        world=TUNING,
    ),
    Case(
        "Fine-tuning is not told where its results belong",
        (template("lora", '    "--output=${slipway.output}",\n', ""),),
        (blocks("code-contract-broken", "lora"), warns("submission-changed", "lora")),
    ),
    Case(
        "Fine-tuning moves to A100 of 80 GB without quota for them",
        (template("lora", '"a2-highgpu-1g"', '"a2-ultragpu-1g"'),),
        (blocks("no-offer-left", "lora"),),
        may=("submission-changed", "offer-unavailable", "quota-short-at-most"),
        world=World(limits={"nvidia_a100_80gb_gpus": 0, "preemptible_nvidia_a100_80gb_gpus": 0}),
    ),
    Case(
        "Fine-tuning moves to an L4",
        (template("lora", '"a2-highgpu-1g"', '"g2-standard-12"'),),
        (warns("submission-changed", "lora", "$2.53", "$0.77"),),
    ),
    Case(
        "Training runs in an image without CUDA",
        (template("lora", "pytorch-gpu.2-4.py310", "pytorch-cpu.2-4.py310"),),
        (warns("submission-changed", "lora"), warns("dependency-changed", "lora")),
    ),
    silent("Two weeks are fourteen days", stack("retireWithin: 2w", "retireWithin: 14d"), world=TUNING),
)

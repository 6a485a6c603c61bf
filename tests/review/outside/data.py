"""Buckets and the code of jobs."""

from __future__ import annotations

from tests.review.case import Edit, Job, World, stack
from tests.review.outside.truth import OutsideCase, Source, halts, harms

SPOT = World(jobs=(Job("tune-9b-s2", capacity_type="spot", hours=6),))
WORK = "    workBucket: acme-work\n"

CASES = (
    OutsideCase(
        "Results go to another bucket",
        "buckets",
        (stack(WORK, "    workBucket: acme-results\n"),),
        Source("A bucket gets another name", "https://github.com/pulumi/pulumi-yaml/issues/439", "2023-02-04"),
        (
            halts(
                "Jobs write to acme-results from then on; a bucket can't be renamed, and nothing of acme-work is "
                "copied.",
                "everyone who looks for results",
                "one place for all results",
            ),
            halts(
                "ada's tune-9b-s2 has its checkpoints in acme-work, which must not go while it runs.",
                "ada",
                "six hours of training, if acme-work were deleted",
            ),
        ),
        SPOT,
    ),
    OutsideCase(
        "The name of the bucket is left to the default",
        "buckets",
        (stack(WORK, ""),),
        Source(
            "Files move to a renamed bucket", "https://github.com/wellcomecollection/platform/pull/1580", "2018-02-21"
        ),
        (
            halts(
                "The default is another name, acme-ml-prod-work: results go there, and those of acme-work stay behind.",
                "everyone who looks for results",
                "one place for all results",
            ),
        ),
        SPOT,
    ),
    OutsideCase(
        "The catalog goes to another bucket",
        "buckets",
        (stack("catalogBucket: acme-catalog", "catalogBucket: acme-ml-catalog"),),
        Source(
            "A bucket's name is part of a configuration elsewhere",
            "https://github.com/sighupio/furyctl/issues/239",
            "2023-02-14",
        ),
        (
            halts(
                "Whoever reads the catalog in acme-catalog, nightly's scripts too, doesn't see what is deployed from "
                "then on.",
                "everyone who submits",
                "the catalog, until they know the new name",
            ),
        ),
    ),
    OutsideCase(
        "Fine-tuning saves a checkpoint a hundred times less often",
        "code",
        (Edit("jobs/lora/task.py", "EVERY = 20 ", "EVERY = 2000 "),),
        Source(
            "Preemption loses work since the last checkpoint",
            "https://github.com/ray-project/ray/issues/63968",
            "2026-06-09",
        ),
        (
            halts(
                "A new lora job that loses its Spot machine loses up to 2000 steps instead of 20.",
                "everyone who submits lora",
                "more work lost",
            ),
        ),
    ),
    OutsideCase(
        "Fine-tuning saves a checkpoint after each step",
        "code",
        (Edit("jobs/lora/task.py", "EVERY = 20 ", "EVERY = 1 "),),
        Source("A save after every step", "https://github.com/NVIDIA-NeMo/Speech/issues/14718", "2025-09-11"),
        (
            harms(
                "New lora jobs write twenty times as many checkpoints: they take longer and fill acme-work.",
                "everyone who submits lora",
                "time and storage",
            ),
        ),
    ),
    OutsideCase(
        "Fine-tuning takes another PyTorch",
        "code",
        (Edit("jobs/lora/requirements.txt", "torch==2.4.1", "torch==2.5.1"),),
        Source("An upgrade needs a way around a bug", "https://github.com/Nerogar/OneTrainer/pull/1320", "2026-02-15"),
        (
            harms(
                "New lora jobs install torch 2.5.1 over the image's 2.4: a longer start, and numbers that may differ "
                "from those of before.",
                "everyone who submits lora",
                "runs that compare with earlier ones",
            ),
        ),
    ),
    OutsideCase(
        "Fine-tuning takes whatever PyTorch is the newest",
        "code",
        (Edit("jobs/lora/requirements.txt", "torch==2.4.1", "torch"),),
        Source("Versions that are not locked", "https://github.com/datastack-net/dockerized/issues/37", "2022-04-11"),
        (
            harms(
                "torch is no longer pinned: two equal lora jobs may run with different versions of it.",
                "everyone who submits lora",
                "runs that can be repeated",
            ),
        ),
    ),
    OutsideCase(
        "The entry of the search is renamed in one place",
        "code",
        (Edit("jobs/digits/task.py", "def main() -> None:", "def run() -> None:"),),
        Source("A main that is not defined", "https://github.com/xuebinqin/U-2-Net/pull/32", "2020-05-27"),
        (
            halts(
                "The module still calls main(), which is gone: every new digits job fails with a NameError.",
                "everyone who submits digits",
                "their jobs",
            ),
        ),
    ),
)

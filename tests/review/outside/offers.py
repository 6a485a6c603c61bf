"""Where jobs get their machines: capacity types, machines, images, reservations. An hour of lora's a2-highgpu-1g with
200 GB costs $2.53 on Spot and $4.28 on demand; an a3-highgpu-8g with 500 GB $63.92 on Spot."""

from __future__ import annotations

from tests.review.case import Job, World, stack, template
from tests.review.outside.truth import OutsideCase, Source, halts, harms, tells

SMALL = '("spot", "flex-start", "on-demand")'
LARGE = '("pool", "reservation", "spot")'
SPREAD = '("pool", "spot", "on-demand")'
A100 = '"a2-highgpu-1g"'
NIGHT = World(
    jobs=(
        Job("evals-n1", "evals", "nightly", "spot", state="SUCCEEDED", hours=32),
        Job("evals-n2", "evals", "nightly", "spot", state="SUCCEEDED", hours=8),
    )
)

CASES = (
    OutsideCase(
        "Fine-tuning no longer uses Spot",
        "capacity",
        (template("lora", SMALL, '("flex-start", "on-demand")'),),
        Source("On demand unless Spot is asked for", "https://github.com/dstackai/dstack/issues/1650", "2024-09-02"),
        (
            harms(
                "lora with model 9b costs up to $4.28 an hour instead of $2.53, and may wait two hours for flex-start.",
                "everyone who submits lora with model 9b",
                "up to 69 per cent more money, and time",
            ),
        ),
        World(jobs=(Job("tune-9b-s2", capacity_type="spot", hours=6),)),
    ),
    OutsideCase(
        "The search prefers Spot to the pool that is paid for",
        "capacity",
        (template("digits", SPREAD, '("spot", "pool", "on-demand")'),),
        Source("Spot machines by default", "https://github.com/inductiva/inductiva/pull/1522", "2024-07-10"),
        (
            harms(
                "A digits job with four workers costs $0.99 an hour on Spot; on cpu, which is paid for anyway, it "
                "costs nothing more.",
                "who pays for digits",
                "$0.99 an hour for each job while cpu is idle",
            ),
            harms(
                "digits jobs wait for machines of their own and may be preempted.",
                "everyone who submits digits",
                "the quick start on the pool",
            ),
        ),
    ),
    OutsideCase(
        "The large model no longer uses the pool",
        "capacity",
        (template("lora", LARGE, '("reservation", "spot")'),),
        Source(
            "GPU nodes that idle",
            "https://github.com/ministryofjustice/analytical-platform/issues/4402",
            "2024-05-23",
        ),
        (
            halts(
                "Nothing else can use h100: it costs $202 an hour, about $147,700 a month, and no template has it.",
                "who pays for h100",
                "about $147,700 a month for nothing",
            ),
            tells("ada's tune-27b-x1 goes on.", "ada", "nothing"),
        ),
        World(jobs=(Job("tune-27b-x1", parameters={"model": "27b"}),)),
    ),
    OutsideCase(
        "The large model no longer uses what is reserved",
        "capacity",
        (template("lora", LARGE, '("pool", "spot")'),),
        Source(
            "Reservations that are there to be used", "https://github.com/skypilot-org/skypilot/pull/2352", "2023-08-08"
        ),
        (
            halts(
                "When h100 is full, jobs go to Spot at $63.92 an hour, while the two reserved a3-highgpu-8g, which are "
                "paid for in any case, stay idle.",
                "everyone who submits lora with model 27b, and who pays for the reservation",
                "machines that nobody uses",
            ),
        ),
    ),
    OutsideCase(
        "The reservation is looked for in another zone",
        "capacity",
        (stack("zones/us-central1-a/reservations/bought", "zones/us-central1-c/reservations/bought"),),
        Source(
            "Zone and machine that don't go together", "https://github.com/fastai/course-v3/issues/493", "2020-04-07"
        ),
        (
            halts(
                "lora with model 27b asks for a reservation bought in us-central1-c; unless there is one too, such "
                "jobs fail.",
                "everyone who submits lora with model 27b to the reservation",
                "the reserved machines",
            ),
        ),
    ),
    OutsideCase(
        "The reservation holds machines of another type",
        "capacity",
        (stack("machine: a3-highgpu-8g, machines: 2", "machine: a3-megagpu-8g, machines: 2"),),
        Source(
            "A3 machine types, and where they are",
            "https://github.com/GoogleCloudPlatform/cluster-toolkit/issues/4787",
            "2025-10-24",
        ),
        (
            halts(
                "lora with model 27b needs a3-highgpu-8g, which the reservation then doesn't hold: that offer is "
                "refused.",
                "everyone who submits lora with model 27b",
                "the reserved machines, or the deployment",
            ),
        ),
    ),
    OutsideCase(
        "Fine-tuning waits ten minutes for flex-start, not two hours",
        "capacity",
        (template("lora", '{"flex-start": 7200}', '{"flex-start": 600}'),),
        Source("Time in the queue counts", "https://github.com/skypilot-org/skypilot/pull/10252", "2026-07-27"),
        (
            harms(
                "A lora job that flex-start hasn't started after ten minutes goes on demand, at $4.28 an hour.",
                "everyone who submits lora with model 9b",
                "money, sooner than before",
            ),
        ),
    ),
    OutsideCase(
        "Fine-tuning moves to A100 of 80 GB without quota for them",
        "quota",
        (template("lora", A100, '"a2-ultragpu-1g"'),),
        Source(
            "Limits of quota that were not in sight",
            "https://github.com/google-deepmind/xmanager/issues/29",
            "2022-08-03",
        ),
        (
            halts(
                "The project's quota for A100 of 80 GB is 0, preemptible and not: lora with model 9b can't start "
                "anywhere.",
                "everyone who submits lora with model 9b",
                "the template",
            ),
        ),
        World(limits={"nvidia_a100_80gb_gpus": 0, "preemptible_nvidia_a100_80gb_gpus": 0}),
    ),
    OutsideCase(
        "Fine-tuning moves to A100 of 80 GB",
        "templates",
        (template("lora", A100, '"a2-ultragpu-1g"'),),
        Source("An A100 of 40 GB is too small", "https://github.com/yafo-ai/y-trainer/issues/11", "2025-11-25"),
        (
            harms(
                "lora with model 9b costs $3.57 an hour on Spot, not $2.53, and $5.84 on demand, not $4.28.",
                "who pays for lora",
                "about 40 per cent more",
            ),
            tells("Each job has a GPU with 80 GB instead of 40.", "everyone who submits lora with model 9b", "memory"),
        ),
    ),
    OutsideCase(
        "Fine-tuning moves to an L4",
        "templates",
        (template("lora", A100, '"g2-standard-12"'),),
        Source(
            "24 GB are not enough",
            "https://github.com/ayulockin/neurips-llm-efficiency-challenge/issues/5",
            "2023-09-05",
        ),
        (
            halts(
                "9b has some 18 GB of weights in bf16 and 36 in fp32, an L4 has 24 GB: training runs out of memory.",
                "everyone who submits lora with model 9b",
                "their jobs fail",
            ),
            tells("An hour costs $0.77 on Spot instead of $2.53.", "who pays for lora", "money saved"),
        ),
    ),
    OutsideCase(
        "The workers of the search become E2 machines",
        "templates",
        (template("digits", '"workers", "n1-standard-8"', '"workers", "e2-standard-8"'),),
        Source(
            "Another machine type, not in place",
            "https://github.com/GoogleCloudPlatform/magic-modules/pull/9575",
            "2023-12-03",
        ),
        (
            halts(
                "No pool has e2-standard-8: digits can't go to cpu.",
                "everyone who submits digits",
                "the pool, or the deployment",
            ),
        ),
    ),
    OutsideCase(
        "Studies prefer Spot, whose quota is one CPU",
        "quota",
        (template("tune", "    timeout_s=3600,\n", '    timeout_s=3600,\n    capacity_types=("spot", "pool"),\n'),),
        Source(
            "A quota of CPUs stops the job",
            "https://github.com/GoogleCloudPlatform/vertex-ai-samples/issues/3479",
            "2024-08-23",
        ),
        (
            harms(
                "Two trials at once need 16 preemptible CPUs and the quota is 1: no study can start on Spot.",
                "everyone who submits tune",
                "an offer that can't be used",
            ),
        ),
        World(limits={"preemptible_cpus": 1}),
    ),
    OutsideCase(
        "Training runs in whatever image is the latest",
        "templates",
        (template("lora", "pytorch-gpu.2-4.py310:20260901", "pytorch-gpu.2-4.py310:latest"),),
        Source(
            "A tag that means something else each week",
            "https://github.com/human-pangenomics/hpp_production_workflows/issues/5",
            "2022-01-20",
        ),
        (
            harms(
                "New lora jobs run in the image that latest names on that day; what they run can change without a "
                "review.",
                "everyone who submits lora",
                "runs that can be repeated",
            ),
        ),
    ),
    OutsideCase(
        "Training runs in an image without CUDA",
        "templates",
        (template("lora", "pytorch-gpu.2-4.py310", "pytorch-cpu.2-4.py310"),),
        Source("An image without CUDA on a GPU", "https://github.com/pytorch/serve/issues/640", "2020-08-24"),
        (
            halts(
                "lora's code runs in an image for CPUs on machines with GPUs, which are paid for and hardly used, if "
                "training works at all.",
                "everyone who submits lora",
                "the GPUs they pay for",
            ),
        ),
    ),
    OutsideCase(
        "The judge is another image",
        "templates",
        (template("evals", "1" * 64, "2" * 64),),
        Source("All images by digest", "https://github.com/harbor-framework/terminal-bench/pull/1824", "2026-08-26"),
        (
            tells(
                "New evals jobs, nightly's among them, run another build of the judge; scores may not compare with "
                "those of before.",
                "everyone who submits evals, nightly too",
                "another judge",
            ),
        ),
        NIGHT,
    ),
    OutsideCase(
        "The judge is no longer pinned",
        "templates",
        (template("evals", "judge@sha256:" + "1" * 64, "judge:latest"),),
        Source("latest was overwritten", "https://github.com/mafreitas/tdf2mzml/issues/26", "2026-04-22"),
        (
            halts(
                "Which judge runs is settled by whoever pushes latest, not by a review; a container has to be pinned "
                "by its digest.",
                "everyone who submits evals, nightly too",
                "knowing what runs, or the deployment",
            ),
        ),
        NIGHT,
    ),
)

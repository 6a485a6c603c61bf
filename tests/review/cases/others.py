"""Changes after public commits and incidents, by an author who had not read the review.

An hour of a3-highgpu-8g with 500 GB costs $101.14, one of n1-standard-8 with 100 GB $0.46; a month has 730 hours.
"""

from tests.review.case import BUSY, Case, Job, World, hurts, silent, stack, stops, tells, template

ROLLOVER_LINE = "      replacement: rollover\n"
H100_ROW = "replicas: { min: 2, max: 4 } }"
CPU = """    cpu:
      displayName: cpu of research
      pools:
        head: { machine: n1-standard-4, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 2 }
        workers: { machine: n1-standard-8, disk: { type: pd-ssd, sizeGb: 100 }, replicas: { min: 4, max: 16 } }
      retireWithin: 7d
      labels: { team: platform }
"""
CPU_POOLS = "".join(CPU.splitlines(keepends=True)[3:5]).replace("workers", "cpus").rstrip("\n")
LAST = "      labels: { team: platform }\n"
REGIONS = "      regions: [us-central1]\n"
TUNING = World(jobs=(Job("tune-27b-x1", parameters={"model": "27b"}),))
SEARCHING = World(jobs=(Job("digits-k7", "digits", "grace", hours=0.5),))
MADE_ANEW = ("generations-overlap", "capacity-found-anew")

CASES = (
    Case(
        "The H100 pool may grow to sixteen machines with quota for four",
        (stack(H100_ROW, "replicas: { min: 2, max: 16 } }"),),
        (
            hurts("quota-short-at-most", "h100_gpus", "can't grow beyond 4 of 16 machines"),
            tells("most-cost", "stack", "a month more"),
        ),
        may=("cluster-new-generation", *MADE_ANEW),
        world=World(limits={"nvidia_h100_gpus": 32}),
        accident="a limit of nodes raised beyond the quota",
    ),
    Case(
        "The H100 machines get a larger disk, and the template follows",
        (
            stack("disk: { type: pd-ssd, sizeGb: 500 }", "disk: { type: pd-ssd, sizeGb: 1000 }"),
            template("lora", 'Disk("pd-ssd", 500)', 'Disk("pd-ssd", 1000)'),
        ),
        (
            hurts("cluster-new-generation", "h100", "500 → 1000"),
            hurts("generations-overlap", "h100", "$202.28/h"),
            tells("machines-changed", "lora", "1000 GB"),
        ),
        may=MADE_ANEW,
        world=TUNING,
        accident="disks that forced new node pools",
    ),
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
        "A cluster of A100 machines for January, that no template asks for",
        (
            stack(
                LAST,
                LAST + "    a100:\n"
                '      from: "2027-01-10"\n'
                "      pools:\n"
                "        workers: { machine: a2-highgpu-1g, disk: { type: pd-ssd, sizeGb: 200 }, replicas: 2 }\n",
            ),
        ),
        (hurts("pool-unused", "a100/workers", "$8.56/h"), tells("season-changed", "a100", "2027-01-10")),
        accident="clusters that outlived their use",
    ),
    Case(
        "The CPU pools move into the H100 cluster, and their own goes",
        (stack(H100_ROW, f"{H100_ROW}\n{CPU_POOLS}"), stack(CPU, "")),
        (hurts("cluster-new-generation", "h100", "pools.head"), hurts("cluster-retires", "cpu")),
        may=(*MADE_ANEW, "offer-gone", "no-offer-left"),
        world=BUSY,
    ),
    Case(
        "The H100 cluster is given up after an idle hour, and nobody used it today",
        (stack("      retireWithin: 2w\n", "      retireWithin: 2w\n      idleLimit: 1h\n"),),
        (
            stops("cluster-deleted", "h100", "may not come again"),
            hurts("offer-unavailable", "lora pool h100", "is deleted, as it had no job for its `idleLimit`"),
            tells("idle-cost", "stack", "$147,666 a month"),
        ),
        may=("season-changed",),
        world=World(jobs=(Job("tune-27b-x1", parameters={"model": "27b"}, state="SUCCEEDED", hours=30),)),
        accident="a time to live for idle clusters",
    ),
    Case(
        "A broken H100 cluster is made afresh",
        (stack(ROLLOVER_LINE, ROLLOVER_LINE + "      generation: 2\n"),),
        (tells("cluster-new-generation", "h100", "the old one can't be used any more", "$202.28/h"),),
        world=World(states={"h100": "ERROR"}),
        accident="a cluster made in an error state",
    ),
    Case(
        "A contractor of another company may submit",
        (
            stack(
                "      - user:ada@acme.example\n",
                "      - user:ada@acme.example\n      - user:kim@contractor.example\n",
            ),
        ),
        (hurts("submitter-added", "kim@contractor.example", "of a domain new here"),),
        accident="sharing that was to be restricted to a domain",
    ),
    Case(
        "Fine-tuning uses the larger model by default",
        (template("lora", 'Parameter("model", str, default="9b"', 'Parameter("model", str, default="27b"'),),
        (stops("default-changed", "lora parameter model", "a default run takes `a3-highgpu-8g`"),),
        world=World(jobs=(Job("tune-g4", user="grace", capacity_type="spot", state="SUCCEEDED", hours=20),)),
        accident="defaults that started a hundred trials",
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
    Case(
        "All pools at their maximum must fit into the quota, and do not",
        (stack("mode: enforce,", "mode: enforce, strict: true,"),),
        (stops("preview-failed", "", "24 can be had: at most 3 of 4"), tells("quota-check-stricter", "strict")),
        world=World(limits={"nvidia_h100_gpus": 24}),
        accident="no quota for what was asked",
    ),
    Case(
        "Images must be pinned by digest",
        (stack(REGIONS, REGIONS + "      imagesByDigest: true\n"),),
        tuple(stops("policy-violated", f"imagesByDigest template {name}") for name in ("lora", "digits", "tune")),
        may=("preview-failed",),
        accident="a tag that is not a digest",
    ),
    silent(
        "The region stands in quotes", stack("gcp:region: us-central1", 'gcp:region: "us-central1"'), world=SEARCHING
    ),
    silent("Two weeks are fourteen days", stack("retireWithin: 2w", "retireWithin: 14d"), world=TUNING),
)

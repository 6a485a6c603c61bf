"""Pools: machines that are given back, minimum and maximum, pools that no template uses."""

from tests.review.case import BUSY, Case, Job, World, hurts, stack, stops, tells, template
from tests.review.edits import ANEW, NIGHT_JOB, NOT_ON_THE_POOL, WORKERS

DISK = (
    "        workers: { machine: a3-highgpu-8g, disk: { type: pd-ssd, sizeGb: 500 }, replicas: { min: 2, max: 4 } }\n"
)
SPARE = "        spare: { machine: a2-highgpu-1g, replicas: { min: 1, max: 2 } }\n"
HEAD = "        head: { machine: n1-standard-4, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 2 }\n"
L4 = stack("    cpu:\n", "    l4:\n      pools:\n        workers: { machine: g2-standard-12, replicas: 1 }\n    cpu:\n")
UP_TO_EIGHT = template("tune", "default=2, min=1, max=4", "default=2, min=1, max=8")
SIX = stack(WORKERS, "replicas: { min: 4, max: 6 }")
LARGE_STUDY = World(jobs=(Job("tune-all", "tune", parameters={"parallel": 8}), NIGHT_JOB))
TWELVE = World(jobs=(Job("digits-night", "digits", "nightly", parameters={"workers": 12}),))
MORE_WORKERS = "n1-standard-8, disk: { type: pd-ssd, sizeGb: 100 }, replicas: { min: 4, max: 16 }"

CASES = (
    Case(
        "A minimum that a usual study was above already falls further",
        (stack(WORKERS, "replicas: { min: 1, max: 16 }"),),
        (
            hurts("minimum-below-default", "cpu/workers", "`digits` and `tune` need 4 or 6 machines"),
            hurts("capacity-given-back", "cpu/workers", "3 `n1-standard-8`"),
        ),
        may=("cluster-new-generation", *ANEW),
        given=(template("tune", "default=2, min=1, max=4", "default=6, min=1, max=8"),),
    ),
    Case(
        "A maximum falls below the trials at once of a study that runs and has no other way",
        (SIX,),
        (
            stops(
                "capacity-lower-maximum", "cpu/workers", "`digits` and `tune`", "one like `tune-all` (ada) is refused"
            ),
        ),
        may=ANEW,
        given=(UP_TO_EIGHT,),
        world=LARGE_STUDY,
        accident="a pool made smaller than a study that somebody sends each week",
    ),
    Case(
        "A fixed pool loses one of its two machines while a job has both of its pools",
        (stack("sizeGb: 100 }, replicas: 2 }", "sizeGb: 100 }, replicas: 1 }"),),
        (
            hurts("capacity-given-back", "cpu/head", "1 `n1-standard-4`", "keeps 1 instead of 2 machines"),
            tells("jobs-finish-on-old", "cpu", "digits-night", "nightly"),
        ),
        may=ANEW,
        world=BUSY,
    ),
    Case(
        "A pool of A100 goes that no template fits any more",
        (stack(SPARE, ""),),
        (
            stops("pool-gone", "h100/spare", "gives back 1 `a2-highgpu-1g`", "1–2 a2-highgpu-1g"),
            hurts("cluster-new-generation", "cluster h100", "pools"),
        ),
        may=ANEW,
        given=(stack(DISK, DISK + SPARE),),
        accident="a pool tidied away that could not be had again",
    ),
    Case(
        "A pool of small machines goes with the templates that it was for",
        (stack(HEAD, ""), template("digits", '("pool", "spot", "on-demand")', '("spot", "on-demand")')),
        (hurts("pool-gone", "cpu/head", "gives back 2 `n1-standard-4`"), hurts("offer-gone", "digits", "pool")),
        may=(*ANEW, "run-cost", "pool-unused"),
    ),
    Case(
        "A pool of GPUs takes machines with two of them, which are found before the old ones go",
        (stack("machine: g2-standard-12, replicas", "machine: g2-standard-24, replicas"),),
        (hurts("capacity-given-back", "l4/workers", "`g2-standard-24` instead of `g2-standard-12`"),),
        given=(L4,),
        may=("cluster-new-generation", "capacity-found-anew", "generations-overlap", "idle-cost", "most-cost"),
        accident="an approval for machines that nobody lost",
    ),
    Case(
        "A cluster of machines whose price no list has",
        (
            stack(
                "    cpu:\n",
                "    b200:\n      pools:\n        workers: { machine: a4-highgpu-8g, "
                "replicas: { min: 1, max: 2 } }\n      labels: { team: platform }\n    cpu:\n",
            ),
        ),
        (
            tells("idle-cost", "", "no price list"),
            tells("cluster-created", "b200", "price"),
            hurts("pool-unused", "b200/workers"),
        ),
        may=("quota-unknown", "capacity-found-anew"),
    ),
    Case(
        "A usual job of all machines of a pool that another template has alone",
        (template("digits", "default=4, min=1, max=16", "default=16, min=1, max=16"),),
        (
            hurts("minimum-below-default", "cpu/workers", "`digits`"),
            hurts("default-changed", "digits", "`16` instead of `4`"),
        ),
        may=("run-cost",),
        world=BUSY,
        accident="a default that gave one person the whole pool",
    ),
    Case(
        "A pool of a fixed size, below what the nightly run takes",
        (stack(WORKERS, "replicas: 8"),),
        (
            hurts("capacity-lower-maximum", "cpu/workers", "Jobs of `digits` that take more than"),
            tells("capacity-raised", "cpu/workers", "higher minimum", "while the cluster is there"),
        ),
        may=ANEW,
        given=(stack("      displayName: cpu of research\n", "      idleLimit: 6h\n"),),
        world=TWELVE,
        accident="a pool made smaller than what its nightly run took",
    ),
    Case(
        "The H100 machines are given to another family, of which there are none",
        (
            stack("machine: a3-highgpu-8g, disk: { type: pd-ssd, sizeGb: 500 }", "machine: a3-megagpu-8g"),
            NOT_ON_THE_POOL,
        ),
        (
            stops("capacity-given-back | pool-gone", "h100/workers", "2 `a3-highgpu-8g`"),
            hurts("cluster-new-generation", "h100", "machine"),
            hurts("offer-gone", "lora", "27b"),
            stops("pool-unused", "h100/workers", "its price is not known"),
            tells("jobs-finish-on-old", "h100", "tune-27b-x1"),
        ),
        may=(*ANEW, "run-cost", "idle-cost", "price-unknown", "quota-short-in-overlap"),
        world=BUSY,
        accident="a machine type changed for one that was sold out",
    ),
    Case(
        "Fewer and larger machines, of which the nightly search asks for more than there can be",
        (
            stack(
                MORE_WORKERS,
                MORE_WORKERS.replace("standard-8", "standard-16").replace("min: 4, max: 16", "min: 2, max: 8"),
            ),
            template("digits", '"workers", "n1-standard-8"', '"workers", "n1-standard-16"'),
            template("tune", '"trial", "n1-standard-8"', '"trial", "n1-standard-16"'),
        ),
        (
            hurts(
                "capacity-lower-maximum",
                "cpu/workers",
                "Jobs of `digits` that take more than 8 machines of `cpu/workers` don't fit",
            ),
            hurts("machines-changed", "digits", "n1-standard-16"),
        ),
        may=(*ANEW, "capacity-given-back", "machines-changed", "run-cost", "minimum-below-default"),
        world=World(jobs=(NIGHT_JOB,)),
        accident="a schedule that asked for more than its pool",
    ),
)

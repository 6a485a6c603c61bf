"""Pools: machines that are given back, minimum and maximum, pools that no template uses."""

from tests.review.case import BUSY, Case, Job, World, blocks, notes, stack, template, warns
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
        (warns("capacity-changed", "cpu", "n1-standard-8"),),
        may=("cluster-replaced", *ANEW),
        given=(template("tune", "default=2, min=1, max=4", "default=6, min=1, max=8"),),
    ),
    Case(
        "A maximum falls below the trials at once of a study that runs and has no other way",
        (SIX,),
        (
            blocks("submission-rejected", "tune"),
            warns("capacity-changed", "cpu"),
            warns("submission-changed", "digits"),
        ),
        may=ANEW,
        given=(UP_TO_EIGHT,),
        world=LARGE_STUDY,
    ),
    Case(
        "A fixed pool loses one of its two machines while a job has both of its pools",
        (stack("sizeGb: 100 }, replicas: 2 }", "sizeGb: 100 }, replicas: 1 }"),),
        (warns("capacity-changed", "cpu", "n1-standard-4"), notes("cluster-replaced | cluster-deleted", "cpu")),
        may=ANEW,
        world=BUSY,
    ),
    Case(
        "A pool of A100 goes that no template fits any more",
        (stack(SPARE, ""),),
        (blocks("capacity-changed", "h100", "a2-highgpu-1g"), warns("cluster-replaced", "h100")),
        may=ANEW,
        given=(stack(DISK, DISK + SPARE),),
    ),
    Case(
        "A pool of small machines goes with the templates that it was for",
        (stack(HEAD, ""), template("digits", '("pool", "spot", "on-demand")', '("spot", "on-demand")')),
        (
            warns("capacity-changed", "cpu", "n1-standard-4"),
            warns("submission-rejected | submission-changed", "digits"),
        ),
        may=(*ANEW, "submission-changed", "stack-warning"),
    ),
    Case(
        "A pool of GPUs takes machines with two of them, which are found before the old ones go",
        (stack("machine: g2-standard-12, replicas", "machine: g2-standard-24, replicas"),),
        (warns("capacity-changed", "l4", "g2-standard-12"),),
        given=(L4,),
        may=("cluster-replaced", "idle-cost", "most-cost"),
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
        (notes("idle-cost"), notes("cluster-created", "b200")),
        may=("quota-unknown", "cluster-replaced"),
    ),
    Case(
        "A usual job of all machines of a pool that another template has alone",
        (template("digits", "default=4, min=1, max=16", "default=16, min=1, max=16"),),
        (warns("submission-changed", "digits"),),
        may=("submission-changed",),
        world=BUSY,
    ),
    Case(
        "A pool of a fixed size, below what the nightly run takes",
        (stack(WORKERS, "replicas: 8"),),
        (warns("capacity-changed", "cpu"), warns("submission-changed", "digits")),
        may=ANEW,
        given=(stack("      displayName: cpu of research\n", "      idleLimit: 6h\n"),),
        world=TWELVE,
    ),
    Case(
        "The H100 machines are given to another family, of which there are none",
        (
            stack("machine: a3-highgpu-8g, disk: { type: pd-ssd, sizeGb: 500 }", "machine: a3-megagpu-8g"),
            NOT_ON_THE_POOL,
        ),
        (
            blocks("capacity-changed", "h100", "a3-highgpu-8g"),
            warns("submission-changed", "lora"),
            warns("cluster-replaced", "h100", "tune-27b-x1"),
            blocks("stack-warning", "h100"),
        ),
        may=(*ANEW, "submission-changed", "idle-cost", "quota-short-now"),
        world=BUSY,
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
        (warns("capacity-changed", "cpu"), warns("submission-changed", "digits", "n1-standard-16")),
        may=(*ANEW, "capacity-changed", "submission-changed"),
        world=World(jobs=(NIGHT_JOB,)),
    ),
)

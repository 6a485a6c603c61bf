"""Quota that does not fit now, at most, or during two generations, and whether more can be had."""

from tests.review.case import BUSY, Case, Job, World, hurts, stack, stops, tells
from tests.review.edits import ANEW, GPUS, H100, LABELS, WORKERS, h100_limit

REQUEST = stack("mode: enforce", "mode: request")
A100 = (
    "    a100:\n      pools:\n"
    "        workers: { machine: a2-highgpu-1g, disk: { sizeGb: 200 }, replicas: { min: 4, max: 8 } }\n"
    "      labels: { team: platform }\n    cpu:\n"
)
H100_MIN = "slipway:persistentResources.h100.pools.workers.replicas.min"


CASES = (
    Case(
        "Quota is only warned of, and there is not enough for the new cluster",
        (stack("sizeGb: 500 }, replicas: { min: 2, max: 4 }", "sizeGb: 500 }, replicas: { min: 3, max: 4 }"),),
        (
            stops("quota-short-allowed", "quota", "lacks 16", "it may fail", H100_MIN),
            hurts("cluster-new-generation", "h100", "can't be made", "takes jobs until the new one is there"),
            hurts("idle-cost", "stack"),
        ),
        may=("quota-short-at-most", "quota-short-in-overlap", *ANEW),
        world=World(
            jobs=(*BUSY.jobs, Job("reserved", capacity_type="reservation", parameters={"model": "27b"})),
            limits={"nvidia_h100_gpus": 24},
        ),
        given=(stack("mode: enforce", "mode: warn"),),
        never=("refused", "may finish on the old", "is deleted when", "`max` at 3"),
    ),
    Case(
        "More machines than the quota has are always there, and the rest is asked for",
        (stack(H100, "replicas: { min: 4, max: 6 }"),),
        (hurts("quota-short-now", "nvidia_h100_gpus", "made once Google grants enough"),),
        may=(*ANEW, "quota-requested", "quota-short-at-most", "idle-cost"),
        given=(REQUEST,),
        world=World(limits={"nvidia_h100_gpus": 24}),
        accident="quota exhausted in the midst of a deployment",
    ),
    Case(
        "Pools at their maximum have to fit from now on",
        (stack("slipway:quota: { mode: enforce,", "slipway:quota: { mode: enforce, strict: true,"),),
        (tells("quota-check-stricter", "quota", "strict"),),
    ),
    Case(
        "Both generations at once do not fit, though each does",
        (stack(LABELS, "labels: { team: platform }"),),
        (stops("quota-short-in-overlap | quota-short-now", GPUS),),
        may=(*ANEW, "preview-failed", "quota-short-at-most"),
        world=h100_limit(24),
        accident="a rollover that waited for quota for ever",
    ),
    Case(
        "A new pool always has the only machine for which there is quota, which jobs took on demand",
        (stack("    cpu:\n", A100.replace("{ min: 4, max: 8 }", "1")),),
        (
            hurts(
                "quota-short-at-most",
                "nvidia_a100_gpus",
                "`lora on-demand (model=9b)` lacks quota",
                "they leave 0 of 1",
            ),
            hurts("pool-unused", "a100/workers"),
        ),
        world=World(limits={"nvidia_a100_gpus": 1}),
        accident="a reserved machine that everybody else had lived on",
    ),
    Case(
        "Disks are the shortest: nobody had counted them",
        (stack(WORKERS, "replicas: { min: 12, max: 16 }"),),
        (stops("quota-short-now | quota-short-in-overlap", "pd_ssd"),),
        may=(*ANEW, "preview-failed", "quota-short-at-most"),
        world=World(limits={"pd_ssd": 2500}),
        accident="a quota of disks, not of machines",
    ),
    Case(
        "Lack of quota is told, and stops nothing any more",
        (stack("mode: enforce", "mode: warn"),),
        (hurts("quota-check-weaker", "quota", "enforce", "warn"),),
        world=BUSY,
        accident="a check turned into a warning",
    ),
    Case(
        "All ways to run have to fit from now on",
        (stack("slipway:quota: { mode: enforce,", "slipway:quota: { mode: enforce, strict: true,"),),
        (tells("quota-check-stricter", "quota", "or a template lacks a capacity type"),),
        world=BUSY,
    ),
    Case(
        "Pools at their maximum need not fit any more",
        (stack("slipway:quota: { mode: enforce, strict: true,", "slipway:quota: { mode: enforce,"),),
        (hurts("quota-check-weaker", "quota", "strict"),),
        given=(stack("slipway:quota: { mode: enforce,", "slipway:quota: { mode: enforce, strict: true,"),),
        world=BUSY,
    ),
)

"""Quota that does not fit now, at most, or during two generations, and whether more can be had."""

from tests.review.case import BUSY, Case, Job, World, blocks, stack, warns
from tests.review.edits import ANEW, GPUS, H100, LABELS, WORKERS, h100_limit

REQUEST = stack("mode: enforce", "mode: request")
A100 = (
    "    a100:\n      pools:\n"
    "        workers: { machine: a2-highgpu-1g, disk: { sizeGb: 200 }, replicas: { min: 4, max: 8 } }\n"
    "      labels: { team: platform }\n    cpu:\n"
)


CASES = (
    Case(
        "Quota is only warned of, and there is not enough for the new cluster",
        (stack("sizeGb: 500 }, replicas: { min: 2, max: 4 }", "sizeGb: 500 }, replicas: { min: 3, max: 4 }"),),
        (blocks("quota-short-now", "quota"), warns("cluster-replaced", "h100"), warns("idle-cost", "stack")),
        may=("quota-short-at-most", "quota-short-now", *ANEW),
        world=World(
            jobs=(*BUSY.jobs, Job("reserved", capacity_type="reservation", parameters={"model": "27b"})),
            limits={"nvidia_h100_gpus": 24},
        ),
        given=(stack("mode: enforce", "mode: warn"),),
    ),
    Case(
        "More machines than the quota has are always there, and the rest is asked for",
        (stack(H100, "replicas: { min: 4, max: 6 }"),),
        (warns("quota-short-now", "nvidia_h100_gpus"),),
        may=(*ANEW, "quota-short-at-most", "idle-cost"),
        given=(REQUEST,),
        world=World(limits={"nvidia_h100_gpus": 24}),
    ),
    Case(
        "Both generations at once do not fit, though each does",
        (stack(LABELS, "labels: { team: platform }"),),
        (blocks("quota-short-now", GPUS),),
        may=(*ANEW, "deployment-rejected", "quota-short-at-most"),
        world=h100_limit(24),
    ),
    Case(
        "Disks are the shortest: nobody had counted them",
        (stack(WORKERS, "replicas: { min: 12, max: 16 }"),),
        (blocks("quota-short-now", "pd_ssd"),),
        may=(*ANEW, "deployment-rejected", "quota-short-at-most"),
        world=World(limits={"pd_ssd": 2500}),
    ),
    Case(
        "Lack of quota is told, and stops nothing any more",
        (stack("mode: enforce", "mode: warn"),),
        (warns("policy-loosened", "quota"),),
        world=BUSY,
    ),
    Case(
        "Pools at their maximum need not fit any more",
        (stack("slipway:quota: { mode: enforce, strict: true,", "slipway:quota: { mode: enforce,"),),
        (warns("policy-loosened", "quota"),),
        given=(stack("slipway:quota: { mode: enforce,", "slipway:quota: { mode: enforce, strict: true,"),),
        world=BUSY,
    ),
)

"""Quota that does not fit now, at most, or during two generations, and whether more can be had."""

from tests.review.case import BUSY, LARGE, Case, Job, World, hurts, stack, stops, tells, template
from tests.review.cases.clusters import ANEW, H100, LABELS, WORKERS

LOW = "replicas: { min: 1, max: 4 }"
GPUS = "nvidia_h100_gpus"
A100 = (
    "    a100:\n      pools:\n"
    "        workers: { machine: a2-highgpu-1g, disk: { sizeGb: 200 }, replicas: { min: 4, max: 8 } }\n"
    "      labels: { team: platform }\n    cpu:\n"
)


def h100(limit: int, *jobs: Job, **increase: str) -> World:
    return World(jobs=jobs or (LARGE,), limits={GPUS: limit}, increase=increase)


CASES = (
    Case(
        "Both generations at once do not fit, though each does",
        (stack(LABELS, "labels: { team: platform }"),),
        (stops("quota-short-in-overlap | quota-short-now", GPUS),),
        may=(*ANEW, "preview-failed", "quota-short-at-most"),
        world=h100(24),
        accident="a rollover that waited for quota for ever",
    ),
    Case(
        "More machines are always there than the quota has",
        (stack(H100, "replicas: { min: 4, max: 8 }"),),
        (
            # One request is enough for both.
            stops("quota-short-in-overlap", GPUS, "ask Google for 64"),
            hurts("quota-short-at-most", GPUS, "keep `max` at 5 or less; or ask Google for 64"),
            tells("idle-cost", "stack", "+$202.28/h"),
        ),
        may=("idle-cost", *ANEW, "preview-failed"),
        world=h100(40),
        accident="quota exhausted in the midst of a deployment",
    ),
    Case(
        "An increase can't be had: the project is too young",
        (stack(H100, "replicas: { min: 2, max: 6 }"),),
        (hurts("quota-short-at-most", GPUS, "no increase"),),
        may=ANEW,
        world=h100(32, nvidia_h100_gpus="no increase: too little usage history"),
    ),
    Case(
        "Jobs on machines of their own have taken what a new cluster needs",
        (stack("    cpu:\n", A100),),
        (
            stops("quota-short-now", "nvidia_a100_gpus"),
            tells("idle-cost", "stack", "+$17.11/h"),
            hurts("pool-unused", "a100/workers"),
        ),
        may=("idle-cost", "preview-failed", "quota-short-at-most", "capacity-found-anew"),
        world=World(
            jobs=tuple(Job(f"lora-{n}", user="ben", capacity_type="on-demand") for n in range(3)),
            limits={"nvidia_a100_gpus": 6},
        ),
        accident="quota exhausted by a neighbour",
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
        "A pool's new name makes a second cluster, which can't grow beside the first",
        (stack("        head: {", "        scheduler: {"),),
        (hurts("cluster-new-generation", "cpu"),),
        may=ANEW,
        world=World(jobs=BUSY.jobs, limits={"cpus": 160}),
    ),
    Case(
        "All ways to run have to fit from now on",
        (stack("slipway:quota: { mode: enforce,", "slipway:quota: { mode: enforce, strict: true,"),),
        (tells("quota-check-stricter", "quota", "or an offer has no quota"),),
        world=BUSY,
    ),
    Case(
        "Pools at their maximum need not fit any more",
        (stack("slipway:quota: { mode: enforce, strict: true,", "slipway:quota: { mode: enforce,"),),
        (hurts("quota-check-weaker", "quota", "strict"),),
        given=(stack("slipway:quota: { mode: enforce,", "slipway:quota: { mode: enforce, strict: true,"),),
        world=BUSY,
    ),
    Case(
        "A maximum is lowered to what the quota has: what did not fit does",
        (stack(LOW, "replicas: { min: 1, max: 3 }"),),
        (
            hurts("capacity-lower-maximum", "h100/workers", "4", "3"),
            hurts("cluster-new-generation", "h100", "max"),
        ),
        may=ANEW,
        given=(stack(H100, LOW),),
        world=h100(28),
    ),
    Case(
        "A template takes machines for which there is no quota at all",
        (template("evals", '("spot", "on-demand")', '("on-demand",)'),),
        (hurts("offer-gone", "evals", "spot"), stops("no-offer-left | preview-failed", "", "evals")),
        may=("preview-failed", "run-cost", "offer-unavailable", "quota-short-at-most"),
        world=World(limits={"cpus": 4}),
    ),
    Case(
        "Jobs on machines of their own share the quota of a pool that may take all of it",
        (template("lora", '"a2-highgpu-1g"', '"a3-highgpu-1g"'),),
        (
            hurts("offer-unavailable", "lora spot", "preemptible H100 GPUs: 0, needed: 1", "preemptible_h100_gpus=1"),
            hurts("offer-unavailable", "lora flex-start", "`--capacity flex-start` is refused"),
            hurts("machines-changed", "lora", "a3-highgpu-1g"),
        ),
        may=("run-cost",),
        world=World(limits={GPUS: 32, "preemptible_nvidia_h100_gpus": 0}),
    ),
    Case(
        "The on-demand machines that jobs fall back to have no quota",
        (template("lora", '"a2-highgpu-1g", Disk', '"a2-highgpu-8g", Disk'),),
        (hurts("offer-unavailable", "lora", "on-demand", "quota"), hurts("machines-changed", "lora", "a2-highgpu-8g")),
        may=("run-cost", "quota-short-at-most"),
        world=World(limits={"nvidia_a100_gpus": 4}),
        accident="quota that was there in another region",
    ),
    Case(
        "Lack of quota stops the deployment from now on",
        (stack("mode: warn", "mode: enforce"),),
        (tells("quota-check-stricter", "quota", "where quota is missing"),),
        given=(stack("mode: enforce", "mode: warn"),),
    ),
)

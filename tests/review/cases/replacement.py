"""How clusters are replaced: protected, in place, or one beside the other, and the engine's own options."""

from tests.review.case import BUSY, STACK, Case, Edit, Job, World, h100, hurts, stack, stops, tells
from tests.review.edits import H100_ENTRY, IN_PLACE, LARGER, PROTECT, ROLLOVER, WORKERS

WITH_AUX = H100_ENTRY.replace(
    "      replacement",
    "        aux: { machine: n1-standard-4, disk: { type: pd-ssd, sizeGb: 200 }, replicas: 1 }\n      replacement",
)

CASES = (
    Case(
        "Each edit is to make a second cluster, for which there is no quota",
        (stack("replacement: in-place", "replacement: rollover"),),
        (hurts("cluster-protection", "h100", "both are paid then, and draw quota"),),
        given=(stack("replacement: rollover", "replacement: in-place"),),
        world=World(limits={"nvidia_h100_gpus": 24}),
    ),
    Case(
        "A cluster is to be replaced in place from now on, and nothing of it is edited",
        (IN_PLACE,),
        (hurts("cluster-protection", "cluster h100", "rollover", "in-place", "may not come again"),),
        world=BUSY,
    ),
    Case(
        "A cluster's protection is dropped",
        (stack("replacement: protect", ROLLOVER),),
        (hurts("cluster-protection", "cluster h100", "may be edited and taken out", "both paid"),),
        given=(PROTECT,),
        world=BUSY,
    ),
    Case(
        "A cluster is made in place of the old one, which is idle: its H100 may be gone for good",
        (LARGER,),
        (
            stops("cluster-in-place", "cluster h100", "deleted first", "may not come again"),
            hurts("capacity-found-anew", "h100", "2 `a3-highgpu-8g` must be found"),
        ),
        given=(IN_PLACE,),
        world=World(limits={"nvidia_h100_gpus": 48}),  # for the new one alone, as both never draw at once
    ),
    Case(
        "A cluster is made in place of the old one, on which a job runs",
        (stack(WORKERS, "replicas: { min: 4, max: 18 }"),),
        (
            stops(
                "cluster-in-place",
                "cluster cpu",
                "no deployment goes through until it has no job",
            ),
        ),
        given=(stack("      retireWithin: 7d\n", "      retireWithin: 7d\n      replacement: in-place\n"),),
        world=World(jobs=(Job("digits-night", "digits", user="nightly"),)),
    ),
    Case(
        "The mode is changed to in-place in the same edit that replaces the cluster",
        (
            Edit(STACK, WITH_AUX, WITH_AUX.replace(ROLLOVER, "replacement: in-place").replace("max: 4", "max: 6")),
            stack("aux: { machine: n1-standard-4", "aux: { machine: n1-standard-8"),
        ),
        (
            stops("cluster-in-place", "cluster h100", "deleted first", "tune-27b-x1", "2 `a3-highgpu-8g` may not come"),
            hurts("capacity-given-back", "h100", "`n1-standard-8` instead of `n1-standard-4`"),
            tells("cluster-protection", "cluster h100", "in-place"),
        ),
        given=(Edit(STACK, H100_ENTRY, WITH_AUX),),
        may=("capacity-found-anew",),
        world=World(jobs=BUSY.jobs, limits={"nvidia_h100_gpus": 48}),
        never=("until jobs on older clusters have ended",),
    ),
    Case(
        "A cluster gets more time to be made, and another limit for what retires",
        (stack("retireWithin: 2w\n", "retireWithin: 3d\n      createWithin: 2h\n"),),
        (
            tells("cluster-protection", "cluster h100", "2 h"),
            tells("cluster-protection", "cluster h100 retireWithin", "warn of an old `h100`", "3 days"),
        ),
        world=World(jobs=BUSY.jobs),
    ),
    Case(
        "A cluster that is to come in a month is to be protected",
        (stack("replacement: rollover", "replacement: protect"),),
        (tells("cluster-protection", "cluster h100", "rollover", "protect"),),
        given=(h100("from: 2026-12-20"),),
    ),
    Case(
        "An old cluster is not watched any more",
        (stack("      retireWithin: 7d\n", ""),),
        (tells("cluster-protection", "cpu retireWithin", "don't warn any more"),),
        world=BUSY,
    ),
    Case(
        "A deployment is to wait for machines for longer than its workflow runs",
        (h100("createWithin: 6h"),),
        (hurts("cluster-protection", "h100", "6 h"),),
        accident="a deployment cut off by its runner's limit",
    ),
    Case(
        "A wait for machines that no workflow outlived is longer, as a cluster is made anew",
        (stack("createWithin: 4h", "createWithin: 6h"), stack("min: 2, max: 4", "min: 2, max: 3")),
        (
            tells("cluster-protection", "h100", "6 h instead of 4 h"),
            hurts("capacity-found-anew", "h100", "must be found"),
        ),
        given=(h100("createWithin: 4h"),),
        may=("cluster-new-generation", "generations-overlap", "capacity-lower-maximum"),
        never=("raise `slipway:persistentResources.h100.createWithin`", "6 h instead of 4 h: in CI"),
        accident="a deployment cut off by its runner's limit",
    ),
    Case(
        "A deployment is to wait for machines for an hour",
        (h100("createWithin: 1h"),),
        (tells("cluster-protection", "h100", "machines for at most 1 h", "instead of"),),
        never=("killed",),
    ),
)

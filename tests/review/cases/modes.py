"""Cases of a cluster's replacement: a change of the mode, edits under each, and entries that go, with jobs on the
machines."""

from tests.review.case import BUSY, STACK, Case, Edit, World, hurts, stack, stops, tells
from tests.review.cases.clusters import H100, H100_ENTRY, NOT_ON_THE_POOL

ROLLOVER = "replacement: rollover"
LARGER = stack(H100, "replicas: { min: 2, max: 6 }")
IN_PLACE, PROTECT = (stack(ROLLOVER, f"replacement: {mode}") for mode in ("in-place", "protect"))
GONE = {mode: Edit(STACK, H100_ENTRY.replace(ROLLOVER, f"replacement: {mode}"), "") for mode in ("in-place", "protect")}

CASES = (
    Case(
        "A cluster is to be replaced in place from now on, and nothing of it is edited",
        (IN_PLACE,),
        (hurts("cluster-protection", "cluster h100", "rollover", "in-place", "may not come again"),),
        world=BUSY,
    ),
    Case(
        "A cluster's protection is dropped",
        (stack("replacement: protect", ROLLOVER),),
        (
            hurts(
                "cluster-protection", "cluster h100", "may be edited and taken out", "both paid", "put `protect` back"
            ),
        ),
        given=(PROTECT,),
        world=BUSY,
    ),
    Case(
        "A cluster is made in place of the old one, which is idle: its H100 may be gone for good",
        (LARGER,),
        (
            stops("cluster-in-place", "cluster h100", "deleted first", "may not come again", "where quota has both"),
            hurts("capacity-found-anew", "h100", "`up` fails"),
        ),
        given=(IN_PLACE,),
        world=World(limits={"nvidia_h100_gpus": 48}),  # for the new one alone, as both never draw at once
    ),
    Case(
        "The mode is changed to in-place in the same edit that replaces the cluster",
        (Edit(STACK, H100_ENTRY, H100_ENTRY.replace(ROLLOVER, "replacement: in-place").replace("max: 4", "max: 6")),),
        (
            stops("cluster-in-place", "cluster h100", "deleted first", "tune-27b-x1"),
            tells("cluster-protection", "cluster h100", "in-place"),
        ),
        may=("capacity-found-anew",),
        world=BUSY,
    ),
    Case(
        "A protected cluster is edited",
        (LARGER, stack("mode: enforce", "mode: warn")),
        (stops("preview-failed", "", "h100 is protected", "pools.workers"),),
        never=("slipway:quota.mode",),
        given=(PROTECT,),
        world=BUSY,
    ),
    Case(
        "A protected cluster is edited, and its protection dropped in the same edit",
        (stack("replacement: protect", "replacement: in-place\n      generation: 2"),),
        (stops("preview-failed", "", "h100 is protected", "generation", "in two deployments"),),
        given=(PROTECT,),
    ),
    Case(
        "A protected cluster leaves the stack file",
        (GONE["protect"], NOT_ON_THE_POOL),
        (stops("preview-failed", "", "h100 is protected", "its declaration, which is gone"),),
        given=(PROTECT,),
        world=BUSY,
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
)

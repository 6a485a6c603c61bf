"""How clusters are replaced: protected, in place, or one beside the other, and the engine's own options."""

from tests.review.case import BUSY, Case, World, h100, hurts, stack, stops, tells
from tests.review.edits import IN_PLACE, LARGER

CASES = (
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
        "A deployment is to wait for machines for an hour",
        (h100("createWithin: 1h"),),
        (tells("cluster-protection", "h100", "machines for at most 1 h", "instead of"),),
        never=("killed",),
    ),
)

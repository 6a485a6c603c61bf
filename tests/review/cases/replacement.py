"""How clusters are replaced: protected, in place, or one beside the other, and the engine's own options."""

from tests.review.case import BUSY, Case, World, blocks, h100, stack
from tests.review.edits import IN_PLACE, LARGER

CASES = (
    Case(
        "A cluster is made in place of the old one, which is idle: its H100 may be gone for good",
        (LARGER,),
        (blocks("cluster-replaced", "h100", "a3-highgpu-8g"),),
        given=(IN_PLACE,),
        world=World(limits={"nvidia_h100_gpus": 48}),
    ),
    Case(
        "A cluster that is to come in a month is to be protected",
        (stack("replacement: rollover", "replacement: protect"),),
        (),
        given=(h100("from: 2026-12-20"),),
    ),
    Case("An old cluster is not watched any more", (stack("      retireWithin: 7d\n", ""),), (), world=BUSY),
    Case("A deployment is to wait for machines for an hour", (h100("createWithin: 1h"),), ()),
)

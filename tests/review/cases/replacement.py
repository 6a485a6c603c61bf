"""How clusters are replaced: protected, in place, or one beside the other, and the engine's own options."""

from tests.review.case import BUSY, Case, World, blocks, stack
from tests.review.edits import IN_PLACE, LARGER

CASES = (
    Case(
        "A cluster is made in place of the old one, which is idle: its H100 may be gone for good",
        (LARGER,),
        (blocks("cluster-replaced", "h100", "a3-highgpu-8g"),),
        given=(IN_PLACE,),
        world=World(limits={"nvidia_h100_gpus": 48}),
    ),
    Case("An old cluster is not watched any more", (stack("      retireWithin: 7d\n", ""),), (), world=BUSY),
)

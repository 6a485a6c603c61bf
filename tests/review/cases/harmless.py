"""Harmless changes of the stack and the program: other spellings, the engine's usual steps, and time."""

from tests.review.case import BUSY, QUIET, Case, World, blocks, h100, silent, stack
from tests.review.edits import DAY_OF_CLAIMS, OTHER_MACHINES, WEEK, makes
from tests.review.engine import edits_work

CASES = (
    silent("The engine makes a cluster as its stack file says", steps=makes(), world=BUSY),
    Case("A program publishes nothing to compare", recorded="protect"),
    Case(
        "A program that publishes nothing is edited",
        finds=(blocks("deployment-code-changed", "program"),),
        recorded="protect",
        files=("__main__.py",),
    ),
    silent(
        "Lifecycle rules in another order",
        steps=edits_work({"lifecycleRules": [DAY_OF_CLAIMS, WEEK]}, lifecycleRules=[WEEK, DAY_OF_CLAIMS]),
    ),
    Case(
        "The alternatives of a cluster that is there go",
        (stack(f"      {OTHER_MACHINES}\n", ""),),
        (),
        given=(h100(OTHER_MACHINES),),
    ),
    silent(
        "Nothing is edited while a cluster that is to come in a month lacks quota",
        QUIET,
        given=(h100("from: 2026-12-20"),),
        world=World(limits={"nvidia_h100_gpus": 4}),
    ),
    Case("A cluster that lives gets a beginning in the past", (h100("from: 2026-11-01"),), world=BUSY),
)

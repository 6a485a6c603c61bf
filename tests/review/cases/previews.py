"""Previews that fail or are cut, and what refuses a deployment."""

from tests.review.case import BUSY, Case, blocks, stack, template, warns
from tests.review.edits import ANCHOR, NEAR, THEIRS

CASES = (
    Case(
        "An id is mistyped: no cluster has it",
        (stack(ANCHOR, THEIRS.replace("team-a", "team-c") + ANCHOR),),
        (blocks("deployment-rejected"),),
        world=NEAR,
    ),
    Case(
        "A typing error in a stack file that drops a rule as well",
        (stack("retireWithin: 2w", "retireWithin: 2 weeks"), stack("      regions: [us-central1]\n", "")),
        (blocks("deployment-rejected"),),
    ),
    Case(
        "A template moves to machines that no pool has, and only Spot is left",
        (template("digits", 'WorkerPool("workers", "n1-standard-8"', 'WorkerPool("workers", "n1-highmem-8"'),),
        (
            blocks("deployment-rejected"),
            warns("submission-changed", "digits", "n1-highmem-8"),
            warns("stack-warning", "cpu"),
            warns("offer-unavailable", "digits"),
        ),
        world=BUSY,
    ),
)

"""Manual edits beside the program, and streams that the real engine wrote, which are the whole input then."""

from tests.review.case import LARGE, Case, World, hurts, tells
from tests.review.edits import by_hand
from tests.review.engine import BUCKET, WORK

DAY_RULES = [{"action": {"type": "Delete"}, "condition": {"age": 1}}]

CASES = (
    Case(
        "Somebody let checkpoints be deleted after a day, by hand, and the deployment takes that back",
        names=(tells("drift", "acme-work", "after 1 day"),),
        may=("drift",),
        preview=by_hand(BUCKET, "work", {**WORK, "lifecycleRules": []}, {**WORK, "lifecycleRules": DAY_RULES}),
    ),
    Case(
        "Somebody deleted the bucket of results by hand: it is made again, empty",
        names=(hurts("drift", "acme-work", "empty"),),
        preview=by_hand(BUCKET, "work", WORK, None),
        world=World(jobs=(LARGE,)),
        accident="a bucket deleted in the console",
    ),
    Case(
        "Somebody changed the bucket and took two grants away by hand",
        names=(tells("drift", "work", "earlier versions"), tells("drift", "")),
        may=("drift",),
        recorded="by_hand",
        accident="grants removed in the console",
    ),
)

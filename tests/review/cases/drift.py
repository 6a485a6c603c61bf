"""Manual edits beside the program, and streams that the real engine wrote, which are the whole input then."""

from tests.review.case import LARGE, Case, World, hurts, tells
from tests.review.edits import by_hand
from tests.review.engine import ACCOUNT, BUCKET, ON_BUCKET, PROJECT, TRAINER, WORK

WRITES = {"bucket": "acme-work", "role": "roles/storage.objectUser", "member": f"serviceAccount:{TRAINER}"}
DAY_RULES = [{"action": {"type": "Delete"}, "condition": {"age": 1}}]

CASES = (
    Case(
        "Somebody switched versioning on by hand, and the deployment switches it off",
        names=(tells("drift", "acme-work", "earlier versions"),),
        may=("drift", "versioning-changed"),
        preview=by_hand(BUCKET, "work", {**WORK, "versioning": None}, {**WORK, "versioning": {"enabled": True}}),
        accident="a repair by hand, undone by a deployment",
    ),
    Case(
        "Somebody let checkpoints be deleted after a day, by hand, and the deployment takes that back",
        names=(tells("drift", "acme-work", "after 1 day"),),
        may=("drift",),
        preview=by_hand(BUCKET, "work", {**WORK, "lifecycleRules": []}, {**WORK, "lifecycleRules": DAY_RULES}),
    ),
    Case(
        "Somebody took the trainer's access to its bucket, by hand",
        names=(tells("drift", "", TRAINER),),
        may=("drift",),
        preview=by_hand(ON_BUCKET, "trainer-writes-work", WRITES, None),
        accident="a grant removed in the console",
    ),
    Case(
        "Somebody deleted the bucket of results by hand: it is made again, empty",
        names=(hurts("drift", "acme-work", "empty"),),
        preview=by_hand(BUCKET, "work", WORK, None),
        world=World(jobs=(LARGE,)),
        accident="a bucket deleted in the console",
    ),
    Case(
        "Somebody deleted the trainer's account by hand: a new one of this name has none of its rights elsewhere",
        names=(hurts("drift", "trainer"),),
        preview=by_hand(ACCOUNT, "trainer", {"accountId": "trainer", "email": TRAINER, "project": PROJECT}, None),
        world=World(jobs=(LARGE,)),
        accident="an account deleted in the console",
    ),
    Case(
        "Somebody changed the bucket and took two grants away by hand",
        names=(tells("drift", "work", "earlier versions"), tells("drift", "")),
        may=("drift",),
        recorded="by_hand",
        accident="grants removed in the console",
    ),
)

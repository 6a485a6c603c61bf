"""Manual edits beside the program, and streams that the real engine wrote, which are the whole input then."""

from tests.review.case import Case, blocks, notes, warns
from tests.review.edits import DAY_OF_CLAIMS, by_hand
from tests.review.engine import BUCKET, WORK

SECRET_TYPE = "gcp:secretmanager/secret:Secret"

CASES = (
    Case(
        "Somebody changed the bucket and took two grants away by hand",
        finds=(notes("drift", "work"), notes("drift")),
        may=("drift",),
        recorded="by_hand",
    ),
    Case(
        "Somebody made a bucket public by hand, and the program both takes that back and deletes earlier",
        finds=(blocks("retention-changed", "acme-work"), warns("drift", "work")),
        may=("drift", "bucket-changed"),
        preview=by_hand(
            BUCKET, "work", WORK, {**WORK, "publicAccessPrevention": "inherited"}, lifecycleRules=[DAY_OF_CLAIMS]
        ),
    ),
    Case(
        "A deployment that would open a bucket fails",
        finds=(blocks("deployment-rejected"), blocks("access-gained", "local-project-local-work")),
        recorded="refused",
    ),
    Case(
        "Somebody deleted a secret by hand, which the program creates again",
        finds=(warns("drift", "hf-token"),),
        may=("resource-changed",),
        preview=by_hand(SECRET_TYPE, "hf-token", {"secretId": "hf-token", "project": "acme-ml"}, None),
    ),
)

"""Manual edits beside the program, and streams that the real engine wrote, which are the whole input then."""

from tests.review.case import Case, notes

CASES = (
    Case(
        "Somebody changed the bucket and took two grants away by hand",
        finds=(notes("drift", "work"), notes("drift")),
        may=("drift",),
        recorded="by_hand",
    ),
)

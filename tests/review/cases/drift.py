"""Manual edits beside the program, and streams that the real engine wrote, which are the whole input then."""

from tests.review.case import Case, tells

CASES = (
    Case(
        "Somebody changed the bucket and took two grants away by hand",
        names=(tells("drift", "work", "earlier versions"), tells("drift", "")),
        may=("drift",),
        recorded="by_hand",
        accident="grants removed in the console",
    ),
)

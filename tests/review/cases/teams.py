"""Teams: their clusters, and their shares of machines."""

from tests.review.case import BUSY, Case, blocks, stack, warns
from tests.review.edits import ADA, POLICY, TEAM, VISION

CASES = (
    Case(
        "Teams share a cluster that was whoever's was first",
        (stack("  slipway:policy:\n", "  slipway:shares: { h100: { vision: 2 } }\n  slipway:policy:\n"),),
        (),
        world=BUSY,
    ),
    Case(
        "A second group may submit, so that what names no team counts for none",
        (
            stack(f"      - {TEAM}\n", f"      - {TEAM}\n      - group:nlp@acme.example\n"),
            stack(f"[{TEAM}], clusters", f"[{TEAM}, {ADA}], clusters"),
        ),
        (
            warns("access-gained", "workspace", "nlp@acme.example"),
            blocks("no-offer-left", "tune", "ada@acme.example"),
            warns("access-gained", "vision", "ada@acme.example"),
            warns("offer-unavailable", "digits", "ada@acme.example"),
            warns("submission-changed", "digits"),
        ),
        given=(stack(POLICY, VISION.replace("group:vision@acme.example", TEAM) + POLICY),),
    ),
)

"""Teams: their clusters, and their shares of machines."""

from tests.review.case import BUSY, Case, blocks, more, stack, warns
from tests.review.edits import ADA, POLICY, TEAM, VISION

TWO_SHARE = stack(
    "  slipway:policy:\n",
    "  slipway:teams:\n    vision: { submitters: [user:ada@acme.example], clusters: [h100] }\n"
    "    speech: { submitters: [user:ben@acme.example], clusters: [h100] }\n"
    "  slipway:shares: { h100: { vision: 1, speech: 1 } }\n  slipway:policy:\n",
)
LABEL = 'labels={"team": "vision"}'


CASES = (
    Case(
        "Teams share a cluster that was whoever's was first",
        (stack("  slipway:policy:\n", "  slipway:shares: { h100: { vision: 2 } }\n  slipway:policy:\n"),),
        (),
        world=BUSY,
    ),
    Case(
        "A team whose jobs fit no pool of a cluster loses its share of it",
        (stack("{ h100: { vision: 1, speech: 1 } }", "{ h100: { vision: 2 } }"),),
        (),
        given=(TWO_SHARE, more("lora", LABEL)),
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

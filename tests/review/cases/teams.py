"""Teams: their clusters, and their shares of machines."""

from tests.review.case import BUSY, Case, hurts, more, stack, tells
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
        (hurts("team-shares", "cluster h100", "vision 2 instead of none"),),
        world=BUSY,
    ),
    Case(
        "A team whose jobs fit no pool of a cluster loses its share of it",
        (stack("{ h100: { vision: 1, speech: 1 } }", "{ h100: { vision: 2 } }"),),
        (tells("team-shares", "h100", "vision 2 instead of speech 1, vision 1"),),
        given=(TWO_SHARE, more("lora", LABEL)),
        never=("have no share", "while a team below"),
    ),
    Case(
        "A second group may submit, so that what names no team counts for none",
        (
            stack(f"      - {TEAM}\n", f"      - {TEAM}\n      - group:nlp@acme.example\n"),
            stack(f"[{TEAM}], clusters", f"[{TEAM}, {ADA}], clusters"),
        ),
        (
            hurts("cluster-team", "cluster cpu", f"`{TEAM}`", ADA),
            hurts("cluster-team", "template tune", f"`{TEAM}`", "are refused"),
            tells("submitter-added", "group:nlp@acme.example"),
            tells("team-joined", ADA, "joins team `vision`"),
        ),
        given=(stack(POLICY, VISION.replace("group:vision@acme.example", TEAM) + POLICY),),
        never=("among `submitters`",),
        accident="a team's scripts sent away from its own machines by another team's first day",
    ),
)

"""Clusters that somebody else made: people may submit to one, or no more, and it stays unchanged. # N13"""

from tests.review.case import Case, World, hurts, stack, stops, tells
from tests.review.cases.clusters import H100_ENTRY, NOT_ON_THE_POOL

ANCHOR = "\n  slipway:quota: { mode"
THEIRS = """    theirs:
      id: team-a
      pools:
        workers: { machine: n1-standard-8, replicas: { min: 1, max: 4 } }
"""
H100_ADOPTED = THEIRS.replace("theirs", "h100")
ADOPTED = stack(ANCHOR, THEIRS + ANCHOR)
NEAR = World(theirs=("team-a", "team-b"))
GONE = ("deleted", "may not come again", "given back")

CASES = (
    Case(
        "A cluster of another team is adopted: nothing of it changes, and nothing more is paid",
        (ADOPTED,),
        (tells("cluster-adopted", "theirs", "team-a", "no deployment changes or deletes"),),
        world=NEAR,
        never=("is made", "With nothing running", "With every pool"),
    ),
    Case(
        "The entry of an adopted cluster goes: it is kept, and nobody finds it any more",
        (stack(THEIRS, ""),),
        (hurts("cluster-left", "theirs", "team-a", "is kept, as it was adopted"),),
        may=("offer-gone",),
        world=NEAR,
        given=(ADOPTED,),
        never=GONE,
        accident="a state without an entry, taken for an order to delete",
    ),
    Case(
        "An adopted cluster's name stands for another one from now on",
        (stack("id: team-a", "id: team-b"),),
        (
            hurts("cluster-adopted", "theirs", "team-b", "switch to it from `team-a`"),
            hurts("cluster-left", "theirs", "team-a", "is kept"),
        ),
        world=NEAR,
        given=(ADOPTED,),
        never=GONE,
    ),
    Case(
        "A name goes from an adopted cluster to one that the stack makes",
        (stack("      id: team-a\n", ""),),
        (hurts("cluster-left", "theirs", "team-a", "is kept"), tells("cluster-created", "theirs", "is made")),
        may=("cluster-protection",),
        world=NEAR,
        given=(ADOPTED,),
    ),
    Case(
        "Sixteen H100 of the stack's own give way to another team's cluster under their name",
        (stack(H100_ENTRY, H100_ADOPTED), NOT_ON_THE_POOL),
        (
            hurts("cluster-adopted", "h100", "team-a"),
            stops("cluster-deleted | cluster-retires", "h100", "may not come again"),
        ),
        may=("offer-unavailable", "no-offer-left", "offer-gone", "template-gone", "offer-added"),
        world=NEAR,
        accident="a name handed to something smaller",
    ),
    Case(
        "An id is mistyped: no cluster has it",
        (stack(ANCHOR, THEIRS.replace("team-a", "team-c") + ANCHOR),),
        (stops("preview-failed", "", "there is no cluster team-c in us-central1"),),
        world=NEAR,
    ),
)

"""Seasons and idle limits: dates that an edit moves, and what comes by time alone, as was announced. # B6"""

from tests.review.case import BUSY, STACK, Case, Edit, blocks, h100, notes, stack, template, warns
from tests.review.cases.costs import ASKS_ABOVE
from tests.review.edits import H100_ENTRY, MONEY, NOT_ON_THE_POOL, OFFERS, SESSIONS, ago

LIVES = "retireWithin: 2w\n"
COMES = "      from: 2026-12-20\n"
SOONER = (
    "      from: 2026-12-15\n      pools:\n        workers:\n          machine: n1-standard-8\n"
    "          disk: { type: pd-ssd, sizeGb: 100 }\n          replicas: { min: 1, max: 4 }\n"
    "      labels: { team: platform }\n"
)
NEXT = (
    stack("    cpu:\n      displayName", "    cpu:\n      until: 2026-12-20\n      displayName"),
    stack("  slipway:quota: {", f"    next:\n{SOONER.replace('2026-12-15', '2027-02-15')}\n  slipway:quota: {{"),
)

CASES = (
    Case(
        "A cluster gets another name, and a day to come",
        (stack("    cpu:\n      displayName: cpu of research\n", "    small:\n      from: 2026-12-20\n"),),
        (blocks("no-offer-left", "tune"), warns("offer-unavailable", "digits"), warns("cluster-deleted", "cpu")),
        may=(*MONEY, *OFFERS, "cluster-created"),
    ),
    Case(
        "A template leaves Spot for a cluster that ends weeks before the next one begins",
        (template("evals", '("spot", "on-demand")', '("pool",)'),),
        (warns("submission-rejected | submission-changed", "evals"),),
        given=NEXT,
    ),
    Case(
        "The only cluster of sessions is to be given up when nobody used it for three days",
        (stack("      retireWithin: 7d\n", "      retireWithin: 7d\n      idleLimit: 3d\n"),),
        (warns("capacity-changed", "cpu"),),
        given=SESSIONS,
        world=BUSY,
    ),
    Case(
        "The only cluster of a template that runs each night gets an end in three months",
        (stack("      retireWithin: 7d\n", "      retireWithin: 7d\n      until: 2027-03-01\n"),),
        (warns("capacity-changed", "cpu"),),
        given=(template("digits", '("pool", "spot", "on-demand")', '("pool",)'),),
        world=BUSY,
    ),
    Case(
        "A campaign that is to come loses six weeks of its cluster",
        (stack("until: 2027-02-15", "until: 2027-01-05"),),
        (warns("capacity-changed", "h100", "2027-01-05", "2027-02-15"),),
        given=(h100("from: 2026-12-20", "until: 2027-02-15"),),
    ),
    Case(
        "A cluster that was to come in a month does not come",
        (Edit(STACK, H100_ENTRY.replace(LIVES, LIVES + COMES), ""), NOT_ON_THE_POOL),
        (notes("capacity-changed", "h100"),),
        may=MONEY,
        given=(h100("from: 2026-12-20"),),
    ),
    Case(
        "A season ended yesterday, and meanwhile nobody deployed what the cluster is to be next time",
        (stack("replicas: { min: 2, max: 4 }", "replicas: { min: 4, max: 8 }"),),
        (notes("cluster-deleted", "h100"),),
        may=(*MONEY, *OFFERS, "capacity-changed"),
        given=(h100("until: 2026-11-20"),),
        world=ago(3),
    ),
    Case(
        "A season that is over is prolonged before a deployment deletes its cluster",
        (stack("until: 2026-11-18", "until: 2026-12-18"),),
        (blocks("idle-cost", "stack", "$50,000"), blocks("most-cost", "stack", "$100,000")),
        given=(ASKS_ABOVE, h100("until: 2026-11-18")),
        world=ago(5),
    ),
)

"""Seasons and idle limits: dates that an edit moves, and what comes by time alone, as was announced. # B6"""

from tests.review.case import BUSY, STACK, Case, Edit, h100, hurts, stack, stops, tells, template
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
        (
            stops("no-offer-left", "tune", "cluster small is out of season until 2026-12-20"),
            hurts("offer-unavailable", "digits", "can't use pool `cpu` any more: cluster small is"),
            hurts("cluster-deleted", "cpu"),
        ),
        may=(*MONEY, *OFFERS, "cluster-created"),
        never=("can use pool `small`", "can't use pool `small` any more"),
        accident="a rename by which a cluster was away for weeks",
    ),
    Case(
        "A template leaves Spot for a cluster that ends weeks before the next one begins",
        (template("evals", '("spot", "on-demand")', '("pool",)'),),
        (
            hurts("offer-gone", "evals spot", "only what pool `cpu` grows by"),
            hurts("offer-gone", "evals on-demand", "only what pool `cpu` grows by"),
        ),
        may=("offer-added",),
        given=NEXT,
        accident="a schedule that sent jobs which nothing took for weeks",
    ),
    Case(
        "The only cluster of sessions is to be given up when nobody used it for three days",
        (stack("      retireWithin: 7d\n", "      retireWithin: 7d\n      idleLimit: 3d\n"),),
        (hurts("season-changed", "cpu idleLimit", "only an edit of its entry", "no session can start"),),
        given=SESSIONS,
        world=BUSY,
        accident="a bench that was gone in the morning, and every session with it",
    ),
    Case(
        "The only cluster of a template that runs each night gets an end in three months",
        (stack("      retireWithin: 7d\n", "      retireWithin: 7d\n      until: 2027-03-01\n"),),
        (stops("season-changed", "cpu until", "nobody can submit `digits`"),),
        given=(template("digits", '("pool", "spot", "on-demand")', '("pool",)'),),
        world=BUSY,
        accident="a date for all clusters, of which one was nobody's season",
    ),
    Case(
        "A campaign that is to come loses six weeks of its cluster",
        (stack("until: 2027-02-15", "until: 2027-01-05"),),
        (hurts("season-changed", "h100 until", "until 2027-01-05", "instead of 2027-02-15"),),
        given=(h100("from: 2026-12-20", "until: 2027-02-15"),),
        accident="a season cut short before it began",
    ),
    Case(
        "A cluster that was to come in a month does not come",
        (Edit(STACK, H100_ENTRY.replace(LIVES, LIVES + COMES), ""), NOT_ON_THE_POOL),
        (tells("season-changed", "h100", "is given up"), tells("offer-gone", "lora", "27b")),
        may=MONEY,
        given=(h100("from: 2026-12-20"),),
    ),
    Case(
        "A season ended yesterday, and meanwhile nobody deployed what the cluster is to be next time",
        (stack("replicas: { min: 2, max: 4 }", "replicas: { min: 4, max: 8 }"),),
        (tells("season-changed", "h100", "min` 2 → 4"), tells("cluster-deleted", "h100", "out of season")),
        may=(*MONEY, *OFFERS, "season-changed"),
        given=(h100("until: 2026-11-20"),),
        world=ago(3),
        accident="an edit that a timer carried out",
    ),
    Case(
        "A season that is over is prolonged before a deployment deletes its cluster",
        (stack("until: 2026-11-18", "until: 2026-12-18"),),
        (
            hurts("season-changed", "h100 until"),
            stops("idle-cost", "stack", "$147,666 a month more", "at times", "above $50,000", "until 2026-12-18"),
            stops("most-cost", "stack", "$295,332 a month more", "at times", "above $100,000"),
        ),
        given=(ASKS_ABOVE, h100("until: 2026-11-18")),
        world=ago(5),
        accident="a bill that a change of dates did not tell",
    ),
)

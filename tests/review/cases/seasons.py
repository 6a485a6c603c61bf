"""Seasons and idle limits: dates that an edit moves, and what comes by time alone, as was announced. # B6"""

from tests.review.case import BUSY, STACK, Case, Edit, h100, hurts, stack, stops, tells, template
from tests.review.cases.costs import ASKS_ABOVE
from tests.review.edits import ANEW, H100_ENTRY, MONEY, NIGHTLY, NOT_ON_THE_POOL, OFFERS, POLICY, SESSIONS, VISION, ago

LIVES = "retireWithin: 2w\n"
OVER = "    a100: { pools: { workers: { machine: a2-highgpu-1g, replicas: 2 } }, until: 2026-01-10 }\n"
COMES = "      from: 2026-12-20\n"
SOONER = (
    "      from: 2026-12-15\n      pools:\n        workers:\n          machine: n1-standard-8\n"
    "          disk: { type: pd-ssd, sizeGb: 100 }\n          replicas: { min: 1, max: 4 }\n"
    "      labels: { team: platform }\n"
)
B200 = (
    "    b200:\n      pools: { workers: { machine: a4-highgpu-8g, replicas: 1 } }\n"
    "      from: 2026-12-01\n      until: 2026-12-10\n      labels: { team: platform }\n"
)
LATER = (
    "    later:\n      pools:\n"
    "        workers: { machine: n1-standard-8, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 12 }\n"
    "      from: 2026-12-20\n      labels: { team: platform }\n"
)
NEXT = (
    stack("    cpu:\n      displayName", "    cpu:\n      until: 2026-12-20\n      displayName"),
    stack("  slipway:quota: {", f"    next:\n{SOONER.replace('2026-12-15', '2027-02-15')}\n  slipway:quota: {{"),
)

CASES = (
    Case(
        "The date of everybody's cluster has passed, and the other one that fits is a team's",
        (stack("    everybody:\n", "    everybody:\n      until: 2020-01-31\n"),),
        (
            stops("offer-unavailable", "digits", "out of season", f"`{NIGHTLY}` can't submit `digits` any more"),
            hurts("cluster-deleted", "everybody"),
            stops("offer-unavailable", "tune", "can't submit `tune` any more"),
        ),
        may=MONEY,
        given=(
            *(stack(POLICY, VISION + POLICY), template("digits", '("pool", "spot", "on-demand")', '("pool",)')),
            stack(
                "  slipway:quota: {",
                "    everybody:\n      pools:\n"
                "        head: { machine: n1-standard-4, disk: { type: pd-ssd, sizeGb: 100 },"
                " replicas: 1 }\n"
                "        workers: { machine: n1-standard-8, disk: { type: pd-ssd, sizeGb: 100 },"
                " replicas: { min: 1, max: 16 } }\n      labels: { team: platform }\n\n  slipway:quota: {",
            ),
        ),
        accident="a year mistyped in a date",
    ),
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
        "A template leaves Spot for clusters that are all to come",
        (template("evals", '("spot", "on-demand")', '("pool",)'),),
        (
            stops("no-offer-left", "evals", "until 2026-12-15"),
            hurts("offer-gone", "evals spot"),
            hurts("offer-gone", "evals on-demand"),
        ),
        may=("offer-added",),
        given=(
            stack("    cpu:\n      displayName", f"    cpu:\n{COMES}      displayName"),
            stack("  slipway:quota: {", f"    sooner:\n{SOONER}\n  slipway:quota: {{"),
        ),
        accident="a schedule that sent jobs which nothing took for weeks",
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
        "The only cluster of a template ends a week earlier, weeks before the next one begins",
        (stack("until: 2026-12-20", "until: 2026-12-13"),),
        (
            hurts(
                "season-changed",
                "cpu until",
                "nobody can submit `tune`",
            ),
        ),
        given=NEXT,
        accident="a schedule that sent jobs which nothing took for weeks",
    ),
    Case(
        "A cluster is to be given up when nobody used it for three days",
        (h100("idleLimit: 3d"),),
        (hurts("season-changed | cluster-protection", "h100", "idleLimit", "only an edit of its entry"),),
        world=BUSY,
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
        "A cluster with a job on it gets an end in a month",
        (h100("until: 2026-12-20"),),
        (
            hurts(
                "season-changed",
                "h100",
                "takes no new jobs from 2026-12-20 on",
                "deleted when its own have ended",
            ),
        ),
        never=("from then on",),
        world=BUSY,
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
        "The only cluster of a template that nobody uses gets an end in three months",
        (stack("      retireWithin: 7d\n", "      retireWithin: 7d\n      until: 2027-03-01\n"),),
        (hurts("season-changed", "cpu until", "nobody can submit `digits`"),),
        given=(template("digits", '("pool", "spot", "on-demand")', '("pool",)'),),
    ),
    Case(
        "A campaign that is to come loses six weeks of its cluster",
        (stack("until: 2027-02-15", "until: 2027-01-05"),),
        (hurts("season-changed", "h100 until", "until 2027-01-05", "instead of 2027-02-15"),),
        given=(h100("from: 2026-12-20", "until: 2027-02-15"),),
        accident="a season cut short before it began",
    ),
    Case(
        "A cluster that ends in a month keeps another machine until then",
        (stack("min: 2, max: 4", "min: 3, max: 4"),),
        (hurts("idle-cost", "stack"),),
        may=ANEW,
        given=(h100("until: 2026-12-20"),),
        never=("until then",),
        accident="a bill that nobody saw in a remark on dates",
    ),
    Case(
        "A cluster ends a day later than was said",
        (stack("until: 2026-12-20", "until: 2026-12-21"),),
        (tells("season-changed", "h100", "`2026-12-20` → `2026-12-21`"),),
        given=(h100("until: 2026-12-20"),),
    ),
    Case(
        "A cluster ends a day earlier than was said",
        (stack("until: 2026-12-20", "until: 2026-12-19"),),
        (hurts("season-changed", "h100", "→ `2026-12-19`"),),
        given=(h100("until: 2026-12-20"),),
        accident="a trial's end that came before its last job's",
    ),
    Case(
        "A campaign that is to come begins two weeks sooner, and its end moves as far the other way",
        (
            stack("from: 2026-12-20", "from: 2026-12-06"),
            stack("until: 2027-01-15", "until: 2027-01-29\n      idleLimit: 2d"),
        ),
        (
            tells(
                "season-changed",
                "h100 until",
            ),
            tells("season-changed", "h100 from", "from 2026-12-06 on", "instead of 2026-12-20"),
        ),
        given=(h100("from: 2026-12-20", "until: 2027-01-15"),),
        accident="a bill that a change of dates did not tell",
    ),
    Case(
        "A campaign that is to come begins sooner",
        (stack("from: 2026-12-20", "from: 2026-12-15"), stack("{ min: 2, max: 4 }", "{ min: 3, max: 4 }")),
        (
            tells("season-changed", "h100 from"),
            tells("season-changed", "h100", "min` 2 → 3", "with nothing running it costs $303.42/h, $221,499 a month"),
            stops(
                "idle-cost",
                "stack",
                "$221,499 a month more",
                "running at times: above $50,000",
            ),
            stops("most-cost", "stack", "$295,332 a month more", "at times", "above $100,000"),
        ),
        given=(ASKS_ABOVE, h100("from: 2026-12-20", "until: 2027-01-15")),
        accident="a bill that a change of dates did not tell",
    ),
    Case(
        "A campaign that is to come is put off by a month: it is no longer than it was",
        (stack("from: 2026-12-20", "from: 2027-01-20"), stack("until: 2027-01-15", "until: 2027-02-15")),
        (
            tells("season-changed", "h100 until", "2027-02-15"),
            tells("season-changed", "h100 from", "2027-01-20"),
        ),
        given=(h100("from: 2026-12-20", "until: 2027-01-15"),),
        never=("more cost",),
    ),
    Case(
        "A cluster has no end any more",
        (stack("      until: 2026-12-20\n", ""),),
        (hurts("season-changed", "h100", "is not deleted on a date any more", "$147,666 a month"),),
        given=(h100("until: 2026-12-20"),),
    ),
    Case(
        "A cluster may idle for longer before it is given up",
        (stack("idleLimit: 3d", "idleLimit: 84h"),),
        (tells("season-changed", "h100", "no job for 84 h"),),
        given=(h100("idleLimit: 3d"),),
        world=BUSY,
    ),
    Case(
        "A cluster that was to come in a month does not come",
        (Edit(STACK, H100_ENTRY.replace(LIVES, LIVES + COMES), ""), NOT_ON_THE_POOL),
        (tells("season-changed", "h100", "is given up"), tells("offer-gone", "lora", "27b")),
        may=MONEY,
        given=(h100("from: 2026-12-20"),),
    ),
    Case(
        "A cluster that is to come in a month is to be larger",
        (stack("replicas: { min: 2, max: 4 }", "replicas: { min: 2, max: 8 }"),),
        (tells("season-changed", "h100", "max` 4 → 8"),),
        may=MONEY,
        given=(h100("from: 2026-12-20"),),
    ),
    Case(
        "A season began today, of a cluster that nobody deployed so large",
        (stack("replicas: { min: 2, max: 4 }", "replicas: { min: 4, max: 8 }"),),
        (
            tells("season-changed", "h100", "min` 2 → 4"),
            tells("cluster-created", "h100", "$404.56/h"),
        ),
        may=(*MONEY, *OFFERS, "capacity-found-anew"),
        given=(h100("from: 2026-11-20"),),
        world=ago(3),
        accident="an edit that a timer carried out",
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
        "The end of a cluster goes, and its idle limit stays",
        (stack("      until: 2026-12-20\n", ""),),
        (tells("season-changed", "h100 until", "is not deleted on a date any more"),),
        given=(h100("until: 2026-12-20", "idleLimit: 20d"),),
        never=("no end any more",),
    ),
    Case(
        "A new cluster's season is over already, and one that is to come gets more time to be made",
        (
            stack("    cpu:\n", OVER + "    cpu:\n"),
            stack("from: 2026-12-20\n", "from: 2026-12-20\n      createWithin: 1h\n"),
        ),
        (
            tells("season-changed", "a100", "out of season since 2026-01-10", "it is not made"),
            tells("cluster-protection", "h100", "seeks machines for at most 1 h"),
        ),
        given=(h100("from: 2026-12-20"),),
        never=("is made later", "from then on", "all else and fails"),
    ),
    Case(
        "A cluster is not given up any more for want of jobs, until its end",
        (stack("      idleLimit: 3d\n", ""),),
        (tells("season-changed", "h100 idleLimit", "for want of jobs"), hurts("idle-cost", "stack", "$147,666")),
        given=(h100("idleLimit: 3d", "until: 2027-03-01"),),
        world=BUSY,
    ),
    Case(
        "A cluster that is to come comes a week later",
        (stack("from: 2026-12-20", "from: 2026-12-27"),),
        (tells("season-changed", "h100 from", "2026-12-27"),),
        given=(h100("from: 2026-12-20"),),
    ),
    Case(
        "A cheap cluster stays a month longer",
        (stack("until: 2026-12-20", "until: 2027-01-20"),),
        (tells("season-changed", "cpu until", "is wanted until 2027-01-20", "instead of 2026-12-20"),),
        given=(
            stack(
                "      displayName: cpu of research\n", "      displayName: cpu of research\n      until: 2026-12-20\n"
            ),
        ),
        never=("takes no new jobs",),
    ),
    Case(
        "A cluster stays over the holidays, paid with nobody there",
        (stack("until: 2026-12-18", "until: 2027-01-11"),),
        (hurts("season-changed", "h100", "with nothing running it costs $202.28/h"),),
        given=(h100("until: 2026-12-18"),),
        world=BUSY,
        accident="idle machines over a holiday",
    ),
    Case(
        "A season began since the last deployment, and an edit of another cluster asks nobody for its cost",
        (stack("      retireWithin: 7d\n", "      retireWithin: 8d\n"),),
        (
            tells("cluster-protection", "cpu"),
            tells("cluster-created", "h100", "as its season has begun"),
            hurts("idle-cost", "stack", "costs $147,666 a month more with nothing running"),
        ),
        may=OFFERS,
        given=(ASKS_ABOVE, h100("from: 2026-11-18", "until: 2026-12-18")),
        world=ago(5),
        never=("an approval", "at times"),
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
    Case(
        "A cluster whose season has begun goes before a deployment makes it",
        (Edit(STACK, H100_ENTRY.replace(LIVES, f"{LIVES}      from: 2026-11-18\n"), ""), NOT_ON_THE_POOL),
        (
            tells("idle-cost", "stack", "$147,666 a month less with nothing running"),
            tells("season-changed", "h100", "is given up"),
            tells("offer-gone", "lora", "27b"),
        ),
        may=("most-cost",),
        given=(h100("from: 2026-11-18"),),
        world=ago(5),
    ),
    Case(
        "Machines whose price no list has are to come for nine days",
        (stack("    cpu:\n", f"{B200}    cpu:\n"),),
        (
            tells("idle-cost", "stack", "amount that is not known", "at times", "from 2026-12-01 until 2026-12-10"),
            tells("most-cost", "stack", "amount that is not known", "at times", "from 2026-12-01 until 2026-12-10"),
            hurts("pool-unused", "b200/workers"),
        ),
        may=("quota-unknown",),
    ),
    Case(
        "Machines whose price no list has are to come for nine days, and later others for good",
        (stack("    cpu:\n", f"{B200}{LATER}    cpu:\n"),),
        (
            tells("idle-cost", "stack", "at least $4,063 a month more", "at times", "a part is in no price list"),
            tells("most-cost", "stack", "at least $4,063 a month more", "at times", "a part is in no price list"),
            hurts("pool-unused", "b200/workers"),
        ),
        may=("quota-unknown",),
        never=("until 2026-12-20",),
        accident="machines without a price, told as a cost that does not change",
    ),
)

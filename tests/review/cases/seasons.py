"""Seasons and idle limits: dates that an edit moves, and what comes by time alone, as was announced. # B6"""

from tests.review.case import (
    BUSY,
    LARGE,
    QUIET,
    STACK,
    Case,
    Edit,
    Job,
    World,
    h100,
    hurts,
    silent,
    stack,
    stops,
    tells,
)
from tests.review.cases.clusters import H100_ENTRY, NOT_ON_THE_POOL, TO_NIGHT_LABELS

LIVES = "retireWithin: 2w\n"
MONEY = ("idle-cost", "most-cost")
OFFERS = ("offer-unavailable", "offer-available", "run-cost", "no-offer-left")


OVER = "    a100: { pools: { workers: { machine: a2-highgpu-1g, replicas: 2 } }, until: 2026-01-10 }\n"
COMES = "      from: 2026-12-20\n"


def ago(days: int, *jobs: Job) -> World:
    return World(jobs=jobs, deployed=days)


CASES = (
    Case(
        "A cluster with a job on it gets an end in a month",
        (h100("until: 2026-12-20"),),
        (
            hurts(
                "season-changed",
                "h100",
                "takes no new jobs from 2026-12-20 on",
                "deleted when its own have ended",
                "on Spot",
            ),
        ),
        world=BUSY,
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
        "A cluster has no end any more",
        (stack("      until: 2026-12-20\n", ""),),
        (hurts("season-changed", "h100", "is not deleted on a date any more", "$147,666 a month"),),
        given=(h100("until: 2026-12-20"),),
    ),
    Case(
        "A cluster's beginning, which has passed, is another one that has",
        (stack("from: 2026-01-10", "from: 2026-02-10"),),
        given=(h100("from: 2026-01-10"),),
        world=BUSY,
    ),
    Case(
        "A cluster may idle for longer before it is given up",
        (stack("idleLimit: 3d", "idleLimit: 9d"),),
        (tells("season-changed", "h100", "no job for 9 days"),),
        given=(h100("idleLimit: 3d"),),
        world=BUSY,
    ),
    Case(
        "A cluster is made in a month, and there is too little quota for it",
        (h100("from: 2026-12-20"),),
        (
            hurts("cluster-retires | cluster-deleted", "h100", "from"),
            hurts("season-awaits-quota", "h100", "not ready", "2026-12-20"),
        ),
        may=(*MONEY, *OFFERS, "cluster-retires", "cluster-deleted"),
        world=World(limits={"nvidia_h100_gpus": 4}),
        accident="quota that was there when it was planned",
    ),
    Case(
        "A cluster gets a day to come, and a template has no other way to run",
        (
            stack(
                "      displayName: cpu of research\n", "      displayName: cpu of research\n      from: 2026-12-20\n"
            ),
        ),
        (
            stops("no-offer-left", "tune", "can't run for now"),
            hurts("cluster-deleted", "cpu", "nobody can submit to it until 2026-12-20"),
            hurts("offer-unavailable", "digits", "on demand"),
        ),
        may=(*MONEY, *OFFERS, "season-changed"),
    ),
    Case(
        "A cluster's last day becomes one that has passed, and a template has no other way to run",
        (stack("until: 2027-01-20", "until: 2026-11-20"),),
        (
            stops("no-offer-left", "tune", "can't run at all"),
            hurts("cluster-deleted", "cpu", "nobody can submit to it any more"),
            hurts("offer-unavailable", "digits", "on demand"),
            tells("cluster-deleted", "cpu", "until", "2026-11-20"),
        ),
        may=(*MONEY, *OFFERS),
        given=(
            stack(
                "      displayName: cpu of research\n", "      displayName: cpu of research\n      until: 2027-01-20\n"
            ),
        ),
        never=("for now", "from 2026-11-20", "for the time without"),
    ),
    Case(
        "A cluster that was to come in a month does not come",
        (Edit(STACK, H100_ENTRY.replace(LIVES, LIVES + COMES), ""), NOT_ON_THE_POOL),
        (tells("season-changed", "h100", "is not made any more"), tells("offer-gone", "lora", "27b")),
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
        "A season ended yesterday, as was announced, with a job on the cluster",
        (QUIET,),
        (
            tells(
                "cluster-retires",
                "h100",
                "deleted when `tune-27b-x1` (ada) has ended",
                "out of season since 2026-11-20",
            ),
            hurts("offer-unavailable", "lora"),
        ),
        may=(*MONEY, *OFFERS, "jobs-finish-on-old"),
        given=(h100("until: 2026-11-20"),),
        world=ago(3, LARGE),
        accident="a trial's end that came before its last job's",
    ),
    Case(
        "A season ended yesterday, as was announced, and nobody used the cluster",
        (QUIET,),
        (tells("cluster-deleted", "h100", "is idle and is deleted at once", "out of season since 2026-11-20"),),
        may=(*MONEY, *OFFERS),
        given=(h100("until: 2026-11-20"),),
        world=ago(3),
    ),
    Case(
        "A season began today, as was announced",
        (QUIET,),
        (
            tells("cluster-created", "h100", "season", "each later `up` tries again"),
            hurts("idle-cost", "stack", "+$202.28/h"),
        ),
        may=(*OFFERS, "capacity-found-anew"),
        given=(h100("from: 2026-11-20"),),
        world=ago(3),
    ),
    Case(
        "A cluster that nobody used for six days is given up, as was announced",
        (QUIET,),
        (tells("cluster-deleted", "h100", "had no job for its `idleLimit`"),),
        may=(*MONEY, *OFFERS),
        given=(h100("idleLimit: 6d"),),
        world=ago(4),
    ),
    Case(
        "A job stays on an old generation for longer than was meant",
        (QUIET,),
        (hurts("cluster-overdue", "h100-", "should be gone by now", "old-27b"),),
        given=(stack("retireWithin: 2w", "retireWithin: 8d"),),
        world=World(
            jobs=(Job("old-27b", user="ben", parameters={"model": "27b"}, earlier=True),),
            earlier=TO_NIGHT_LABELS,
            deployed=3,
        ),
        accident="an old cluster that waited for a forgotten job, and was paid",
    ),
    silent("Nothing is edited, and a season has still a month", QUIET, given=(h100("until: 2026-12-20"),)),
    silent(
        "Nothing is edited while a cluster that is to come in a month lacks quota",
        QUIET,
        given=(h100("from: 2026-12-20"),),
        world=World(limits={"nvidia_h100_gpus": 4}),
    ),
    Case(
        "A cluster that is to come in a month is to be protected",
        (stack("replacement: rollover", "replacement: protect"),),
        (tells("cluster-protection", "cluster h100", "rollover", "protect"),),
        given=(h100("from: 2026-12-20"),),
    ),
    Case(
        "A season began today, of a cluster that nobody deployed so large",
        (stack("replicas: { min: 2, max: 4 }", "replicas: { min: 4, max: 8 }"),),
        (
            tells("season-changed", "h100", "min` 2 → 4", "made as it is edited"),
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
        "A season begins in time to ask for the quota that it takes",
        (QUIET,),
        (tells("cluster-created", "h100"),),
        may=(*MONEY, *OFFERS, "capacity-found-anew", "quota-short-at-most"),
        given=(h100("from: 2026-11-20"), stack("mode: enforce", "mode: request")),
        world=World(limits={"nvidia_h100_gpus": 24}, deployed=3),
    ),
    Case(
        "The end of a cluster goes, and its idle limit stays",
        (stack("      until: 2026-12-20\n", ""),),
        (tells("season-changed", "h100 until", "is not deleted on a date any more"),),
        given=(h100("until: 2026-12-20", "idleLimit: 20d"),),
        never=("no end any more",),
    ),
    Case(
        "A busy cluster gets a whole season that has passed",
        (h100("from: 2026-01-01", "until: 2026-02-01"),),
        (stops("cluster-retires", "h100", "is deleted when", "it is out of season since 2026-02-01"),),
        may=(*MONEY, *OFFERS, "season-changed", "jobs-finish-on-old"),
        world=BUSY,
        never=("is wanted from",),
        accident="a season of last year that was copied, and the machines given back",
    ),
    Case(
        "A busy cluster gets an end that has passed for longer than older ones may stay",
        (h100("until: 2026-10-20"),),
        (stops("cluster-retires", "h100", "is deleted when"),),
        may=(*MONEY, *OFFERS, "season-changed", "jobs-finish-on-old"),
        world=BUSY,
        never=("should be gone by now",),
        accident="a date that was meant for the next year",
    ),
    Case(
        "An idle cluster gets an idle limit that has passed: its deletion is told once",
        (h100("idleLimit: 2h"),),
        (
            stops("cluster-retires | cluster-deleted", "h100", "deleted at once"),
            tells("cluster-retires | cluster-deleted", "h100", "idleLimit", "2 h"),
        ),
        may=(*MONEY, *OFFERS),
    ),
    Case(
        "A new cluster's season is over already, and one that is to come gets more time to be made",
        (
            stack("    cpu:\n", OVER + "    cpu:\n"),
            stack("from: 2026-12-20\n", "from: 2026-12-20\n      createWithin: 1h\n"),
        ),
        (
            tells("season-changed", "a100", "out of season since 2026-01-10", "it is not made"),
            tells("cluster-protection", "h100", "waits at most 1 h"),
        ),
        given=(h100("from: 2026-12-20"),),
        never=("is made later", "from then on", "all else and fails"),
    ),
    Case(
        "A cluster on which a job runs gets a later season, with another end",
        (stack("from: 2026-01-10\n      until: 2027-03-15", "from: 2026-12-01\n      until: 2027-01-15"),),
        (
            stops("cluster-retires", "h100", "out of season until 2026-12-01", "2027-01-15"),
            hurts("offer-unavailable", "lora", "h100"),
        ),
        may=(*MONEY, *OFFERS),
        given=(h100("from: 2026-01-10", "until: 2027-03-15"),),
        world=World(jobs=(LARGE,)),
        never=("takes no new jobs from", "while its machines are there"),
    ),
)

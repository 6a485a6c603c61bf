"""Teams: their clusters, and their shares of machines."""

from tests.review.case import BUSY, Case, Job, World, h100, hurts, more, stack, stops, tells, template
from tests.review.edits import (
    ADA,
    ANYTHING_OF_CPU,
    BENCH,
    HANDED_ON,
    LORA_TUNES,
    NIGHTLY,
    POLICY,
    TEAM,
    TEAMS,
    VISION,
    trainer,
)

TWO_SHARE = stack(
    "  slipway:policy:\n",
    "  slipway:teams:\n    vision: { submitters: [user:ada@acme.example], clusters: [h100] }\n"
    "    speech: { submitters: [user:ben@acme.example], clusters: [h100] }\n"
    "  slipway:shares: { h100: { vision: 1, speech: 1 } }\n  slipway:policy:\n",
)
LABEL = 'labels={"team": "vision"}'
ROBOT = "serviceAccount:robot@acme-ml.iam.gserviceaccount.com"


MACHINES = stack(POLICY, f"  slipway:machines: {{ small: n1-standard-8 }}\n{POLICY}")
OF_LARGE = stack(
    "    demand: { sub",
    "    vision: { submitters: [group:vision@acme.example], machines: { small: n1-highmem-8 } }\n    demand: { sub",
)
ROOMY = stack(
    "        workers: { machine: n1-standard-8",
    "        roomy: { machine: n1-highmem-8, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 1 }\n"
    "        workers: { machine: n1-standard-8",
)

CASES = (
    Case(
        "A cluster that is to come becomes a team's",
        (stack("clusters: []", "clusters: [h100]"),),
        (
            hurts(
                "cluster-team",
                "cluster h100",
                f"`{TEAM}`",
                "may not send jobs of `lora` to `h100` once it is there",
            ),
        ),
        given=(
            h100("from: 2026-12-20"),
            stack(POLICY, f"  slipway:teams: {{ vision: {{ submitters: [{ADA}], clusters: [] }} }}\n{POLICY}"),
        ),
        accident="machines of a season that a team had to itself, as the others found when it came",
    ),
    Case(
        "A cluster that is to come becomes a team's, where the template counts for another",
        (stack("clusters: []", "clusters: [h100]"),),
        (hurts("cluster-team", "cluster h100", f"`{ADA}`", "may not send jobs of `lora` to `h100` once it is there"),),
        given=(
            h100("from: 2026-12-20"),
            stack(POLICY, f"  slipway:teams: {{ vision: {{ submitters: [{ADA}], clusters: [] }} }}\n{POLICY}"),
            template("lora", "    timeout_s", '    labels={"team": "speech"},\n    timeout_s'),
        ),
        never=("--team",),
        accident="a team that could not use its own cluster, as the template counted for somebody else",
    ),
    Case(
        "A team's cluster is another team's, for whoever says so",
        HANDED_ON,
        (
            hurts("cluster-team", "cluster cpu", "for team `demand` may go there"),
            stops("cluster-team", "template tune", "list another capacity type that can be had"),
        ),
        given=TEAMS,
        may=("cluster-team",),
        world=World(jobs=(Job("tune-depth", "tune", parameters={"trials": 16}, hours=0.4),)),
        never=("still may", "leave `cpu` out of"),
        accident="a cluster handed on before its jobs were",
    ),
    Case(
        "A team has no share of a cluster any more, where another has all of it",
        (stack("{ search: 2, demand: 2 }", "{ search: 16 }"),),
        (
            hurts(
                "team-shares",
                "cpu",
                "Shares of",
                "slipway:shares.cpu",
            ),
        ),
        given=(
            *TEAMS,
            stack("demand@acme.example] }", "demand@acme.example], clusters: [cpu] }"),
            stack(POLICY, "  slipway:shares: { cpu: { search: 2, demand: 2 } }\n" + POLICY),
        ),
        accident="a team whose jobs stood for a week behind another's",
    ),
    Case(
        "The H100 machines become two teams', whose people have to name one",
        (
            stack("clusters: [] }\n    speech", "clusters: [h100] }\n    speech"),
            stack("clusters: [] }\n", "clusters: [h100] }\n"),
        ),
        (
            hurts("cluster-team", "cluster h100", TEAM, "for team `vision` or `speech` may go there"),
            hurts("cluster-team", "cluster h100 without --team", ADA, "without naming a team (`--team`): only jobs"),
        ),
        given=(
            stack(
                POLICY,
                f"  slipway:teams:\n    vision: {{ submitters: [{ADA}], clusters: [] }}\n"
                f"    speech: {{ submitters: [user:ben@acme.example], clusters: [] }}\n{POLICY}",
            ),
        ),
        accident="machines that a neighbouring team had counted on",
    ),
    Case(
        "The H100 machines become one team's, and everybody else is sent away",
        (
            stack(
                "  slipway:policy:\n",
                "  slipway:teams: { vision: { submitters: [user:ada@acme.example], clusters: [h100] } }\n"
                "  slipway:policy:\n",
            ),
        ),
        (
            hurts(
                *(
                    "cluster-team",
                    "h100",
                    TEAM,
                    NIGHTLY,
                    "count for team `vision` may go there",
                    "slipway:teams",
                ),
            ),
            stops("cluster-team", "template lora", "(model=27b)", "1 submission by ada used it like that"),
        ),
        given=(
            template("lora", '                    reservation="bought",\n', ""),
            template("lora", '("pool", "reservation", "spot")', '("pool",)'),
        ),
        world=World(jobs=(*BUSY.jobs, Job("lora-9b", user="ben", capacity_type="spot"))),
        accident="machines that a neighbouring team had counted on",
    ),
    Case(
        "The CPU machines become one team's, and a template that runs nowhere else is refused to everybody else",
        (
            stack(
                "  slipway:policy:\n",
                "  slipway:teams: { vision: { submitters: [group:vision@acme.example], clusters: [cpu] } }\n"
                "  slipway:policy:\n",
            ),
        ),
        (
            stops(
                *(
                    "cluster-team",
                    "template tune",
                    TEAM,
                    NIGHTLY,
                    ADA,
                    "are refused (exit code 5)",
                    "1 submission by ada",
                ),
                *("list another capacity type that can be had",),
            ),
            hurts("cluster-team", "cpu"),
        ),
        world=World(jobs=(Job("tune-depth", "tune", parameters={"trials": 16}, hours=0.4),)),
        may=("submitter-added", "access-added"),
        accident="a template that nobody may submit any more",
    ),
    Case(
        "Teams share a cluster that was whoever's was first",
        (stack("  slipway:policy:\n", "  slipway:shares: { h100: { vision: 2 } }\n  slipway:policy:\n"),),
        (hurts("team-shares", "cluster h100", "vision 2 instead of none"),),
        world=BUSY,
    ),
    Case(
        "A team may not use a cluster any more, and its share of it goes",
        (
            stack("ben@acme.example], clusters: [h100] }", "ben@acme.example] }"),
            stack("{ h100: { vision: 1, speech: 1 } }", "{ h100: { vision: 2 } }"),
        ),
        (hurts("team-shares", "h100", "vision 2 instead of speech 1, vision 1"),),
        given=(TWO_SHARE,),
        may=("cluster-team", "cluster-team-gone"),
        never=("jobs of speech are sent there", "have no share", "while a team below its own waits"),
    ),
    Case(
        "A team whose jobs fit no pool of a cluster loses its share of it",
        (stack("{ h100: { vision: 1, speech: 1 } }", "{ h100: { vision: 2 } }"),),
        (tells("team-shares", "h100", "vision 2 instead of speech 1, vision 1"),),
        given=(TWO_SHARE, more("lora", LABEL)),
        never=("have no share", "while a team below"),
    ),
    Case(
        "A team leaves a cluster, and the other needs no share of it any more",
        (
            stack("ben@acme.example], clusters: [h100] }", "ben@acme.example] }"),
            stack("  slipway:shares: { h100: { vision: 1, speech: 1 } }\n", ""),
        ),
        (tells("team-shares", "h100", "none instead of speech 1, vision 1"),),
        given=(TWO_SHARE,),
        may=("cluster-team", "cluster-team-gone"),
        never=("who submits first",),
    ),
    Case(
        "Nobody shares a cluster by machines any more",
        (stack("  slipway:shares: { h100: { vision: 2 } }\n", ""),),
        (hurts("team-shares", "cluster h100", "are none instead of"),),
        given=(stack("  slipway:policy:\n", "  slipway:shares: { h100: { vision: 2 } }\n  slipway:policy:\n"),),
        never=("above its share",),
        accident="a sweep that held a shared pool for days",
    ),
    Case(
        "A second team gets a team's machines",
        (stack("submitters: [user:ben@acme.example]", "submitters: [user:ben@acme.example], clusters: [h100]"),),
        (hurts("cluster-team", "cluster h100", "slipway:teams.audio.clusters"),),
        given=(
            stack(
                "  slipway:policy:\n",
                "  slipway:teams:\n"
                "    vision: { submitters: [user:ada@acme.example], clusters: [h100] }\n"
                "    audio: { submitters: [user:ben@acme.example] }\n"
                "  slipway:policy:\n",
            ),
        ),
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
    Case(
        "A team that has a cluster to come loses whoever was in it",
        (stack(f"[{TEAM}], clusters: [h100]", "[], clusters: [h100]"), stack(f"[{ADA}] }}", f"[{ADA}, {TEAM}] }}")),
        (hurts("cluster-team", "cluster h100", f"`{TEAM}`", "for team `ml` may go there"),),
        given=(
            h100("from: 2026-12-20"),
            stack(
                POLICY,
                f"  slipway:teams:\n    ml: {{ submitters: [{TEAM}], clusters: [h100] }}\n"
                f"    speech: {{ submitters: [{ADA}] }}\n    night: {{ submitters: [{NIGHTLY}] }}\n{POLICY}",
            ),
        ),
        accident="machines of a season that stood idle, as nobody was in the team any more",
    ),
    Case(
        "A team's only cluster goes",
        (stack("clusters: [cpu] ", "clusters: [] "),),
        (hurts("cluster-team", "cluster cpu", "of team `vision`, is shared with everybody", ADA),),
        given=(
            *(stack(POLICY, VISION + POLICY), trainer(ROBOT)),
            template("tune", "    timeout_s=3600,\n", f'    timeout_s=3600,\n    trainer="tuning",\n    {LABEL},\n'),
        ),
        never=(ROBOT,),
        accident="machines that a team had counted on",
    ),
    Case(
        "A cluster becomes a team's, and a template counts for that team by itself",
        (stack("clusters: []", "clusters: [cpu]"),),
        (hurts("cluster-team", "cpu", "jobs of `digits` to `cpu`", "count for team `vision`"),),
        given=(
            stack(POLICY, VISION.replace("[cpu]", "[]") + POLICY),
            template("tune", "    timeout_s=3600,\n", '    timeout_s=3600,\n    labels={"team": "vision"},\n'),
        ),
    ),
    Case(
        "A team's cluster is another team's too",
        (stack("clusters: []", "clusters: [cpu]"),),
        (hurts("cluster-team", "cluster cpu", "is shared with team `speech`"),),
        given=(
            stack(
                POLICY,
                "  slipway:shares: { cpu: { vision: 4 } }\n"
                "  slipway:teams:\n    vision: { submitters: [group:vision@acme.example], clusters: [cpu] }\n"
                "    speech: { submitters: [group:speech@acme.example], clusters: [] }\n" + POLICY,
            ),
        ),
    ),
    Case(
        "The CPU machines become a team's, which a group that submits as a trainer alone could not use before",
        (
            stack(
                "  slipway:policy:\n",
                f"  slipway:teams: {{ vision: {{ submitters: [{ADA}], clusters: [cpu] }} }}\n  slipway:policy:\n",
            ),
        ),
        (hurts("cluster-team", "cluster cpu", TEAM), stops("cluster-team", "template tune", TEAM)),
        given=(trainer("group:nlp@acme.example"), LORA_TUNES),
        world=World(jobs=(Job("tune-depth", "tune", parameters={"trials": 16}, hours=0.4),)),
        never=("group:nlp",),
    ),
    Case(
        "A new team takes a new pool, whose machines it alone asks for",
        (
            OF_LARGE,
            ROOMY,
        ),
        (tells("submitter-added", "group:vision@acme.example"),),
        given=(
            MACHINES,
            *TEAMS,
            stack("clusters: [cpu]", "clusters: []"),
            template("tune", '"n1-standard-8"', '"small"'),
        ),
        may=("cluster-new-generation", "capacity-found-anew", "generations-overlap"),
        never=("No new job can run",),
    ),
    Case(
        "A team with machines of its own gets another name",
        (stack("vision: {", "sight: {"),),
        (hurts("submitter-gone", "team vision", "no team is called so any more"),),
        given=(
            MACHINES,
            *TEAMS,
            OF_LARGE,
            ROOMY,
            stack("clusters: [cpu]", "clusters: []"),
            template("tune", '"n1-standard-8"', '"small"'),
        ),
        never=("n1-highmem-8", "on Spot"),
    ),
    Case(
        "A team goes, whose cluster is everybody's from then on",
        (stack("    search: { submitters: [group:search@acme.example], clusters: [cpu] }\n", ""),),
        (hurts("cluster-team", "cluster cpu", "of team `search`, is shared with everybody"),),
        given=TEAMS,
        may=("submitter-gone", "budget-changed"),
        accident="machines that one team had paid for, and all used once its entry was tidied away",
    ),
    Case(
        "Two clusters become a team's, which have all machines of a template: no name of a team helps others",
        (stack("search@acme.example] }", "search@acme.example], clusters: [bench, cpu] }"),),
        (
            hurts("cluster-team", "cluster bench", TEAM),
            hurts("cluster-team", "cluster cpu", TEAM),
            hurts("cluster-team", "template tune cluster bench", "are refused (exit code 5): only clusters of team"),
        ),
        given=(
            BENCH,
            stack(POLICY, f"  slipway:teams: {{ search: {{ submitters: [group:search@acme.example] }} }}\n{POLICY}"),
        ),
        may=tuple(kind for kind in ANYTHING_OF_CPU if kind != "cluster-team"),
        never=(f"`{ADA}` without", "template tune cluster cpu"),
        accident="a cluster given to whom used it most",
    ),
)

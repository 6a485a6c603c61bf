"""Teams: their clusters, and their shares of machines."""

from tests.review.case import BUSY, Case, Job, World, hurts, more, stack, stops, tells, template
from tests.review.edits import ADA, HANDED_ON, NIGHTLY, POLICY, TEAM, TEAMS, VISION

TWO_SHARE = stack(
    "  slipway:policy:\n",
    "  slipway:teams:\n    vision: { submitters: [user:ada@acme.example], clusters: [h100] }\n"
    "    speech: { submitters: [user:ben@acme.example], clusters: [h100] }\n"
    "  slipway:shares: { h100: { vision: 1, speech: 1 } }\n  slipway:policy:\n",
)
LABEL = 'labels={"team": "vision"}'


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
        (hurts("team-shares", "cpu", "Shares of", "slipway:shares.cpu"),),
        given=(
            *TEAMS,
            stack("demand@acme.example] }", "demand@acme.example], clusters: [cpu] }"),
            stack(POLICY, "  slipway:shares: { cpu: { search: 2, demand: 2 } }\n" + POLICY),
        ),
        accident="a team whose jobs stood for a week behind another's",
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
            hurts(*("cluster-team", "h100", TEAM, NIGHTLY, "count for team `vision` may go there", "slipway:teams")),
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
        "A new team takes a new pool, whose machines it alone asks for",
        (OF_LARGE, ROOMY),
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
)

"""Teams: their clusters, and their shares of machines."""

from tests.review.case import BUSY, Case, Job, World, h100, hurts, more, stack, stops, tells, template
from tests.review.edits import ADA, HANDED_ON, LORA_TUNES, NIGHTLY, POLICY, SESSIONS, TEAM, TEAMS, VISION, trainer

TWO_SHARE = stack(
    "  slipway:policy:\n",
    "  slipway:teams:\n    vision: { submitters: [user:ada@acme.example], clusters: [h100] }\n"
    "    speech: { submitters: [user:ben@acme.example], clusters: [h100] }\n"
    "  slipway:shares: { h100: { vision: 1, speech: 1 } }\n  slipway:policy:\n",
)
LABEL = 'labels={"team": "vision"}'
ROBOT = "serviceAccount:robot@acme-ml.iam.gserviceaccount.com"

BENCH = stack(
    "    cpu:\n      displayName",
    "    bench:\n      pools:\n"
    "        workers: { machine: n1-standard-8, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 4 }\n"
    "    cpu:\n      displayName",
)

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
OF_VISION = stack(
    POLICY, f"  slipway:teams: {{ vision: {{ submitters: [group:vision@acme.example], clusters: [cpu] }} }}\n{POLICY}"
)
TWO_CLUSTERS = stack(
    POLICY,
    "  slipway:teams:\n    search: { submitters: [group:search@acme.example], clusters: [bench] }\n"
    f"    vision: {{ submitters: [group:vision@acme.example], clusters: [cpu] }}\n{POLICY}",
)
ANYTHING_OF_CPU = (
    "cluster-team",
    "cluster-retires",
    "cluster-deleted",
    "season-changed",
    "offer-unavailable",
    "offer-available",
    "fallback-wait",
    "pool-unused",
    "run-cost",
    "offer-order",
    "no-offer-left",
    "idle-cost",
    "most-cost",
)

CASES = (
    Case(
        "A cluster becomes a team's, where sessions of all may run alone and another team has a share",
        (stack("search@acme.example] }", "search@acme.example], clusters: [bench, cpu] }"),),
        (
            stops("sessions-limited", "workspace", "that don't count for team `search` may run nowhere instead of"),
            hurts("cluster-team", "cluster cpu"),
            hurts("cluster-team", "cluster bench"),
            hurts("cluster-team", "template tune", "only clusters of team `search` have machines for them"),
        ),
        given=(
            *SESSIONS,
            stack(
                POLICY,
                "  slipway:teams:\n    search: { submitters: [group:search@acme.example] }\n"
                "    vision: { submitters: [group:vision@acme.example] }\n\n"
                f"  slipway:shares: {{ cpu: {{ search: 4, vision: 4 }} }}\n{POLICY}",
            ),
            stack(
                "    cpu:\n      displayName",
                "    bench:\n      pools:\n"
                "        head: { machine: n1-standard-4, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 2 }\n"
                "        workers: { machine: n1-standard-8, disk: { type: pd-ssd, sizeGb: 100 }, replicas: 4 }\n"
                "    cpu:\n      displayName",
            ),
        ),
        may=("offer-unavailable", "fallback-wait", "pool-unused", "run-cost", "offer-order"),
        accident="a cluster given to whom used it most, and everybody's sessions with it",
    ),
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
        "The second of two clusters with sessions becomes a team's, and whoever names no team has none left",
        (stack("group:vision@acme.example] }", "group:vision@acme.example], clusters: [cpu] }"),),
        (
            stops(
                *("sessions-limited", "workspace"),
                "Sessions that don't count for teams `search` and `vision` may run nowhere instead of",
            ),
            hurts("cluster-team", "cluster cpu"),
        ),
        given=(
            *SESSIONS,
            stack("pools: [cpu/workers]", "pools: [cpu/workers, bench/workers]"),
            stack(
                POLICY,
                "  slipway:teams:\n    search: { submitters: [group:search@acme.example], clusters: [bench] }\n"
                f"    vision: {{ submitters: [group:vision@acme.example] }}\n{POLICY}",
            ),
            BENCH,
        ),
        may=("cluster-team", "offer-unavailable", "fallback-wait", "pool-unused", "run-cost", "offer-order"),
        accident="a warm machine that only two of five teams could have",
    ),
    Case(
        "One of two clusters with sessions becomes a team's, and whoever names no team has the other",
        (stack("group:vision@acme.example] }", "group:vision@acme.example], clusters: [cpu] }"),),
        (
            hurts(
                *("sessions-limited", "workspace"),
                "Sessions that don't count for team `vision` may run on bench/workers instead of on cpu/workers",
            ),
            hurts("cluster-team", "cluster cpu"),
        ),
        given=(
            *SESSIONS,
            stack("pools: [cpu/workers]", "pools: [cpu/workers, bench/workers]"),
            stack(POLICY, f"  slipway:teams: {{ vision: {{ submitters: [group:vision@acme.example] }} }}\n{POLICY}"),
            BENCH,
        ),
        may=("cluster-team", "offer-unavailable", "fallback-wait", "pool-unused", "run-cost", "offer-order"),
    ),
    Case(
        "A new team gets the cluster of sessions, beside a group that submits nothing of the kind",
        (
            stack(
                POLICY,
                "  slipway:teams: { vision: { submitters: [group:vision@acme.example], clusters: [cpu] } }\n" + POLICY,
            ),
            stack(
                "      - user:ada@acme.example\n", "      - user:ada@acme.example\n      - group:vision@acme.example\n"
            ),
        ),
        (
            stops(
                *("sessions-limited", "workspace"),
                "Sessions that don't count for team `vision` may run nowhere instead of on cpu/workers",
            ),
            hurts("cluster-team", "cluster cpu"),
            tells("submitter-added", "vision"),
        ),
        given=SESSIONS,
        may=("cluster-team", "offer-unavailable", "fallback-wait", "pool-unused", "run-cost", "offer-order"),
        accident="a course whose students met a closed door",
    ),
    Case(
        "A group that submits as another trainer comes, and no session ever counts for it",
        (
            stack(
                "        - group:vision@acme.example\n",
                "        - group:vision@acme.example\n        - group:interns@acme.example\n",
            ),
        ),
        (stops("submitter-added", "interns"),),
        given=(*SESSIONS, trainer("group:vision@acme.example"), LORA_TUNES),
        never=("Sessions",),
    ),
    Case(
        "The only group of a team with the cluster of sessions is exchanged",
        (stack("group:vision@acme.example", "group:seeing@acme.example"),),
        (stops("submitter-gone", "group:vision@acme.example"), tells("submitter-added", "group:seeing@acme.example")),
        given=(
            *SESSIONS,
            stack(
                POLICY,
                "  slipway:teams: { vision: { submitters: [group:vision@acme.example], clusters: [cpu] } }\n" + POLICY,
            ),
        ),
        may=("team-member",),
        never=("Sessions", "can use pool"),
    ),
    Case(
        "The season of a team's cluster, the only one with sessions, begins later",
        (stack("from: 2026-11-01", "from: 2026-12-20"),),
        (
            stops(
                *("sessions-limited", "vision"),
                "Sessions that count for team `vision` may run nowhere instead of on cpu/workers",
            ),
        ),
        given=(
            *SESSIONS,
            OF_VISION,
            stack("      retireWithin: 7d\n", "      retireWithin: 7d\n      from: 2026-11-01\n"),
        ),
        may=ANYTHING_OF_CPU,
        accident="a course that began before its machines",
    ),
    Case(
        "Sessions of one of two teams keep their machines for less time, and others had none before",
        (stack("max: 8h, pools: [cpu/workers, bench/workers]", "max: 4h, pools: [cpu/workers]"),),
        (
            stops("sessions-limited", "vision", "may run nowhere instead of on bench/workers"),
            hurts("sessions-limited", "search", "for up to 4 h instead of on cpu/workers for up to 8 h"),
        ),
        given=(
            *SESSIONS,
            BENCH,
            stack("pools: [cpu/workers]", "pools: [cpu/workers, bench/workers]"),
            stack(
                POLICY,
                "  slipway:teams:\n    search: { submitters: [group:search@acme.example], clusters: [cpu] }\n"
                f"    vision: {{ submitters: [group:vision@acme.example], clusters: [bench] }}\n{POLICY}",
            ),
        ),
        never=("nowhere instead of nowhere",),
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
        "The cluster of sessions passes from one team to another",
        (
            stack("vision@acme.example], clusters: [cpu] }", "vision@acme.example] }"),
            stack("search@acme.example] }", "search@acme.example], clusters: [cpu] }"),
        ),
        (
            stops(
                "sessions-limited", "vision", "Sessions that count for team `vision` may run nowhere instead of on cpu"
            ),
            tells(
                "sessions-limited", "search", "Sessions that count for team `search` may run on cpu/workers instead of"
            ),
        ),
        given=(
            *SESSIONS,
            stack(
                POLICY,
                "  slipway:teams:\n    search: { submitters: [group:search@acme.example] }\n"
                f"    vision: {{ submitters: [group:vision@acme.example], clusters: [cpu] }}\n{POLICY}",
            ),
        ),
        may=ANYTHING_OF_CPU,
        accident="notebooks that belonged to whom used them most",
    ),
    Case(
        "The clusters of two teams are exchanged, one of which had sessions to itself, and both are listed for them",
        (
            stack("pools: [cpu/workers]", "pools: [cpu/workers, bench/workers]"),
            stack("search@acme.example], clusters: [bench] }", "search@acme.example], clusters: [cpu] }"),
            stack("vision@acme.example], clusters: [cpu] }", "vision@acme.example], clusters: [bench] }"),
        ),
        (
            hurts("sessions-limited", "vision", "may run on bench/workers instead of on cpu/workers"),
            hurts(
                *("sessions-limited", "usual sessions vision", "A plain `slipway session start` that counts for"),
                "team `vision` is refused: it has to name bench/workers",
            ),
            hurts("sessions-limited", "search", "may run on cpu/workers instead of nowhere"),
        ),
        given=(*SESSIONS, BENCH, TWO_CLUSTERS),
        may=ANYTHING_OF_CPU,
        never=("has to name cpu",),
        accident="notebooks that belonged to whom used them most",
    ),
    Case(
        "Sessions may run on a pool alone that no template for them fits, where one team's alone could run before",
        (stack("pools: [cpu/workers]", "pools: [h100/workers]"),),
        (
            stops(
                *("sessions-limited", "vision"),
                "Sessions that count for team `vision` may run nowhere instead of on cpu/workers: no template",
            ),
        ),
        given=(*SESSIONS, OF_VISION),
        never=("Sessions may run",),
        accident="a course whose students met a closed door",
    ),
    Case(
        "All groups but one leave, whose sessions had a cluster, and get another one",
        (
            stack(f"      - {TEAM}\n      - {ADA}\n", f"      - {ADA}\n"),
            stack("pools: [cpu/workers]", "pools: [cpu/workers, bench/workers]"),
            stack("clusters: [cpu] }", "clusters: [cpu, bench] }"),
        ),
        (
            stops("submitter-gone", TEAM),
            hurts("sessions-limited", "workspace", "may run on cpu/workers or bench/workers instead of on cpu/workers"),
            hurts("sessions-limited", "usual sessions", "is refused: it has to name cpu/workers or bench/workers"),
        ),
        given=(*SESSIONS, BENCH, OF_VISION),
        may=ANYTHING_OF_CPU,
        never=("nowhere",),
    ),
    Case(
        "A team goes with its people, whose sessions alone had a pool that is not listed any more",
        (
            stack(VISION, ""),
            stack("pools: [cpu/head]", "pools: [h100/workers]"),
        ),
        (stops("submitter-gone", "group:vision"),),
        given=(
            *SESSIONS,
            stack("pools: [cpu/workers]", "pools: [cpu/head]"),
            stack(POLICY, VISION + POLICY),
            template("script", "n1-standard-8", "n1-standard-4"),
        ),
        may=ANYTHING_OF_CPU,
        never=("Sessions may run",),
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
    Case(
        "The clusters of a team that has all sessions are listed in another order",
        (stack("clusters: [cpu, bench] }", "clusters: [bench, cpu] }"),),
        given=(*SESSIONS, BENCH, stack(POLICY, VISION.replace("[cpu]", "[cpu, bench]") + POLICY)),
        world=BUSY,
        silent=True,
    ),
    Case(
        "Two teams with a cluster of sessions each are listed in another order",
        (
            stack("    search: { submitters: [group:search@acme.example], clusters: [bench] }\n", ""),
            stack(
                "clusters: [cpu] }\n",
                "clusters: [cpu] }\n    search: { submitters: [group:search@acme.example], clusters: [bench] }\n",
            ),
        ),
        given=(*SESSIONS, stack("pools: [cpu/workers]", "pools: [cpu/workers, bench/workers]"), BENCH, TWO_CLUSTERS),
        world=BUSY,
        silent=True,
    ),
)

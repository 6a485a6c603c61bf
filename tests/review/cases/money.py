"""Money: a stack's cost idle and at most, a run's cost, and unused resources that stay paid."""

from dataclasses import replace

from tests.review.case import BUSY, LARGE, Case, Edit, Job, World, hurts, stack, stops, tells, template

RESERVED = Job("reserved-27b", user="ben", capacity_type="reservation", parameters={"model": "27b"})
BOUGHT = (
    "  slipway:reservations:\n"
    "    bought: { path: projects/acme-ml/zones/us-central1-a/reservations/bought, "
    "machine: a3-highgpu-8g, machines: 2 }\n"
)

ASKED = stack("    trainer: trainer\n", "    trainer: trainer\n    confirmAbove: 4\n")

AGENTS = "  slipway:agents: { perDay: 50, machines: [n1-standard-8] }\n"
BUDGETED = stack("  slipway:policy:\n", "  slipway:budget: { stack: 80000, enforce: true }\n  slipway:policy:\n")

ASKS_ABOVE = stack("    advisory:\n", "    approveAbove: { idle-cost: 50000, most-cost: 100000 }\n    advisory:\n")

T4 = stack(
    "    cpu:\n",
    "    t4:\n"
    "      pools:\n"
    "        workers: { machine: n1-standard-8, accelerator: { type: NVIDIA_TESLA_T4, count: 1 }, replicas: 1 }\n"
    "    cpu:\n",
)

KEYED, VISION = "  slipway:machines: { small: n1-standard-8 }\n", "vision: { submitters: [user:ada@acme.example]"

LIMITED = "{ stack: 80000, enforce: true, teams: { ml: 5000, judges: 900 }, users: { bo: 100 } }"

CASES = (
    Case(
        "Two more H100 machines at most, and a higher sum from which on that needs an approval",
        (
            stack("replicas: { min: 2, max: 4 } }", "replicas: { min: 2, max: 6 } }"),
            stack("most-cost: 100000", "most-cost: 900000"),
        ),
        (
            stops("most-cost", "stack", "$147,666 a month more", "above $100,000 a month it needs an approval"),
            stops("policy-weaker", "approveAbove", "approval is asked for above $900,000", "not $100,000"),
        ),
        may=("cluster-new-generation", "capacity-found-anew", "generations-overlap", "quota-short-at-most"),
        given=(ASKS_ABOVE,),
        never=("`blocking` above", "``"),
        accident="a limit with a zero too many",
    ),
    Case(
        "A pool whose price no list has whole becomes one of H100 machines, beyond what needs an approval",
        (
            stack(
                "machine: n1-standard-8, accelerator: { type: NVIDIA_TESLA_T4, count: 1 }, replicas",
                "machine: a3-highgpu-8g, replicas",
            ),
        ),
        (
            stops("idle-cost", "stack", "up to $73,416 a month more", "in no price list", "above $50,000 a month"),
            tells("most-cost", "stack", "up to $73,416 a month more", "in no price list"),
            stops("capacity-given-back", "t4/workers", "1 `n1-standard-8 with 1 NVIDIA_TESLA_T4`"),
        ),
        may=("cluster-new-generation", "capacity-found-anew", "generations-overlap", "machines-changed", "pool-unused"),
        given=(ASKS_ABOVE, T4),
        accident="a gate that an unknown price kept open",
    ),
    Case(
        "A submission may cost a hundred times as much before anybody is asked",
        (stack("confirmAbove: 4\n", "confirmAbove: 400\n"),),
        (hurts("spending-limit", "confirmAbove", "$4.00/h", "$400.00/h"),),
        given=(ASKED,),
        world=BUSY,
        accident="a limit with two zeros too many",
    ),
    Case(
        "AI agents may spend ten times as much, and on any machine",
        (stack("{ perDay: 50, machines: [n1-standard-8] }", "{ perDay: 500 }"),),
        (hurts("spending-limit", "agents", "$500.00 a day on machines of any type", "$50.00 a day on n1-standard-8"),),
        given=(stack("  slipway:policy:\n", f"{AGENTS}  slipway:policy:\n"),),
        world=BUSY,
        accident="an allowance with a zero too many",
    ),
    Case(
        "AI agents may spend so little that a usual job beside the pools is a person's to send",
        (stack("{ perDay: 50 }", "{ perDay: 0.1 }"),),
        (hurts("spending-limit", "agents", "$0.10 a day", "a person has to send all else"),),
        given=(stack("  slipway:policy:\n", "  slipway:agents: { perDay: 50 }\n  slipway:policy:\n"),),
        world=BUSY,
        accident="agents whose every job a person had to send",
    ),
    Case(
        "Nobody is asked any more what a submission costs",
        (stack("confirmAbove: 4\n", "confirmAbove: 1000000\n"),),
        (hurts("spending-limit", "confirmAbove", "$1,000,000.00/h"),),
        given=(ASKED,),
        world=BUSY,
    ),
    Case(
        "What costs more than $4 an hour is asked about from now on, which it was above $1,000",
        (stack("confirmAbove: 1000\n", "confirmAbove: 4\n"),),
        (
            hurts(
                "spending-limit",
                "confirmAbove",
                "above $4.00/h",
                "`serviceAccount:nightly` can't confirm",
                "exits with 5",
            ),
        ),
        given=(stack("    trainer: trainer\n", "    trainer: trainer\n    confirmAbove: 1000\n"),),
        world=BUSY,
    ),
    Case(
        "The budget of the stack has a zero too many, and nothing is refused any more",
        (stack("{ stack: 80000, enforce: true }", "{ stack: 800000 }"),),
        (
            hurts("budget-changed", "budget stack", "$800,000", "$80,000"),
            stops("budget-changed", "budget enforce", "the stack's $800,000 a month are sent all the same"),
        ),
        given=(BUDGETED,),
        world=BUSY,
        accident="a limit with a zero too many",
    ),
    Case(
        "The budget is enforced, and idle pools alone spend it before the month is over",
        (BUDGETED,),
        (
            tells("budget-changed", "budget stack", "may spend $80,000 a month", "beyond that are refused"),
            stops(
                "budget-share",
                "budget share",
                "187 %",
                "about day 17 of a month",
                "above $149,379",
            ),
        ),
        accident="a limit that stopped everybody in the middle of a month",
    ),
    Case(
        "Idle pools alone spend a little more than the budget",
        (replace(BUDGETED, new=str(BUDGETED.new).replace("80000", "149000")),),
        (
            tells("budget-changed", "budget stack", "may spend $149,000 a month"),
            stops("budget-share", "budget share", "nothing can be sent at the end of long months"),
        ),
        never=("of a month on",),
        accident="a limit that nobody met in February",
    ),
    Case(
        "The budget is less than idle pools cost with a single machine each",
        (stack("  slipway:policy:\n", "  slipway:budget: { stack: 30000, enforce: true }\n  slipway:policy:\n"),),
        (
            tells("budget-changed", "budget stack", "may spend $30,000 a month"),
            stops("budget-share", "budget share", "498 %", "above $149,379"),
        ),
        never=("keep fewer machines",),
        accident="a limit that stopped everybody in the middle of a month",
    ),
    Case(
        "The budget is nothing from now on, while jobs run and pools stay",
        (stack("{ stack: 80000, enforce: true }", "{ stack: 0, enforce: true }"),),
        (stops("budget-changed", "budget stack", "may spend nothing", "refused at once", "pools stay paid"),),
        given=(BUDGETED,),
        world=BUSY,
        accident="a limit that stopped everybody in the middle of a month",
    ),
    Case(
        "A team's limit goes, and the stack's stays: the team may take all of it",
        (stack("teams: { ml: 5000 }, enforce", "enforce"),),
        (hurts("budget-changed", "budget teams.ml", "up to the stack's $80,000", "leave others nothing"),),
        given=(BUDGETED, stack("{ stack: 80000, enforce", "{ stack: 80000, teams: { ml: 5000 }, enforce")),
        accident="a limit dropped in haste",
    ),
    Case(
        "The only budget goes, and nothing is refused any more",
        (stack("  slipway:budget: { stack: 80000, enforce: true }\n", ""),),
        (stops("budget-changed", "budget stack", "without a limit"),),
        given=(BUDGETED,),
        accident="a limit dropped in haste",
    ),
    Case(
        "A user's limit is to be enforced, and only warns",
        (stack("  slipway:policy:\n", "  slipway:budget: { users: { bo: 100 }, enforce: true }\n  slipway:policy:\n"),),
        (
            hurts("budget-changed", "budget enforce", "refuses nobody", "a user's only warns"),
            tells("budget-changed", "budget users.bo", "only warned"),
        ),
        accident="a limit that nobody was held to",
    ),
    Case(
        "The usual number of workers is four times as large, for everybody who does not say one",
        (template("digits", 'Parameter("workers", int, default=4', 'Parameter("workers", int, default=16'),),
        (
            hurts("default-changed", "digits parameter workers", "4", "16"),
            hurts("run-cost", "template digits", "→"),
            hurts("minimum-below-default", "digits", "cpu/workers"),
        ),
        world=BUSY,
        accident="a default a hundred times as large",
    ),
    Case(
        "Jobs on machines of their own get a GPU of which no list has the price",
        (
            template(
                "evals",
                'Disk("pd-ssd", 100), args',
                'Disk("pd-ssd", 100), accelerator="NVIDIA_TESLA_T4", accelerator_count=1, args',
            ),
        ),
        (
            hurts("machines-changed", "evals", "T4"),
            tells("run-cost", "template evals", "$0.22/h and more on Spot", "without the T4s, whose price no list has"),
        ),
        world=BUSY,
        accident="a bill for GPUs that no forecast had",
    ),
    Case(
        "A key for a machine is twice the machine, for every template that names it",
        (stack("small: n1-standard-8", "small: n1-standard-16"),),
        (
            hurts("machines-changed", "evals", "`n1-standard-16` instead of `n1-standard-8`"),
            hurts("run-cost", "template evals", "$0.22/h on Spot → $0.41/h on Spot"),
        ),
        given=(
            stack("  slipway:policy:\n", "  slipway:machines: { small: n1-standard-8 }\n  slipway:policy:\n"),
            template("evals", '"judge", "n1-standard-8"', '"judge", "small"'),
        ),
        world=BUSY,
        accident="a value that many jobs share, edited for one of them",
    ),
    Case(
        "A key for a machine becomes twice the machine for one team",
        (stack(VISION, f"{VISION}, machines: {{ small: n1-standard-16 }}"),),
        (
            hurts("machines-changed", "evals", "(team vision)", "`n1-standard-16` instead of `n1-standard-8`"),
            hurts("run-cost", "template evals", "(team vision)", "$0.22/h on Spot → $0.41/h on Spot"),
        ),
        given=(
            stack("  slipway:policy:\n", f"{KEYED}  slipway:teams: {{ {VISION} }} }}\n  slipway:policy:\n"),
            template("evals", '"judge", "n1-standard-8"', '"judge", "small"'),
        ),
        world=BUSY,
        accident="a value that many jobs share, edited for one of them",
        never=("A usual run",),
    ),
    Case(
        "A team's own machine for a key goes, and its jobs run on half of it, as everybody's",
        (stack(", machines: { small: n1-standard-16 }", ""),),
        (hurts("machines-changed", "evals", "(team vision)", "`n1-standard-8` instead of `n1-standard-16`"),),
        given=(
            stack(
                "  slipway:policy:\n",
                f"{KEYED}  slipway:teams: {{ {VISION}, machines: {{ small: n1-standard-16 }} }} }}\n"
                "  slipway:policy:\n",
            ),
            template("evals", '"judge", "n1-standard-8"', '"judge", "small"'),
        ),
        world=BUSY,
        accident="an override that somebody took for unused",
    ),
    Case(
        "On-demand machines are tried before Spot machines",
        (template("evals", '("spot", "on-demand")', '("on-demand", "spot")'),),
        (
            hurts("offer-order", "evals", "machines on demand before Spot"),
            hurts("run-cost", "template evals", "$0.22/h on Spot → $0.46/h on demand", "at most $0.44 → $0.93 a run"),
        ),
        world=BUSY,
        accident="Spot turned into on-demand",
    ),
    Case(
        "Spot machines are not taken any more at all",
        (
            template("lora", '("spot", "flex-start", "on-demand")', '("on-demand",)'),
            template("lora", '    waits={"flex-start": 7200},\n', ""),
        ),
        (
            hurts("offer-gone", "lora", "spot"),
            hurts("offer-gone", "lora", "flex-start"),
            hurts("run-cost", "template lora", "→"),
        ),
        world=BUSY,
        accident="Spot turned into on-demand",
    ),
    Case(
        "Jobs may run for a week, where a day was the end",
        (template("lora", "timeout_s=86_400", "timeout_s=7 * 86_400"),),
        (hurts("timeout-changed", "lora", "7 days"), hurts("run-cost", "template lora", "→"), hurts("policy-advice")),
        may=("quota-short-at-most",),
        accident="a timeout removed, and a job that hung for a week",
    ),
    Case(
        "A reservation leaves the stack while a job sits on it",
        (
            Edit("stacks/Pulumi.prod.yaml", BOUGHT, ""),
            template("lora", '("pool", "reservation", "spot")', '("pool", "spot")'),
            template("lora", '                    reservation="bought",\n', ""),
        ),
        (
            stops("jobs-lose-reservation | reservation-paid", "bought", "reserved-27b", "ben"),
            stops("reservation-paid", "bought"),
            hurts("offer-gone", "lora", "reservation"),
        ),
        world=World(jobs=(RESERVED,)),
        accident="reserved instances left paid",
    ),
    Case(
        "A reservation of a planned week is listed with its dates, a week before",
        (stack("machines: 2 }", "machines: 2, from: 2026-12-01, until: 2026-12-08 }"),),
        (hurts("offer-gone", "lora", "bought", "begins on 2026-12-01"),),
        world=World(jobs=(RESERVED,)),
    ),
    Case(
        "The end of a reservation is put before today, while a job sits on it",
        (stack("until: 2027-01-10", "until: 2026-11-10"),),
        (hurts("offer-gone", "lora", "bought", "ended on 2026-11-10"),),
        given=(stack("machines: 2 }", "machines: 2, until: 2027-01-10 }"),),
        world=World(jobs=(RESERVED,)),
        accident="a week's machines that nobody could use, for a month typed wrong",
    ),
    Case(
        "The end of a reservation is put off, while a job sits on it",
        (stack("until: 2027-01-10", "until: 2027-01-17"),),
        (tells("reservation-dates", "bought", "until 2027-01-17", "until 2027-01-10"),),
        given=(stack("machines: 2 }", "machines: 2, until: 2027-01-10 }"),),
        world=World(jobs=(RESERVED,)),
    ),
    Case(
        "A coming reservation gets dates that are over, by a slip of the month",
        (stack("from: 2026-12-01, until: 2026-12-08", "from: 2026-11-01, until: 2026-11-08"),),
        (tells("reservation-dates", "bought", "until 2026-11-08, which is over"),),
        given=(stack("machines: 2 }", "machines: 2, from: 2026-12-01, until: 2026-12-08 }"),),
    ),
    Case(
        "Another reservation takes the name of the old one, which stays paid",
        (stack("reservations/bought,", "reservations/bought-2027,"),),
        (
            stops("reservation-paid", "reservations/bought"),
            hurts("reservation-changed", "lora", "bought-2027"),
        ),
        may=("jobs-lose-reservation",),
        world=World(jobs=(LARGE, RESERVED)),
    ),
    Case(
        "A cluster of machines whose price no list has",
        (
            stack(
                "    cpu:\n",
                "    b200:\n      pools:\n        workers: { machine: a4-highgpu-8g, "
                "replicas: { min: 1, max: 2 } }\n      labels: { team: platform }\n    cpu:\n",
            ),
        ),
        (
            tells("idle-cost", "", "no price list"),
            tells("cluster-created", "b200", "price"),
            hurts("pool-unused", "b200/workers"),
        ),
        may=("quota-unknown", "capacity-found-anew"),
    ),
    Case(
        "A submission waits for two days before it pays for on-demand",
        (template("lora", 'waits={"flex-start": 7200}', 'waits={"flex-start": 172_800}'),),
        (hurts("fallback-wait", "lora", "flex-start", "2 h", "2 days"),),
    ),
    Case(
        "A submission falls back to on-demand after a minute",
        (template("lora", 'waits={"flex-start": 7200}', 'waits={"flex-start": 60}'),),
        (hurts("fallback-wait", "lora", "flex-start"),),
        accident="a fallback to the dear machines that took place too soon",
    ),
    Case(
        "AI agents may spend as much as before, on machines of one type alone",
        (stack("perDay: 500 }", "perDay: 500, machines: [a2-highgpu-1g] }"),),
        (hurts("spending-limit", "agents", "on a2-highgpu-1g", "a person has to send all else"),),
        given=(stack("  slipway:policy:\n", "  slipway:agents: { perDay: 500 }\n  slipway:policy:\n"),),
        never=("costs more", "--max-run"),
        accident="agents whose every job a person had to send",
    ),
    Case(
        "AI agents may not spend anything by themselves any more",
        (stack("  slipway:agents: { perDay: 50 }\n", ""),),
        (hurts("spending-limit", "agents", "nothing"),),
        given=(stack("  slipway:policy:\n", "  slipway:agents: { perDay: 50 }\n  slipway:policy:\n"),),
        never=("--max-run",),
        accident="agents that stood still over a weekend",
    ),
    Case(
        "A team's first budget is larger than the stack's",
        (stack("stack: 80000,", "stack: 80000, teams: { ml: 90000 },"),),
        (hurts("budget-changed", "teams.ml", "the stack's $80,000 holds before"),),
        given=(BUDGETED,),
    ),
    Case(
        "A stack's first budget is enforced: that is told once",
        (stack("  slipway:policy:\n", "  slipway:budget: { stack: 900000, enforce: true }\n  slipway:policy:\n"),),
        (tells("budget-changed", "budget stack", "$900,000 a month", "are refused"),),
        never=("budget-enforced",),
    ),
    Case(
        "A budget that only warned refuses from now on",
        (stack("enforce: false }", "enforce: true }"),),
        (tells("budget-changed", "budget enforce", "the stack's $800,000 a month are refused"),),
        given=(
            stack("  slipway:policy:\n", "  slipway:budget: { stack: 800000, enforce: false }\n  slipway:policy:\n"),
        ),
    ),
    Case(
        "The limits of the stack, a team and a person go, and another team's is nothing",
        (stack("stack: 80000, ", ""), stack("ml: 5000, judges: 900", "judges: 0"), stack(", users: { bo: 100 }", "")),
        (
            hurts("budget-changed", "budget stack", "team judges's $0 a month"),
            hurts("budget-changed", "budget teams.ml", "without a limit"),
            tells("budget-changed", "budget users.bo", "User bo may spend more without a warning"),
            stops("budget-changed", "budget teams.judges", "may spend nothing", "refused at once"),
        ),
        given=(
            template("evals", "    timeout_s", '    labels={"team": "judges"},\n    timeout_s'),
            stack("  slipway:policy:\n", f"  slipway:budget: {LIMITED}\n  slipway:policy:\n"),
        ),
        may=("budget-share",),
        never=("nobody is", "leave others nothing", "give clusters an end"),
        accident="a month's bill without a brake, after a file was tidied",
    ),
)

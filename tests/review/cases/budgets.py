"""Budgets of the stack and its teams, and what a run may spend."""

from dataclasses import replace

from tests.review.case import BUSY, Case, h100, hurts, stack, stops, tells, template
from tests.review.edits import POLICY, workspace

ASKED = stack("    trainer: trainer\n", "    trainer: trainer\n    confirmAbove: 4\n")
AGENTS = "  slipway:agents: { perDay: 50, machines: [n1-standard-8] }\n"
BUDGETED = stack("  slipway:policy:\n", "  slipway:budget: { stack: 80000, enforce: true }\n  slipway:policy:\n")
SIXTY = replace(BUDGETED, new=str(BUDGETED.new).replace("80000", "60000"))
LIMITED = "{ stack: 80000, enforce: true, teams: { ml: 5000, judges: 900 }, users: { bo: 100 } }"

CASES = (
    Case(
        "A person's limit is higher, and another has one: nobody is refused by either",
        (stack("{ users: { bo: 100 } }", "{ users: { bo: 200, lee: 100 } }"),),
        (
            tells("budget-changed", "budget users.bo", "$200 a month instead of $100"),
            tells("budget-changed", "budget users.lee", "$100 a month"),
        ),
        given=(stack(POLICY, f"  slipway:budget: {{ users: {{ bo: 100 }} }}\n{POLICY}"),),
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
        (stack("{ perDay: 50, machines", "{ perDay: 0.1, machines"),),
        (hurts("spending-limit", "agents", "may spend $0.10 a day"),),
        given=(stack("  slipway:policy:\n", f"{AGENTS}  slipway:policy:\n"),),
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
                "a script without `--yes` can't confirm",
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
                "190 % of the stack's budget in December 2026",
            ),
        ),
        accident="a limit that stopped everybody in the middle of a month",
    ),
    Case(
        "Idle pools alone spend a little more than the budget",
        (replace(BUDGETED, new=str(BUDGETED.new).replace("80000", "149000")),),
        (
            tells("budget-changed", "budget stack", "may spend $149,000 a month"),
            stops("budget-share", "budget share", "102 %"),
        ),
        accident="a limit that nobody met in February",
    ),
    Case(
        "The budget is enforced, and idle pools alone leave little of it",
        (replace(BUDGETED, new=str(BUDGETED.new).replace("80000", "160000")),),
        (
            tells("budget-changed", "budget stack", "may spend $160,000 a month"),
            hurts("budget-share", "budget share", "95 %"),
        ),
        accident="a limit that a fixed cost had nearly spent before anybody worked",
    ),
    Case(
        "The budget is enforced, and idle pools spend it once a declared season has come",
        (SIXTY,),
        (
            tells("budget-changed", "budget stack", "may spend $60,000 a month"),
            stops("budget-share", "budget share"),
        ),
        given=(h100("from: 2027-01-28", "until: 2027-02-20"),),
        accident="a limit that was spent when a campaign began",
    ),
    Case(
        "The budget is enforced, and a declared season is too short to spend it",
        (SIXTY,),
        (tells("budget-changed", "budget stack", "may spend $60,000 a month"),),
        given=(h100("from: 2027-01-28", "until: 2027-02-10"),),
    ),
    Case(
        "The budget is enforced, and a season to come is given up before idle machines spend it",
        (SIXTY,),
        (tells("budget-changed", "budget stack", "may spend $60,000 a month"),),
        given=(h100("from: 2027-01-28", "idleLimit: 3d"),),
    ),
    Case(
        "The budget is enforced, and a season that runs ends before idle pools spend it",
        (replace(BUDGETED, new=str(BUDGETED.new).replace("80000", "100000")),),
        (tells("budget-changed", "budget stack", "may spend $100,000 a month"),),
        given=(h100("from: 2026-11-16", "until: 2026-12-14"),),
        never=("of the budget",),
    ),
    Case(
        "The budget is enforced, and a season that runs spends it before it ends",
        (SIXTY,),
        (
            tells("budget-changed", "budget stack", "may spend $60,000 a month"),
            stops("budget-share", "budget share"),
        ),
        given=(h100("from: 2026-11-16", "until: 2026-12-14"),),
        accident="a limit that was spent when a campaign began",
    ),
    Case(
        "The budget is enforced late in a month, beside a cluster that is given up when it is idle",
        (SIXTY,),
        (tells("budget-changed", "budget stack", "may spend $60,000 a month"),),
        given=(h100("idleLimit: 6d"),),
        never=("of November 2026",),
    ),
    Case(
        "A season to come is lengthened, until idle pools alone spend the enforced budget",
        (stack("until: 2027-02-02", "until: 2027-02-20"),),
        (
            tells("season-changed", "h100 until", "until 2027-02-20"),
            stops("budget-share", "budget share"),
        ),
        given=(SIXTY, h100("from: 2027-01-28", "until: 2027-02-02")),
    ),
    Case(
        "The budget is less than idle pools cost with a single machine each",
        (stack("  slipway:policy:\n", "  slipway:budget: { stack: 30000, enforce: true }\n  slipway:policy:\n"),),
        (
            tells("budget-changed", "budget stack", "may spend $30,000 a month"),
            stops("budget-share", "budget share", "507 %"),
        ),
        never=("keep fewer machines",),
        accident="a limit that stopped everybody in the middle of a month",
    ),
    Case(
        "The budget is nothing from now on, while jobs run and pools stay",
        (stack("{ stack: 80000, enforce: true }", "{ stack: 0, enforce: true }"),),
        (stops("budget-changed", "budget stack", "may spend nothing", "refused at once"),),
        given=(BUDGETED,),
        world=BUSY,
        accident="a limit that stopped everybody in the middle of a month",
    ),
    Case(
        "A team's limit goes, and the stack's stays: the team may take all of it",
        (stack("teams: { ml: 5000 }, enforce", "enforce"),),
        (hurts("budget-changed", "budget teams.ml", "has no limit of its own any more"),),
        given=(BUDGETED, stack("{ stack: 80000, enforce", "{ stack: 80000, teams: { ml: 5000 }, enforce")),
        accident="a limit dropped in haste",
    ),
    Case(
        "The only budget goes, and nothing is refused any more",
        (stack("  slipway:budget: { stack: 80000, enforce: true }\n", ""),),
        (stops("budget-changed", "budget stack", "no limit of its own any more"),),
        given=(BUDGETED,),
        accident="a limit dropped in haste",
    ),
    Case(
        "A user's limit is to be enforced, and only warns",
        (stack("  slipway:policy:\n", "  slipway:budget: { users: { bo: 100 }, enforce: true }\n  slipway:policy:\n"),),
        (
            hurts("budget-changed", "budget enforce", "refuses nobody"),
            tells("budget-changed", "budget users.bo", "only warned"),
        ),
        accident="a limit that nobody was held to",
    ),
    Case(
        "AI agents may spend as much as before, on machines of one type alone",
        (stack("perDay: 500 }", "perDay: 500, machines: [a2-highgpu-1g] }"),),
        (hurts("spending-limit", "agents", "on a2-highgpu-1g"),),
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
        (hurts("budget-changed", "teams.ml"),),
        given=(BUDGETED,),
    ),
    Case(
        "A team may spend a little more, and the stack's budget is less than that",
        (stack("teams: { ml: 90000 }", "teams: { ml: 99000 }"),),
        (tells("budget-changed", "teams.ml"),),
        given=(
            stack(
                "  slipway:policy:\n",
                "  slipway:budget: { stack: 80000, teams: { ml: 90000 }, enforce: true }\n  slipway:policy:\n",
            ),
        ),
        never=("are refused",),
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
            hurts("budget-changed", "budget stack", "no limit of its own any more"),
            hurts("budget-changed", "budget teams.ml", "no limit of its own any more"),
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
    Case(
        "A limit of a team that the stack's other budgets have",
        (stack("teams: { vision: 8000 }", "teams: { vision: 6000 }"),),
        (hurts("budget-changed", "vision", "$6,000 a month instead of $8,000"),),
        given=(
            stack(
                "  slipway:policy:\n",
                "  slipway:teams: { vision: { submitters: [user:ada@acme.example], clusters: [h100] } }\n"
                "  slipway:budget: { enforce: true, teams: { vision: 8000 } }\n  slipway:policy:\n",
            ),
        ),
        never=("slipway:teams.vision.budget",),
    ),
    Case(
        "Dearer jobs have to be confirmed",
        (
            stack("confirmAbove: 500", "confirmAbove: 50"),
            stack("      - serviceAccount:nightly@acme-ml.iam.gserviceaccount.com\n", ""),
        ),
        (tells("spending-limit"),),
        given=(workspace("confirmAbove: 500"),),
        may=("submitter-gone",),
    ),
    Case(
        "A team gets a budget under a name for which no job counts",
        (stack(POLICY, "  slipway:budget: { teams: { research: 5000 }, enforce: true }\n\n" + POLICY),),
        (hurts("budget-changed", "budget teams.research", "no job counts for it"),),
        accident="a limit for a name that nobody has",
    ),
    Case(
        "A team gets a budget beyond which its jobs are refused",
        (stack(POLICY, "  slipway:budget: { teams: { ml: 300 }, enforce: true }\n\n" + POLICY),),
        (hurts("budget-changed", "budget teams.ml", "may spend $300 a month"),),
        accident="a team whose jobs were refused from the tenth of a month on",
    ),
    Case(
        "A new team gets a budget beyond which its jobs are refused, as nobody of it could submit before",
        (
            stack(
                POLICY,
                "  slipway:budget: { enforce: true }\n"
                "  slipway:teams: { nlp: { submitters: [group:nlp@acme.example], budget: 300 } }\n" + POLICY,
            ),
        ),
        (tells("budget-changed", "budget teams.nlp", "may spend $300 a month"),),
        never=("so far counts",),
    ),
    Case(
        "A team gets a budget that its jobs count for",
        (stack(POLICY, "  slipway:budget: { teams: { ml: 5000 } }\n\n" + POLICY),),
        (tells("budget-changed", "budget teams.ml", "only warned"),),
    ),
)

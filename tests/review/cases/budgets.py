"""Budgets of the stack and its teams, and what a run may spend."""

from dataclasses import replace

from tests.review.case import BUSY, Case, hurts, stack, stops, tells
from tests.review.edits import workspace

BUDGETED = stack("  slipway:policy:\n", "  slipway:budget: { stack: 80000, enforce: true }\n  slipway:policy:\n")

CASES = (
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
        "The budget is nothing from now on, while jobs run and pools stay",
        (stack("{ stack: 80000, enforce: true }", "{ stack: 0, enforce: true }"),),
        (stops("budget-changed", "budget stack", "may spend nothing", "refused at once"),),
        given=(BUDGETED,),
        world=BUSY,
        accident="a limit that stopped everybody in the middle of a month",
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
        "AI agents may not spend anything by themselves any more",
        (stack("  slipway:agents: { perDay: 50 }\n", ""),),
        (hurts("spending-limit", "agents", "nothing"),),
        given=(stack("  slipway:policy:\n", "  slipway:agents: { perDay: 50 }\n  slipway:policy:\n"),),
        never=("--max-run",),
        accident="agents that stood still over a weekend",
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
        "Dearer jobs have to be confirmed",
        (
            stack("confirmAbove: 500", "confirmAbove: 50"),
            stack("      - serviceAccount:nightly@acme-ml.iam.gserviceaccount.com\n", ""),
        ),
        (tells("spending-limit"),),
        given=(workspace("confirmAbove: 500"),),
        may=("submitter-gone",),
    ),
)

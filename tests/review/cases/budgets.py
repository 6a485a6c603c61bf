"""Budgets of the stack and its teams, and what a run may spend."""

from dataclasses import replace

from tests.review.case import BUSY, Case, blocks, notes, stack, warns
from tests.review.edits import workspace

BUDGETED = stack("  slipway:policy:\n", "  slipway:budget: { stack: 80000, enforce: true }\n  slipway:policy:\n")

CASES = (
    Case(
        "The budget of the stack has a zero too many, and nothing is refused any more",
        (stack("{ stack: 80000, enforce: true }", "{ stack: 800000 }"),),
        (
            blocks("allowance-loosened", "stack", "$800,000", "$80,000"),
            blocks("allowance-loosened", "enforce", "$800,000"),
        ),
        given=(BUDGETED,),
        world=BUSY,
    ),
    Case(
        "Idle pools alone spend a little more than the budget",
        (replace(BUDGETED, new=str(BUDGETED.new).replace("80000", "149000")),),
        (blocks("stack-warning", "budget"),),
    ),
    Case(
        "The budget is enforced, and idle pools alone leave little of it",
        (replace(BUDGETED, new=str(BUDGETED.new).replace("80000", "160000")),),
        (warns("stack-warning", "budget"),),
    ),
    Case(
        "The budget is nothing from now on, while jobs run and pools stay",
        (stack("{ stack: 80000, enforce: true }", "{ stack: 0, enforce: true }"),),
        (blocks("allowance-loosened | allowance-tightened", "stack"),),
        given=(BUDGETED,),
        world=BUSY,
    ),
    Case(
        "A user's limit is to be enforced, and only warns",
        (stack("  slipway:policy:\n", "  slipway:budget: { users: { bo: 100 }, enforce: true }\n  slipway:policy:\n"),),
        (notes("allowance-tightened", "users.bo"),),
    ),
    Case(
        "AI agents may not spend anything by themselves any more",
        (stack("  slipway:agents: { perDay: 50 }\n", ""),),
        (warns("allowance-loosened | allowance-tightened", "agents"),),
        given=(stack("  slipway:policy:\n", "  slipway:agents: { perDay: 50 }\n  slipway:policy:\n"),),
    ),
    Case(
        "A budget that only warned refuses from now on",
        (stack("enforce: false }", "enforce: true }"),),
        (notes("allowance-loosened | allowance-tightened", "enforce", "$800,000"),),
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
        (notes("allowance-tightened", "confirmAbove", "$50"), warns("access-lost", "workspace")),
        given=(workspace("confirmAbove: 500"),),
    ),
)

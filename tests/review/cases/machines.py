"""Machines that a template asks for: types, counts, accelerators, disks."""

from tests.review.case import Case, imports, more, stack, template, warns

VISION_TEAM = "vision: { submitters: [user:ada@acme.example]"
VISION_HAS_SMALL = (
    stack(
        "  slipway:policy:\n",
        "  slipway:machines: { small: n1-standard-8, large: n1-standard-16 }\n"
        f"  slipway:teams: {{ {VISION_TEAM}, machines: {{ small: n1-standard-4 }} }} }}\n  slipway:policy:\n",
    ),
    template("evals", '"judge", "n1-standard-8"', '"judge", "small"'),
    imports("evals", "Variant"),
    more("evals", 'variants=(Variant({"suite": "full"}, (WorkerPool("judge", "large", Disk("pd-ssd", 100)),)),)'),
)

CASES = (
    Case(
        "Machines on demand come first, and those of a team cost another sum",
        (template("evals", '("spot", "on-demand")', '("on-demand", "spot")'),),
        (warns("submission-changed", "evals", "$0.25", "$0.90"),),
        given=VISION_HAS_SMALL,
        may=("submission-changed",),
    ),
)

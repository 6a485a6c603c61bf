"""Machines that a template asks for: types, counts, accelerators, disks."""

from tests.review.case import Case, hurts, imports, more, stack, template
from tests.review.edits import DASK_WORKERS

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
        (
            hurts("offer-order", "evals", "(suite=core, not of team vision) try machines on demand before Spot"),
            hurts("offer-order", "evals", "(team vision, suite=core) try machines on demand", "$0.25/h"),
            hurts("offer-order", "evals", "(suite=full, not of team vision) try machines on demand", "$0.90/h"),
        ),
        given=VISION_HAS_SMALL,
        may=("run-cost",),
        never=("A default run of `evals` costs",),
        accident="an order that was measured for one team's jobs alone",
    ),
    Case(
        "A smaller disk for the weights",
        (template("lora", 'Disk("pd-ssd", 200)', 'Disk("pd-ssd", 100)'),),
        (hurts("machines-changed", "lora", "200", "100"),),
        may=("run-cost",),
        accident="a disk that was full in the night",
    ),
    Case(
        "Machines besides, as many as a parameter says",
        (template("digits", DASK_WORKERS, DASK_WORKERS + DASK_WORKERS.replace('"workers",', '"servers",')),),
        (hurts("machines-changed", "digits", "take 4 (`workers`) `n1-standard-8` besides"),),
        may=("minimum-below-default", "run-cost"),
        never=("take `$",),
    ),
)

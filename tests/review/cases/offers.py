"""Capacity types, regions and shapes that a template gains or loses."""

from dataclasses import replace

from tests.review.case import BUSY, Case, World, blocks, imports, more, stack, template, warns
from tests.review.edits import ALLOWED, IN_BOTH, LARGER_SHAPE, OTHER_REGIONS, RESERVED, SPOT_ALONE, TEAMS, counts

A100 = (
    template("evals", '("spot", "on-demand")', '("spot", "flex-start", "on-demand")'),
    template("evals", '"n1-standard-8"', '"a2-highgpu-1g"'),
)
BARE = SPOT_ALONE.replace("g2-standard-24", "n1-standard-96")
DEAR = LARGER_SHAPE.replace("ARGS),)", 'ARGS),), ("on-demand",)')
ON_DEMAND = ('("spot", "flex-start", "on-demand")', '("spot", "flex-start")')
TWO_RESERVED = template(
    "lora",
    '                    reservation="bought",\n                ),\n',
    '                    reservation="bought",\n                ),\n                WorkerPool("helper", '
    '"a3-highgpu-8g", Disk("pd-ssd", 500), args=ARGS, reservation="bought"),\n',
)
IN_ASIA_TOO = tuple(
    replace(each, new=str(each.new).replace("us-east4", "us-east4, asia-south2")) for each in (OTHER_REGIONS, ALLOWED)
)

CASES = (
    Case(
        "Jobs leave machines of their own for the cluster of a team for which a new label has them count",
        (template("tune", '("spot",)', '("pool",)'), counts("tune", "search")),
        (warns("submission-changed", "tune"), warns("submission-rejected", "tune")),
        given=(*TEAMS, more("tune", 'capacity_types=("spot",)')),
        may=("submission-changed",),
    ),
    Case(
        "Another way to run, for which there is no quota yet",
        A100[:1],
        may=("quota-short-at-most",),
        given=A100[1:],
        world=World(limits={"preemptible_nvidia_a100_gpus": 0}),
    ),
    Case(
        "A reservation of a planned week is listed with its dates, a week before",
        (stack("machines: 2 }", "machines: 2, from: 2026-12-01, until: 2026-12-08 }"),),
        (blocks("offer-unavailable | submission-rejected", "lora", "2026-12-01"),),
        world=World(jobs=(RESERVED,)),
    ),
    Case(
        "A reservation of the coming month has too few machines for a usual job of its template",
        (stack("machines: 2, from", "machines: 1, from"),),
        (warns("offer-unavailable | submission-rejected | submission-warning", "lora"),),
        given=(TWO_RESERVED, stack("machines: 2 }", "machines: 2, from: 2026-12-01, until: 2026-12-08 }")),
    ),
    Case(
        "A template's jobs may have machines in other regions",
        (
            replace(IN_BOTH, new=str(IN_BOTH.new).replace('"us-east4"', '"us-east4", "asia-south2"')),
            more("evals", 'regions=("us-east4",)'),
        ),
        finds=(warns("submission-changed", "lora"), warns("submission-changed", "evals")),
        given=(*IN_ASIA_TOO, more("evals", 'experiment="suite"')),
    ),
    Case(
        "A machine without a GPU is the last resort of code that had one",
        (imports("lora", "Shape"), more("lora", f"shapes=({BARE},)")),
        finds=(warns("submission-changed", "lora"),),
    ),
    Case(
        "A dearer machine takes the place of both last ways to run",
        (template("lora", SPOT_ALONE, DEAR), template("lora", *ON_DEMAND)),
        (warns("submission-rejected | submission-changed", "lora"),),
        given=(imports("lora", "Shape"), more("lora", f"shapes=({SPOT_ALONE},)")),
    ),
    Case(
        "One of a template's other regions goes, and it ran at home alone",
        (template("lora", '("us-east4", "europe-west4")', '("us-east4",)'),),
        (warns("submission-rejected | submission-changed", "lora"),),
        given=(OTHER_REGIONS, ALLOWED, IN_BOTH),
        world=BUSY,
    ),
)

"""Money: a stack's cost idle and at most, a run's cost, reservations that stay paid."""

from dataclasses import replace

from tests.review.case import LARGE, Case, Edit, World, blocks, notes, stack, template, warns
from tests.review.edits import RESERVED

BOUGHT = (
    "  slipway:reservations:\n"
    "    bought: { path: projects/acme-ml/zones/us-central1-a/reservations/bought, "
    "machine: a3-highgpu-8g, machines: 2 }\n"
)
ASKS_ABOVE = stack("    advisory:\n", "    approveAbove: { idle-cost: 50000, most-cost: 100000 }\n    advisory:\n")
T4 = stack(
    "    cpu:\n",
    "    t4:\n"
    "      pools:\n"
    "        workers: { machine: n1-standard-8, accelerator: { type: NVIDIA_TESLA_T4, count: 1 }, replicas: 1 }\n"
    "    cpu:\n",
)

CASES = (
    Case(
        "Two more H100 machines at most, and a higher sum from which on that needs an approval",
        (
            stack("replicas: { min: 2, max: 4 } }", "replicas: { min: 2, max: 6 } }"),
            stack("most-cost: 100000", "most-cost: 900000"),
        ),
        (
            blocks("most-cost", "stack", "$147,666", "$100,000"),
            blocks("policy-loosened", "approveAbove", "$900,000", "$100,000"),
        ),
        may=("cluster-replaced", "quota-short-at-most"),
        given=(ASKS_ABOVE,),
    ),
    Case(
        "Two machines whose price no list has whole become one, in a stack that asks above a sum",
        (stack("count: 1 }, replicas: 2", "count: 1 }, replicas: 1"),),
        (blocks("capacity-changed", "t4", "n1-standard-8"), notes("idle-cost", "stack")),
        may=("cluster-replaced",),
        given=(ASKS_ABOVE, replace(T4, new=str(T4.new).replace("replicas: 1", "replicas: 2"))),
    ),
    Case(
        "A reservation leaves the stack while a job sits on it",
        (
            Edit("stacks/Pulumi.prod.yaml", BOUGHT, ""),
            template("lora", '("pool", "reservation", "spot")', '("pool", "spot")'),
            template("lora", '                    reservation="bought",\n', ""),
        ),
        (blocks("submission-rejected | submission-changed", "lora"),),
        world=World(jobs=(RESERVED,)),
    ),
    Case(
        "A reservation of the same name in another zone takes the place of one that stays paid",
        (stack("us-central1-a/reservations/bought", "us-central1-b/reservations/bought"),),
        (warns("submission-changed", "lora"),),
        may=("job-loses-resource",),
    ),
    Case(
        "Another reservation takes the name of the old one, which stays paid",
        (stack("reservations/bought,", "reservations/bought-2027,"),),
        (warns("submission-changed", "lora"),),
        may=("job-loses-resource",),
        world=World(jobs=(LARGE, RESERVED)),
    ),
)

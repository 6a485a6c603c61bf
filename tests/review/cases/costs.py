"""Money: a stack's cost idle and at most, a run's cost, reservations that stay paid."""

from dataclasses import replace

from tests.review.case import LARGE, Case, Edit, World, hurts, stack, stops, tells, template
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
            stops("most-cost", "stack", "$147,666 a month more", "above $100,000 a month it needs an approval"),
            stops("policy-weaker", "approveAbove", "approval is asked for above $900,000", "not $100,000"),
        ),
        may=("cluster-new-generation", "capacity-found-anew", "generations-overlap", "quota-short-at-most"),
        given=(ASKS_ABOVE,),
        never=("`blocking` above", "``"),
        accident="a limit with a zero too many",
    ),
    Case(
        "Two machines whose price no list has whole become one, in a stack that asks above a sum",
        (stack("count: 1 }, replicas: 2", "count: 1 }, replicas: 1"),),
        (
            stops("capacity-given-back", "t4/workers", "1 `n1-standard-8 with 1 NVIDIA_TESLA_T4`"),
            tells("idle-cost", "stack", "at least", "a month less"),
        ),
        may=("cluster-new-generation", "capacity-found-anew", "generations-overlap"),
        given=(ASKS_ABOVE, replace(T4, new=str(T4.new).replace("replicas: 1", "replicas: 2"))),
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
        "A coming reservation gets dates that are over, by a slip of the month",
        (stack("from: 2026-12-01, until: 2026-12-08", "from: 2026-11-01, until: 2026-11-08"),),
        (tells("reservation-dates", "bought", "until 2026-11-08, which is over"),),
        given=(stack("machines: 2 }", "machines: 2, from: 2026-12-01, until: 2026-12-08 }"),),
    ),
    Case(
        "A reservation of the same name in another zone takes the place of one that stays paid",
        (stack("us-central1-a/reservations/bought", "us-central1-b/reservations/bought"),),
        (
            stops(
                "reservation-paid", "us-central1-a", "Reservation `projects/acme-ml/zones/us-central1-a/reservations"
            ),
            hurts("reservation-changed", "lora", "us-central1-b"),
        ),
        may=("jobs-lose-reservation",),
        never=("Reservation `bought`",),
    ),
    Case(
        "Another reservation takes the name of the old one, which stays paid",
        (stack("reservations/bought,", "reservations/bought-2027,"),),
        (stops("reservation-paid", "reservations/bought"), hurts("reservation-changed", "lora", "bought-2027")),
        may=("jobs-lose-reservation",),
        world=World(jobs=(LARGE, RESERVED)),
    ),
)

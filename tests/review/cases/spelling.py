"""Equal declarations in another spelling: in the stack file, in templates, in the engine's input."""

from tests.review.case import Case, Edit, silent, stack, template
from tests.review.cases.clusters import H100_ENTRY
from tests.review.engine import BUCKET, SQL, WORK, does
from tests.slipway.reviewing.builders import step

LARGE = """            ("pool", "reservation", "spot"),
        ),
"""
SMALL = """        Variant(
            {"model": "9b", "precision": "fp32"},
            (WorkerPool("tuner", "a2-ultragpu-1g", Disk("pd-ssd", 300), args=ARGS),),
        ),
"""

CASES = (
    silent(
        "Cases of a template that exclude each other, in another order",
        template("lora", "    variants=(\n", f"    variants=(\n{SMALL}"),
        template("lora", f"{LARGE}{SMALL}", LARGE),
        given=(template("lora", LARGE, f"{LARGE}{SMALL}"),),
        accident="a list that is compared by position",
    ),
    silent(
        "Clusters in another order",
        stack(H100_ENTRY, ""),
        stack("\n  slipway:quota:", f"{H100_ENTRY}\n  slipway:quota:"),
    ),
    silent("A parameter's bounds with a point", template("digits", "min=1, max=5000", "min=1.0, max=5000.0")),
    silent(
        "Two reservations, of which nobody uses the new one yet",
        stack(
            "  slipway:reservations:\n",
            "  slipway:reservations:\n    later: { path: projects/acme-ml/zones/us-central1-b/reservations/later }\n",
        ),
    ),
    silent("A file beside the jobs' folders", Edit("jobs/README.md", "", "What is here, and how to try it.\n")),
    silent(
        "A field says nothing where it was left out",
        steps=does(step("update", BUCKET, "work", old=WORK, new={**WORK, "labels": {}}, diffs=["labels"])),
    ),
    Case(
        "A database's certificates, which the cloud rotates by itself",
        steps=does(
            step(
                "update",
                SQL,
                "runs",
                old={"name": "runs", "region": "us-central1"},
                new={"name": "runs", "region": "us-central1"},
                diffs=["serverCaCerts", "selfLink"],
            )
        ),
    ),
)

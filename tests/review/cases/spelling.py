"""Equal declarations in another spelling: in the stack file, in templates, in the engine's input."""

from tests.review.case import Case, Edit, silent, stack, template
from tests.review.cases.clusters import H100_ENTRY
from tests.review.engine import BUCKET, ON_BUCKET, PROJECT, SQL, TRAINER, WORK, does, edits, edits_work
from tests.slipway.reviewing.builders import step

LIST = "roles/storage.objectViewer"

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
        "A comment beside the account that jobs run as",
        stack("    trainer: trainer\n", "    trainer: trainer # the account that jobs run as\n"),
    ),
    silent(
        "Templates on one line",
        stack(
            "\n    - lora\n    - digits\n    - tune\n    - evals\n",
            " [lora, digits, tune, evals]\n",
        ),
    ),
    silent(
        "Clusters in another order",
        stack(H100_ENTRY, ""),
        stack("\n  slipway:quota:", f"{H100_ENTRY}\n  slipway:quota:"),
    ),
    silent(
        "A number of seconds written otherwise, and a blank line",
        template("tune", "    timeout_s=3600,\n", "    timeout_s=60 * 60,\n\n"),
    ),
    silent(
        "What imports what is sorted",
        template(
            "evals",
            "from slipway.template import Disk, Image, JobTemplate, Parameter, WorkerPool\n",
            "from slipway.template import (\n    Disk,\n    Image,\n    JobTemplate,\n    Parameter,\n"
            "    WorkerPool,\n)\n",
        ),
    ),
    silent(
        "Arguments that a loop makes",
        template(
            "lora",
            'ARGS = (\n    "--model=${model}",\n    "--steps=${steps}",\n    "--rank=${rank}",\n'
            '    "--precision=${precision}",\n    "--output=${slipway.output}",\n)\n',
            'ARGS = (\n    *(f"--{name}=${{{name}}}" for name in ("model", "steps", "rank", "precision")),\n'
            '    "--output=${slipway.output}",\n)\n',
        ),
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
        "Labels of a bucket are the same, in another order",
        steps=edits_work({"labels": {"a": "1", "b": "2"}}, labels={"b": "2", "a": "1"}),
    ),
    silent(
        "Members of a binding in another order",
        steps=does(
            edits(
                "gcp:storage/bucketIAMBinding:BucketIAMBinding",
                "readers",
                {"bucket": "acme-work", "role": LIST, "members": ["user:x@acme.example", "user:y@acme.example"]},
                members=["user:y@acme.example", "user:x@acme.example"],
            )
        ),
        accident="a list that is compared by position",
    ),
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
    silent(
        "A grant moves into a component of its own",
        steps=does(
            step(
                "delete",
                ON_BUCKET,
                "writes",
                old={"bucket": "acme-work", "role": "roles/storage.objectUser", "member": f"serviceAccount:{TRAINER}"},
            ),
            step(
                "create",
                ON_BUCKET,
                "trainer-writes",
                new={"bucket": "acme-work", "role": "roles/storage.objectUser", "member": f"serviceAccount:{TRAINER}"},
                parent=f"acme:components:{PROJECT}",
            ),
        ),
        accident="a resource renamed in the code",
    ),
)

"""Harmless changes, most of which must not be mentioned: other spellings, the engine's usual steps, and time."""

from tests.review.case import Case, Edit, silent, stack, tells, template
from tests.review.engine import BUCKET, SQL, WORK, WORKSPACE, does, edits_work, updates
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
    silent("A comment of the stack file", stack("# The stack that the corpus edits:", "# Ours:")),
    silent("Templates in another order", stack("    - lora\n    - digits\n", "    - digits\n    - lora\n")),
    silent("A text of the stack file stands in quotes", stack("trainer: trainer\n", 'trainer: "trainer"\n')),
    silent("Another person is asked about quota", stack("platform@acme.example", "machines@acme.example")),
    silent(
        "A template's docstring, its summary, and the help of a parameter",
        template("lora", "fine-tuning of a language model; the", "how a language model is tuned; the"),
        template("lora", 'help="rank of the adapters"', 'help="how large the adapters are"'),
        template("digits", "hyperparameter search of a digit classifier", "searches a classifier of digits"),
    ),
    silent(
        "A variable of a template's file is renamed",
        template("digits", 'TREES = "--trees=${trees}"', 'OF_TREES = "--trees=${trees}"'),
        template("digits", "args=(TREES,", "args=(OF_TREES,"),
        accident="a rename taken for a removal",
    ),
    silent(
        "Parameters of a template in other words: a bound that says the same",
        template("lora", "max=100_000", "max=10**5"),
    ),
    silent("A default is not written down any more", stack("      replacement: rollover\n", "")),
    silent(
        "A team says for a key of the stack what everybody has",
        stack("ada@acme.example] } }", "ada@acme.example], machines: { small: { machine: n1-standard-8 } } } }"),
        given=(
            stack(
                "  slipway:policy:\n",
                "  slipway:machines: { small: n1-standard-8 }\n"
                "  slipway:teams: { vision: { submitters: [user:ada@acme.example] } }\n"
                "  slipway:policy:\n",
            ),
            template("evals", '"judge", "n1-standard-8"', '"judge", "small"'),
        ),
    ),
    silent(
        "A cluster becomes the team's for which all jobs count by themselves",
        stack('submitters: ["group:ml@acme.example"] }', 'submitters: ["group:ml@acme.example"], clusters: [cpu] }'),
        given=(
            stack(
                "  slipway:policy:\n",
                '  slipway:teams:\n    ml: { submitters: ["group:ml@acme.example"] }\n\n  slipway:policy:\n',
            ),
        ),
    ),
    silent(
        "The usual disk of a machine is left to be the usual one",
        stack("disk: { type: pd-ssd, sizeGb: 500 }", "disk: { sizeGb: 500 }"),
        accident="a default that was taken for a change",
    ),
    silent(
        "A stack file of another stack",
        Edit("stacks/Pulumi.trial.yaml", "", "config: { gcp:project: acme-trial, gcp:region: us-central1 }\n"),
    ),
    silent(
        "A template that no stack publishes yet, with its code",
        Edit("templates/draft.py", "", "raise NotImplementedError\n"),
        Edit("jobs/draft/__init__.py", "", "# to come\n"),
    ),
    silent("What Python leaves beside a job's code", Edit("jobs/lora/__pycache__/task.cpython-311.pyc", "", "bytes\n")),
    silent(
        "Pages, tests, and other folders of the repository",
        files=("README.md", "docs/review.md", "tests/test_stacks.py", "../web/Makefile", "../web/requirements.txt"),
    ),
    silent(
        "Environment variables in another order",
        template("evals", '"REGION": "us-central1", "ZONE": "a"', '"ZONE": "a", "REGION": "us-central1"'),
        given=(template("evals", 'env={"REGION": "us-central1"}', 'env={"REGION": "us-central1", "ZONE": "a"}'),),
        accident="a list that is compared by position",
    ),
    silent(
        "Choices of a parameter in another order",
        template("lora", 'choices=("bf16", "fp32")', 'choices=("fp32", "bf16")'),
    ),
    silent(
        "The provider's new version computes a field otherwise",
        steps=does(step("update", BUCKET, "work", old=WORK, new=WORK, diffs=["effectiveLabels"], parent=WORKSPACE)),
        accident="a provider's upgrade that changed every resource in name only",
    ),
    Case(
        "A database is protected from being deleted",
        names=(tells("resource-changed", "runs", "deletionProtection"),),
        steps=updates(SQL, "runs", {"name": "runs"}, deletionProtection=True),
    ),
    Case(
        "The bucket can't be opened to the public any more",
        names=(tells("bucket-changed", "acme-work"),),
        steps=edits_work({"publicAccessPrevention": "inherited"}, publicAccessPrevention="enforced"),
    ),
    Case(
        "Deleted objects can be had back for longer",
        names=(tells("retention-changed | bucket-changed", "acme-work"),),
        steps=edits_work(
            {"softDeletePolicy": {"retentionDurationSeconds": 604_800}},
            softDeletePolicy={"retentionDurationSeconds": 2_592_000},
        ),
    ),
    Case(
        "Earlier versions of objects are kept from now on",
        names=(tells("versioning-changed", "acme-work"),),
        steps=edits_work({"versioning": {"enabled": False}}, versioning={"enabled": True}),
        may=("versioning-changed",),
    ),
    silent(
        "Cases of a template that exclude each other, in another order",
        template("lora", "    variants=(\n", f"    variants=(\n{SMALL}"),
        template("lora", f"{LARGE}{SMALL}", LARGE),
        given=(template("lora", LARGE, f"{LARGE}{SMALL}"),),
        accident="a list that is compared by position",
    ),
    silent("A metric's goal is written out, as by default", template("tune", '"accuracy"', '"accuracy", "maximize"')),
    silent("A disk's size is left out, which is the default", template("tune", '"pd-ssd", 100', '"pd-ssd"')),
    silent(
        "Labels of a cluster in another order, between quotes",
        stack(
            "labels: { team: platform, cost-center: research }", 'labels: { cost-center: "research", team: "platform" }'
        ),
    ),
    silent("A span in hours, which was in days", stack("retireWithin: 7d", "retireWithin: 168h")),
    silent(
        "Two rules of policy in another order",
        stack(
            "      regions: [us-central1]\n      reviewedCodeOnly: true\n",
            "      reviewedCodeOnly: true\n      regions: [us-central1]\n",
        ),
    ),
    silent("A time limit as a product", template("digits", "timeout_s=3600", "timeout_s=60 * 60")),
    silent("An argument comes from a variable", template("digits", "args=(TREES, ", "args=(*(TREES,), ")),
    silent("A parameter's bounds with a point", template("digits", "min=1, max=5000", "min=1.0, max=5000.0")),
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

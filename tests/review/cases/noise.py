"""Noise: differences in a preview from unrelated edits, other spellings, the engine and time, without a meaning."""

from tests.review.case import Case, Edit, silent, stack, tells, template
from tests.review.engine import BUCKET, SQL, WORK, WORKSPACE, does, edits, edits_work
from tests.slipway.reviewing.builders import step

CASES = (
    silent("A default is not written down any more", stack("      replacement: rollover\n", "")),
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
    silent("A number as a product", template("lora", "timeout_s=86_400", "timeout_s=24 * 3600")),
    silent(
        "A machine's disk under a name of its own",
        template("tune", "TEMPLATE = JobTemplate(", 'DISK = Disk("pd-ssd", 100)\n\nTEMPLATE = JobTemplate('),
        template("tune", '"n1-standard-8", Disk("pd-ssd", 100)', '"n1-standard-8", DISK'),
    ),
    silent(
        "The provider's new version computes a field otherwise",
        steps=does(step("update", BUCKET, "work", old=WORK, new=WORK, diffs=["effectiveLabels"], parent=WORKSPACE)),
        accident="a provider's upgrade that changed every resource in name only",
    ),
    Case(
        "A database is protected from being deleted",
        names=(tells("resource-changed", "runs", "deletionProtection"),),
        steps=does(edits(SQL, "runs", {"name": "runs"}, deletionProtection=True)),
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
)

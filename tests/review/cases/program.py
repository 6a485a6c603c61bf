"""The program itself, and the files that deploy it."""

from slipway.deploying.engine.preview import UNKNOWN, EngineStep, Preview, Resource
from slipway.model.facts import CATALOG, STACK, TEMPLATE, WORKSPACE
from tests.review.case import BUSY, Case, Edit, blocks, stack, warns
from tests.review.edits import WEEK
from tests.review.engine import BUCKET, CLUSTER, ON_PROJECT, SQL, WORK, does, edits, edits_work, granted
from tests.slipway.reviewing.builders import step

PROJECT = "  gcp:project: acme-ml\n"


def component(op: str, type_: str, name: str, **inputs: object) -> EngineStep:
    """Return a step of a component of workspace `eu`, which is created or deleted, or of one that stays."""
    known = Resource(inputs={STACK: "dev-eu", **inputs})
    urn = f"urn:pulumi:dev::slipway::{type_}::{name}"
    old = None if op == "create" else known
    new = None if op == "delete" else known
    return EngineStep(op, urn, type_, name, old=old, new=new, component=True)


DELETES = step("delete", CLUSTER, "h100-a855a48", old={"name": "h100-a855a48"}, id="h100-a855a48")

CASES = (
    Case(
        "Deployments are to be made as another account",
        (stack("  gcp:project: acme-ml\n", f"{PROJECT}  gcp:impersonateServiceAccount: up@acme-ml.iam\n"),),
        (blocks("deployment-code-changed", "gcp:"),),
    ),
    Case(
        "The guard is not registered any more, with one line less in the program",
        finds=(blocks("deployment-code-changed", "program"), blocks("guard-missing", "program")),
        files=("__main__.py",),
        preview=Preview(hooks=frozenset({"slipway-create-v1"})),
    ),
    Case(
        "The stack is named otherwise in the files: its own file goes",
        (Edit("stacks/Pulumi.dev.yaml"),),
        (blocks("deployment-code-changed", "dev"),),
    ),
    Case(
        "A program of two workspaces has only one of them",
        finds=(blocks("identity-changed | resource-deleted", "dev-eu"), blocks("deployment-code-changed", "program")),
        files=("__main__.py",),
        preview=Preview(
            steps=(
                component("delete", CATALOG, "eu", clusters={"research": "research-1a2b3c4"}),
                component("delete", TEMPLATE, "nap"),
                component("delete", WORKSPACE, "eu", submitters={"group:ml@acme.example": {}}),
            ),
            standing={"us": component("same", CATALOG, "us", **{STACK: "dev-us"})},
        ),
    ),
    Case(
        "The guard is not registered any more, and a cluster is deleted beside it",
        finds=(
            blocks("jobs-cancelled", "h100", "tune-27b-x1"),
            blocks("guard-missing", "program"),
            blocks("cluster-deleted", "h100"),
        ),
        may=("cluster-deleted", "jobs-cancelled"),
        preview=Preview(steps=(DELETES,), hooks=frozenset({"slipway-create-v1"})),
        world=BUSY,
    ),
    Case(
        "No hook at all is registered",
        finds=(blocks("guard-missing", "program"),),
        preview=Preview(hooks=frozenset({"other"})),
    ),
    Case(
        "The stack moves to another project",
        (stack(PROJECT, "  gcp:project: acme-ml-eu\n"),),
        (blocks("identity-changed | deployment-rejected"),),
        may=("deployment-rejected", "deployment-code-changed"),
    ),
    Case(
        "The stack moves to another region",
        (
            stack("gcp:region: us-central1", "gcp:region: us-east1"),
            stack("regions: [us-central1]", "regions: [us-east1]"),
        ),
        (blocks("identity-changed | deployment-rejected"),),
        may=("deployment-rejected", "deployment-code-changed", "policy-loosened"),
    ),
    Case(
        "A member of a grant is known only at deployment",
        finds=(warns("value-unknown | access-gained"),),
        may=("access-gained",),
        steps=granted(ON_PROJECT, UNKNOWN, "roles/aiplatform.user"),
    ),
    Case(
        "Lifecycle rules of a bucket are known only at deployment",
        finds=(warns("value-unknown", "acme-work"),),
        may=("bucket-changed", "retention-changed"),
        steps=edits_work({"lifecycleRules": [WEEK]}, lifecycleRules=UNKNOWN),
    ),
    Case(
        "A bucket's retention and a database's network are known only at deployment, and another secret is deleted",
        finds=(warns("value-unknown"), blocks("resource-deleted", "old-token")),
        may=("resource-changed", "bucket-changed", "retention-changed", "value-unknown"),
        steps=does(
            edits(SQL, "runs", {"name": "runs", "settings": {"tier": "a"}}, settings=UNKNOWN),
            edits(BUCKET, "work", {**WORK, "retentionPolicy": {"retentionPeriod": "9"}}, retentionPolicy=UNKNOWN),
            step("delete", "gcp:secretmanager/secret:Secret", "old-token", old={"secretId": "old-token"}),
        ),
    ),
)

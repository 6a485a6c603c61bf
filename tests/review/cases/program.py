"""The program itself, and the files that deploy it."""

from slipway.deploying.engine.preview import EngineStep, Preview, Resource
from slipway.model.facts import CATALOG, STACK, TEMPLATE, WORKSPACE
from tests.review.case import BUSY, Case, Edit, blocks, notes, stack

PROJECT = "  gcp:project: acme-ml\n"


def component(op: str, type_: str, name: str, **inputs: object) -> EngineStep:
    """Return a step of a component of workspace `eu`, which is created or deleted, or of one that stays."""
    known = Resource(inputs={STACK: "dev-eu", **inputs})
    urn = f"urn:pulumi:dev::slipway::{type_}::{name}"
    old = None if op == "create" else known
    new = None if op == "delete" else known
    return EngineStep(op, urn, type_, name, old=old, new=new, component=True)


CASES = (
    Case(
        "Deployments are to be made as another account",
        (stack("  gcp:project: acme-ml\n", f"{PROJECT}  gcp:impersonateServiceAccount: up@acme-ml.iam\n"),),
        (blocks("deployment-code-changed", "gcp:"),),
    ),
    Case(
        "The guard is not registered any more, with one line less in the program",
        finds=(blocks("guard-missing", "guard"), blocks("deployment-code-changed", "program")),
        files=("__main__.py",),
        preview=Preview(hooks=frozenset({"slipway-create-v1"})),
    ),
    Case(
        "The stack is named otherwise in the files: its own file goes",
        (Edit("stacks/Pulumi.dev.yaml"),),
        (blocks("identity-changed | resource-deleted", "stack"),),
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
        "The next cluster begins with all its machines",
        (stack("replicas: { min: 2, max: 4 }", "replicas: { min: 2, max: 4, initial: 4 }"),),
        (notes("takes-effect-later", "initial"),),
        world=BUSY,
    ),
)

"""The program itself, and the files that deploy it."""

from slipway.deploying.engine.preview import Preview
from tests.review.case import BUSY, Case, Edit, stack, stops, tells

PROJECT = "  gcp:project: acme-ml\n"

CASES = (
    Case(
        "Deployments are to be made as another account",
        (stack("  gcp:project: acme-ml\n", f"{PROJECT}  gcp:impersonateServiceAccount: up@acme-ml.iam\n"),),
        (stops("program-edited", "key gcp:", "→ `up@acme-ml.iam"),),
        accident="a deployment whose account lacked a role",
    ),
    Case(
        "The guard is not registered any more, with one line less in the program",
        names=(stops("guard-removed", "guard", "unfinished jobs"), stops("program-edited", "program", "__main__.py")),
        files=("__main__.py",),
        preview=Preview(hooks=frozenset({"slipway-create-v1"})),
        accident="a hook that nobody called any more",
    ),
    Case(
        "The stack is named otherwise in the files: its own file goes",
        (Edit("stacks/Pulumi.dev.yaml"),),
        (stops("stack-gone", "stack dev"),),
        accident="a stack renamed, and the old one paid for months",
    ),
    Case(
        "The next cluster begins with all its machines",
        (stack("replicas: { min: 2, max: 4 }", "replicas: { min: 2, max: 4, initial: 4 }"),),
        (tells("used-later", "initial"),),
        world=BUSY,
    ),
    Case(
        "A reservation has one machine, where it had two",
        (stack("machines: 2 }", "machines: 1 }"),),
        (tells("used-later", "bought", "2 → 1", "holds 1 instead of 2 machines"),),
        never=("are refused:",),
    ),
)

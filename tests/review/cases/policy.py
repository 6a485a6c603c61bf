"""Rules of policy: broken, weakened, added."""

from tests.review.case import BUSY, LARGE, Case, World, blocks, stack, template, warns
from tests.review.edits import GRADES, NIGHTLY, OTHER_REGIONS

MANDATORY_TIMEOUT = (
    stack("      longestTimeout: 48\n", "      quotaHeadroom: 2\n"),
    stack("      reviewedCodeOnly: true\n", "      reviewedCodeOnly: true\n      longestTimeout: 48\n"),
)

CASES = (
    Case(
        "A robot with a job running is shut out, and the same change says that this needs nobody's approval",
        (stack(f"      - {NIGHTLY}\n", ""), GRADES),
        (
            blocks("access-lost", "workspace", "nightly@acme-ml.iam.gserviceaccount.com"),
            warns("policy-loosened", "grades.access-lost"),
        ),
        world=BUSY,
    ),
    Case(
        "Code that nobody reviewed is allowed, against a rule of the stack's own",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    code: true\n"),),
        (blocks("policy-violated"),),
        may=("deployment-rejected", "access-gained", "policy-violated"),
        world=BUSY,
    ),
    Case(
        "Jobs may run in a region that the policy does not allow",
        (OTHER_REGIONS,),
        (blocks("policy-violated"),),
        may=("deployment-rejected",),
    ),
    Case(
        "A rule is loosened together with what it would have told",
        (
            template("lora", "timeout_s=86_400", "timeout_s=7 * 86_400"),
            stack("longestTimeout: 48", "longestTimeout: 168"),
        ),
        (warns("submission-changed", "lora"),),
        may=("submission-changed",),
        world=World(jobs=(LARGE,)),
    ),
    Case(
        "A rule only warns from now on, of the change that it would have stopped",
        (
            stack("      reviewedCodeOnly: true\n      longestTimeout: 48\n", "      reviewedCodeOnly: true\n"),
            stack("      quotaHeadroom: 2\n", "      longestTimeout: 48\n"),
            template("lora", "timeout_s=86_400", "timeout_s=7 * 86_400"),
        ),
        (
            blocks("policy-loosened", "longestTimeout"),
            warns("policy-advice", "longestTimeout"),
            warns("submission-changed", "lora"),
        ),
        given=MANDATORY_TIMEOUT,
        may=("submission-changed",),
    ),
)

"""Rules of policy: broken, weakened, added."""

from tests.review.case import BUSY, LARGE, Case, World, hurts, stack, stops, tells, template
from tests.review.edits import GRADES, NIGHTLY, OTHER_REGIONS

MANDATORY_TIMEOUT = (
    stack("      longestTimeout: 48\n", "      quotaHeadroom: 2\n"),
    stack("      reviewedCodeOnly: true\n", "      reviewedCodeOnly: true\n      longestTimeout: 48\n"),
)

CASES = (
    Case(
        "A robot with a job running is shut out, and the same change says that this needs nobody's approval",
        (stack(f"      - {NIGHTLY}\n", ""), GRADES),
        (stops("policy-weaker", "submitter-gone", "where it was `blocking`"), stops("submitter-gone", NIGHTLY)),
        world=BUSY,
        accident="a rule switched off by what it forbade",
    ),
    Case(
        "A rule asks for more, and nothing breaks it",
        (stack("      longestTimeout: 48\n", "      longestTimeout: 36\n"),),
        (tells("policy-added", "policy longestTimeout"),),
        world=BUSY,
    ),
    Case(
        "Code that nobody reviewed is allowed, against a rule of the stack's own",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    code: true\n"),),
        (stops("policy-violated | preview-failed", ""), hurts("code-allowed", "workspace")),
        may=("preview-failed", "code-allowed", "policy-violated"),
        world=BUSY,
    ),
    Case(
        "Jobs may run in a region that the policy does not allow",
        (OTHER_REGIONS,),
        (stops("policy-violated", "", "jobs on machines of their own", "us-east4"),),
        may=("preview-failed",),
    ),
    Case(
        "A rule is loosened together with what it would have told",
        (
            template("lora", "timeout_s=86_400", "timeout_s=7 * 86_400"),
            stack("longestTimeout: 48", "longestTimeout: 168"),
        ),
        (
            hurts("policy-weaker", "longestTimeout", "template lora", "7 days"),
            hurts("policy-weaker", "longestTimeout"),
            hurts("timeout-changed", "lora", "may hold its machines that long"),
        ),
        may=("run-cost",),
        world=World(jobs=(LARGE,)),
        accident="a check that was loosened by the change that it would have stopped",
    ),
    Case(
        "A rule only warns from now on, of the change that it would have stopped",
        (
            stack("      reviewedCodeOnly: true\n      longestTimeout: 48\n", "      reviewedCodeOnly: true\n"),
            stack("      quotaHeadroom: 2\n", "      longestTimeout: 48\n"),
            template("lora", "timeout_s=86_400", "timeout_s=7 * 86_400"),
        ),
        (
            stops("policy-weaker", "longestTimeout"),
            hurts("policy-advice", "longestTimeout", "may run 7 days"),
            hurts("timeout-changed", "lora"),
        ),
        given=MANDATORY_TIMEOUT,
        may=("run-cost",),
        never=("objects to this change",),
    ),
)

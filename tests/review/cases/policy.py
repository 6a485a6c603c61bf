"""Rules of policy: broken, weakened, added."""

from dataclasses import replace

from slipway.deploying.engine.preview import Objection, Preview
from tests.review.case import BUSY, LARGE, Case, World, h100, hurts, stack, stops, tells, template
from tests.review.edits import GRADES, NIGHTLY, OTHER_REGIONS

TEAM_LABEL = Objection("acme", "team-label", "artifacts", "buckets need the label `team`\n", mandatory=True)
NAMES = replace(TEAM_LABEL, rule="names", mandatory=False)

MANDATORY_TIMEOUT = (
    stack("      longestTimeout: 48\n", "      quotaHeadroom: 2\n"),
    stack("      reviewedCodeOnly: true\n", "      reviewedCodeOnly: true\n      longestTimeout: 48\n"),
)

CASES = (
    Case(
        "A bucket breaks a rule of the company's own pack, and another one is advice",
        names=(
            stops("policy-violated", "policy team-label acme", "`artifacts`: buckets need the label `team`"),
            hurts("policy-advice", "policy names acme"),
        ),
        preview=Preview(objections=(TEAM_LABEL, NAMES)),
    ),
    Case(
        "A robot with a job running is shut out, and the same change says that this needs nobody's approval",
        (stack(f"      - {NIGHTLY}\n", ""), GRADES),
        (stops("policy-weaker", "submitter-gone", "where it was `blocking`"), stops("submitter-gone", NIGHTLY)),
        world=BUSY,
        accident="a rule switched off by what it forbade",
    ),
    Case(
        "An advisory rule allows longer jobs",
        (stack("      longestTimeout: 48\n", "      longestTimeout: 72\n"),),
        (tells("policy-weaker", "longestTimeout", "48", "72"),),
        world=BUSY,
    ),
    Case(
        "A rule asks for more, and nothing breaks it",
        (stack("      longestTimeout: 48\n", "      longestTimeout: 36\n"),),
        (tells("policy-added", "policy longestTimeout"),),
        world=BUSY,
    ),
    Case(
        "A rule more, which nothing breaks",
        (stack("    advisory:\n", "    advisory:\n      labels: [team]\n"),),
        (tells("policy-added", "policy labels"),),
        world=BUSY,
    ),
    Case(
        "The whole domain may submit, which a rule of the stack refuses",
        (stack("group:ml@acme.example", "domain:acme.example"),),
        (
            stops("policy-violated", "nothingPublic", "a crowd"),
            stops("domain-access", "domain:acme.example", "Everybody with an account in acme.example"),
        ),
        may=("submitter-gone",),
        given=(stack("      reviewedCodeOnly: true\n", "      reviewedCodeOnly: true\n      nothingPublic: true\n"),),
        never=("that is everybody",),
    ),
    Case(
        "Code that nobody reviewed is allowed, against a rule of the stack's own",
        (stack("    trainer: trainer\n", "    trainer: trainer\n    code: true\n"),),
        (stops("policy-violated | preview-failed", ""), hurts("code-allowed", "workspace")),
        may=("preview-failed", "code-allowed", "policy-violated"),
        world=BUSY,
    ),
    Case(
        "A cluster may come to be in another region, beside the machines that were listed",
        (
            stack("alternatives:\n", "alternatives:\n        - region: us-east4\n"),
            stack("regions: [us-central1]", "regions: [us-central1, us-east4]"),
        ),
        (hurts("cluster-may-become", "h100", "us-east4"), stops("policy-weaker", "regions", "us-east4")),
        given=(
            h100("alternatives:", "  - pools: { workers: { machine: a3-megagpu-8g, replicas: { min: 1, max: 2 } } }"),
        ),
        may=("bucket-created",),
        never=("a3-megagpu-8g",),
        world=BUSY,
    ),
    Case(
        "Every cluster has to bear a label that none has",
        (stack("      reviewedCodeOnly: true\n", "      reviewedCodeOnly: true\n      labels: [owner]\n"),),
        (stops("policy-violated", "labels", "label owner is missing", "change what breaks it"),),
        may=("policy-added",),
        never=("change `slipway:policy`",),
        accident="a rule that refused each deployment from then on",
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

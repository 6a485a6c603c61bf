"""Cases that concern nobody: existing waits, notes, and the engine's usual steps."""

from slipway.deploying.engine.preview import Preview
from tests.review.case import BUSY, LARGE, QUIET, Case, Job, World, hurts, silent, stack, tells, template
from tests.review.cases.clusters import TO_NIGHT_LABELS
from tests.review.cases.trainers import ADA, TEAM, trainer
from tests.review.engine import ON_PROJECT, TRAINER, does, edits_work, granted, grants
from tests.slipway.reviewing.builders import step

DAY = {"action": {"type": "Delete"}, "condition": {"age": 1, "matchesPrefixes": ["claims/"]}}
WEEK = {"action": {"type": "Delete"}, "condition": {"age": 7, "matchesPrefixes": ["packages/"]}}
VIEWER = "roles/monitoring.viewer"
OPS = "group:ops@acme.example"

CASES = (
    silent(
        "Nothing changes while an old generation still waits for its job",
        world=World(jobs=(LARGE, Job("old-27b", parameters={"model": "27b"}, earlier=True)), earlier=TO_NIGHT_LABELS),
    ),
    silent(
        "Nothing changes while the quota has been short for long",
        QUIET,
        world=World(jobs=(LARGE,), limits={"nvidia_h100_gpus": 24}),
    ),
    Case(
        "A person may submit who could not",
        (stack("      - user:ada@acme.example\n", "      - user:ada@acme.example\n      - user:ben@acme.example\n"),),
        (tells("submitter-added", "user:ben@acme.example"),),
        world=BUSY,
    ),
    Case(
        "A template is published that was not",
        (stack("    - tune\n", "    - tune\n    - evals\n"),),
        (tells("template-added", "template evals"),),
        given=(stack("    - evals\n", ""),),
        world=BUSY,
        may=("template-added",),
    ),
    Case(
        "More values of a parameter are allowed",
        (template("lora", "min=1, max=256, help", "min=1, max=512, help"),),
        (tells("bounds-widened", "rank", "256", "512"),),
        world=BUSY,
    ),
    silent(
        "Lifecycle rules in another order",
        steps=edits_work({"lifecycleRules": [DAY, WEEK]}, lifecycleRules=[WEEK, DAY]),
        accident="a list that is compared by position",
    ),
    Case(
        "A grant is declared under another logical name, and the deletion of the old one comes last",
        names=(hurts("access-gone", OPS, "can no longer see any metric", "the deletion takes it away again"),),
        steps=does(
            step("delete", ON_PROJECT, "ops", old={"project": "acme-ml", "member": OPS, "role": VIEWER}),
            grants("create", ON_PROJECT, OPS, VIEWER),
        ),
        accident="a resource renamed in the code",
    ),
    silent(
        "A grant is declared under another logical name, and the old one stays in the cloud",
        steps=does(
            step("delete", ON_PROJECT, "ops", old={"project": "acme-ml", "member": OPS, "role": VIEWER}, retained=True),
            grants("create", ON_PROJECT, OPS, VIEWER),
        ),
    ),
    silent(
        "Pools of sessions in another order",
        stack("pools: [cpu/workers, cpu/head]", "pools: [cpu/head, cpu/workers]"),
        given=(
            stack("  slipway:policy:\n", "  slipway:sessions: { pools: [cpu/workers, cpu/head] }\n  slipway:policy:\n"),
        ),
    ),
    silent(
        "The members of a trainer in another order",
        stack(f"        - {TEAM}\n        - {ADA}\n", f"        - {ADA}\n        - {TEAM}\n"),
        given=(trainer(TEAM, ADA),),
    ),
    Case(
        "A label on the bucket that jobs write to",
        (),
        (tells("bucket-changed", "acme-work", "labels"),),
        steps=edits_work({}, labels={"team": "platform"}),
        world=BUSY,
    ),
    Case(
        "An old deletion rule is taken back, so that objects stay longer",
        (),
        (tells("lifecycle-changed", "acme-work", "packages/"),),
        steps=edits_work({"lifecycleRules": [DAY, WEEK]}, lifecycleRules=[DAY]),
        world=BUSY,
        may=("lifecycle-changed",),
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
    silent("An idle preview of the engine", preview=Preview()),
    Case(
        "The trainer gets a role that a new template needs, with less than jobs have already",
        (),
        (tells("access-added", TRAINER, "roles/logging.logWriter"),),
        steps=granted(ON_PROJECT, f"serviceAccount:{TRAINER}", "roles/logging.logWriter"),
        world=BUSY,
        may=("access-added",),
    ),
)

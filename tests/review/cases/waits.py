"""Waits, time limits and retries of jobs, and their order of capacity types."""

from tests.review.case import Case, blocks, imports, more, notes, stack, template, warns
from tests.review.edits import ALLOWED, IN_BOTH, LARGER_SHAPE, OTHER_REGIONS, SEVERAL, WITH_BOTH

HARSH = stack("    advisory:\n", "    grades: { submission-changed: blocking }\n    advisory:\n")
RESTARTED = "scheduling=Scheduling(restart_job_on_worker_restart=True)"
SCHEDULING = (
    *(imports("evals", "Scheduling"), more("evals", "scheduling=Scheduling(disable_retries=True)")),
    *(imports("digits", "Scheduling"), more("digits", "scheduling=Scheduling(restart_job_on_worker_restart=True)")),
)

CASES = (
    Case(
        "A shorter timeout needs an approval from now on, and so does this one",
        (HARSH, template("evals", "timeout_s=7200", "timeout_s=3600")),
        (blocks("submission-changed", "evals"),),
        may=("submission-changed",),
    ),
    Case(
        "Trials of one machine each begin again whenever their machine does",
        (imports("tune", "Scheduling"), more("tune", RESTARTED)),
        (notes("submission-changed", "tune"),),
    ),
    Case(
        "Jobs may run for a week, where a day was the end",
        (template("lora", "timeout_s=86_400", "timeout_s=7 * 86_400"),),
        (warns("submission-changed", "lora"), warns("policy-advice")),
        may=("quota-short-at-most",),
    ),
    Case(
        "A submission falls back to on-demand after a minute",
        (template("lora", 'waits={"flex-start": 7200}', 'waits={"flex-start": 60}'),),
        (warns("submission-changed", "lora"),),
    ),
    Case(
        "Two templates may run a little longer",
        (template("evals", "timeout_s=7200", "timeout_s=9000"), template("digits", "timeout_s=3600", "timeout_s=5400")),
        (notes("submission-changed", "evals"), notes("submission-changed", "digits")),
    ),
    Case(
        "One template's jobs are not tried again, another's start again together",
        SCHEDULING,
        (warns("submission-changed", "digits"), warns("submission-changed", "evals")),
    ),
    Case(
        "A template's other regions are tried in another order",
        (template("lora", '("us-east4", "europe-west4")', '("europe-west4", "us-east4")'),),
        (warns("submission-changed", "lora"),),
        given=(OTHER_REGIONS, ALLOWED, IN_BOTH),
    ),
    Case(
        "The machines of last resort come before better ones",
        (template("lora", f"{LARGER_SHAPE}, {SEVERAL}", f"{SEVERAL}, {LARGER_SHAPE}"),),
        (warns("submission-changed", "lora"),),
        given=WITH_BOTH,
    ),
)

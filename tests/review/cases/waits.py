"""Waits, time limits and retries of jobs, and their order of capacity types."""

from tests.review.case import BUSY, Case, h100, hurts, imports, more, stack, stops, tells, template
from tests.review.edits import ALLOWED, IN_BOTH, LARGER_SHAPE, OTHER_REGIONS, SEVERAL, VERSION_TYPE, WITH_BOTH
from tests.review.engine import PROJECT, creates

HARSH = stack("    advisory:\n", "    grades: { timeout-changed: blocking }\n    advisory:\n")
RESTARTED = "scheduling=Scheduling(restart_job_on_worker_restart=True)"
SCHEDULING = (
    *(imports("evals", "Scheduling"), more("evals", "scheduling=Scheduling(disable_retries=True)")),
    *(imports("digits", "Scheduling"), more("digits", "scheduling=Scheduling(restart_job_on_worker_restart=True)")),
)

CASES = (
    Case(
        "Jobs wait longer for a pool whose season is to come",
        (template("lora", 'waits={"pool": 1800', 'waits={"pool": 3600'),),
        (tells("fallback-wait", "lora", "for pool `h100` 1 h instead of 30 min, once it is there"),),
        given=(h100("from: 2026-12-20"), template("lora", "waits={", 'waits={"pool": 1800, ')),
    ),
    Case(
        "A shorter timeout needs an approval from now on, and so does this one",
        (HARSH, template("evals", "timeout_s=7200", "timeout_s=3600")),
        (tells("policy-added", "timeout-changed"), stops("timeout-changed", "evals", "1 h")),
        may=("run-cost",),
    ),
    Case(
        "The secret that running jobs read gets another value, which a restart reads",
        names=(hurts("jobs-restart-differently", "hf-token", "another value", "tune-27b-x1"),),
        may=("resource-created",),
        steps=creates(VERSION_TYPE, "hf-token-4", {"secret": f"projects/{PROJECT}/secrets/hf-token"}),
        world=BUSY,
        accident="a rotated key that was still in use",
    ),
    Case(
        "Trials of one machine each begin again whenever their machine does",
        (imports("tune", "Scheduling"), more("tune", RESTARTED)),
        (tells("scheduling-changed", "tune"),),
    ),
    Case(
        "Everybody waits for a full pool that they left at once",
        (template("lora", '"flex-start": 7200}', '"flex-start": 7200, "pool": 3600}'),),
        (hurts("fallback-wait", "lora", "wait for a full pool `h100` 1 h", "instead of not at all"),),
        world=BUSY,
        never=("for ever", "as before"),
        accident="jobs that waited in their command for an hour, beside free machines",
    ),
    Case(
        "Jobs may run for a week, where a day was the end",
        (template("lora", "timeout_s=86_400", "timeout_s=7 * 86_400"),),
        (hurts("timeout-changed", "lora", "7 days"), hurts("run-cost", "template lora", "→"), hurts("policy-advice")),
        may=("quota-short-at-most",),
        accident="a timeout removed, and a job that hung for a week",
    ),
    Case(
        "A submission falls back to on-demand after a minute",
        (template("lora", 'waits={"flex-start": 7200}', 'waits={"flex-start": 60}'),),
        (hurts("fallback-wait", "lora", "flex-start"),),
        accident="a fallback to the dear machines that took place too soon",
    ),
    Case(
        "Two templates may run a little longer",
        (template("evals", "timeout_s=7200", "timeout_s=9000"), template("digits", "timeout_s=3600", "timeout_s=5400")),
        (
            tells("timeout-changed", "evals", "2 h 30 min instead of 2 h"),
            tells("timeout-changed", "digits", "1 h 30 min"),
        ),
    ),
    Case(
        "One template's jobs are not tried again, another's start again together",
        SCHEDULING,
        (
            stops("scheduling-changed", "evals", "or a Spot machine's loss"),
            hurts("scheduling-changed", "digits", "start again"),
        ),
    ),
    Case(
        "A template's other regions are tried in another order",
        (template("lora", '("us-east4", "europe-west4")', '("europe-west4", "us-east4")'),),
        (hurts("offer-order", "lora regions", "europe-west4 or us-east4, in this order"),),
        given=(OTHER_REGIONS, ALLOWED, IN_BOTH),
    ),
    Case(
        "The machines of last resort come before better ones",
        (template("lora", f"{LARGER_SHAPE}, {SEVERAL}", f"{SEVERAL}, {LARGER_SHAPE}"),),
        (stops("offer-order", "lora", "try `g2-standard-24` before `a2-ultragpu-1g`", "fails on"),),
        given=WITH_BOTH,
    ),
)

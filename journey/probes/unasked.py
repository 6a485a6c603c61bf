"""Questions that no probe asks, and why: too risky to bring about, documented already, or no question of the
service."""

from __future__ import annotations

from journey.probes.probe import Unasked

UNASKED = (
    Unasked(
        ("create_error_message",),
        "3.4, no capacity",
        "a region that has run out of machines can't be brought about",
        "the error of a cluster that ends in ERROR for want of machines: slipway doctor shows it",
    ),
    Unasked(
        ("stockout_tries", "stockout_retry_seconds"),
        "3.4, job retried up to 3 times",
        "a region that has run out of machines can't be brought about",
        "the log of a job on machines of its own that met a stock-out: slipway jobs logs JOB --only service",
    ),
    Unasked(
        ("spot_restarts", "spot_restart_seconds", "spot_disable_retries"),
        "3.4, Spot preempted; 4.1",
        "the machines are the service's own, and nobody can have one preempted",
        "the log of Spot jobs that were preempted, one of them with disableRetries",
    ),
    Unasked(
        ("spot_advice",),
        "advice on Spot machines: an address of Compute Engine's v1 that one public note misses",
        "its figures are of the day, and no rule of the service follows from them",
        "slipway submit TEMPLATE --capacity spot --dry-run: a line of Google's, or why it was not read",
    ),
    Unasked(
        ("metadata_short_id",),
        "the reference says 4 to 128 characters, the pages on experiments 1 to 128",
        "it would leave a metadata context in the project, which experiments then list",
        "an experiment with a name of three characters: aiplatform.init(experiment='abc') makes it, or gets a 400",
    ),
    Unasked(
        ("reservation_quota",),
        "4.1, quota with reservations: ?; 11",
        "it needs a reservation, which is paid for whether used or not",
        "a job on a reservation that you have, of a machine whose on-demand quota is 0: it runs, or gets a 429",
    ),
    Unasked(
        ("quota_reconcile_seconds",),
        "6.3, ordinary projects: days",
        "it would ask Google for quota, and a request can never be deleted",
        "the time from a request that you make anyway (slipway quota --request) to its grant",
    ),
    Unasked(
        ("perimeter_storage_reason", "vertex_policy_details", "deleted_member"),
        "an organisation's refusals",
        "it needs an organisation whose policies can be set, and a perimeter",
        "the answers to a bucket outside of a perimeter, a cluster in a forbidden region, a grant to a deleted account",
    ),
    Unasked(
        (
            "policy",
            "custom_constraints",
            "customers",
            "perimeter",
            "perimeter_ingress",
            "quota_project",
            "quota_fixed",
            "keys_unusable",
        ),
        "an organisation's restrictions",
        "documented",
    ),
    Unasked(
        ("submissions_per_minute", "calls_per_minute", "log_reads_per_minute", "monitoring_seconds", "body_bytes"),
        "3.4, rate",
        "documented",
    ),
    Unasked(
        (
            "speed",
            "create_error",
            "reboot_error",
            "image_builds",
            "replica_threads",
            "log_entries_kept",
            "least_free_bytes",
            "job_folder_seconds",
            "groups",
        ),
        "",
        "the local cloud's own, of which the service knows nothing",
    ),
)

"""Variables of a job's environment."""

from tests.review.case import Case, hurts, stops, tells, template
from tests.review.edits import IDLE

CKPT_DIR = 'env={"CKPT_DIR": "${slipway.output}/checkpoints"}'

SAME = "instead of the same with other blanks or line breaks"

CASES = (
    Case(
        "A variable's value has a blank more at its end",
        (template("evals", 'us-central1"}', 'us-central1 "}'),),
        (hurts("environment-changed", "evals", f"`REGION` = `us-central1␣` {SAME}", "`us-central1` → `us-central1␣`"),),
        accident="a host that was not found, for the blank behind its name",
    ),
    Case(
        "Jobs are ended sooner, and at more use of their GPUs",
        (template("evals", "Idle(3600)", "Idle(600, below=0.6)"),),
        (hurts("environment-changed", "evals", "below 60 % for 10 min instead of below 5 % for 1 h"),),
        given=IDLE,
        never=("SLIPWAY_IDLE` =",),
        accident="healthy runs that were ended while they loaded their data",
    ),
    Case(
        "Idle jobs are ended no more",
        (template("evals", "    idle=Idle(3600),\n", ""),),
        (tells("environment-changed", "evals", "have no idle limit any more"),),
        given=IDLE,
    ),
    Case(
        "More in NCCL's log, and lines as they come",
        (template("lora", '"WARN"', '"WARN", "NCCL_DEBUG_SUBSYS": "INIT", "PYTHONUNBUFFERED": "1"'),),
        (tells("environment-changed", "lora", "NCCL_DEBUG_SUBSYS"),),
    ),
    Case(
        "Checkpoints are written to the machine's disk",
        (template("evals", "/gcs/acme-work/ckpt", "/tmp/ckpt"),),
        (stops("environment-changed", "evals", "CKPT_DIR", "machine's disk", "is lost with the machine"),),
        given=(template("evals", 'env={"REGION": "us-central1"}', 'env={"CKPT_DIR": "/gcs/acme-work/ckpt"}'),),
        accident="days of training lost with a preempted machine",
    ),
)

"""Variables of a job's environment."""

from tests.review.case import Case, blocks, template, warns
from tests.review.edits import IDLE

CKPT_DIR = 'env={"CKPT_DIR": "${slipway.output}/checkpoints"}'


CASES = (
    Case(
        "Idle jobs are ended no more",
        (template("evals", "    idle=Idle(3600),\n", ""),),
        (warns("submission-changed", "evals"),),
        given=IDLE,
    ),
    Case(
        "More in NCCL's log, and lines as they come",
        (template("lora", '"WARN"', '"WARN", "NCCL_DEBUG_SUBSYS": "INIT", "PYTHONUNBUFFERED": "1"'),),
        (warns("submission-changed", "lora"),),
    ),
    Case(
        "Checkpoints are written to the machine's disk",
        (template("evals", "/gcs/acme-work/ckpt", "/tmp/ckpt"),),
        (blocks("code-contract-broken", "evals"), warns("submission-changed", "evals")),
        given=(template("evals", 'env={"REGION": "us-central1"}', 'env={"CKPT_DIR": "/gcs/acme-work/ckpt"}'),),
    ),
)

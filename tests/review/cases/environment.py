"""Variables of a job's environment."""

from tests.review.case import BUSY, Case, hurts, more, silent, stops, tells, template
from tests.review.edits import IDLE, SAVING

_KEPT = 'env={"REGION": "us-central1"}'
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
        "A variable's text has a line break less",
        (template("evals", "us-central1\\nus-east4", "us-central1 us-east4"),),
        (hurts("environment-changed", "evals", f"`us-central1␣us-east4` {SAME}", "`us-central1⏎us-east4` →"),),
        given=(template("evals", "us-central1", "us-central1\\nus-east4"),),
        accident="a script that lost its last line break",
    ),
    Case(
        "A secret in plain text has a blank more at its end",
        (template("evals", 'TOKEN": "hf_abcdefghijklmnopqrstuvwx', 'TOKEN": "hf_abcdefghijklmnopqrstuvwx '),),
        (stops("plain-secret", "evals"),),
        given=(template("evals", _KEPT, 'env={"TOKEN": "hf_abcdefghijklmnopqrstuvwx"}'),),
        never=("hf_abcdefghij", "other blanks"),
    ),
    silent(
        "A variable's text of several lines is written in quotes of three",
        template("evals", '"us-central1\\nus-east4"', '"""us-central1\nus-east4"""'),
        given=(template("evals", "us-central1", "us-central1\\nus-east4"),),
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
        "Jobs are ended later, and at less use of their GPUs",
        (template("evals", "Idle(3600)", "Idle(7200, below=0.01)"),),
        (tells("environment-changed", "evals", "below 1 % for 2 h instead of below 5 % for 1 h"),),
        given=IDLE,
    ),
    Case(
        "A variable goes whose value the code takes by itself",
        (template("digits", 'env={"PACE": "1"}', "env={}"),),
        (tells("environment-changed", "digits", "PACE"),),
        may=("environment-changed",),
        given=(*SAVING, more("digits", 'env={"PACE": "1"}')),
    ),
    Case(
        "A variable goes without which the code takes another value",
        (template("digits", 'env={"PACE": "2"}', "env={}"),),
        (hurts("environment-changed", "digits", "takes a value of its own, or fails"),),
        given=(*SAVING, more("digits", 'env={"PACE": "2"}')),
        accident="a pace that had been set for a test, and was taken out after it",
    ),
    Case(
        "A variable is said that the code takes by itself",
        (more("digits", 'env={"PACE": "1"}'),),
        (tells("environment-changed", "digits", "PACE"),),
        may=("environment-changed",),
        given=SAVING,
    ),
    Case(
        "Variables of the environment: the log level, and where the model is looked for",
        (template("lora", '{"NCCL_DEBUG": "WARN"}', '{"NCCL_DEBUG": "INFO", "HF_HUB_OFFLINE": "1"}'),),
        (tells("environment-changed", "lora", "NCCL_DEBUG"), hurts("environment-changed", "lora", "HF_HUB_OFFLINE")),
    ),
    Case(
        "A variable with the stack's own region, by a name of the code's",
        (template("evals", _KEPT, _KEPT.replace("REGION", "JUDGE_REGION")),),
        (
            hurts("environment-changed", "REGION"),
            hurts("environment-changed", "JUDGE_REGION", "not known: what their code makes of it"),
        ),
        never=("leave its region",),
        world=BUSY,
    ),
    Case(
        "A variable goes that the command reads",
        (template("evals", _KEPT, 'env={"LEVEL": "2"}'),),
        (
            stops("environment-changed", "REGION", "which their command or arguments name"),
            hurts("environment-changed", "LEVEL"),
        ),
        given=(template("evals", 'command=("judge",)', 'command=("sh", "-c", "exec judge --in $REGION")'),),
        accident="an edit of one line whose other half stood in the same file",
    ),
    Case(
        "A variable with another region",
        (template("evals", _KEPT, _KEPT.replace("us-central1", "europe-west4")),),
        (hurts("environment-changed", "REGION"),),
        world=BUSY,
        accident="a bucket in another region, by one variable",
    ),
    Case(
        "One GPU of eight",
        (template("lora", '"NCCL_DEBUG": "WARN"', '"NCCL_DEBUG": "WARN", "CUDA_VISIBLE_DEVICES": "0"'),),
        (hurts("environment-changed", "CUDA_VISIBLE_DEVICES", "what their code makes of it"),),
        accident="GPUs that were paid and idle for weeks",
    ),
    Case(
        "More in NCCL's log, and lines as they come",
        (template("lora", '"WARN"', '"WARN", "NCCL_DEBUG_SUBSYS": "INIT", "PYTHONUNBUFFERED": "1"'),),
        (tells("environment-changed", "lora", "NCCL_DEBUG_SUBSYS"),),
    ),
    Case(
        "Variables go, come and change",
        (
            template("evals", 'env={"MODE": "a", "OLD": "1"}', 'env={"MODE": "b"}'),
            more("tune", 'env={"ZONE": "europe-west4-a"}'),
        ),
        (
            hurts("environment-changed", "evals environment variable MODE", "`b` instead of `a`"),
            hurts("environment-changed", "evals environment variable OLD", "which was `1`"),
            hurts("environment-changed", "tune", "europe-west4-a"),
        ),
        given=(template("evals", 'env={"REGION": "us-central1"}', 'env={"MODE": "a", "OLD": "1"}'),),
        accident="data read in another region, and billed",
    ),
    Case(
        "The variable goes that names the place of checkpoints",
        (template("tune", f"    {CKPT_DIR},\n", ""),),
        (stops("environment-changed", "tune", "CKPT_DIR", "where results belong"),),
        given=(more("tune", CKPT_DIR),),
    ),
    Case(
        "An argument names a variable that goes",
        (template("evals", 'env={"REGION": "us-central1"}', 'env={"PLACE": "us-central1"}'),),
        (stops("environment-changed", "evals environment variable REGION", "or arguments name"),),
        given=(template("evals", '"--batch=${batch}"', '"--batch=${batch}", "--region=$(REGION)"'),),
        may=("environment-changed",),
        accident="a renamed variable that one of its readers kept",
    ),
    Case(
        "Checkpoints are written to the machine's disk",
        (template("evals", "/gcs/acme-work/ckpt", "/tmp/ckpt"),),
        (stops("environment-changed", "evals", "CKPT_DIR", "machine's disk", "is lost with the machine"),),
        given=(template("evals", 'env={"REGION": "us-central1"}', 'env={"CKPT_DIR": "/gcs/acme-work/ckpt"}'),),
        accident="days of training lost with a preempted machine",
    ),
    Case(
        "Logs come as they are written",
        (more("digits", 'env={"PYTHONUNBUFFERED": "1"}'),),
        (tells("environment-changed", "digits", "PYTHONUNBUFFERED"),),
    ),
    Case(
        "Judges draw no bars of progress into their logs",
        (template("evals", '"REGION": "us-central1"', '"REGION": "us-central1", "TQDM_DISABLE": "1"'),),
        (tells("environment-changed", "evals", "TQDM_DISABLE"),),
        accident="a log that nobody could read",
    ),
)

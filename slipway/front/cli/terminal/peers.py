"""Words of other tools, and what is here in their place."""

from __future__ import annotations

from collections.abc import Collection, Mapping

_HARDWARE = "gpu gpus ngpus num-gpus gpu-type accelerator accelerators cpu cpus memory mem instance-type machine-type"
_LIMITS = "max-duration timeout-s time-limit max-time max-runtime timeout time walltime ttl"
_NO_WAIT = "d detach detached async background no-wait no-follow"
_FLAGS = (
    (_HARDWARE, "--machine", "--machine TYPE, of those in slipway templates show script"),
    (_HARDWARE, "-p", "-p machine=TYPE, of those in slipway templates show TEMPLATE"),
    (
        "image docker-image container container-image image-uri",
        "-p",
        "slipway submit NAME --code DIR, of a template with that image (docs/own-image.md)",
    ),
    ("disk disk-size", "-p", "another template, as the disk is its own"),
    ("spot use-spot preemptible interruptible", "--capacity", "--capacity spot"),
    ("cluster queue partition", "--pool", "--pool CLUSTER/POOL"),
    ("region zone location", "-p", "another stack, or slipway submit TEMPLATE --race=REGION,…"),
    ("project profile", "-p", "--catalog gs://BUCKET, that of another stack"),
    (_LIMITS, "--max-run", "--max-run, the job's longest run"),
    ("max-retries retry restart max-restarts max-restarts-on-errors", "--retries", "--retries"),
    ("nodes num-nodes nnodes", "--replicas", "--replicas, the machines of your own command"),
    ("priority", "--urgent", "--urgent, or slipway jobs yield JOB --to ME for a job that you choose"),
    ("priority", "-p", "slipway submit script --code . -p command=… --urgent"),
    ("idle-timeout autostop idle-minutes-to-autostop", "--idle", "--idle"),
    ("workdir working-dir cwd project-dir source-dir code-dir", "--code", "--code DIR"),
    ("requirements pip packages", "--code", "requirements.txt in the folder, which is installed"),
    ("data input inputs mount volume v", "-p", "-p data=gs://BUCKET/FOLDER"),
    ("m module", "--code", "python -m MODULE, as the command"),
    ("command cmd entrypoint", "--detach", "COMMAND, behind the flags"),
    ("command cmd entrypoint", "-p", "-p command=…"),
    ("wait follow", "--detach", "no flag, as run follows the job without one"),
    (_NO_WAIT, "--detach", "--detach"),
    (_NO_WAIT, "--wait", "no flag, as nothing waits without --wait or --follow"),
    ("env e", "--resume", "'LR=1 python train.py', the variable in the command"),
    ("n lines last", "--tail", "--tail"),
    ("n count last", "--limit", "--limit"),
    ("n name", "--session", "--session"),
    ("n", "--name", "--name"),
    ("tail lines", "--detach", "slipway jobs logs JOB --tail N"),
    ("port ports", "-p", "slipway jobs open JOB --shell, as no port of a job is open"),
    ("budget max-cost", "--max-run", "--max-run, with --dry-run for the price at most"),
    ("mine me", "--user", "--user NAME"),
)
"""Flags, an option by which a command is one that they are typed at, and what is meant there."""
_VERBS = (
    ("ls ps queue", ("list",)),
    ("describe get info inspect view", ("show",)),
    ("kill rm stop delete terminate down remove", ("cancel", "stop")),
    ("log output tail", ("logs JOB --follow",)),
    ("cp copy rsync fetch pull", ("download JOB",)),
    ("diff", ("compare",)),
    ("exec", ("run COMMAND",)),
    ("launch", ("start", "run COMMAND")),
    ("gpus nodes clusters machines", ("pools",)),
    ("cost costs billing price", ("usage",)),
    ("dashboard", ("board",)),
)
"""Verbs, and what is typed for them in a group that has one of these."""
_ANYWHERE = {
    "help": "slipway --help",
    "login": "gcloud auth application-default login",
    "exec": "slipway run COMMAND",
    "status": "slipway jobs list, slipway jobs show JOB, slipway pools or slipway doctor",
    "sweep": "slipway submit NAME --sweep FILE",
    "ui": "slipway jobs open JOB, for its page in the console",
    "up": "make up STACK=NAME, in the checkout",
    "version": "slipway --version",
    **dict.fromkeys(
        ("ssh", "shell", "attach", "connect"), "slipway jobs open JOB --shell, or slipway session run COMMAND"
    ),
}
"""Words that people guess in any group, and the right commands."""


def flag_meant(name: str, options: Collection[str]) -> str:
    """Return what is meant by a flag of another tool, at a command with these options; empty if none is known."""
    return next((meant for names, has, meant in _FLAGS if name in names.split() and has in options), "")


def verbs_meant(name: str, group: str, verbs: Collection[str], below: Mapping[str, Collection[str]]) -> list[str]:
    """Return the commands meant by a verb of another tool, in `group`, which has `verbs` and the groups `below`."""
    phrases = next((phrases for names, phrases in _VERBS if name in names.split()), ())

    def typed(path: str, known: Collection[str]) -> list[str]:
        return [f"{path} {phrase}" for phrase in phrases if phrase.split()[0] in known][:1]

    here = typed(group, verbs) or ([_ANYWHERE[name]] if name in _ANYWHERE else [])
    return here or [each for path, known in below.items() for each in typed(f"{group} {path}", known)]

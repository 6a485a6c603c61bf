"""Labels that Slipway puts on clusters and jobs, the parameters in a job's request, and its launcher's arguments.

One variable in the environment of each replica has the parameters. Nothing else records them: arguments and machines
made of them can't be read backwards.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from slipway.base.formatting import last_part, unfit

STACK_LABEL = "slipway-stack"
NAME_LABEL = "slipway-name"
HASH_LABEL = "slipway-hash"
"""The three labels of a cluster, set once at its creation, which tell its owner. Frozen: living clusters have them.

On a job, the second is the name that somebody chose for it."""

REQUEST_LABEL = "slipway-request"
TEMPLATE_LABEL = "slipway-template"
USER_LABEL = "slipway-user"
TEAM_LABEL = "slipway-team"
AGENT_LABEL = "slipway-agent"
CAPACITY_TYPE_LABEL = "slipway-capacity-type"
COMMIT_LABEL = "slipway-commit"
DIRTY_LABEL = "slipway-commit-dirty"
ROLES_LABEL = "slipway-roles"
SWEEP_LABEL = "slipway-sweep"
RUN_LABEL = "slipway-run"
RUNS_LABEL = "slipway-runs"
SESSION_LABEL = "slipway-session"
URGENT_LABEL = "slipway-urgent"
CODE_LABEL = "slipway-code"
CODE_COMMIT_LABEL = "slipway-code-commit"
CODE_DIRTY_LABEL = "slipway-dirty"
PROGRAMS_LABEL = "slipway-code-programs"
OF_CODE = (CODE_LABEL, CODE_COMMIT_LABEL, CODE_DIRTY_LABEL, PROGRAMS_LABEL)
"""The labels of a job that runs a folder's code. The last one is the same as long as only notes and tables change."""

TEAM = "team"
"""A template's own label that names its team, and anybody's on a job that Slipway did not send."""
RESERVED = ("slipway-", "goog-")
"""The prefixes of labels that Slipway and Google set."""

PIPELINE_LABEL = "vertex-ai-pipelines-run-billing-id"
"""The service's own label on a pipeline's job, and on the custom jobs of its tasks."""

PIPELINE_RUN = "pipeline-run"
"""The label of a job that a task of a pipeline submitted, with the pipeline's id."""

VARIABLE = "SLIPWAY_PARAMETERS"
NOTE_VARIABLE = "SLIPWAY_NOTE"
NOTIFICATION = "SLIPWAY_NOTIFICATION"
SETTINGS = "SLIPWAY_SETTINGS"
YIELD = "SLIPWAY_YIELD"
"""The variable of a job that makes room when it is asked to; in it is what it goes on `after`."""
RACE = "SLIPWAY_RACE"
"""The variable of a leg of a race; in it are the race's regions."""
RECORDS = (VARIABLE, NOTE_VARIABLE, NOTIFICATION, SETTINGS, YIELD, RACE)
"""The variables of a job that record its submission, as JSON."""
SHAPE, REPLICAS, GPUS, GPU_MEMORY = SHAPE_VARIABLES = (
    "SLIPWAY_SHAPE",
    "SLIPWAY_REPLICAS",
    "SLIPWAY_GPUS",
    "SLIPWAY_GPU_MEMORY_GB",
)
"""The variables that tell a job of several shapes which it has: its name, the replicas of all worker pools, the GPUs of
a machine and the memory of a GPU."""
ADDRESS = re.compile(r"gs://[^/\s]+(/.*)?")
"""The address of a bucket, or of what is in it."""
HUB_ADDRESS = re.compile(r"hf://((datasets|spaces)/)?[\w.-]+/[\w.-]+(@[^/\s]+)?(/.*)?")
"""The address of a repository of the Hugging Face hub, or of what is in it."""
INPUT_ADDRESS = re.compile(f"{ADDRESS.pattern}|{HUB_ADDRESS.pattern}")
INPUT = "SLIPWAY_INPUT_"
"""The beginning of a variable with the address of an input. The code finds there the launcher's copy of it."""
IDLE = "SLIPWAY_IDLE"
"""The variable that tells the launcher which use of GPUs ends a job, and after how many seconds: `0.05 1800`."""
MOST_BYTES = 32 * 1024

MARK = "\udc24"
"""The stand-in for a `$` of a value until `escaped` restores it. No value has half a surrogate pair: it is `unfit`."""
_READ_BY_SERVICE = re.compile(rf"{MARK}(?=[{MARK}$(])|(?<={MARK}){MARK}")

_SHELL = (
    'python3 -c "import sys; sys.exit(sys.version_info < (3, 8))" && exec python3 "$0" "$@"; '
    "echo 'error: this image has no python3 of 3.8 or newer, which starts its command' >&2; "
    "echo '  fix: add it to the image, or say launcher=False in the template' >&2; exit 70"
)
IMAGE_START = ("sh", "-c", _SHELL)
"""The beginning of a container's command. The launcher's file follows, in the bucket as Vertex AI mounts it."""
_LAUNCHER_FILE = re.compile(r"/gcs/([^/]+/packages/[a-z0-9-]+\.pyz)")
EXEC = "--exec="
"""The launcher's argument for a word of an image's command."""

SHORT = 7
_TRUTH: Mapping[str, bool] = {"true": True, "false": False}
_NOT_IN_LABELS = re.compile(r"[^a-z0-9_-]+")
UNKNOWN_COMMIT = "unknown"


@dataclass(frozen=True)
class Revision:
    """A git revision."""

    #: In hexadecimal digits; UNKNOWN_COMMIT outside of git, empty if not recorded.
    commit: str
    #: There were changes besides the commit; None if not recorded.
    dirty: bool | None

    def __str__(self) -> str:
        """Return `3f9c2e1 with local changes`."""
        return f"{self.commit[:SHORT]} with local changes" if self.dirty else self.commit[:SHORT]

    @property
    def exact(self) -> bool:
        """Tell whether the revision names exactly one tree."""
        return self.dirty is False and self.commit not in ("", UNKNOWN_COMMIT)

    @property
    def short(self) -> str:
        """The short form, as git describes it: `3f9c2e1-dirty` for a checkout with changes of its own."""
        return f"{self.commit[:SHORT]}-dirty" if self.dirty else self.commit[:SHORT]


def label_value(text: str) -> str:
    """Return `text` made fit for a label's value; empty stays empty."""
    return _NOT_IN_LABELS.sub("-", text.lower()).strip("-_")[:63].strip("-_")


def user_values(member: str) -> frozenset[str]:
    """Return the values that the user's label of a person's or an account's jobs may have, short forms of its name;
    none for a group, whose members are not read."""
    kind, _, account = member.partition(":")
    forms = map(label_value, (account, account.partition("@")[0], last_part(account)))
    return frozenset(forms) - {""} if kind in ("user", "serviceAccount", "principal") else frozenset()


def shown_name(name: str, labels: Mapping[str, str]) -> str:
    """Return how a page shows a job: a session by the name that its owner has for it, as `session/lr`."""
    return f"session/{labels.get(NAME_LABEL, name)}" if SESSION_LABEL in labels else name


def roles_value(roles: tuple[str, ...]) -> str:
    """Return the roles of the worker pools in order, joined by `_`, or empty when they don't fit a label."""
    value = "_".join(label_value(role).replace("_", "-") for role in roles)
    return value if len(value) <= 63 else ""


def roles_of(value: str) -> tuple[str, ...]:
    """Return the roles in a value of `roles_value`."""
    return tuple(value.split("_")) if value else ()


def label_filter(wanted: Mapping[str, str]) -> str:
    """Return the API's filter for resources with all of these labels."""
    return " AND ".join(f'labels.{key}="{value}"' for key, value in wanted.items())


def team_of(labels: Mapping[str, str]) -> str:
    """Return the team that a job counts for, empty where its labels name none."""
    return labels.get(TEAM_LABEL) or labels.get(TEAM, "")


def revision_of(labels: Mapping[str, str]) -> Revision:
    return Revision(labels.get(COMMIT_LABEL, ""), _TRUTH.get(labels.get(DIRTY_LABEL, "")))


def code_revision_of(labels: Mapping[str, str]) -> Revision:
    """Return the revision that --code packed; none for a tree that was never committed, and for reviewed code."""
    return Revision(labels.get(CODE_COMMIT_LABEL, ""), _TRUTH.get(labels.get(CODE_DIRTY_LABEL, "")))


def excess(values: Mapping[str, Any]) -> str:
    """Return the reason why these values together are too much for one job, an empty string when they are not."""
    size = len(recorded(values).encode())
    return "" if size <= MOST_BYTES else f"take {size:,} bytes as JSON, at most {MOST_BYTES:,} (32 KB)"


def escaped(text: str, *, expanded: bool = True) -> str:
    """Return a text as it is sent, in which each `$` of a value is still `MARK`.

    Where the service has texts `expanded`, it takes `$(NAME)` for a variable and `$$` for `$`, as Kubernetes does:
    there a value's are doubled.
    """
    if expanded:
        text = _READ_BY_SERVICE.sub("$$", text)
    return text.replace(MARK, "$")


def own_labels(labels: Mapping[str, str]) -> Mapping[str, str]:
    """Return the labels that neither Slipway nor Google has set."""
    return {key: value for key, value in labels.items() if not key.startswith((*RESERVED, PIPELINE_LABEL))}


def recorded(values: Mapping[str, Any] | str) -> str:
    """Return the value of a record as it is sent: canonical JSON, so that equal parameters are equal texts."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return sent_value(text).replace("'", r"\u0027")  # Vertex AI takes no apostrophe in a variable.


def sent_value(text: str) -> str:
    """Return a variable's value as it is sent: the service expands nothing in it."""
    return escaped(text.replace("$", MARK))


def record(spec: Mapping[str, Any], text: str, variable: str = VARIABLE) -> None:
    """Add a record to every used worker pool of a CustomJobSpec, in place of an earlier one."""
    for pool in spec.get("workerPoolSpecs", ()):
        for task in (pool[key] for key in ("containerSpec", "pythonPackageSpec") if key in pool):
            # Vertex AI takes an empty variable for one without a value, and refuses it.
            others = [entry for entry in task.get("env") or () if entry.get("value") and entry["name"] != variable]
            task["env"] = [*others, {"name": variable, "value": text}]


def inputs_in(spec: Mapping[str, Any]) -> Mapping[str, str]:
    """Return the address of each input of a catalog's CustomJobSpec, with its placeholders, by its variable."""
    pools = spec.get("workerPoolSpecs", ())
    tasks = (pool.get("pythonPackageSpec") or pool.get("containerSpec") or {} for pool in pools)
    entries = (entry for task in tasks for entry in task.get("env") or ())
    return {name: str(entry.get("value", "")) for entry in entries if (name := entry.get("name", "")).startswith(INPUT)}


def launcher_in(command: Sequence[str]) -> str:
    """Return the gs:// URI of the launcher that a container's command starts; empty for another command."""
    match = _LAUNCHER_FILE.fullmatch(command[3]) if list(command[:2]) == [*IMAGE_START[:2]] and command[3:] else None
    return f"gs://{match[1]}" if match else ""


class Launched(NamedTuple):
    """A launcher's start of a package's module, or of an image's command."""

    module: str
    arguments: list[str]
    others: list[str]
    command: tuple[str, ...] = ()

    @classmethod
    def of(cls, task: Mapping[str, Any]) -> Launched | None:
        """Read the container or the package of a worker pool; None where no launcher starts it."""
        if "imageUri" in task and not launcher_in(task.get("command") or ()):
            return None
        return cls.read(task.get("args") or ())

    @classmethod
    def read(cls, args: Sequence[str]) -> Launched | None:
        """Read a launcher's arguments; None for others."""
        end = args.index("--") if "--" in args else 0
        own = list(args[:end])
        if command := tuple(word.removeprefix(EXEC) for word in own if word.startswith(EXEC)):
            others = [word for word in own if not word.startswith(EXEC)]
            return cls("", list(args[end + 1 :]), others, command)
        if "--module" not in own[:-1]:
            return None
        place = own.index("--module")
        return cls(
            module=str(own[place + 1]), arguments=list(args[end + 1 :]), others=[*own[:place], *own[place + 2 :]]
        )

    def written(self) -> list[str]:
        started = [f"{EXEC}{word}" for word in self.command] or ["--module", self.module]
        return [*self.others, *started, "--", *self.arguments]


def parameters_in(env: Iterable[str]) -> Mapping[str, Any] | None:
    """Return the values from an environment of `NAME=value`, as it was sent; None where it lacks them, and for a form
    that no submission records: the job may be anybody's."""
    record = record_in(env, VARIABLE)
    if not isinstance(record, dict):
        return None
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in record.items()}
    single = [part for value in values.values() for part in (value if isinstance(value, tuple) else (value,))]
    if not all(isinstance(value, int | float | str) for value in single):
        return None
    return None if any(map(unfit, (*values, *single))) else values


def note_in(env: Iterable[str]) -> str:
    """Return the note from such an environment, empty where it has none."""
    note = record_in(env, NOTE_VARIABLE)
    return note if isinstance(note, str) and not unfit(note) else ""


def race_in(env: Iterable[str]) -> tuple[str, ...]:
    """Return the regions of a job's race from its environment; none for a job of no race."""
    regions = record_in(env, RACE)
    return tuple(regions.split()) if isinstance(regions, str) and not unfit(regions) else ()


def record_in(env: Iterable[str], variable: str) -> Any:
    """Return a record from an environment of `NAME=value`; None where it lacks that, or the record is no JSON."""
    text = next((entry.removeprefix(f"{variable}=") for entry in env if entry.startswith(f"{variable}=")), None)
    try:
        return json.loads((text or "").replace("$$", "$"))
    except (ValueError, RecursionError):
        return None

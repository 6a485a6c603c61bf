"""Labels that Slipway puts on clusters and jobs and what they tell, the parameters that a job's request carries, and
what its launcher is told.

One variable in the environment of each replica has the parameters. Nothing else says what they were: arguments and
machines made of them can't be read backwards.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

STACK_LABEL = "slipway-stack"
NAME_LABEL = "slipway-name"
HASH_LABEL = "slipway-hash"
"""These three are a cluster's, set once when it is made, and say whose it is. Frozen: living clusters have them."""

REQUEST_LABEL = "slipway-request"
TEMPLATE_LABEL = "slipway-template"
USER_LABEL = "slipway-user"
TEAM_LABEL = "slipway-team"
CAPACITY_TYPE_LABEL = "slipway-capacity-type"
COMMIT_LABEL = "slipway-commit"
DIRTY_LABEL = "slipway-commit-dirty"
ROLES_LABEL = "slipway-roles"
SWEEP_LABEL = "slipway-sweep"
RUN_LABEL = "slipway-run"
RUNS_LABEL = "slipway-runs"
CODE_LABEL = "slipway-code"
CODE_COMMIT_LABEL = "slipway-code-commit"
CODE_DIRTY_LABEL = "slipway-dirty"

TEAM = "team"
"""A template's own label that names its team, and anybody's on a job that Slipway did not send."""
RESERVED = ("slipway-", "goog-")
"""The beginnings of labels that Slipway and Google set."""

VARIABLE = "SLIPWAY_PARAMETERS"
MOST_BYTES = 32 * 1024

MARK = "\udc24"
"""A `$` of a value until `escaped` makes one of it again. No value has half a surrogate pair: it is `unfit`."""
_READ_BY_SERVICE = re.compile(rf"{MARK}(?=[{MARK}$(])|(?<={MARK}){MARK}")

SHORT = 7
_EARLIER_CAPACITY_TYPE_LABEL = "slipway-way"
_TRUTH: Mapping[str, bool] = {"true": True, "false": False}
_NOT_IN_LABELS = re.compile(r"[^a-z0-9_-]+")


UNKNOWN_COMMIT = "unknown"


@dataclass(frozen=True)
class Revision:
    """`commit` in hexadecimal digits, or UNKNOWN_COMMIT outside of git, or empty for what does not tell. `dirty`: there
    were changes besides it; None where that is not told."""

    commit: str
    dirty: bool | None

    def __str__(self) -> str:
        """`3f9c2e1 with local changes`"""
        return f"{self.commit[:SHORT]} with local changes" if self.dirty else self.commit[:SHORT]

    @property
    def exact(self) -> bool:
        """Tell whether it names one tree and no other."""
        return self.dirty is False and self.commit not in ("", UNKNOWN_COMMIT)

    @property
    def short(self) -> str:
        """`3f9c2e1+`, where there is little room."""
        return f"{self.commit[:SHORT]}+" if self.dirty else self.commit[:SHORT]


def label_value(text: str) -> str:
    """`text` made fit for a label's value; empty stays empty."""
    return _NOT_IN_LABELS.sub("-", text.lower()).strip("-_")[:63].strip("-_")


def roles_value(roles: tuple[str, ...]) -> str:
    """The roles of the worker pools in order, joined by `_`, or empty when they don't fit a label."""
    value = "_".join(label_value(role).replace("_", "-") for role in roles)
    return value if len(value) <= 63 else ""


def roles_of(value: str) -> tuple[str, ...]:
    """Roles from what `roles_value` wrote."""
    return tuple(value.split("_")) if value else ()


def label_filter(wanted: Mapping[str, str]) -> str:
    """The API's filter for what has all of these labels."""
    return " AND ".join(f'labels.{key}="{value}"' for key, value in wanted.items())


def capacity_type_label(labels: Mapping[str, str]) -> str:
    """The capacity type that a job was sent by, empty where its labels do not tell; older jobs have another label."""
    return labels.get(CAPACITY_TYPE_LABEL) or labels.get(_EARLIER_CAPACITY_TYPE_LABEL, "")


def team_of(labels: Mapping[str, str]) -> str:
    """The team that a job counts for, empty where its labels name none."""
    return labels.get(TEAM_LABEL) or labels.get(TEAM, "")


def revision_of(labels: Mapping[str, str]) -> Revision:
    """The reviewed commit that defined a job's template; older jobs do not tell whether there was more."""
    return Revision(labels.get(COMMIT_LABEL, ""), _TRUTH.get(labels.get(DIRTY_LABEL, "")))


def code_revision_of(labels: Mapping[str, str]) -> Revision:
    """The revision that --code packed: no commit for a tree that was never committed, and for the reviewed code."""
    return Revision(labels.get(CODE_COMMIT_LABEL, ""), _TRUTH.get(labels.get(CODE_DIRTY_LABEL, "")))


def unfit(value: float | str) -> str:
    """The reason why no JSON can carry a value; an empty string when it can."""
    if not isinstance(value, str):
        try:
            return "" if math.isfinite(value) else "is not finite"
        except OverflowError:  # A whole number that no float holds, nor most of those who read it.
            return "is too large"
    try:
        value.encode()
    except UnicodeEncodeError:  # Half of a character: bytes of a shell, or an escape in JSON.
        return "is not valid UTF-8"
    return ""


def excess(values: Mapping[str, float | str]) -> str:
    """The reason why these values together are too much for one job, an empty string when they are not."""
    size = len(recorded(values).encode())
    return "" if size <= MOST_BYTES else f"take {size:,} bytes as JSON, at most {MOST_BYTES:,} (32 KB)"


def escaped(text: str, *, expanded: bool = True) -> str:
    """A text as it is sent, in which each `$` of a value is `MARK` yet. Where the service has texts `expanded`, it
    takes `$(NAME)` for a variable and `$$` for `$`, as Kubernetes does: there a value's are doubled."""
    return (_READ_BY_SERVICE.sub("$$", text) if expanded else text).replace(MARK, "$")


def recorded(values: Mapping[str, int | float | str | bool]) -> str:
    """The variable's value as it is sent: canonical JSON, so that equal parameters are equal texts."""
    text = json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return escaped(text.replace("$", MARK))


def record(spec: Mapping[str, Any], text: str) -> None:
    """Add the variable to every worker pool of a CustomJobSpec that is used, in place."""
    for pool in spec.get("workerPoolSpecs", ()):
        for task in (pool[key] for key in ("containerSpec", "pythonPackageSpec") if key in pool):
            task["env"] = [*(task.get("env") or ()), {"name": VARIABLE, "value": text}]


class Launched(NamedTuple):
    """What a package's launcher is told to start: a module and its arguments. `others` are the launcher's own."""

    module: str
    arguments: list[str]
    others: list[str]

    @classmethod
    def read(cls, args: Sequence[str]) -> Launched | None:
        """From all arguments of a package; None where no launcher starts it."""
        end = args.index("--") if "--" in args else 0
        own = list(args[:end])
        if "--module" not in own[:-1]:
            return None
        place = own.index("--module")
        return cls(str(own[place + 1]), list(args[end + 1 :]), [*own[:place], *own[place + 2 :]])

    def written(self) -> list[str]:
        return [*self.others, "--module", self.module, "--", *self.arguments]


def parameters_in(env: Iterable[str]) -> Mapping[str, int | float | str | bool] | None:
    """The values from an environment of `NAME=value`, as it was sent; None where it does not have them, or something
    that no submission records: anybody may have sent the job."""
    text = next((one.removeprefix(f"{VARIABLE}=") for one in env if one.startswith(f"{VARIABLE}=")), None)
    try:
        found = json.loads((text or "").replace("$$", "$"))
    except (ValueError, RecursionError):
        return None
    plain = isinstance(found, dict) and all(isinstance(value, int | float | str) for value in found.values())
    return found if plain and not any(map(unfit, (*found, *found.values()))) else None

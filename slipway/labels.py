"""Labels that Slipway puts on clusters and jobs, and what they tell. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

STACK_LABEL = "slipway-stack"
NAME_LABEL = "slipway-name"
HASH_LABEL = "slipway-hash"
"""These three are a cluster's, set once when it is made, and say whose it is. Frozen: living clusters have them."""

REQUEST_LABEL = "slipway-request"
TEMPLATE_LABEL = "slipway-template"
USER_LABEL = "slipway-user"
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

SHORT = 7
_EARLIER_CAPACITY_TYPE_LABEL = "slipway-way"
_TRUTH: Mapping[str, bool] = {"true": True, "false": False}
_NOT_IN_LABELS = re.compile(r"[^a-z0-9_-]+")


@dataclass(frozen=True)
class Revision:
    """`commit` in hexadecimal digits, or "unknown" outside of git, or empty for what does not tell. `dirty`: there were
    changes besides it; None where that is not told."""

    commit: str
    dirty: bool | None

    def __str__(self) -> str:
        """`3f9c2e1 with local changes`"""
        return f"{self.commit[:SHORT]} with local changes" if self.dirty else self.commit[:SHORT]

    @property
    def exact(self) -> bool:
        """Tell whether it names one tree and no other."""
        return self.dirty is False and self.commit not in ("", "unknown")

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


def revision_of(labels: Mapping[str, str]) -> Revision:
    """The reviewed commit that defined a job's template; older jobs do not tell whether there was more."""
    return Revision(labels.get(COMMIT_LABEL, ""), _TRUTH.get(labels.get(DIRTY_LABEL, "")))


def code_revision_of(labels: Mapping[str, str]) -> Revision:
    """The revision that --code packed: no commit for a tree that was never committed, and for the reviewed code."""
    return Revision(labels.get(CODE_COMMIT_LABEL, ""), _TRUTH.get(labels.get(CODE_DIRTY_LABEL, "")))

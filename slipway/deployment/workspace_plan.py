"""The plan of the workspace: which accounts and buckets are declared, which retire, and which are let go.

Accounts and buckets retire as clusters do: what an unfinished job needs stays until it has ended. A bucket or an
account can't be renamed, and the provider would replace it: make another and delete this one, whoever uses it. So the
other one is another resource, with a logical name of its own, and this one keeps the name that it has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from slipway.cloud.jobs import VertexJob
from slipway.deployment.retiring import CATALOG, TRAINER, WORK, RetiringWorkspaceResource, Why
from slipway.state import State

if TYPE_CHECKING:
    from slipway.template import JobTemplate

_CALLED = "Slipway trainer ("

SUBMITTER_ROLES: Mapping[str, str] = {
    "submit": "roles/aiplatform.user",
    "quota": "roles/cloudquotas.viewer",
    "metrics": "roles/monitoring.viewer",
    "logs": "roles/logging.viewer",
}
"""On the project, by what a submitter does with each."""


@dataclass(frozen=True)
class WorkspacePlan:
    """`logical`: by role, the logical name of what is asked for. `released` are not declared: nobody needs them.

    `grants`: the roles on the project, by logical name, that the account has and keeps while jobs run as it.
    """

    logical: Mapping[str, str] = field(default_factory=lambda: {role: role for role in (CATALOG, WORK, TRAINER)})
    retiring: tuple[RetiringWorkspaceResource, ...] = ()
    released: tuple[RetiringWorkspaceResource, ...] = ()
    grants: Mapping[str, str] = field(default_factory=dict)


def plan_workspace(
    known: State, wanted: Mapping[str, str], jobs: tuple[VertexJob, ...], doubt: Why | None = None
) -> WorkspacePlan:
    """`wanted`: by role, the name of what is asked for. `doubt`: why jobs may be missing, which keeps everything."""
    logical: dict[str, str] = {}
    retiring: list[RetiringWorkspaceResource] = []
    released: list[RetiringWorkspaceResource] = []
    for role, name in wanted.items():
        old = _of(role, known)
        logical[role] = _logical(role, name, old)
        for known_as, each in old.items():
            if each == name:
                continue
            users = _users(each, jobs)
            resource = RetiringWorkspaceResource(
                role, known_as, each, users, (None if users else doubt) or Why.JOBS, _grants(role, each, known)
            )
            (retiring if users or doubt else released).append(resource)
    account = wanted.get(TRAINER, "")
    grants = _grants(TRAINER, account, known) if _users(account, jobs) or doubt else {}
    return WorkspacePlan(logical, tuple(retiring), tuple(released), grants)


def _users(name: str, jobs: tuple[VertexJob, ...]) -> tuple[VertexJob, ...]:
    return tuple(job for job in jobs if not job.ended and job.needs(name))


def _of(role: str, known: State) -> dict[str, str]:
    """What the state has in a role, by logical names."""
    some = known.accounts if role == TRAINER else known.buckets
    return {
        one.logical: one.name
        for one in some
        if one.name and (one.logical == role or one.logical.startswith(f"{role}-"))
    }


def _logical(role: str, name: str, old: Mapping[str, str]) -> str:
    """The one it has; else the plain one, which is frozen for the first; else one that tells it from the others."""
    same = [logical for logical, each in old.items() if each == name]
    if same:
        return same[0]
    return role if role not in old else f"{role}-{name.partition('@')[0]}"


def _grants(role: str, name: str, known: State) -> dict[str, str]:
    if role != TRAINER:
        return {}
    return {one.name: one.role for one in known.grants if one.member == f"serviceAccount:{name}"}


def trainer_email(account: str, project: str) -> str:
    """The address of an account id; a project of a domain (`example.com:team`) is written the other way round."""
    domain, colon, name = project.rpartition(":")
    return f"{account}@{f'{name}.{domain}' if colon else project}.iam.gserviceaccount.com"


def trainer_display_name(stack: str) -> str:
    """What the account is called, so that people and other stacks see whose it is."""
    return f"{_CALLED}{stack})"


def trainer_owner(called: str) -> str:
    """The stack that an account's display name tells; empty for one that somebody made by hand."""
    return called.removeprefix(_CALLED).removesuffix(")") if called.startswith(_CALLED) else ""


def trainer_roles(templates: Iterable[JobTemplate]) -> tuple[str, ...]:
    """What jobs that run as the trainer need on the project beside its buckets: some write metrics to Vertex AI."""
    writes = any(one.experiment or one.tensorboard for one in templates if one.service_account is None)
    return ("roles/aiplatform.user",) if writes else ()

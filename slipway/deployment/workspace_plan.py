"""The plan of the workspace: which accounts and buckets are declared, which retire, and which are let go.

Accounts and buckets retire as clusters do: what an unfinished job needs stays until it has ended. A bucket or an
account can't be renamed, and the provider would replace it: make another and delete this one, whoever uses it. So the
other one is another resource, with a logical name of its own, and this one keeps the name that it has.

A bucket that somebody else made keeps its settings and outlives the stack. Its logical name says so, with a dot where
the others have a dash: nothing in the bucket tells it from one of ours whose rules somebody took away. When its owner
deletes it, the one that is made in its place is ours.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from slipway.cloud.jobs import VertexJob
from slipway.generations.protection import Refusal
from slipway.generations.retiring import CATALOG, TRAINER, WORK, RetiringWorkspaceResource, Why
from slipway.state import State, is_adopted_bucket

if TYPE_CHECKING:
    from slipway.stack.stack import TrainerSettings
    from slipway.template import JobTemplate

_CALLED = "Slipway trainer ("
_OTHER = f"{TRAINER}."

SUBMITTER_ROLES: Mapping[str, str] = {
    "submit": "roles/aiplatform.user",
    "quota": "roles/cloudquotas.viewer",
    "metrics": "roles/monitoring.viewer",
    "logs": "roles/logging.viewer",
}
"""On the project, by what a submitter does with each."""
ACT_AS = "roles/iam.serviceAccountUser"
"""On a trainer's account: without it one can't submit as that trainer, and with it one runs any code as it."""
WRITES_METRICS = "roles/aiplatform.user"
"""On the project, of a trainer whose jobs write metrics to Vertex AI."""


@dataclass(frozen=True)
class Trainer:
    """A trainer that templates choose: its account id, who may act as it, and its roles on the project."""

    account: str
    submitters: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()


@dataclass(frozen=True)
class WorkspacePlan:
    """`logical`: by role, the logical name of what is asked for. `released` are not declared: nobody needs them.

    `grants`: the roles on the project, by logical name, that the account has and keeps while jobs run as it.
    `trainer_grants`: the same of the other trainers, by role. `adopted`: buckets that somebody else made, which outlive
    the stack; `untouched`: those of them that keep their settings too, which the first versions did not leave them.
    `lost`: by role, those that are asked for and that their owners have deleted.
    """

    logical: Mapping[str, str] = field(default_factory=lambda: {role: role for role in (CATALOG, WORK, TRAINER)})
    retiring: tuple[RetiringWorkspaceResource, ...] = ()
    released: tuple[RetiringWorkspaceResource, ...] = ()
    grants: Mapping[str, str] = field(default_factory=dict)
    trainer_grants: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    adopted: frozenset[str] = frozenset()
    untouched: frozenset[str] = frozenset()
    lost: Mapping[str, str] = field(default_factory=dict)


def plan_workspace(
    known: State,
    wanted: Mapping[str, str],
    jobs: tuple[VertexJob, ...],
    doubt: Why | None = None,
    by_hand: Collection[str] = (),
    there: Collection[str] | None = None,
) -> WorkspacePlan:
    """`wanted`: by role, the name of what is asked for. `doubt`: why jobs may be missing, which keeps everything.
    `by_hand`: buckets that look as if somebody else had made them, which counts until the engine knows them: from then
    on it tells. `there`: the buckets that are asked for and exist; None where nobody looked.

    An account that was one trainer's and is another's now is the same resource as before.
    """
    logical: dict[str, str] = {}
    retiring: list[RetiringWorkspaceResource] = []
    released: list[RetiringWorkspaceResource] = []
    theirs = {one.name for one in known.buckets if is_adopted_bucket(one.logical)}
    lost = {role: name for role, name in wanted.items() if there is not None and name in theirs - {*there}}
    theirs -= {*lost.values()}
    untouched = frozenset(theirs | (set(by_hand) - {one.name for one in known.buckets}))
    for role, name in wanted.items():
        old = {one: each for one, each in _of(role, known).items() if each != lost.get(role)}
        logical[role] = _logical(role, name, old, adopted=name in untouched)
        if is_other_trainer(role):
            continue  # What becomes of accounts is decided with the workspace's own.
        asked = [each for one, each in wanted.items() if one == role or (role == TRAINER and is_other_trainer(one))]
        for known_as, each in old.items():
            if each in asked:
                continue
            users = _users(each, jobs)
            resource = RetiringWorkspaceResource(
                role,
                known_as,
                each,
                users,
                (None if users else doubt) or Why.JOBS,
                _grants(role, each, known),
                adopted=each in untouched or each in others_accounts(known),
            )
            (retiring if users or doubt else released).append(resource)
    accounts = {role: name for role, name in wanted.items() if role == TRAINER or is_other_trainer(role)}
    grants = {
        role: _grants(TRAINER, account, known) if _users(account, jobs) or doubt else {}
        for role, account in accounts.items()
    }
    keep = (known.spared | untouched).difference(lost.values())
    own = grants.pop(TRAINER, {})
    return WorkspacePlan(logical, tuple(retiring), tuple(released), own, grants, keep, untouched, lost)


def exchanged(known: State, wanted: Mapping[str, str], stack: str) -> Iterator[Refusal]:
    """A refusal for each bucket that the stack has as one and is to have as the other: the engine deletes the old
    resource last, and with it what the new one is."""
    for role, other in ((CATALOG, WORK), (WORK, CATALOG)):
        name = wanted.get(role, "")
        if name and name in _of(other, known).values():
            yield Refusal(
                f"bucket gs://{name} is the stack's {other} bucket and can't become its {role} bucket, so nothing was "
                "changed",
                why=f"stacks/Pulumi.{stack}.yaml, slipway:workspace.{role}Bucket: one deployment would make it the "
                "other and delete it as what it was",
                fix=f"give `{role}Bucket` a name that the stack does not have, or put the names back",
                for_good=True,
            )


def _users(name: str, jobs: tuple[VertexJob, ...]) -> tuple[VertexJob, ...]:
    return tuple(job for job in jobs if not job.ended and job.needs(name))


def _of(role: str, known: State) -> dict[str, str]:
    """What the state has in a role, by logical names."""
    if role == TRAINER or is_other_trainer(role):
        some, role, starts = known.accounts, TRAINER, [f"{TRAINER}-", _OTHER]
    else:
        some, starts = known.buckets, [f"{role}-", f"{role}."]
    return {
        one.logical: one.name
        for one in some
        if one.name and (one.logical == role or one.logical.startswith(tuple(starts)))
    }


def _logical(role: str, name: str, old: Mapping[str, str], *, adopted: bool) -> str:
    """The one it has; else the plain one, which is frozen for the first; else one that tells it from the others."""
    same = [logical for logical, each in old.items() if each == name]
    if same:
        return same[0]
    if is_other_trainer(role):
        return other_logical(name)
    if adopted:
        return f"{role}.{name}"
    return role if role not in old else f"{role}-{name.partition('@')[0]}"


def _grants(role: str, name: str, known: State) -> dict[str, str]:
    if role != TRAINER:
        return {}
    return {one.name: one.role for one in known.grants if one.member == f"serviceAccount:{name}"}


def other_trainer(name: str) -> str:
    """The role of a trainer that the stack file names under slipway:trainers."""
    return f"{TRAINER} {name}"


def is_other_trainer(role: str) -> bool:
    return role.startswith(f"{TRAINER} ")


def other_logical(account: str) -> str:
    """The logical name of such a trainer's account (an id or an address), whatever templates call the trainer. It is
    never one of the workspace's own, which have a dash where this has a dot."""
    return f"{_OTHER}{account.partition('@')[0]}"


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


def others_accounts(known: State) -> tuple[str, ...]:
    """Addresses of the accounts that somebody else made, which the engine leaves where they are."""
    return tuple(address for address, called in known.called.items() if not trainer_owner(called))


def trainer_roles(templates: Iterable[JobTemplate], trainer: str | None = None) -> tuple[str, ...]:
    """What jobs that run as a trainer, by its name, need on the project beside its buckets: some write metrics to
    Vertex AI. None is the workspace's."""
    own = (one for one in templates if one.service_account is None and one.trainer == trainer)
    writes = any(one.experiment or one.tensorboard for one in own)
    return (WRITES_METRICS,) if writes else ()


def other_trainers(
    settings: Mapping[str, TrainerSettings], templates: Collection[JobTemplate]
) -> Mapping[str, Trainer]:
    """By name, with what the templates that choose them need."""
    return {
        name: Trainer(one.account, one.submitters, trainer_roles(templates, name)) for name, one in settings.items()
    }

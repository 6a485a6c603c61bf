"""The plan of the workspace: which accounts and buckets are declared, which retire, and which are let go.

A bucket or an account can't be renamed, and the provider would replace it: make another and delete this one, whoever
uses it. So another name of the workspace's own is refused. Those that may leave the stack file, other trainers'
accounts and buckets in other regions, retire as clusters do: while an unfinished job needs them they stay.

An adopted bucket keeps its settings and outlives the stack. Its logical name says so, with a dot where the others have
a dash: nothing in the bucket tells it from one of the stack's own whose rules somebody removed. When its owner deletes
it, the bucket made in its place is the stack's own.

A work bucket for jobs in another region (`work_in`) has an @ in its logical name, so that it does not tell where the
stack is.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from slipway.base.codec import camel
from slipway.deploying.generations.action import Why
from slipway.deploying.generations.protection import Refusal
from slipway.google.jobs import VertexJob
from slipway.model.origin import Origin
from slipway.model.state import BUCKETS_ELSEWHERE, State, StateGrant, is_adopted_bucket

if TYPE_CHECKING:
    from slipway.authoring.template.job_template import JobTemplate

CATALOG, WORK, TRAINER = "catalog", "work", "trainer"
"""Roles of buckets and accounts in a stack."""
FIELDS = {CATALOG: "catalog_bucket", WORK: "work_bucket", TRAINER: "trainer"}
"""The workspace's own roles, and its fields that name them."""
_STAYS = {
    CATALOG: "templates, packages and the jobs' records stay in the old one, and nothing moves them",
    WORK: "results, checkpoints of running jobs and claims stay in the old one, and nothing moves them",
    TRAINER: "jobs that run, and grants on secrets and data, know it by its name",
}
"""Reasons against another name."""
_CALLED = "Slipway trainer ("
_OTHER = f"{TRAINER}."

SUBMITTER_ROLES: Mapping[str, str] = {
    "submit": "roles/aiplatform.user",
    "quota": "roles/cloudquotas.viewer",
    "metrics": "roles/monitoring.viewer",
    "logs": "roles/logging.viewer",
}
"""Roles of a submitter on the project, by their purposes."""
ACT_AS = "roles/iam.serviceAccountUser"
"""The role on a trainer's account: it is needed to submit as that trainer, and permits running any code as it."""
WRITES_METRICS = "roles/aiplatform.user"
"""The role on the project of a trainer whose jobs write metrics to Vertex AI."""
READS, CREATES, WRITES = (f"roles/storage.object{suffix}" for suffix in ("Viewer", "Creator", "User"))
"""The roles on buckets: of a reader, of a submitter on the work bucket, of a trainer on it."""


@dataclass(frozen=True)
class RetiringWorkspaceResource:
    """An account or a bucket that is no longer declared."""

    role: str
    #: The name in the engine's state.
    logical: str
    #: The account's address, or the bucket's name.
    name: str
    jobs: tuple[VertexJob, ...] = ()
    why: Why = Why.JOBS
    #: The roles on the project that the account has, by logical name.
    grants: Mapping[str, str] = field(default_factory=dict)
    adopted: bool = False

    @property
    def kind(self) -> str:
        return "account" if self.role == TRAINER else "bucket"

    @property
    def words(self) -> str:
        return f"account {self.name}" if self.role == TRAINER else f"bucket gs://{self.name}"


@dataclass(frozen=True)
class SharedGrant:
    """A grant that is no longer declared and stays, as another stack needs it or may need it."""

    grant: StateGrant
    #: The stacks that need it; empty where that is not known.
    stacks: tuple[str, ...] = ()
    #: The reasons why that is not known.
    unread: tuple[str, ...] = ()
    #: One of them passes by itself, so that the same command again may know.
    passing: bool = False
    #: The stacks that have clusters and no catalog, where nothing else is unknown; it may be
    #: just then that somebody takes them down.
    unpublished: tuple[str, ...] = ()


@dataclass(frozen=True)
class WorkspacePlan:
    #: The logical names of declared resources, by role.
    logical: Mapping[str, str] = field(default_factory=lambda: {role: role for role in (CATALOG, WORK, TRAINER)})
    #: The undeclared resources that stay for now.
    retiring: tuple[RetiringWorkspaceResource, ...] = ()
    #: The undeclared resources that are let go.
    released: tuple[RetiringWorkspaceResource, ...] = ()
    #: By a trainer's role: its account's roles on the project, by logical name, which it keeps while jobs run as it.
    grants: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    #: The buckets that somebody else made, which keep their settings and outlive the stack.
    adopted: frozenset[str] = frozenset()
    #: By role, the declared buckets that their owners have deleted.
    lost: Mapping[str, str] = field(default_factory=dict)
    #: The grants that are no longer declared, and that other stacks may need.
    dropped: tuple[StateGrant, ...] = ()
    #: Those of them that stay, as other stacks' catalogs were before the deployment.
    shared: tuple[SharedGrant, ...] = ()


def plan_workspace(
    known: State,
    wanted: Mapping[str, str],
    jobs: tuple[VertexJob, ...],
    doubt: Why | None = None,
    by_hand: Collection[str] = (),
    there: Collection[str] | None = None,
) -> WorkspacePlan:
    """Plan the workspace. An account that moves from one named trainer to another stays the same resource.

    `wanted`: the declared names, by role.
    `doubt`: the reason why jobs may be missing, which keeps everything.
    `by_hand`: buckets that look adopted. That counts until the engine knows them: from then on its state tells.
    `there`: the declared buckets that exist; None where they were not read.
    """
    theirs = {bucket.name for bucket in known.buckets if is_adopted_bucket(bucket.logical)}
    lost = {role: name for role, name in wanted.items() if there is not None and name in theirs - {*there}}
    theirs -= {*lost.values()}
    unknown = set(by_hand) & {*wanted.values()} - {bucket.name for bucket in known.buckets}
    adopted = frozenset(theirs | unknown)
    old = [*_unasked(WORK, known, wanted, jobs, adopted), *_unasked(TRAINER, known, wanted, jobs, adopted)]
    trainers = {role: name for role, name in wanted.items() if family(role) == TRAINER}
    return WorkspacePlan(
        logical={
            role: _logical(role, name, {} if role in lost else _of(role, known), adopted=name in adopted)
            for role, name in wanted.items()
        },
        retiring=tuple(
            replace(resource, why=Why.JOBS if resource.jobs else doubt or Why.JOBS)
            for resource in old
            if resource.jobs or doubt
        ),
        released=tuple(resource for resource in old if not (resource.jobs or doubt)),
        grants={role: _grants(name, known) for role, name in trainers.items() if doubt or _users(name, jobs)},
        adopted=adopted,
        lost=lost,
    )


def renamed(known: State, wanted: Mapping[str, str], origin: Origin) -> Iterator[Refusal]:
    """Yield a refusal for each of the workspace's own buckets, and for its account, where it is deployed under another
    name: jobs, people and packages know it by that name."""
    for role, entry in FIELDS.items():
        far = {name for other, name in wanted.items() if family(other) != other}
        names = [
            name
            for logical, name in _of(role, known).items()
            if not logical.startswith((BUCKETS_ELSEWHERE, _OTHER)) and name not in far
        ]
        # Adopted buckets of other regions have logical names like the one at home, and longer names.
        old, new = min(names, key=len, default="") or _lent(role, known), wanted.get(role, "")
        if not new or old in ("", new):
            continue
        was, becomes = (f"account {name}" if role == TRAINER else f"bucket gs://{name}" for name in (old, new))
        key, name = camel(entry), old.partition("@")[0]
        back = origin.assign(key, name)
        unchanged = "nothing was changed"
        if not names:  # Pulumi creates the program's resources before Slipway decides.
            back = f"the name {name} of the program's resource"
            unchanged = "Slipway changed nothing"
        yield Refusal(
            f"{was} can't become {becomes}, so {unchanged}",
            why=f"{origin.place(f'slipway:workspace.{key}')}: {_STAYS[role]}",
            fix=f"put {back} back; for {becomes} declare a {origin.unit} of its own beside this one",
            for_good=True,
            stays={entry: name},
        )


def _lent(role: str, known: State) -> str:
    """Return the deployed name in a role of a resource of the program itself, by the trainer's grants; empty where
    there are none."""
    name = f"{TRAINER}-writes-{WORK}" if role == WORK else f"{TRAINER}-reads-{CATALOG}"
    names = (
        grant.member.partition(":")[2] if role == TRAINER else grant.on.removeprefix("gs://")
        for grant in known.grants
        if grant.name == name
    )
    return next(filter(None, names), "")


def lent_to(role: str, name: str) -> StateGrant:
    """Return a grant that tells which resource of the program itself a workspace had in a role."""
    if role == TRAINER:
        return StateGrant(f"{TRAINER}-reads-{CATALOG}", READS, f"serviceAccount:{name}")
    logical = f"{TRAINER}-writes-{WORK}" if role == WORK else f"{TRAINER}-reads-{CATALOG}"
    return StateGrant(logical, READS, "", f"gs://{name}")


def _unasked(
    role: str, known: State, wanted: Mapping[str, str], jobs: tuple[VertexJob, ...], adopted: Collection[str]
) -> Iterator[RetiringWorkspaceResource]:
    """Yield the other trainers' accounts, or the buckets in other regions, that are no longer declared."""
    for logical, name in _of(role, known).items():
        if name not in wanted.values():
            yield RetiringWorkspaceResource(
                role=role,
                logical=logical,
                name=name,
                jobs=_users(name, jobs),
                grants=_grants(name, known),
                adopted=name in adopted or name in others_accounts(known),
            )


def _users(name: str, jobs: tuple[VertexJob, ...]) -> tuple[VertexJob, ...]:
    return tuple(job for job in jobs if not job.ended and job.needs(name))


def _of(role: str, known: State) -> dict[str, str]:
    """Return the state's names in a role, by logical names."""
    own = family(role)
    return {
        resource.logical: resource.name
        for resource in (known.accounts if own == TRAINER else known.buckets)
        if resource.name and (resource.logical == own or resource.logical.startswith((f"{own}.", f"{own}@")))
    }


def _logical(role: str, name: str, old: Mapping[str, str], *, adopted: bool) -> str:
    """Return the existing logical name, else a new one; the plain ones are frozen."""
    same = [logical for logical, known_name in old.items() if known_name == name]
    if same:
        return same[0]
    if family(role) == TRAINER and role != TRAINER:
        return other_logical(name)
    if adopted:
        return f"{family(role)}.{name}"
    if family(role) != role:
        return f"{BUCKETS_ELSEWHERE}{name}"
    return role


def _grants(name: str, known: State) -> dict[str, str]:
    """Return an account's roles on the project, by their logical names, without those that it has as a submitter."""
    return {
        grant.name: grant.role
        for grant in known.grants
        if grant.member == f"serviceAccount:{name}" and not grant.on and not grant.name.endswith(grant.member)
    }


def other_trainer(name: str) -> str:
    """Return the role of a trainer that the stack file names under slipway:trainers."""
    return f"{TRAINER} {name}"


def work_in(region: str) -> str:
    """Return the role of the work bucket in a region beside the stack's own."""
    return f"{WORK} {region}"


def family(role: str) -> str:
    """Return the workspace's own role of a kind: that of a trainer by its name, of a work bucket elsewhere."""
    return role.partition(" ")[0]


def other_logical(account: str) -> str:
    """Return the logical name of another trainer's account (an id or an address)."""
    return f"{_OTHER}{account.partition('@')[0]}"


def trainer_email(account: str, project: str) -> str:
    """Return the address of an account id; a domain's project (`example.com:team`) is written the other way round."""
    domain, colon, name = project.rpartition(":")
    return f"{account}@{f'{name}.{domain}' if colon else project}.iam.gserviceaccount.com"


def trainer_display_name(stack: str) -> str:
    """Return the account's name for people and other stacks, which tells its owner."""
    return f"{_CALLED}{stack})"


def trainer_owner(called: str) -> str:
    """Return the stack in an account's display name; empty for an account made by hand."""
    return called.removeprefix(_CALLED).removesuffix(")") if called.startswith(_CALLED) else ""


def others_accounts(known: State) -> tuple[str, ...]:
    """Return the addresses of accounts that somebody else made, which the engine leaves alone."""
    return tuple(address for address, called in known.called.items() if not trainer_owner(called))


def metric_writers(templates: Iterable[JobTemplate]) -> frozenset[str]:
    """Return the trainers, by name, whose jobs write metrics to Vertex AI (WRITES_METRICS); "" is the workspace's."""
    return frozenset(
        template.trainer or ""
        for template in templates
        if template.service_account is None and (template.experiment or template.tensorboard)
    )

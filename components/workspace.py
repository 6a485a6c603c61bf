"""The workspace: where templates are published and jobs write, the accounts that run them, and the submitters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar, cast

import pulumi

from slipway.deploying.deployment.summary import doubtful_grants
from slipway.deploying.deployment.workspace_plan import (
    ACT_AS,
    CATALOG,
    CREATES,
    READS,
    SUBMITTER_ROLES,
    TRAINER,
    WORK,
    WRITES,
    WRITES_METRICS,
    SharedGrant,
    WorkspacePlan,
    other_logical,
    other_trainer,
    trainer_display_name,
    trainer_email,
    trainer_owner,
    work_in,
)
from slipway.google.live import Unknown
from slipway.model.catalog.model import BOARD, HISTORY, HISTORY_DAYS
from slipway.model.facts import WORKSPACE
from slipway.model.state import BUCKETS_ELSEWHERE, StateGrant

from .args import AcceleratorArgs, Amount, Entry, MachineArgs, Number, Switch, Text, at_key
from .component import Component
from .engine import in_thread
from .gcp import projects, serviceaccount, storage
from .group import Group

_PACKAGE_AGE_DAYS = 730
_CLAIM_AGE_DAYS = 30
_OLD_CATALOGS = 50
_BOARD_AGE_DAYS = 7
"""The age of a page that no run writes any more."""
Known = TypeVar("Known", frozenset[str], Mapping[str, str])


@dataclass(kw_only=True)
class TrainerArgs:
    """Another account for the jobs of templates that name it."""

    account: Text | None = None
    """Account id; slipway-STACK-NAME by default. A new one comes beside the old one, which goes after its last job."""
    submitters: pulumi.Input[Sequence[Text]] | None = None
    """IAM members that may submit its templates, and so may run any code as it; nobody by default."""


@dataclass(kw_only=True)
class TeamArgs:
    """A team of a workspace."""

    submitters: pulumi.Input[Sequence[Text]] | None = None
    """IAM members of the team; each may submit."""
    clusters: pulumi.Input[Sequence[Text]] | None = None
    """Names of clusters for this team's jobs alone; those that no team lists are for everybody."""
    budget: Amount | None = None
    """USD a month."""
    machines: pulumi.Input[Mapping[str, Text | pulumi.Input[MachineArgs | Entry]]] | None = None
    """Machines of its jobs, by keys of the workspace's `machines`."""


@dataclass(kw_only=True)
class ReservationArgs:
    """Machines that a project has reserved in Compute Engine."""

    path: Text
    """Full path: projects/P/zones/Z/reservations/R."""
    machine: Text | None = None
    """Machine type, so that a template that needs another one is refused."""
    accelerator: pulumi.Input[AcceleratorArgs | Entry] | None = None
    """GPUs of N1 machines."""
    machines: Number | None = None
    """Number of machines."""


@dataclass(kw_only=True)
class BudgetArgs:
    """What a workspace may cost a month. A change holds for the next submission."""

    stack: Amount | None = None
    """USD a month in all, idle machines included."""
    teams: pulumi.Input[Mapping[str, Amount]] | None = None
    """USD a month by team."""
    users: pulumi.Input[Mapping[str, Amount]] | None = None
    """USD a month by user; it only warns."""
    enforce: Switch | None = None
    """Whether a job beyond the budget is refused; False by default."""


@dataclass(kw_only=True)
class WorkspaceArgs:
    """Arguments of `Workspace`. A bucket or an account that is a resource of the program stays the program's own: it is
    waited for, and never made, adopted or deleted by the component."""

    submitters: pulumi.Input[Sequence[Text]] | None = None
    """IAM members that may submit: group:ml@acme.example. Who goes loses the roles, unless another stack needs them."""
    catalog_bucket: storage.Bucket | Text | None = None
    """Bucket of the catalog and of packages, which jobs need; PROJECT-STACK-catalog by default. A change is refused."""
    work_bucket: storage.Bucket | Text | None = None
    """Bucket of results, in the workspace's region; PROJECT-STACK-work by default. A change is refused."""
    kms_key: Text | None = at_key("encryption.kmsKey")
    """Key of the buckets that it makes, in its region, which Cloud Storage's agent must be able to use; Google's own by
    default. A change is for new objects: the old ones still need the old key."""
    trainer: serviceaccount.Account | Text | None = None
    """Account that jobs run as, or its id; slipway-STACK-trainer by default. A change is refused."""
    code: Switch | None = None
    """Whether `submit --code` may run a person's working tree; False by default."""
    shell: Switch | None = None
    """Whether `submit --shell` may ask for a shell in a job's machines; False by default."""
    confirm_above: Amount | None = None
    """USD an hour above which `submit` asks; it never asks by default."""
    board: Switch | None = None
    """Whether the hourly run writes the board into the catalog's bucket; False by default."""
    notify: Text | None = None
    """Secret with the address that is told what becomes of jobs; none by default."""
    trainers: pulumi.Input[Mapping[str, pulumi.Input[TrainerArgs | Entry]]] | None = at_key("slipway:trainers")
    """Other accounts, by the name that templates give."""
    teams: pulumi.Input[Mapping[str, pulumi.Input[TeamArgs | Entry]]] | None = at_key("slipway:teams")
    """Teams by name."""
    machines: pulumi.Input[Mapping[str, Text | pulumi.Input[MachineArgs | Entry]]] | None = at_key("slipway:machines")
    """Machines by the key that templates may name in place of a machine type."""
    reservations: pulumi.Input[Mapping[str, pulumi.Input[ReservationArgs | Entry]]] | None = at_key(
        "slipway:reservations"
    )
    """Reserved machines by the name that templates use."""
    budget: pulumi.Input[BudgetArgs | Entry] | None = at_key("slipway:budget")
    """What it may cost a month; no limit by default."""
    project: Text | None = at_key("gcp:project")
    """Project; `gcp:project` by default. A change is refused."""
    region: Text | None = at_key("gcp:region")
    """Region; `gcp:region` by default. A change is refused."""


class Workspace(Component):
    """The buckets, the trainer's account, and for each submitter exactly the roles that the verbs need (P5).

    The catalog's bucket: the deployer writes, the trainer and submitters read, versioned. The work bucket: jobs write,
    as to a bucket like it in each other region where they may run. So no job can rewrite code that others run. The
    workspace does not own clusters, nor the identities that preview and deploy.

    Its destruction keeps what jobs wrote, and adopted resources; other catalogs go. Resources that
    are no longer declared and that unfinished jobs need stay unchanged, beside the declared ones. The trainers that
    templates choose by name have the same roles on the buckets, and submitters of their own, who may act as them alone.
    """

    kind = "workspace"
    args: WorkspaceArgs
    catalog_bucket: pulumi.Output[str]
    work_bucket: pulumi.Output[str]
    #: The address of the account that jobs run as.
    trainer: pulumi.Output[str]

    def __init__(
        self, name: str, args: WorkspaceArgs | None = None, opts: pulumi.ResourceOptions | None = None
    ) -> None:
        """Declare the workspace. Raises ConfigError for arguments that no workspace can have."""
        super().__init__(WORKSPACE, name, args or WorkspaceArgs(), opts)
        self.start("catalog", "work", "trainer", "facts")
        self.catalog_bucket, self.work_bucket = self.output("catalog"), self.output("work")
        self.trainer = self.output("trainer")

    def facts(self, group: Group) -> Mapping[str, Any]:
        return group.deployment.facts.workspace

    def declare(self, group: Group) -> Mapping[str, Any]:
        planned = group.deployment
        stack, live, plan, settings = planned.stack, planned.live, planned.plan.workspace, planned.stack.workspace
        writers = planned.writers
        self._group, self._grants = group, set[str]()
        self._child = pulumi.ResourceOptions(parent=self, hooks=group.hooks.guard)
        self._project, self._region, self._hooks = group.project, group.region, group.hooks.guard
        self._adopted, self._kms_key = plan.adopted, settings.kms_key
        self._existing, self._accounts = _known(live.buckets), _known(live.service_accounts)
        catalog, work, trainer = (plan.logical.get(role, role) for role in (CATALOG, WORK, TRAINER))
        catalog_bucket = self._bucket(
            catalog,
            settings.catalog_bucket,
            own=group.own.get("catalog_bucket"),
            keep=False,
            versioned=True,
            rules=[
                _delete(age=_PACKAGE_AGE_DAYS, matches_prefixes=["packages/"]),
                _delete(num_newer_versions=_OLD_CATALOGS, with_state="ARCHIVED"),
                _delete(age=HISTORY_DAYS, matches_prefixes=[HISTORY]),
                _delete(age=_BOARD_AGE_DAYS, matches_prefixes=[BOARD]),
                # An object that is written every hour has a version of every hour.
                _delete(days_since_noncurrent_time=1, matches_prefixes=[HISTORY, BOARD], with_state="ARCHIVED"),
            ],
        )
        rules = [_delete(age=_CLAIM_AGE_DAYS, matches_prefixes=["claims/"])]
        work_bucket = self._bucket(work, settings.work_bucket, own=group.own.get("work_bucket"), keep=True, rules=rules)
        works = {work: work_bucket}
        for there, bucket in stack.work_elsewhere.items():
            logical = plan.logical.get(work_in(there), f"{BUCKETS_ELSEWHERE}{bucket}")
            works[logical] = self._bucket(logical, bucket, keep=True, rules=rules, region=there)
        self.needed += works.values()
        account = self._account(trainer, settings.trainer, own=group.own.get("trainer"))
        accounts = {trainer: account}
        roles = {trainer: _roles(plan, TRAINER, trainer, writes="" in writers)}
        members = dict.fromkeys(settings.submitters)
        acting = {(trainer, member): account for member in settings.submitters}
        for name, value in stack.trainers.items():
            role = other_trainer(name)
            logical = plan.logical.get(role, other_logical(value.account))
            accounts[logical] = self._account(logical, value.account)
            roles[logical] = _roles(plan, role, logical, writes=name in writers)
            members |= dict.fromkeys(value.submitters)
            acting |= {(logical, member): accounts[logical] for member in value.submitters}
        for resource in plan.retiring:
            if resource.role == TRAINER:
                accounts[resource.logical] = self._account(resource.logical, resource.name.partition("@")[0], old=True)
                roles[resource.logical] = dict(resource.grants)
            else:
                works[resource.logical] = self._bucket(resource.logical, resource.name, keep=True)
        self.needed += accounts.values()
        for logical, trainer_account in accounts.items():
            for name, role in roles[logical].items():
                self._grant(name, role, trainer_account.member)
            self._grant(f"{logical}-reads-{catalog}", READS, trainer_account.member, catalog_bucket)
            for place, target in works.items():
                self._grant(f"{logical}-writes-{place}", WRITES, trainer_account.member, target)
        for member in members:
            for purpose, role in SUBMITTER_ROLES.items():
                self._grant(f"{purpose}-{member}", role, member)
            self._grant(f"reads-{catalog}-{member}", READS, member, catalog_bucket)
            for place, target in works.items():
                self._grant(f"reads-{place}-{member}", READS, member, target)
            self._grant(f"creates-{work}-{member}", CREATES, member, work_bucket)
        for (logical, member), acted in acting.items():
            self._grant(f"act-as-{logical}-{member}", ACT_AS, member, acted)
        # The state tells outputs alone: a destruction gives these facts back (`leave_grants`).
        outputs = {"catalog": catalog_bucket.name, "work": work_bucket.name, "trainer": account.email}
        return {**outputs, "facts": dict(self.facts(group))}

    def keep_shared(self, published: pulumi.Output[str]) -> pulumi.Output[None] | None:
        """Declare the undeclared grants that others need, once the catalog is published: of two stacks that drop a
        member at once, the later one sees that nobody needs the roles."""
        group, planned = self._group, self._group.deployment
        drops = planned.plan.workspace.dropped
        if not drops:
            return None
        if group.run.preview:
            self.keep(planned.plan.workspace.shared)
            return None

        async def keep() -> None:
            staying = await in_thread(lambda: group.guard.need(drops))
            for warning in doubtful_grants(staying):
                if warning not in planned.warnings:
                    pulumi.log.warn(warning)
            self.keep(staying)

        return published.apply(lambda _: keep())

    def keep(self, staying: Iterable[SharedGrant]) -> None:
        """Declare grants that stay, as other stacks need them."""
        for stays in staying:
            if stays.grant.name not in self._grants:
                named = replace(stays.grant, name=self._group.child(self, stays.grant.name))
                declare_grant(named, self._project, self._child)

    def _bucket(
        self,
        logical: str,
        bucket: str,
        *,
        keep: bool,
        own: pulumi.Resource | None = None,
        versioned: bool = False,
        rules: Sequence[storage.BucketLifecycleRuleArgs] = (),
        region: str = "",
    ) -> storage.Bucket:
        """Declare a bucket, or return the program's `own`. A retiring one, which comes without rules, and an adopted
        one stay unchanged."""
        if own is not None:
            return cast(storage.Bucket, own)
        theirs = bucket in self._adopted
        keep = keep or theirs
        settings: dict[str, Any] = {
            "uniform_bucket_level_access": True,
            "public_access_prevention": "enforced",
            "versioning": storage.BucketVersioningArgs(enabled=versioned),
            "lifecycle_rules": rules,
            "force_destroy": not keep,
        }
        if self._kms_key:
            settings["encryption"] = storage.BucketEncryptionArgs(default_kms_key_name=self._kms_key)
        changes = bool(rules) and not theirs
        return storage.Bucket(
            self._group.child(self, logical),
            name=bucket,
            project=self._project,
            location=(region or self._region).upper(),
            opts=pulumi.ResourceOptions(
                parent=self,
                import_=bucket if bucket in self._existing and (changes or theirs) else None,
                ignore_changes=None if changes else ["*"],
                retain_on_delete=keep,
                hooks=None if keep else self._hooks,
            ),
            **(settings if changes else {}),
        )

    def _account(
        self, logical: str, account_id: str, *, own: pulumi.Resource | None = None, old: bool = False
    ) -> serviceaccount.Account:
        if own is not None:
            return cast(serviceaccount.Account, own)
        email = trainer_email(account_id, self._project)
        there = email in self._accounts
        return serviceaccount.Account(
            self._group.child(self, logical),
            account_id=account_id,
            project=self._project,
            display_name=trainer_display_name(self._group.name),
            opts=pulumi.ResourceOptions(
                parent=self,
                import_=f"projects/{self._project}/serviceAccounts/{email}" if there and not old else None,
                ignore_changes=["*"] if old else ["displayName", "description"],
                # An adopted account: its display name tells, which is never changed.
                retain_on_delete=there and not trainer_owner(self._accounts[email]),
                hooks=self._hooks,
            ),
        )

    def _grant(
        self,
        name: str,
        role: str,
        member: pulumi.Input[str],
        on: storage.Bucket | serviceaccount.Account | None = None,
    ) -> None:
        """Declare a role on a bucket, on an account, or on the project."""
        self._grants.add(name)
        name = self._group.child(self, name)
        if on is None:
            projects.IAMMember(name, project=self._project, role=role, member=member, opts=self._child)
        elif isinstance(on, storage.Bucket):
            storage.BucketIAMMember(name, bucket=on.name, role=role, member=member, opts=self._child)
        else:
            serviceaccount.IAMMember(name, service_account_id=on.name, role=role, member=member, opts=self._child)


def leave_grants(
    grants: Iterable[StateGrant], project: str, hooks: pulumi.ResourceHookBinding, facts: Mapping[str, Any]
) -> None:
    """Let the engine leave these grants in the cloud, when a destruction declares nothing else: the hooks take those
    that no other stack needs, once it is their turn. `facts`: the workspace's as they are, for where the destruction is
    refused: the next review compares with them."""
    workspace = pulumi.ComponentResource(WORKSPACE, "workspace", dict(facts))
    workspace.register_outputs({"facts": dict(facts)})
    for grant in grants:
        declare_grant(grant, project, pulumi.ResourceOptions(parent=workspace, retain_on_delete=True, hooks=hooks))


def declare_grant(grant: StateGrant, project: str, opts: pulumi.ResourceOptions) -> None:
    given: dict[str, Any] = {"role": grant.role, "member": grant.member, "opts": opts}
    if not grant.on:
        projects.IAMMember(grant.name, project=project, **given)
    elif grant.on.startswith("gs://"):
        storage.BucketIAMMember(grant.name, bucket=grant.on.removeprefix("gs://"), **given)
    else:
        account = f"projects/{project}/serviceAccounts/{grant.on}"
        serviceaccount.IAMMember(grant.name, service_account_id=account, **given)


def _known(existing: Known | Unknown) -> Known:
    if isinstance(existing, Unknown):
        raise ValueError(f"what exists must be known before anything is declared: {existing.why}")
    return existing


def _roles(plan: WorkspacePlan, role: str, logical: str, *, writes: bool) -> dict[str, str]:
    """Return an account's roles on the project, by logical name: its present ones, and those of its templates' jobs."""
    asked = {f"{logical}-{WRITES_METRICS.removeprefix('roles/')}": WRITES_METRICS} if writes else {}
    return {**plan.grants.get(role, {}), **asked}


def _delete(**when: Any) -> storage.BucketLifecycleRuleArgs:
    return storage.BucketLifecycleRuleArgs(
        action=storage.BucketLifecycleRuleActionArgs(type="Delete"),
        condition=storage.BucketLifecycleRuleConditionArgs(**when),
    )

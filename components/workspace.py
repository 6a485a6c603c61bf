"""The workspace: where templates are published and jobs write, the accounts that run them, and the submitters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import pulumi

from slipway.deploying.deployment.shared_grants import grants, submitters_of
from slipway.deploying.deployment.summary import doubtful_grants
from slipway.deploying.deployment.workspace_plan import (
    CATALOG,
    TRAINER,
    WORK,
    WRITES_METRICS,
    SharedGrant,
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

from .args import (
    Amount,
    BudgetArgs,
    Entry,
    MachineArgs,
    ReservationArgs,
    Switch,
    TeamArgs,
    Text,
    TrainerArgs,
    at_key,
)
from .component import Component
from .engine import in_thread
from .gcp import serviceaccount, storage
from .grants import declare_grant
from .group import Group

_PACKAGE_AGE_DAYS = 730
_CLAIM_AGE_DAYS = 30
_OLD_CATALOGS = 50
_BOARD_AGE_DAYS = 7
"""The age of a page that no run writes any more."""
Known = TypeVar("Known", frozenset[str], Mapping[str, str])


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
        planned, own = group.deployment, group.own
        stack, plan, settings = planned.stack, planned.plan.workspace, planned.stack.workspace
        self._group, self._named, self._made = group, dict[str, str](), dict[str, Any]()
        catalog = self._bucket(
            plan.logical.get(CATALOG, CATALOG),
            settings.catalog_bucket,
            own=own.get("catalog_bucket"),
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
        work = plan.logical.get(WORK, WORK)
        works = [self._bucket(work, settings.work_bucket, own=own.get("work_bucket"), rules=rules)]
        for region, name in stack.work_elsewhere.items():
            logical = plan.logical.get(work_in(region), f"{BUCKETS_ELSEWHERE}{name}")
            works.append(self._bucket(logical, name, rules=rules, region=region))
        accounts: dict[str, Mapping[str, str]] = {}
        named = {"": settings.trainer, **{name: trainer.account for name, trainer in stack.trainers.items()}}
        for name, account_id in named.items():
            role = other_trainer(name) if name else TRAINER
            logical = plan.logical.get(role, other_logical(account_id) if name else TRAINER)
            account = self._account(logical, account_id, own=None if name else own.get("trainer"))
            metrics = {f"{logical}-{WRITES_METRICS.removeprefix('roles/')}": WRITES_METRICS}
            accounts[account] = {**plan.grants.get(role, {}), **(metrics if name in planned.writers else {})}
        trainer, *_ = accounts
        for resource in plan.retiring:
            if resource.role == TRAINER:
                account_id = resource.name.partition("@")[0]
                accounts[self._account(resource.logical, account_id, old=True)] = resource.grants
            else:
                works.append(self._bucket(resource.logical, resource.name))
        self.needed += (self._made[address] for address in (*works, *accounts))
        self._grants = {
            grant.name: grant for grant in grants(self._named, catalog, works, accounts, submitters_of(stack))
        }
        self._declare_grants(self._grants.values())
        outputs = {"catalog": self._made[catalog].name, "work": self._made[works[0]].name}
        # The state tells outputs alone: a destruction gives these facts back (`leave_grants`).
        return {**outputs, "trainer": self._made[trainer].email, "facts": dict(self.facts(group))}

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
        self._declare_grants(stays.grant for stays in staying if stays.grant.name not in self._grants)

    def _declare_grants(self, some: Iterable[StateGrant]) -> None:
        opts = pulumi.ResourceOptions(parent=self, hooks=self._group.hooks.guard)
        for grant in some:
            named = replace(grant, name=self._group.child(self, grant.name))
            declare_grant(named, self._group.project, opts, self._made)

    def _bucket(
        self,
        logical: str,
        bucket: str,
        *,
        keep: bool = True,
        own: pulumi.Resource | None = None,
        versioned: bool = False,
        rules: Sequence[storage.BucketLifecycleRuleArgs] = (),
        region: str = "",
    ) -> str:
        """Declare a bucket, unless it is the program's `own`, and return its address. A retiring one, which comes
        without rules, and an adopted one stay unchanged."""
        group, address, existing = self._group, f"gs://{bucket}", _known(self._group.deployment.live.buckets)
        theirs = bucket in group.deployment.plan.workspace.adopted
        keep = keep or theirs
        settings: dict[str, Any] = {}
        changes = bool(rules) and not theirs
        if changes:
            settings = {
                "uniform_bucket_level_access": True,
                "public_access_prevention": "enforced",
                "versioning": storage.BucketVersioningArgs(enabled=versioned),
                "lifecycle_rules": rules,
                "force_destroy": not keep,
            }
            if key := group.deployment.stack.workspace.kms_key:
                settings["encryption"] = storage.BucketEncryptionArgs(default_kms_key_name=key)
        self._named[address], self._made[address] = (
            logical,
            own
            or storage.Bucket(
                group.child(self, logical),
                name=bucket,
                project=group.project,
                location=(region or group.region).upper(),
                opts=pulumi.ResourceOptions(
                    parent=self,
                    import_=bucket if bucket in existing and (changes or theirs) else None,
                    ignore_changes=None if changes else ["*"],
                    retain_on_delete=keep,
                    hooks=None if keep else group.hooks.guard,
                ),
                **settings,
            ),
        )
        return address

    def _account(self, logical: str, account_id: str, *, own: pulumi.Resource | None = None, old: bool = False) -> str:
        """Declare an account, unless it is the program's `own`, and return its address. An `old` one stays
        unchanged."""
        group, known = self._group, _known(self._group.deployment.live.service_accounts)
        email = trainer_email(account_id, group.project)
        there = email in known
        self._named[email], self._made[email] = (
            logical,
            own
            or serviceaccount.Account(
                group.child(self, logical),
                account_id=account_id,
                project=group.project,
                display_name=trainer_display_name(group.name),
                opts=pulumi.ResourceOptions(
                    parent=self,
                    import_=f"projects/{group.project}/serviceAccounts/{email}" if there and not old else None,
                    ignore_changes=["*"] if old else ["displayName", "description"],
                    # An adopted account: its display name tells, which is never changed.
                    retain_on_delete=there and not trainer_owner(known[email]),
                    hooks=group.hooks.guard,
                ),
            ),
        )
        return email


def _known(existing: Known | Unknown) -> Known:
    if isinstance(existing, Unknown):
        raise ValueError(f"what exists must be known before anything is declared: {existing.why}")
    return existing


def _delete(**when: Any) -> storage.BucketLifecycleRuleArgs:
    return storage.BucketLifecycleRuleArgs(
        action=storage.BucketLifecycleRuleActionArgs(type="Delete"),
        condition=storage.BucketLifecycleRuleConditionArgs(**when),
    )

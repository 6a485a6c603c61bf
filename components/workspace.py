"""The workspace: where templates are published and jobs write, the accounts that run them, and the submitters."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

import pulumi

from slipway.authoring.stack.config import TrainerEntry, WorkspaceEntry
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
from slipway.google.live import Live, Unknown
from slipway.model.catalog.model import BOARD, HISTORY, HISTORY_DAYS
from slipway.model.facts import WORKSPACE
from slipway.model.state import BUCKETS_ELSEWHERE, StateGrant

from .gcp import projects, serviceaccount, storage

_PACKAGE_AGE_DAYS = 730
_CLAIM_AGE_DAYS = 30
_OLD_CATALOGS = 50
_BOARD_AGE_DAYS = 7
"""The age of a page that no run writes any more."""
Known = TypeVar("Known", frozenset[str], Mapping[str, str])


class Workspace(pulumi.ComponentResource):
    """The stack's buckets, the trainer's account, and for each submitter exactly the roles that the verbs need (P5).

    `catalog`: the deployer writes, the trainer and submitters read, versioned. `work`: jobs write, as to a bucket like
    it in each other region where they may run. So no job can rewrite code that others run. The workspace does not own
    clusters, nor the identities that preview and deploy.

    Its destruction keeps what jobs wrote, and adopted resources; other catalogs go. Resources that
    are no longer declared and that unfinished jobs need stay unchanged, beside the declared ones. The trainers that
    templates choose by name have the same roles on the buckets, and submitters of their own, who may act as them alone.
    """

    catalog: storage.Bucket
    work: storage.Bucket
    works: tuple[storage.Bucket, ...]
    trainer: serviceaccount.Account
    accounts: tuple[serviceaccount.Account, ...]

    def __init__(
        self,
        name: str,
        *,
        project: str,
        region: str,
        settings: WorkspaceEntry,
        live: Live,
        facts: Mapping[str, Any],
        work_elsewhere: Mapping[str, str] | None = None,
        trainers: Mapping[str, TrainerEntry] | None = None,
        writers: Collection[str] = (),
        plan: WorkspacePlan | None = None,
        hooks: pulumi.ResourceHookBinding | None = None,
    ) -> None:
        """Declare the workspace.

        `project`, `region`: where it is.
        `settings`: its submitters, and the names of its buckets and account.
        `live`: what lives. Buckets and service accounts that are there are adopted, not created.
        `facts`: what a preview shows of the component itself.
        `work_elsewhere`: by region, the names of further work buckets.
        `trainers`: those besides the workspace's own, by name.
        `writers`: the names of those whose jobs write metrics, "" for the workspace's.
        `plan`: what stays though it is no longer declared, and what was there before.
        `hooks`: asked before anything is deleted that jobs or other stacks need.
        """
        plan = plan or WorkspacePlan()
        super().__init__(WORKSPACE, name, dict(facts))
        self._child, self._grants = pulumi.ResourceOptions(parent=self, hooks=hooks), set[str]()
        self._project, self._region = project, region
        self._adopted = plan.adopted
        self._existing, self._accounts, self._hooks = _known(live.buckets), _known(live.service_accounts), hooks
        catalog, work, trainer = (plan.logical.get(role, role) for role in (CATALOG, WORK, TRAINER))
        self.catalog = self._bucket(
            catalog,
            settings.catalog_bucket,
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
        self.work = self._bucket(work, settings.work_bucket, keep=True, rules=rules)
        works = {work: self.work}
        for there, bucket in (work_elsewhere or {}).items():
            logical = plan.logical.get(work_in(there), f"{BUCKETS_ELSEWHERE}{bucket}")
            works[logical] = self._bucket(logical, bucket, keep=True, rules=rules, region=there)
        self.works = tuple(works.values())
        self.trainer = self._account(trainer, settings.trainer)
        accounts = {trainer: self.trainer}
        roles = {trainer: _roles(plan, TRAINER, trainer, writes="" in writers)}
        members = dict.fromkeys(settings.submitters)
        acting = {(trainer, member): self.trainer for member in settings.submitters}
        for name, value in (trainers or {}).items():
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
        self.accounts = tuple(accounts.values())
        for logical, account in accounts.items():
            for name, role in roles[logical].items():
                self._grant(name, role, account.member)
            self._grant(f"{logical}-reads-{catalog}", READS, account.member, self.catalog)
            for place, target in works.items():
                self._grant(f"{logical}-writes-{place}", WRITES, account.member, target)
        for member in members:
            for purpose, role in SUBMITTER_ROLES.items():
                self._grant(f"{purpose}-{member}", role, member)
            self._grant(f"reads-{catalog}-{member}", READS, member, self.catalog)
            for place, target in works.items():
                self._grant(f"reads-{place}-{member}", READS, member, target)
            self._grant(f"creates-{work}-{member}", CREATES, member, self.work)
        for (logical, member), account in acting.items():
            self._grant(f"act-as-{logical}-{member}", ACT_AS, member, account)
        # The state tells outputs alone: a destruction gives these facts back (`leave_grants`).
        outputs = {"catalog": self.catalog.name, "work": self.work.name, "trainer": self.trainer.email}
        self.register_outputs({**outputs, "facts": dict(facts)})

    def keep(self, staying: Iterable[SharedGrant]) -> None:
        """Declare grants that stay, as other stacks need them."""
        for stays in staying:
            if stays.grant.name not in self._grants:
                declare_grant(stays.grant, self._project, self._child)

    def _bucket(
        self,
        logical: str,
        bucket: str,
        *,
        keep: bool,
        versioned: bool = False,
        rules: Sequence[storage.BucketLifecycleRuleArgs] = (),
        region: str = "",
    ) -> storage.Bucket:
        """Declare a bucket. A retiring one, which comes without rules, and an adopted one stay unchanged."""
        theirs = bucket in self._adopted
        keep = keep or theirs
        settings: dict[str, Any] = {
            "uniform_bucket_level_access": True,
            "public_access_prevention": "enforced",
            "versioning": storage.BucketVersioningArgs(enabled=versioned),
            "lifecycle_rules": rules,
            "force_destroy": not keep,
        }
        changes = bool(rules) and not theirs
        return storage.Bucket(
            logical,
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

    def _account(self, logical: str, account_id: str, *, old: bool = False) -> serviceaccount.Account:
        email = trainer_email(account_id, self._project)
        there = email in self._accounts
        return serviceaccount.Account(
            logical,
            account_id=account_id,
            project=self._project,
            display_name=trainer_display_name(pulumi.get_stack()),
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

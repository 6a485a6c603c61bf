"""The workspace: where templates are published and jobs write, the accounts that run them, and the submitters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi

from slipway.deploying.deployment.live_plan import asked_for
from slipway.deploying.deployment.shared_grants import grants, submitters_of
from slipway.deploying.deployment.summary import doubtful_grants
from slipway.deploying.deployment.workspace_plan import (
    CATALOG,
    TRAINER,
    WORK,
    WRITES_METRICS,
    SharedGrant,
    family,
    other_trainer,
)
from slipway.model.catalog.model import BOARD, HISTORY, HISTORY_DAYS
from slipway.model.facts import WORKSPACE
from slipway.model.state import StateGrant, WorkspacePlace

from .args import (
    AgentsArgs,
    BudgetArgs,
    MachineArgs,
    ReservationArgs,
    SessionsArgs,
    TeamArgs,
    TrainerArgs,
    at_key,
    told,
)
from .component import Component
from .engine import in_thread
from .gcp import serviceaccount, storage
from .group import Group
from .keywords import arguments_of
from .options import provider_of
from .workspace_resources import WorkspaceResources

_CATALOG_RULES: Sequence[Mapping[str, Any]] = (
    {"age": 730, "matches_prefixes": ["packages/"]},
    {"num_newer_versions": 50, "with_state": "ARCHIVED"},
    {"age": HISTORY_DAYS, "matches_prefixes": [HISTORY]},
    {"age": 7, "matches_prefixes": [BOARD]},  # pages that no run writes any more
    # An object that is written every hour has a version of every hour.
    {"days_since_noncurrent_time": 1, "matches_prefixes": [HISTORY, BOARD], "with_state": "ARCHIVED"},
)
_WORK_RULES: Sequence[Mapping[str, Any]] = (
    {"age": 30, "matches_prefixes": ["claims/"]},
    {"age": 30, "matches_prefixes": ["sessions/"]},
)


@told
@dataclass(kw_only=True)
class WorkspaceArgs:
    """Arguments of `Workspace`. A bucket or an account that is a resource of the program stays the program's own: it is
    waited for, and never made, adopted or deleted by the component."""

    submitters: pulumi.Input[Sequence[pulumi.Input[str]]] | None = None
    """IAM members that may submit: group:ml@acme.example. Who goes loses the roles, unless another stack needs them."""
    catalog_bucket: storage.Bucket | pulumi.Input[str] | None = None
    """Bucket of the catalog and of packages, which jobs need; named after the Pulumi project and the stack by
    default. A change is refused."""
    work_bucket: storage.Bucket | pulumi.Input[str] | None = None
    """Bucket of results, in the workspace's region; named after the Pulumi project and the stack by default. A
    change is refused."""
    kms_key: pulumi.Input[str] | None = at_key("encryption.kmsKey")
    """Key of the buckets that it makes and of jobs on machines of their own, in its region, which the agents of Cloud
    Storage and Vertex AI must be able to use; Google's own by default. A change is for new objects and jobs: the old
    ones still need the old key."""
    trainer: serviceaccount.Account | pulumi.Input[str] | None = None
    """Account that jobs run as, or its id; named after the Pulumi project and the stack by default. A change is
    refused."""
    code: pulumi.Input[bool] | None = None
    """Permit `submit --code`, which runs a person's working tree; False by default."""
    shell: pulumi.Input[bool] | None = None
    """Permit `submit --shell`, which asks for a shell in a job's machines; False by default."""
    urgent: pulumi.Input[Sequence[pulumi.Input[str]]] | None = None
    """IAM members whose `submit --urgent` may have others' jobs make room: user:ada@acme.example; none by default."""
    confirm_above: pulumi.Input[float] | None = None
    """USD an hour above which `submit` asks; 1 by default."""
    board: pulumi.Input[bool] | None = None
    """Have the hourly run write the board into the catalog's bucket; False by default."""
    notify: pulumi.Input[str] | None = None
    """Secret with the address that is told what becomes of jobs; none by default."""
    trainers: pulumi.Input[Mapping[str, pulumi.Input[TrainerArgs | Mapping[str, Any]]]] | None = at_key(
        "slipway:trainers"
    )
    """Other accounts, by the name that templates give."""
    teams: pulumi.Input[Mapping[str, pulumi.Input[TeamArgs | Mapping[str, Any]]]] | None = at_key("slipway:teams")
    """Teams by name."""
    machines: pulumi.Input[Mapping[str, pulumi.Input[str] | pulumi.Input[MachineArgs | Mapping[str, Any]]]] | None = (
        at_key("slipway:machines")
    )
    """Machines by the key that templates may name in place of a machine type."""
    reservations: pulumi.Input[Mapping[str, pulumi.Input[ReservationArgs | Mapping[str, Any]]]] | None = at_key(
        "slipway:reservations"
    )
    """Reserved machines by the name that templates use."""
    budget: pulumi.Input[BudgetArgs | Mapping[str, Any]] | None = at_key("slipway:budget")
    """Limit of its cost a month; none by default."""
    sessions: pulumi.Input[SessionsArgs | Mapping[str, Any]] | None = at_key("slipway:sessions")
    """Limits of sessions; those of jobs by default."""
    regions: pulumi.Input[Sequence[pulumi.Input[str]]] | None = at_key("slipway:regions")
    """Other regions where jobs may run on machines of their own, each with a work bucket of its own; none by
    default."""
    shares: pulumi.Input[Mapping[str, Mapping[str, int]]] | None = at_key("slipway:shares")
    """Machines of a cluster that each team has while others wait, by cluster and team; whoever is first by default."""
    agents: pulumi.Input[AgentsArgs | Mapping[str, Any]] | None = at_key("slipway:agents")
    """Allowance of AI agents; nothing by default."""
    project: pulumi.Input[str] | None = at_key("gcp:project")
    """Project; `gcp:project` by default. A change is refused."""
    region: pulumi.Input[str] | None = at_key("gcp:region")
    """Region; `gcp:region` by default. A change is refused."""


class Workspace(Component):
    """The buckets, the trainer's account, and for each submitter exactly the roles that the verbs need (P5).

    The catalog's bucket: the deployer writes, the trainer and submitters read, versioned. The work bucket: jobs write,
    as to a bucket like it in each other region where they may run. So no job can rewrite code that others run. The
    workspace does not own clusters, nor the identities that preview and deploy.

    Its destruction keeps what jobs wrote, and adopted resources; other catalogs go. Resources that
    are no longer declared and that unfinished jobs need stay unchanged, beside the declared ones. The trainers that
    templates choose by name have the same roles on the buckets, and submitters of their own, who may act as them alone.

    Attributes:
        catalog_bucket: Name of the bucket with the catalog and the packages.
        work_bucket: Name of the bucket of results in its region.
        trainer: Address of the account that jobs run as.
    """

    kind = "workspace"
    args: WorkspaceArgs
    catalog_bucket: pulumi.Output[str]
    work_bucket: pulumi.Output[str]
    trainer: pulumi.Output[str]

    def __init__(
        self,
        name: str,
        args: WorkspaceArgs | pulumi.ResourceOptions | None = None,
        opts: pulumi.ResourceOptions | None = None,
        **arguments: Any,
    ) -> None:
        """Declare the workspace. Raises ConfigError for arguments that no workspace can have.

        `arguments`: those of `WorkspaceArgs` as keywords, in place of `args`.
        """
        given, opts = arguments_of(WorkspaceArgs, name, args, opts, arguments)
        super().__init__(WORKSPACE, name, given, opts, "catalog", "work", "trainer", "facts", "place")
        self.catalog_bucket, self.work_bucket = self.output("catalog"), self.output("work")
        self.trainer = self.output("trainer")

    async def facts(self, group: Group) -> Mapping[str, Any]:
        return group.deployment.facts.workspace

    async def declare(self, group: Group) -> Mapping[str, Any]:
        planned, plan, own = group.deployment, group.deployment.plan.workspace, group.own
        self._group, self._resources = group, (resources := WorkspaceResources(self, group))
        writers = {other_trainer(name) if name else TRAINER for name in planned.writers}
        catalog, works, accounts = "", list[str](), dict[str, Mapping[str, str]]()
        for role, name in asked_for(planned.stack).items():
            logical = plan.logical.get(role, role)
            if family(role) == TRAINER:
                resources.account(logical, name, own.get(role))
                metrics = {f"{logical}-{WRITES_METRICS.removeprefix('roles/')}": WRITES_METRICS}
                accounts[name] = {**plan.grants.get(role, {}), **(metrics if role in writers else {})}
            elif role == CATALOG:
                catalog = resources.bucket(logical, name, own.get(role), rules=_CATALOG_RULES, of_catalog=True)
            else:
                region = role.removeprefix(WORK).strip()
                works.append(resources.bucket(logical, name, own.get(role), rules=_WORK_RULES, region=region))
        trainer, *_ = accounts
        for resource in plan.retiring:
            if resource.role == TRAINER:
                resources.account(resource.logical, resource.name, old=True)
                accounts[resource.name] = resource.grants
            else:
                works.append(resources.bucket(resource.logical, resource.name))
        self.needed += (resources.made[address] for address in (*works, *accounts))
        asked = list(grants(resources.named, catalog, works, accounts, submitters_of(planned.stack)))
        self._grants = {grant.name for grant in asked}
        resources.declare(asked)
        outputs: dict[str, Any] = {"catalog": resources.made[catalog].name, "work": resources.made[works[0]].name}
        # The state tells outputs alone: a destruction gives these facts back (`leave_grants`).
        outputs |= {"trainer": resources.made[trainer].email, "facts": dict(await self.facts(group))}
        provider = provider_of(self.options)
        made_by = provider.pulumi_resource_name if provider else ""
        return {**outputs, "place": WorkspacePlace(self.name, group.project, group.region, made_by).written}

    def keep_shared(self, published: pulumi.Output[str]) -> pulumi.Output[None] | None:
        """Declare the undeclared grants that others need, once the catalog is published: of two stacks that drop a
        member at once, the later one sees that nobody needs the roles."""
        group, planned = self._group, self._group.deployment
        drops = planned.plan.workspace.dropped
        if not drops:
            return None
        if group.guard.taken_down:  # The engine takes what is not declared, whoever needs it by then.
            self._declare_also(drops)
            return None
        if group.run.preview:
            self.keep(planned.plan.workspace.shared)
            return None

        async def keep() -> None:
            staying = await in_thread(lambda: group.guard.need(drops))
            for warning in doubtful_grants(staying):
                if warning not in planned.warnings:
                    group.voice.warn(warning)
            self.keep(staying)

        return published.apply(lambda _: keep())

    def keep(self, staying: Iterable[SharedGrant]) -> None:
        """Declare grants that stay, as other stacks need them."""
        self._declare_also(stays.grant for stays in staying)

    def _declare_also(self, grants: Iterable[StateGrant]) -> None:
        self._resources.declare(grant for grant in grants if grant.name not in self._grants)
